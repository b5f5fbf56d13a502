/** Guards and actions of a plan as the functions that SCION's model holds, working on the data of one run. */
import { type ActionPlan, counterMax, type GuardPlan } from "../../test/generate/plan.ts";
import { payloadNumber, probe } from "../../test/generate/probe.ts";

export interface ScionEvent {
  readonly name: string;
  readonly data?: unknown;
}

/** What SCION binds to `this` while it runs an action. */
interface ScionScope {
  raise(event: ScionEvent): void;
}

export type ScionAction = (this: ScionScope, event: ScionEvent | null | undefined) => void;
export type ScionCondition = (event: ScionEvent | undefined) => boolean;

/** The state of one run outside SCION: its data model, so to speak. */
export interface ScionRun {
  readonly counters: Record<string, number>;
  readonly log: string[];
  /** Whether a final state of the root was entered. SCION goes on after that; SCXML does not. */
  ended: boolean;
  /** The event under which that happened; SCION gives the last exit handlers none. */
  lastEvent: ScionEvent | undefined;
  /** Whether the step under way has been found to have no end: from then on no transition is taken. */
  unbounded: boolean;
  isIn(id: string): boolean;
}

/** What a final state of the root does first. */
export const end =
  (run: ScionRun): ScionAction =>
  (event) => {
    run.ended = true;
    run.lastEvent = event ?? undefined;
  };

export function actionOf(action: ActionPlan, run: ScionRun): ScionAction {
  if ("in" in action) throw new Error("SCION cannot tell what is active within a microstep.");
  if ("log" in action)
    return (given) => {
      const event = given ?? run.lastEvent;
      const typed = event === undefined ? undefined : { type: event.name, data: event.data };
      run.log.push(probe(action.log, typed, run.counters));
    };
  if ("count" in action) return () => count(run, action.count);
  if ("throws" in action) return fail;
  return function () {
    if ("counter" in action) {
      if (run.counters[`c${action.counter}`]! >= action.below) return;
      count(run, action.counter);
    }
    this.raise({ name: action.raise });
  };
}

/** SCION reads all descriptors as prefixes; where they are `exact`, the condition has to look again. */
export function conditionOf(
  guard: GuardPlan | undefined,
  exact: readonly string[] | undefined,
  run: ScionRun,
  idOf: (key: string) => string,
): ScionCondition {
  const takes = (event: ScionEvent | undefined): boolean =>
    exact === undefined || exact.some((descriptor) => descriptor.endsWith("*") || descriptor === event?.name);
  return (event) =>
    !run.ended && !run.unbounded && takes(event) && (guard === undefined || holds(guard, event, run, idOf));
}

function holds(
  guard: GuardPlan,
  event: ScionEvent | undefined,
  run: ScionRun,
  idOf: (key: string) => string,
): boolean {
  const inner = (part: GuardPlan): boolean => holds(part, event, run, idOf);
  if ("not" in guard) return !inner(guard.not);
  if ("and" in guard) return guard.and.every(inner);
  if ("or" in guard) return guard.or.some(inner);
  if ("in" in guard) return run.isIn(idOf(guard.in));
  if ("throws" in guard) return fail();
  if ("parity" in guard) {
    const n = payloadNumber(event?.data);
    return n !== undefined && n % 2 === guard.parity;
  }
  const value = run.counters[`c${guard.counter}`]!;
  return "odd" in guard ? value % 2 === 1 : value < guard.below;
}

function count(run: ScionRun, index: number): void {
  const name = `c${index}`;
  run.counters[name] = Math.min(run.counters[name]! + 1, counterMax);
}

/** Made once: most of the cost of throwing is in writing down where from. */
const failure = new Error("This always fails.");

function fail(): never {
  throw failure;
}
