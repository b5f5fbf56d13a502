/** What can be seen of a run after each step, in one form for every engine, and how two runs are compared. */

export interface Observation {
  readonly status: "active" | "done";
  /** The paths of the active leaves, sorted: a set. */
  readonly configuration: readonly string[];
  /** What the log actions told, in the order in which they ran. */
  readonly log: readonly string[];
  readonly counters: Readonly<Record<string, number>>;
  /** What only some engines can tell: histories, errors, output, outcome. Compared where both tell it. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** One run of a plan: the start, then one observation for every event that was sent. */
export interface Behaviour {
  readonly steps: readonly Observation[];
  /** Whether the run stopped early because its next step would never end. */
  readonly unbounded: boolean;
  /** What was thrown, if the engine gave up. */
  readonly crash?: string;
}

/** The first step at which two behaviours differ, or undefined if they are the same. */
export function firstDifference(one: Behaviour, other: Behaviour): number | undefined {
  const length = Math.max(one.steps.length, other.steps.length);
  for (let index = 0; index < length; index++)
    if (!sameObservation(one.steps[index], other.steps[index])) return index;
  return one.unbounded === other.unbounded && one.crash === other.crash ? undefined : length;
}

function sameObservation(one: Observation | undefined, other: Observation | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return (
    one.status === other.status &&
    sameList(one.configuration, other.configuration) &&
    sameList(one.log, other.log) &&
    sameList(Object.entries(one.counters).flat(), Object.entries(other.counters).flat()) &&
    sameDetails(one.details, other.details)
  );
}

const sameList = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((item, index) => item === other[index]);

const sameDetails = (one: Observation["details"], other: Observation["details"]): boolean =>
  one === undefined || other === undefined || JSON.stringify(one) === JSON.stringify(other);

/** Histories in one order, as two engines may have filled them in different ones. */
export const sorted = <Value>(record: Readonly<Record<string, Value>>): [string, Value][] =>
  Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1));
