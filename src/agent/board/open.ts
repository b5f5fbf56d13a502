/** A board, as an agent holds it: it asks the run behind the board, and keeps nothing itself. */
import { durationMs } from "../../core/duration.ts";
import type { Json } from "../../core/json.ts";
import { type ErrorCode, HoldfastError, isHoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { checkName } from "../../runtime/name.ts";
import type { Run, Runtime } from "../../runtime/run.ts";
import type { Board, KeyDefinitions } from "./board.ts";
import { type Change, changesAfter, positionOf, stepsAfter } from "./follow.ts";
import type { ValueOf } from "./keys.ts";
import { findKey, type Question } from "./machine.ts";
import type { Busy, Conflict, Leased, Reading, Removed, Reviewed, Voted, Written } from "./outcome.ts";
import type { BoardState, PendingReview, TieRule, VoteRule } from "./state.ts";
import { type Tally, tally } from "./tally.ts";
import { readProposal } from "./vote.ts";
import { madeOf } from "./write.ts";

export interface OpenOptions {
  /** The id of the run behind it: one board for whoever names the same. */
  readonly id: string;
  readonly tenant?: string;
  /** Who asks. Agents that may wait for each other need names of their own. */
  readonly agent: string;
}

export interface Keyed {
  /** A repeat under the same key is the same question, and has the same answer, in any process. */
  readonly key?: string;
}

export interface WriteOptions extends Keyed {
  /** The version that the write is for; 0 for none. */
  readonly ifVersion?: number;
  /** The token of a lease, without which it is not to take effect. */
  readonly fence?: number;
}

export interface UpdateOptions {
  /** How often it is tried at most. */
  readonly attempts?: number;
  readonly fence?: number;
}

export interface SubscribeOptions<Name extends string> {
  /** All of them unless given. */
  readonly keys?: readonly Name[];
  /** The version after which it begins; the newest one unless given. */
  readonly from?: number;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

export interface LeaseOptions extends Keyed {
  /** How long it lasts unless it is renewed: milliseconds, or text such as `30s`. */
  readonly for: number | string;
  /** How long to wait for it: not at all unless given; `forever` for as long as it takes. */
  readonly wait?: number | string;
}

export interface ProposeOptions extends Keyed {
  readonly question: string;
  readonly options: readonly string[];
  /** Who may vote; with their weights, if votes are weighted. */
  readonly voters: readonly string[] | Readonly<Record<string, number>>;
  /** `majority` unless given. */
  readonly rule?: VoteRule;
  /** How many must have voted, a whole number, abstentions included; more than half of the voters unless given. */
  readonly quorum?: number;
  /** How long it is open; until everybody has voted unless given. */
  readonly for?: number | string;
  /** What decides between those that are equal: the one listed first, nobody, or the chair's ballot. `reject` unless given. */
  readonly tie?: TieRule;
  readonly chair?: string;
  /** Whether a ballot may be changed until the end, which is then the end of its time. */
  readonly changeable?: boolean;
}

/** What a review decides: the write as it is, nothing, or another value. */
export type ReviewDecision = "accept" | "reject" | { readonly value: unknown };

/** A change of one key, typed by it. */
export type ChangeOf<Keys extends KeyDefinitions, Name extends keyof Keys> = {
  [Key in Name & string]: Omit<Change, "key" | "value"> & {
    readonly key: Key;
    readonly value: ValueOf<Keys[Key]> | undefined;
  };
}[Name & string];

type NameOf<Keys> = keyof Keys & string;

/** Opens a board for an agent; the board begins with it if there is none. */
export async function openBoard<Keys extends KeyDefinitions, Lease extends string>(
  runtime: Pick<Runtime, "start">,
  board: Board<Keys, Lease>,
  { id, tenant, agent }: OpenOptions,
): Promise<OpenBoard<Keys, Lease>> {
  checkName("agent", agent);
  const run = await runtime.start(board.machine, { id, ...(tenant === undefined ? undefined : { tenant }) });
  return new OpenBoard(run as unknown as Run<BoardState>, board, agent);
}

export class OpenBoard<Keys extends KeyDefinitions = KeyDefinitions, Lease extends string = string> {
  readonly id: string;
  readonly agent: string;
  /** The run behind it: its journal has everything that was asked and answered. */
  readonly run: Run<BoardState>;
  readonly #board: Board<Keys, Lease>;

  constructor(run: Run<BoardState>, board: Board<Keys, Lease>, agent: string) {
    this.id = run.id;
    this.run = run;
    this.agent = agent;
    this.#board = board;
  }

  /** What stands under a key now, wherever it was written. Throws KEY_UNKNOWN. */
  async read<Name extends NameOf<Keys>>(key: Name): Promise<Reading<ValueOf<Keys[Name]>>> {
    findKey(this.#board.keys, key);
    const standing = (await this.run.state()).context.entries[key];
    return (standing ?? nothing) as Reading<ValueOf<Keys[Name]>>;
  }

  /** Writes a value; what becomes of it says the key's policy. Throws KEY_UNKNOWN or VALUE_INVALID, and nothing has changed. */
  async write<Name extends NameOf<Keys>>(
    key: Name,
    value: ValueOf<Keys[Name]>,
    { key: once, ...aim }: WriteOptions = {},
  ): Promise<Written<ValueOf<Keys[Name]>>> {
    // Asked here too, so that what cannot be written costs no step.
    findKey(this.#board.keys, key).check(value as Json);
    return this.#ask("write", { key, value: value as Json, ...given(aim) }, once);
  }

  /**
   * Makes a value of the one that stands there, as often as somebody else is faster; gives the last outcome if they always
   * are. `change` is told what stands there, and may think about it for as long as it likes. A key that is merged is no exception:
   * what `change` made of one value is never merged with another.
   */
  async update<Name extends NameOf<Keys>>(
    key: Name,
    change: (current: ValueOf<Keys[Name]> | undefined) => ValueOf<Keys[Name]> | Promise<ValueOf<Keys[Name]>>,
    { attempts = limits.boardAttempts, ...rest }: UpdateOptions = {},
  ): Promise<Written<ValueOf<Keys[Name]>>> {
    const { value, version } = await this.read(key);
    const isMerged = findKey(this.#board.keys, key).policy === "merge";
    let seen: Pick<Conflict<ValueOf<Keys[Name]>>, "current" | "version"> = { current: value, version };
    for (let attempt = 1; ; attempt++) {
      const ifVersion = isMerged ? madeOf(seen.version) : seen.version;
      const outcome = await this.write(key, await change(seen.current), { ...rest, ifVersion });
      if (outcome.outcome !== "conflict" || attempt >= attempts) return outcome;
      seen = outcome;
    }
  }

  /** Removes what stands under a key. */
  remove<Name extends NameOf<Keys>>(
    key: Name,
    { key: once, ...aim }: WriteOptions = {},
  ): Promise<Removed<ValueOf<Keys[Name]>>> {
    return this.#ask("remove", { key, ...given(aim) }, once);
  }

  /** The writes that wait for a review. */
  async reviews(): Promise<readonly PendingReview[]> {
    return (await this.run.state()).context.reviews;
  }

  /**
   * Decides on a write that waits for it. It waits on if what stands there was written since (`conflict`), if its lease is over
   * (`fenced`), and if whoever wrote it would take it (`refused`). Throws REVIEW_UNKNOWN.
   */
  review(id: string, decision: ReviewDecision, { key }: Keyed = {}): Promise<Reviewed<Json>> {
    const asked =
      typeof decision === "string" ? { decision } : { decision: "replace", value: decision.value as Json };
    return this.#ask("review", { id, ...asked }, key);
  }

  /** Changes in their order, each once, those to come included. Resumed with the version of the last one. Throws JOURNAL_PRUNED. */
  async *subscribe<Name extends NameOf<Keys> = NameOf<Keys>>({
    keys,
    from,
    signal,
  }: SubscribeOptions<Name> = {}): AsyncGenerator<ChangeOf<Keys, Name>> {
    for (const key of keys ?? []) findKey(this.#board.keys, key);
    for await (const change of changesAfter(this.run, from, signal))
      if (keys?.includes(change.key as Name) ?? true) yield change as ChangeOf<Keys, Name>;
  }

  /**
   * Leases one name, or several at once: all or none. Throws LEASE_DEADLOCK, with the circle in its details, if waiting for
   * them would never end.
   */
  async lease(names: Lease | readonly Lease[], options: LeaseOptions): Promise<Leased | Busy> {
    const { for: time, wait = 0, key } = options ?? {};
    if (time === undefined || !(typeof names === "string" || Array.isArray(names)))
      throw new HoldfastError("LEASE_INVALID", "A lease needs names, and `for`: how long it is wanted");
    const asked = {
      names: (typeof names === "string" ? [names] : names) as readonly string[],
      ms: durationMs(time),
      waitMs: wait === "forever" ? null : durationMs(wait),
    };
    const answer = await this.#ask<Leased | Busy>("lease", asked, key);
    if (answer.outcome === "busy") return answer;
    const { token } = answer;
    return {
      ...answer,
      renew: (ms) => this.#ask("renew", { token, ms: durationMs(ms) }),
      release: () => this.#ask("release", { token }),
    };
  }

  /** Opens a vote. Throws VOTE_INVALID for one that nobody could decide. */
  async propose({
    key,
    ...options
  }: ProposeOptions): Promise<{ readonly id: string; readonly closesAt: number | null }> {
    if (typeof options.voters !== "object" || options.voters === null)
      throw new HoldfastError("VOTE_INVALID", "The proposal cannot be meant: it does not say who votes");
    const { question, voters, rule = "majority", quorum = null, tie = "reject", chair = null } = options;
    const weights = Array.isArray(voters)
      ? (voters as readonly string[]).map((name) => ({ name, weight: 1 }))
      : Object.entries(voters).map(([name, weight]) => ({ name, weight: weight as number }));
    if (rule !== "weighted" && weights.some(({ weight }) => weight !== 1))
      throw new HoldfastError(
        "VOTE_INVALID",
        `The proposal cannot be meant: its voters have weights, and by ${rule} every ballot counts the same; list their names, or say weighted`,
      );
    const openMs = options.for === undefined ? null : durationMs(options.for);
    const rest = { isChangeable: options.changeable ?? false, options: options.options, openMs };
    return this.#ask("propose", { question, voters: weights, rule, quorum, tie, chair, ...rest }, key);
  }

  /** Votes: for an option, for several in order where they are ranked, or for none, which is an abstention. Throws VOTE_UNKNOWN or VOTE_INVALID. */
  vote(id: string, ballot: string | readonly string[] | null, { key }: Keyed = {}): Promise<Voted> {
    const choice = typeof ballot === "string" ? [ballot] : (ballot ?? []);
    return this.#ask("vote", { id, choice }, key);
  }

  /** How a vote stands, or what it came to. Throws VOTE_UNKNOWN. */
  async tally(id: string): Promise<Tally> {
    return tally(readProposal((await this.run.state()).context, id));
  }

  /** What a vote came to, once it has ended. Throws VOTE_UNKNOWN. */
  async decided(id: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Tally> {
    const position = await positionOf(this.run);
    let last = readProposal(position.state.context, id);
    if (last.closedAt === null)
      for await (const { after } of stepsAfter(this.run, position, signal)) {
        last = readProposal(after, id);
        if (last.closedAt !== null) break;
      }
    return tally(last);
  }

  async #ask<Answer>(
    question: Question,
    asked: { readonly [field: string]: Json },
    key?: string,
  ): Promise<Answer> {
    const data = { by: this.agent, ...asked };
    const answer = (await this.run
      .ask(question, data, key === undefined ? {} : { key })
      .catch(asInvalid)) as object;
    if ("error" in answer) {
      const { code, message, details } = answer.error as {
        code: ErrorCode;
        message: string;
        details: object;
      };
      throw new HoldfastError(code, message, { details: { ...details } });
    }
    return answer as Answer;
  }
}

/** What is wrong with a question says more than that it was not answered. */
function asInvalid(error: unknown): never {
  const cause = isHoldfastError(error) ? error.cause : undefined;
  throw isHoldfastError(cause) && cause.code === "EVENT_INVALID" ? cause : error;
}

const nothing = { value: undefined, version: 0, by: undefined, at: undefined };

/** Without what is undefined, which is no JSON. */
function given(aim: Omit<WriteOptions, "key">): { readonly [field: string]: number } {
  return Object.fromEntries(Object.entries(aim).filter(([, value]) => value !== undefined));
}
