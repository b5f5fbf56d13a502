/** Parking: a run that refuses a result waits for a person, takes nothing meanwhile, and gets it again (invariant 26). */
import type { Json } from "holdfast";
import { settles } from "../../../src/core/event.ts";
import { isControl } from "../../../src/runtime/control.ts";
import type { ModelEntry, ModelRun } from "../model.ts";
import { stopOf } from "./holding.ts";
import type { Report } from "./report.ts";
import { isSame } from "./same.ts";

/** Whether an entry is a result that its run refused: it is in the journal, and nowhere else. */
export function isRefusedResult({ event, outcome }: ModelEntry): boolean {
  return outcome === "refused" && settles(event);
}

/** Whether a result was refused before this entry takes it, so that its activity has ended already. */
export function wasRefused({ entries, refused }: ModelRun, { seq, event }: ModelEntry): boolean {
  if (!refused.has(event.invocation as string)) return false;
  return entries.some(
    (entry) => entry.seq < seq && entry.event.invocation === event.invocation && isRefusedResult(entry),
  );
}

/** What also a run that is parked takes. */
const whileParked: ReadonlySet<string | undefined> = new Set([
  "cancel",
  "retry",
  "rollback",
  "migrate",
  "debug",
]);

/** The entries of a commit: what is between parking and coming back, and how it comes to each. */
export function checkParking(run: ModelRun, entries: readonly ModelEntry[], report: Report): void {
  let parked = run.head.status === "parked";
  let before = run.entries.at(-1);
  for (const entry of entries) {
    const { event, seq } = entry;
    const what = `entry ${seq} of ${run.head.run} (${event.type})`;
    const control = isControl(event) ? event.type : undefined;
    if (parked && !whileParked.has(control)) report(26, `${what} is taken while it is parked`);
    if (control === "park") checkParked(entry, before, what, report);
    else if (before !== undefined && isRefusedResult(before))
      report(26, `${what} comes after a result that was refused`);
    if (control === "retry") checkReturn(run, entries, entry, what, report);
    if (control === "park") parked = true;
    else if (control === "retry" || control === "rollback") parked = false;
    before = entry;
  }
  if (before !== undefined && isRefusedResult(before))
    report(26, `${run.head.run} goes on without a result it refused`);
}

function checkParked(entry: ModelEntry, before: ModelEntry | undefined, what: string, report: Report): void {
  const { event, seq } = entry;
  if (stopOf(entry) !== undefined && (before === undefined || !isRefusedResult(before))) return;
  const { refused } = event.data as { readonly refused?: number };
  if (before === undefined || !isRefusedResult(before) || refused !== seq - 1)
    report(26, `${what} parks a run that refused nothing: ${JSON.stringify(event.data)}`);
}

/** Whoever comes back is given what it refused, as it was. */
function checkReturn(
  run: ModelRun,
  entries: readonly ModelEntry[],
  { event, seq }: ModelEntry,
  what: string,
  report: Report,
): void {
  const earlier = [...run.entries, ...entries].filter((entry) => entry.seq < seq);
  const parked = earlier.findLast((entry) => entry.event.type === "park");
  const { refused } = (parked?.event.data ?? {}) as { readonly refused?: number };
  const result = refused === undefined ? undefined : earlier.find((entry) => entry.seq === refused)?.event;
  const told = event.data as { readonly parkedAt: number; readonly result?: Json };
  if (told.parkedAt !== parked?.at || !isSame(told.result, result))
    report(26, `${what} is told ${JSON.stringify(event.data)}, and refused ${JSON.stringify(result)}`);
}
