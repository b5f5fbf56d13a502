/** Holding a run still: it stops where it was told to, and nowhere else (invariant 28). */
import type { Json, State } from "holdfast";
import { matches } from "holdfast";
import { isControl } from "../../../src/runtime/control.ts";
import type { Debugging } from "../../../src/store/records.ts";
import type { Commit } from "../../../src/store/store.ts";
import { heldAfter, type ModelEntry, type ModelRun } from "../model.ts";
import type { Report } from "./report.ts";
import { isSame } from "./same.ts";

/** Why a run is parked though it refused nothing. */
export function stopOf({ event }: ModelEntry): string | undefined {
  const { error } = event.data as { readonly error?: { readonly name?: Json } };
  const name = error?.name;
  return name === "Paused" || name === "Breakpoint" || name === "Stepped" ? name : undefined;
}

/** The entries of a commit: none is taken that its run should have stopped before, and after it where it should. */
export function checkHolding(
  run: ModelRun,
  { head }: Commit,
  entries: readonly ModelEntry[],
  report: Report,
): void {
  let held = run.debug;
  let before: State | undefined = run.state;
  let due: string | undefined;
  for (const entry of entries) {
    const { event, seq, stepped } = entry;
    const what = `entry ${seq} of ${head.run} (${event.type})`;
    const isPark = isControl(event) && event.type === "park";
    const stop = isPark ? stopOf(entry) : undefined;
    const ended = before !== undefined && before.status !== "active";
    if (due !== undefined && stop !== due && !ended && !isPark && event.type !== "cancel")
      report(28, `${what} comes where ${head.run} should have stopped: ${due}`);
    if ((stop === "Breakpoint" || stop === "Stepped") && stop !== due && !mayStop(held, stop))
      report(28, `${what} stops for no reason: ${stop}`);
    if (!isControl(event) && stopsBefore(held, event.type))
      report(28, `${what} is taken, and has a breakpoint before it`);
    due = isControl(event) ? undefined : stopAfter(held, before, stepped.state);
    held = heldAfter(held, event);
    before = stepped.state;
  }
  if (due !== undefined && head.status === "active") report(28, `${head.run} should have stopped: ${due}`);
  if (!isSame(head.debug, held))
    report(28, `${head.run} stops at ${JSON.stringify(head.debug)}, and should at ${JSON.stringify(held)}`);
}

/** Before which event it stops, only the run knows: it is still to come. */
function mayStop(held: Debugging | undefined, stop: string): boolean {
  const { breakpoints = [], passes } = held ?? {};
  return stop === "Breakpoint" && passes !== true && breakpoints.some((one) => "event" in one);
}

function stopsBefore(held: Debugging | undefined, type: string): boolean {
  return (
    held !== undefined &&
    held.passes !== true &&
    held.breakpoints.some((one) => "event" in one && one.event === type)
  );
}

function stopAfter(held: Debugging | undefined, before: State | undefined, after: State): string | undefined {
  if (held === undefined || before === undefined || after.status !== "active") return undefined;
  for (const one of held.breakpoints)
    if ("state" in one && matches(after, one.state) && !matches(before, one.state)) return "Breakpoint";
  return held.steps === 1 ? "Stepped" : undefined;
}
