/**
 * Counting votes. Pure: the same ballots give the same outcome, in whatever order they came.
 *
 * `majority`: the option with more than half of the votes that name one. `weighted`: the same by the weight of the voters.
 * `ranked`: the option that beats every other one by one (Condorcet); if there is none, the one with the most points
 * (Borda: a point for each option that a ballot puts behind it, half a point for each that it does not put in order). That is
 * Black's method: it elects whoever would win every duel, and always comes to an end.
 *
 * An abstention counts for the quorum and for nothing else. Weights are summed as the decimal numbers they are written as, so
 * that 0.1, 0.2 and 0.3 are 0.6 and no order of ballots makes a difference.
 */
import { decimalsOf, numberOf, unitsOf } from "./decimal.ts";
import type { Ballot, Proposal } from "./state.ts";

/** What a vote has come to so far, or in the end. */
export type Decision =
  | { readonly outcome: "open" }
  | { readonly outcome: "decided"; readonly winner: string; readonly by: "rule" | "tie rule" }
  | { readonly outcome: "no quorum"; readonly missing: number }
  | { readonly outcome: "no majority" }
  | { readonly outcome: "tied"; readonly between: readonly string[] };

export interface Tally {
  readonly id: string;
  readonly question: string;
  readonly decision: Decision;
  /** Votes, weight or twice the points of each option, as its rule counts them. */
  readonly scores: Readonly<Record<string, number>>;
  readonly ballots: number;
  readonly abstentions: number;
  /** Those who have not voted. */
  readonly missing: readonly string[];
  readonly closesAt: number | null;
}

/** How a vote stands. */
export function tally(proposal: Proposal): Tally {
  const { id, question, voters, ballots, closesAt, closedAt } = proposal;
  const voted = new Set(ballots.map(({ by }) => by));
  return {
    ...{ id, question, closesAt },
    decision: closedAt === null ? { outcome: "open" } : decide(proposal),
    scores: Object.fromEntries(
      [...scoresOf(proposal)].map(([option, units]) => [option, numberOf(units, scaleOf(proposal))]),
    ),
    ballots: ballots.length,
    abstentions: ballots.filter(({ choice }) => choice.length === 0).length,
    missing: voters.flatMap(({ name }) => (voted.has(name) ? [] : [name])),
  };
}

function decide(proposal: Proposal): Decision {
  const { ballots, quorum } = proposal;
  if (ballots.length < quorum) return { outcome: "no quorum", missing: quorum - ballots.length };
  const best = bestOf(proposal);
  const [first, ...others] = best;
  if (first === undefined) return { outcome: "no majority" };
  if (others.length > 0) return breakTie(proposal, best);
  if (proposal.rule === "ranked" || hasMajority(proposal, first))
    return { outcome: "decided", winner: first, by: "rule" };
  return { outcome: "no majority" };
}

/** The options that nothing is better than; none if nobody voted for any. */
function bestOf(proposal: Proposal): readonly string[] {
  const { rule, options } = proposal;
  const scores = scoresOf(proposal);
  const most = [...scores.values()].reduce((one, other) => (other > one ? other : one), 0n);
  if (most === 0n) return [];
  const champion = rule === "ranked" ? options.find((one) => beatsAll(proposal, one)) : undefined;
  return champion === undefined ? options.filter((option) => scores.get(option) === most) : [champion];
}

/** How many decimals its weights have: scores are counted in units of the last one. */
const scaleOf = ({ rule, voters }: Proposal): number =>
  rule === "weighted" ? Math.max(...voters.map(({ weight }) => decimalsOf(weight))) : 0;

function scoresOf(proposal: Proposal): ReadonlyMap<string, bigint> {
  const { options, ballots, rule } = proposal;
  const scale = scaleOf(proposal);
  const scores = new Map(options.map((option) => [option, 0n]));
  const add = (option: string, units: bigint) => scores.set(option, (scores.get(option) ?? 0n) + units);
  for (const ballot of ballots) {
    const [first] = ballot.choice;
    if (first === undefined) continue;
    if (rule === "ranked")
      for (const one of options)
        for (const other of options) if (one !== other) add(one, BigInt(1 + prefers(ballot, one, other)));
    if (rule !== "ranked") add(first, unitsOf(weightOf(proposal, ballot), scale));
  }
  return scores;
}

const weightOf = ({ rule, voters }: Proposal, { by }: Ballot): number =>
  rule === "weighted" ? (voters.find(({ name }) => name === by)?.weight ?? 0) : 1;

function hasMajority(proposal: Proposal, option: string): boolean {
  const scores = scoresOf(proposal);
  const all = [...scores.values()].reduce((sum, score) => sum + score, 0n);
  return (scores.get(option) as bigint) * 2n > all;
}

/** 1 if a ballot puts one option before the other, -1 if behind it, 0 if it does not say. What it does not name is last. */
function prefers({ choice }: Ballot, one: string, other: string): number {
  const place = (option: string) => (choice.includes(option) ? choice.indexOf(option) : choice.length);
  return Math.sign(place(other) - place(one));
}

function beatsAll({ options, ballots }: Proposal, one: string): boolean {
  return options.every((other) => {
    const duel = ballots.reduce((sum, ballot) => sum + prefers(ballot, one, other), 0);
    return other === one || duel > 0;
  });
}

function breakTie({ tie, chair, ballots }: Proposal, between: readonly string[]): Decision {
  const chosen = ballots.find(({ by }) => by === chair)?.choice.find((option) => between.includes(option));
  const winner = tie === "first" ? between[0] : tie === "chair" ? chosen : undefined;
  return winner === undefined ? { outcome: "tied", between } : { outcome: "decided", winner, by: "tie rule" };
}
