/** Plans written by hand: the pieces of a plan with all that is usually empty left out. */
import type { Plan, StatePlan, TransitionPlan } from "./plan.ts";

/** An atomic state that tells when it is entered and left, unless the rest says otherwise. */
export const state = (key: string, rest: Partial<StatePlan> = {}): StatePlan => ({
  key,
  kind: "atomic",
  states: [],
  transitions: [],
  entry: [[{ log: `+${key}` }]],
  exit: [[{ log: `-${key}` }]],
  ...rest,
});

/** Starts in its first child. */
export const compound = (key: string, states: StatePlan[], rest: Partial<StatePlan> = {}): StatePlan =>
  state(key, { kind: "compound", states, initial: { targets: [states[0]!.key], actions: [] }, ...rest });

export const parallel = (key: string, states: StatePlan[], rest: Partial<StatePlan> = {}): StatePlan =>
  state(key, { kind: "parallel", states, ...rest });

export const final = (key: string): StatePlan => state(key, { kind: "final" });

export const history = (key: string, fallback: string, rest: Partial<StatePlan> = {}): StatePlan =>
  state(key, {
    kind: "history",
    fallback: { targets: [fallback], actions: [] },
    entry: [],
    exit: [],
    ...rest,
  });

export const on = (
  type: string,
  targets: readonly string[] = [],
  rest: Partial<TransitionPlan> = {},
): TransitionPlan => ({ trigger: { events: [type] }, targets, actions: [], ...rest });

/** A machine that starts in the first of these states, and the events it is sent. */
export const plan = (states: StatePlan[], ...events: string[]): Plan => ({
  matching: "exact",
  counters: 2,
  root: compound("m", states),
  events: events.map((type) => ({ type, n: 0 })),
});
