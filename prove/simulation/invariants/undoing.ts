/** Undoing: what a run did is undone when it cannot go on, the last thing first and each once (invariant 23). */
import type { Json } from "holdfast";
import { compensationId } from "../../../src/core/event.ts";
import { tripMachine, unbookTool } from "../machines/trip.ts";
import { goesBack, type ModelEntry, type ModelRun } from "../model.ts";
import type { Report } from "./report.ts";
import { isSame } from "./same.ts";

/** What undoes one activity, as the child that does it is given it. */
interface Undo {
  readonly key: string;
  readonly activity: string;
  readonly input: Json;
}

const childOf = ({ effects }: ModelEntry) =>
  effects.find((effect) => effect.type === "spawn" && effect.id === compensationId);

/** Whether an entry takes the end of an activity. */
const takesEnd = ({ begunAt }: ModelRun, { event, outcome }: ModelEntry): boolean =>
  outcome === "taken" && event.invocation !== undefined && begunAt.has(event.invocation);

/**
 * What a trip has booked before an entry and nobody began to undo, the last thing first. Going back changes nothing of
 * that, and a fork has booked only what it did itself.
 */
function bookedBefore(run: ModelRun, { seq }: ModelEntry): Undo[] {
  let booked: Undo[] = [];
  for (const entry of run.entries.slice(0, seq - 1)) {
    const { event } = entry;
    if (goesBack(entry)) continue;
    if (childOf(entry) !== undefined) booked = [];
    else if (event.type.startsWith("done.") && takesEnd(run, entry))
      booked.unshift({ key: event.invocation as string, activity: unbookTool, input: event.data as Json });
  }
  return booked;
}

/**
 * A trip that ends before its time, or gives up, begins to undo all it booked; one that goes on undoes nothing, and one
 * that goes back begins no more than an undoing of nothing.
 */
export function checkTrip(run: ModelRun, entry: ModelEntry, what: string, report: Report): void {
  const child = childOf(entry) as { readonly input?: Json } | undefined;
  if (goesBack(entry)) {
    if (child !== undefined && !isSame(child.input, { steps: [] }))
      report(23, `${what} undoes again what was undone: ${JSON.stringify(child.input)}`);
    return;
  }
  const givesUp = hasGivenUp(run, entry);
  if (!givesUp && child === undefined) return;
  const booked = bookedBefore(run, entry);
  if (givesUp && child === undefined && booked.length > 0)
    report(23, `${what} ends with ${booked.length} bookings that nobody undoes`);
  if (child === undefined) return;
  if (!givesUp) report(23, `${what} undoes what is still wanted`);
  if (!isSame(child.input, { steps: booked }))
    report(23, `${what} undoes ${JSON.stringify(child)} and booked ${JSON.stringify(booked)}`);
}

/** Whether a trip ends before its time with an entry, or comes to where it undoes what it did. */
function hasGivenUp({ entries }: ModelRun, { stepped, seq, event, outcome }: ModelEntry): boolean {
  const { status, configuration } = stepped.state;
  if (status === "cancelled" || status === "failed") return true;
  if (!configuration.includes("undoing")) return false;
  const before = entries[seq - 2]?.stepped.state.configuration ?? [];
  return !before.includes("undoing") || (event.type === "regret" && outcome === "taken");
}

/** The machine that undoes trips. */
export const undoingName = `${tripMachine.id}/${compensationId}`;

const stepsOf = (run: ModelRun): readonly Undo[] =>
  ((run.entries[0] as ModelEntry).event.data as unknown as { readonly steps: Undo[] }).steps;

const endsOf = (run: ModelRun): ModelEntry[] => run.entries.filter((entry) => takesEnd(run, entry));

/** Whoever undoes is over when each step has been undone, or could not be. */
export function checkUndone(run: ModelRun, entry: ModelEntry, what: string, report: Report): void {
  if (entry.stepped.state.status === "active") return;
  const [steps, ends] = [stepsOf(run).length, endsOf(run).length];
  if (entry.stepped.state.status !== "done" || ends !== steps)
    report(23, `${what} is over with ${ends} of ${steps} steps undone`);
}

/** A tool is about to undo something: all that was done after it is undone by now. */
export function checkUndo(run: ModelRun, input: unknown, isOwner: boolean, report: Report): void {
  const place = stepsOf(run).findIndex((step) => isSame(step.input, input));
  const undone = endsOf(run).length;
  if (place < 0) report(23, `${run.head.run} undoes what it was not asked to`);
  // Whoever was replaced may still be where others were.
  if (place > undone || (isOwner && place !== undone))
    report(23, `${run.head.run} undoes step ${place} when ${undone} are undone`);
}
