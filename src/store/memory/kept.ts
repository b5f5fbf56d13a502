/** How what the memory store keeps is named, chosen, put in order and copied. */
import {
  type DeadLetterRow,
  type InboxRow,
  type RunHead,
  type RunName,
  type SnapshotRow,
  snapshotsKept,
} from "../records.ts";
import type { KnownCheckpoint, LoadedRun, RunQuery } from "../store.ts";
import type { StoredRun, Tables } from "./tables.ts";

export const nameOf = ({ tenant, run }: RunName): string => JSON.stringify([tenant, run]);

/** The newest ones, and those that are kept for good. */
export function withoutOld(snapshots: readonly SnapshotRow[]): readonly SnapshotRow[] {
  return snapshots.filter(({ kept }, index) => kept || index >= snapshots.length - snapshotsKept);
}

/** What rebuilds the state at a checkpoint. */
export function stateAt(run: StoredRun, seq: number): Pick<LoadedRun, "snapshot" | "entries"> {
  const snapshot = run.snapshots.findLast((kept) => kept.seq <= seq);
  const after = snapshot?.seq ?? 0;
  return { snapshot, entries: run.entries.read(after + 1, seq, Number.POSITIVE_INFINITY) };
}

/** What leads from a known checkpoint to the newest one; undefined if it must be read as ever. */
export function stateSince(
  { head, entries }: StoredRun,
  { seq, digest }: KnownCheckpoint,
): Pick<LoadedRun, "snapshot" | "entries" | "since"> | undefined {
  const [there] = entries.read(seq, seq, 1);
  if (there?.digest !== digest || head.snapshotSeq > seq) return undefined;
  return {
    snapshot: undefined,
    entries: entries.read(seq + 1, head.seq, Number.POSITIVE_INFINITY),
    since: seq,
  };
}

/** Keeps an event that no run takes, unless it may vanish. */
export function lose(tables: Tables, row: InboxRow, reason: DeadLetterRow["reason"]): void {
  if (row.expendable) return;
  tables.lettersLost++;
  tables.deadLetters.set(tables.lettersLost, copy({ ...row, number: tables.lettersLost, reason }));
}

/** As they are taken: the highest priority first, then by id. */
export function inOrder(rows: Iterable<InboxRow>): InboxRow[] {
  return [...rows].sort((one, other) => other.priority - one.priority || compareText(one.id, other.id));
}

export function newestFirst(one: Place, other: Place): number {
  return other.createdAt - one.createdAt || compareText(other.run, one.run);
}

type Place = NonNullable<RunQuery["after"]>;

export function fits(head: RunHead, query: RunQuery): boolean {
  const { tenant, subject, machine, status, createdFrom, createdBefore, attributes = {} } = query;
  return (
    head.tenant === tenant &&
    (subject === undefined || head.subject === subject) &&
    (machine === undefined || head.machine === machine) &&
    (status === undefined || head.status === status) &&
    (createdFrom === undefined || head.createdAt >= createdFrom) &&
    (createdBefore === undefined || head.createdAt < createdBefore) &&
    Object.entries(attributes).every(
      ([name, value]) => Object.hasOwn(head.attributes, name) && head.attributes[name] === value,
    )
  );
}

/** By code point, as databases do it; JavaScript's own order is by UTF-16 unit. */
export function compareText(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** A frozen copy, without fields that are undefined. Bytes cannot be frozen, but these are nobody else's. */
export function copy<Value>(value: Value): Value {
  if (value instanceof Uint8Array) return new Uint8Array(value) as Value;
  if (Array.isArray(value)) return Object.freeze(value.map(copy)) as Value;
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.freeze(Object.fromEntries(fields.map(([name, field]) => [name, copy(field)]))) as Value;
}
