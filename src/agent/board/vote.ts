/** Proposals and ballots on a board. Pure; what ballots come to is counted when somebody asks. */
import type { Json } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Asker, BoardState, Proposal, TieRule, VoteRule } from "./state.ts";

export interface ProposalAsked {
  readonly question: string;
  readonly options: readonly string[];
  readonly voters: readonly { readonly name: string; readonly weight: number }[];
  readonly rule: VoteRule;
  readonly quorum: number | null;
  readonly tie: TieRule;
  readonly chair: string | null;
  readonly isChangeable: boolean;
  /** How long it is open; null for until everybody has voted. */
  readonly openMs: number | null;
}

export interface BallotAsked {
  readonly id: string;
  readonly choice: readonly string[];
}

type Answer = { readonly [field: string]: Json };

/** Opens a vote; throws VOTE_INVALID for one that nobody could decide. */
export function propose(board: BoardState, asked: ProposalAsked, { by, at }: Asker): Answer {
  const problem = problemOf(asked);
  if (problem !== undefined)
    throw new HoldfastError("VOTE_INVALID", `The proposal cannot be meant: ${problem}`);
  const open = board.proposals.filter(({ closedAt }) => closedAt === null).length;
  if (open >= limits.boardProposalsMax)
    throw new HoldfastError("BOARD_FULL", `${open} proposals are open already; try again later`);
  const { openMs, quorum, options, voters, ...rest } = asked;
  const id = `proposal-${++board.count}`;
  const closesAt = openMs === null ? null : at + openMs;
  board.proposals.push({
    ...{ ...rest, id, by, at, closesAt, closedAt: null, ballots: [] },
    ...{ options: [...options], voters: voters.map((voter) => ({ ...voter })) },
    quorum: quorum ?? Math.floor(voters.length / 2) + 1,
  });
  return { id, closesAt };
}

function problemOf({
  options,
  voters,
  quorum,
  tie,
  chair,
  isChangeable,
  openMs,
}: ProposalAsked): string | undefined {
  const names = voters.map(({ name }) => name);
  if (options.length < 2 || options.length > limits.optionsMax) return `it has ${options.length} options`;
  if (new Set(options).size < options.length) return "an option is there twice";
  if (names.length === 0 || names.length > limits.votersMax) return `it has ${names.length} voters`;
  if (new Set(names).size < names.length) return "a voter is there twice";
  if (voters.some(({ weight }) => !(weight > 0 && Number.isFinite(weight)))) return "a voter has no weight";
  if (quorum !== null && !(Number.isInteger(quorum) && quorum >= 1 && quorum <= names.length))
    return `its quorum is ${quorum} of ${names.length} voters; it is a whole number of them`;
  if (tie === "chair" && (chair === null || !names.includes(chair))) return "its chair is none of the voters";
  if (isChangeable && openMs === null) return "ballots may be changed until a deadline, and it has none";
  return undefined;
}

/** Takes a ballot, or says why it is not taken. */
export function vote(board: BoardState, { id, choice }: BallotAsked, { by, at }: Asker): Answer {
  const proposal = readProposal(board, id);
  const { options, rule, voters, ballots, closedAt, isChangeable } = proposal;
  const unknown = choice.find((option) => !options.includes(option));
  if (unknown !== undefined)
    throw invalidBallot(id, `${JSON.stringify(unknown)} is none of ${options.join(", ")}`);
  if (new Set(choice).size < choice.length) throw invalidBallot(id, "it names an option twice");
  if (rule !== "ranked" && choice.length > 1) throw invalidBallot(id, `by ${rule} it names one option`);
  if (closedAt !== null) return { outcome: "refused", why: "the vote has ended" };
  if (!voters.some(({ name }) => name === by)) return { outcome: "refused", why: `${by} is no voter` };
  const before = ballots.find((ballot) => ballot.by === by);
  if (before !== undefined && !isChangeable) return { outcome: "refused", why: `${by} has voted` };
  if (before === undefined) ballots.push({ by, choice: [...choice] });
  else before.choice = [...choice];
  // While ballots may be changed, it is not over when everybody has voted.
  if (!isChangeable && ballots.length === voters.length) close(board, proposal, at);
  return { outcome: "counted" };
}

/** Ends the votes whose time has come. */
export function closeProposals(board: BoardState, at: number): void {
  const due = board.proposals.filter(
    ({ closesAt, closedAt }) => closedAt === null && closesAt !== null && closesAt <= at,
  );
  for (const proposal of due) close(board, proposal, proposal.closesAt as number);
}

/** When a vote ends next by itself; null for never. */
export function nextClose({ proposals }: BoardState): number | null {
  const times = proposals.flatMap(({ closesAt, closedAt }) =>
    closedAt === null && closesAt !== null ? [closesAt] : [],
  );
  return times.length === 0 ? null : Math.min(...times);
}

/** A proposal that is open, or among the newest that have ended; throws VOTE_UNKNOWN. */
export function readProposal(board: Pick<BoardState, "proposals">, id: string): Proposal {
  const found = board.proposals.find((one) => one.id === id);
  if (found !== undefined) return found;
  throw new HoldfastError(
    "VOTE_UNKNOWN",
    `There is no proposal ${JSON.stringify(id)}; of those that have ended a board remembers the newest ${limits.boardProposalsMax}`,
  );
}

function close(board: BoardState, proposal: Proposal, at: number): void {
  proposal.closedAt = at;
  const ended = board.proposals.filter(({ closedAt }) => closedAt !== null);
  if (ended.length <= limits.boardProposalsMax) return;
  const oldest = ended.reduce((one, other) =>
    (other.closedAt as number) < (one.closedAt as number) ? other : one,
  );
  board.proposals.splice(
    board.proposals.findIndex(({ id }) => id === oldest.id),
    1,
  );
}

const invalidBallot = (id: string, why: string): HoldfastError =>
  new HoldfastError("VOTE_INVALID", `The ballot for ${id} cannot be meant: ${why}`);
