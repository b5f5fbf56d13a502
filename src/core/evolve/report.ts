/** What becomes of a run that goes from one definition to another, told in full: nothing pending is left out. */
import type { Event } from "../event.ts";
import type { Problem } from "../problem.ts";
import type { Activity, Child, Compensation, Timer } from "../state.ts";

/** Something a run waits for, or keeps for later. */
export interface Pending {
  readonly kind: "timer" | "activity" | "child" | "event" | "compensation" | "map" | "history";
  /** What it is known by: the type of its event, the name of its activity, machine or map, the path of a history. */
  readonly name: string;
  readonly key?: string;
  /** The name that an invocation goes by in its state. */
  readonly id?: string;
  /** The state that owns it. */
  readonly state?: string;
}

/** What stands in the way: of something pending, or of the run itself. */
export interface EvolutionProblem extends Problem {
  readonly pending?: Pending;
}

export interface EvolutionReport {
  readonly machine: string;
  /** The versions it goes from and to. */
  readonly from: number;
  readonly to: number;
  /** Leaves that are elsewhere now. */
  readonly moved: readonly { readonly from: string; readonly to: readonly string[] }[];
  /** As it was. */
  readonly survived: readonly Pending[];
  /** The same under another name, in another state, or with other data. */
  readonly changed: readonly { readonly before: Pending; readonly after: Pending }[];
  /** Let go, as the migration or the caller asked; a history that remembers what is no longer possible, in any case. */
  readonly dropped: readonly Pending[];
  /** Taken or cancelled by the machine itself, which went on in the same step. */
  readonly ended: readonly Pending[];
  /** What the new definition has in active states and the old one had not. */
  readonly begun: readonly Pending[];
  /** Why the run cannot go there; empty if it can. */
  readonly refused: readonly EvolutionProblem[];
}

export const pendingTimer = ({ key, event, state }: Timer): Pending =>
  withState({ kind: "timer", name: event.type, key }, state);

export const pendingActivity = ({ key, id, activity, state }: Activity): Pending =>
  withState({ kind: "activity", name: activity, key, id }, state);

export const pendingChild = ({ key, id, machine, state }: Child): Pending =>
  withState({ kind: "child", name: machine, key, id }, state);

export const pendingEvent = ({ type }: Event): Pending => ({ kind: "event", name: type });

export const pendingCompensation = ({ key, activity }: Compensation): Pending => ({
  kind: "compensation",
  name: activity,
  key,
});

function withState(pending: Pending, state: string | undefined): Pending {
  return state === undefined ? pending : { ...pending, state };
}
