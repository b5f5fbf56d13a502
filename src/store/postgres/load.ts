/** A run from the rows of one statement, which saw all of it at one moment. */
import type { EntryRow, RunHead, RunName } from "../records.ts";
import { activityOf, entryOf, eventOf, headOf, type Row, snapshotOf } from "../rows.ts";
import type { LoadedRun } from "../store.ts";

/** The run and its number; undefined if there is none. Rows of one kind stand in their order. */
export function loadedRunOf(
  name: RunName,
  rows: readonly Row[],
): { readonly id: number; readonly run: LoadedRun } | undefined {
  const parts = rows.map(({ kind, row, bytes, report }): Row => ({ kind, ...(row as Row), bytes, report }));
  const found = parts.find(({ kind }) => kind === "head");
  if (found === undefined) return undefined;
  const head: RunHead = headOf(found);
  const inbox = parts.filter(({ kind }) => kind === "event").map((row) => eventOf(name, row));
  const activities = parts.filter(({ kind }) => kind === "activity").map((row) => activityOf(name, row));
  return { id: found.id as number, run: { head, ...stateOf(parts, head.seq), inbox, activities } };
}

/** What rebuilds the state at a checkpoint that exists; anything missing on the way to it is damage. */
export function stateOf(
  rows: readonly Row[],
  seq: number,
): Pick<LoadedRun, "snapshot" | "entries" | "since"> {
  const found = rows.find(({ kind }) => kind === "snapshot");
  const snapshot = found && snapshotOf(found);
  const entries: EntryRow[] = rows.filter(({ kind }) => kind === "entry").map(entryOf);
  if (entries.length !== seq - (snapshot?.seq ?? 0)) throw new RangeError(`entries up to ${seq} are missing`);
  // A known checkpoint stands in the place of a snapshot, without bytes.
  if (found?.bytes === null) return { snapshot: undefined, entries, since: found.seq as number };
  return { snapshot, entries };
}
