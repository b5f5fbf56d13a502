/** What rebuilds the state of a run; anything missing on the way to a checkpoint that exists is damage. */
import type { EntryRow, RunHead } from "../records.ts";
import { snapshotOf } from "../rows.ts";
import type { KnownCheckpoint, LoadedRun } from "../store.ts";
import { corrupt } from "./errors.ts";
import type { Statements } from "./queries.ts";

/** What rebuilds the state at a checkpoint that exists. */
export function stateAt(
  statements: Statements,
  path: string,
  id: number,
  seq: number,
): Pick<LoadedRun, "snapshot" | "entries"> {
  const row = statements.readSnapshot.get(id, seq);
  const snapshot = row && snapshotOf(row);
  return { snapshot, entries: entriesAfter(statements, path, id, [snapshot?.seq ?? 0, seq]) };
}

/** What leads from a known checkpoint to the newest one; undefined if it must be read as ever. */
export function stateSince(
  statements: Statements,
  path: string,
  { id, head }: { readonly id: number; readonly head: RunHead },
  { seq, digest }: KnownCheckpoint,
): Pick<LoadedRun, "snapshot" | "entries" | "since"> | undefined {
  const pruned = statements.readRunStatus.get(head.tenant, head.run)?.pruned as number;
  if (seq <= pruned || head.snapshotSeq > seq) return undefined;
  const [there] = statements.readEntries.all(id, seq, seq, 1).map(entryOf);
  if (there?.digest !== digest) return undefined;
  return { snapshot: undefined, entries: entriesAfter(statements, path, id, [seq, head.seq]), since: seq };
}

function entriesAfter(
  statements: Statements,
  path: string,
  id: number,
  [after, upTo]: readonly [number, number],
): EntryRow[] {
  const entries = statements.readEntries.all(id, after + 1, upTo, -1).map(entryOf);
  if (entries.length !== upTo - after) throw corrupt(path, `entries up to ${upTo} are missing`);
  return entries;
}

/** Entries come as lists; see `prepareQueries`. */
export function entryOf(row: unknown): EntryRow {
  const [seq, at, digest, bytes] = row as [number, number, string, Uint8Array];
  return { seq, at, digest, bytes };
}
