/**
 * A plan: a whole chart and the events sent to it as one small JSON value. Every engine's own format is built from it,
 * and being data it can be printed, stored and shrunk. States refer to each other by key; keys are unique in a plan.
 */

/**
 * `shared`: what SCXML can say too, and what engines agree on. `native`: also what only Holdfast can say (a parallel
 * root, and transitions that stay inside an atomic or a parallel state), and what SCION has no ear for: eventless
 * guards that look at the last event, and actions that ask what is active.
 */
export type Dialect = "shared" | "native";

export interface Plan {
  /** How descriptors are read, and whether handlers go by specificity (`exact`) or by document order (`scxml`). */
  readonly matching: "exact" | "scxml";
  /** How many counters the context has: `c0`, `c1` … all zero at first. */
  readonly counters: number;
  readonly root: StatePlan;
  readonly events: readonly EventPlan[];
}

/** An event from outside, with a number as its payload. */
export interface EventPlan {
  readonly type: string;
  readonly n: number;
}

export type StateKind = "atomic" | "compound" | "parallel" | "final" | "history";

export interface StatePlan {
  readonly key: string;
  readonly kind: StateKind;
  /** Whether the state has an id of its own, by which targets then refer to it. */
  readonly named?: boolean;
  readonly states: readonly StatePlan[];
  readonly transitions: readonly TransitionPlan[];
  /** Blocks of actions: an error ends only its own block. */
  readonly entry: readonly (readonly ActionPlan[])[];
  readonly exit: readonly (readonly ActionPlan[])[];
  /** Of a compound state. */
  readonly initial?: EntryPlan;
  /** Of a history state: where it leads while it remembers nothing. */
  readonly fallback?: EntryPlan;
  /** Of a history state. */
  readonly deep?: boolean;
  /** Of a final state: the output it gives. */
  readonly output?: number;
}

/** Where a default leads, and what happens on the way. */
export interface EntryPlan {
  readonly targets: readonly string[];
  readonly actions: readonly ActionPlan[];
}

export interface TransitionPlan {
  readonly trigger: Trigger;
  /** Keys of states; none means that no state is left. */
  readonly targets: readonly string[];
  /** Leaves and enters its source again even if all targets lie inside it. */
  readonly reenter?: boolean;
  readonly guard?: GuardPlan;
  readonly actions: readonly ActionPlan[];
}

export type Trigger =
  /** Any of these descriptors. */
  | { readonly events: readonly string[] }
  /** The source's own done event. */
  | { readonly done: true }
  /** No event at all. */
  | { readonly always: true };

export type GuardPlan =
  | { readonly counter: number; readonly below: number }
  | { readonly counter: number; readonly odd: true }
  /** The event's payload is a number of this parity. */
  | { readonly parity: 0 | 1 }
  | { readonly in: string }
  | { readonly not: GuardPlan }
  | { readonly and: readonly GuardPlan[] }
  | { readonly or: readonly GuardPlan[] }
  | { readonly throws: true };

export type ActionPlan =
  /** Tells where the run has come to; see `probe.ts` for what is told. */
  | { readonly log: string }
  /** Tells it only while that state is active, in the middle of a microstep. */
  | { readonly log: string; readonly in: string }
  /** Adds one to a counter, up to `counterMax`. */
  | { readonly count: number }
  | { readonly raise: string }
  /** Raises only while the counter is below the limit, and counts: so it happens that often at most. */
  | { readonly raise: string; readonly counter: number; readonly below: number }
  | { readonly throws: true };

/** Counters stop here, far above what any guard asks for, so that charts that run for ever do not fill up memory. */
export const counterMax = 20;

export const isAlways = (transition: TransitionPlan): boolean => "always" in transition.trigger;
