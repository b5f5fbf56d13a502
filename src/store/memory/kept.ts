/** What the memory store keeps, and how it is put in order and copied. */
import type { LeaseRow } from "../lease.ts";
import {
  type ActivityRow,
  type ChunkRow,
  type ContentRow,
  type DeadLetterRow,
  type DocumentRow,
  type EntryRow,
  type InboxRow,
  type RunHead,
  type RunName,
  type SnapshotRow,
  snapshotsKept,
} from "../records.ts";
import type { LoadedRun, RunQuery } from "../store.ts";

export interface StoredRun {
  head: RunHead;
  entries: EntryRow[];
  snapshots: readonly SnapshotRow[];
  readonly inbox: Map<string, InboxRow>;
  /** Each key with the checkpoint of the step that took its event; none while that waits. */
  readonly seen: Map<string, number | undefined>;
  readonly activities: Map<string, { readonly row: ActivityRow; readonly epoch: number }>;
  readonly chunks: Map<string, Map<number, ChunkRow>>;
  /** Entries up to here were pruned. */
  pruned: number;
}

/** What was removed and is not deleted yet: a subject whose contents may go, and how many rows there are besides. */
export interface Removal {
  readonly tenant: string;
  readonly subject: string | undefined;
  rows: number;
}

export interface Kept {
  readonly runs: Map<string, StoredRun>;
  readonly contents: Map<string, ContentRow>;
  readonly documents: Map<string, DocumentRow>;
  readonly deadLetters: Map<number, DeadLetterRow>;
  readonly removals: Removal[];
  lettersLost: number;
  lease: LeaseRow;
}

export const nameOf = ({ tenant, run }: RunName): string => JSON.stringify([tenant, run]);

export function emptyRun(head: RunHead): StoredRun {
  return {
    head,
    entries: [],
    snapshots: [],
    inbox: new Map(),
    seen: new Map(),
    activities: new Map(),
    chunks: new Map(),
    pruned: 0,
  };
}

/** The newest ones, and those that are kept for good. */
export function withoutOld(snapshots: readonly SnapshotRow[]): readonly SnapshotRow[] {
  return snapshots.filter(({ kept }, index) => kept || index >= snapshots.length - snapshotsKept);
}

/** What rebuilds the state at a checkpoint. */
export function stateAt(run: StoredRun, seq: number): Pick<LoadedRun, "snapshot" | "entries"> {
  const snapshot = run.snapshots.findLast((kept) => kept.seq <= seq);
  const after = snapshot?.seq ?? 0;
  return { snapshot, entries: run.entries.filter((entry) => entry.seq > after && entry.seq <= seq) };
}

/** Keeps an event that no run takes, unless it may vanish. */
export function lose(kept: Kept, row: InboxRow, reason: DeadLetterRow["reason"]): void {
  if (row.expendable) return;
  kept.lettersLost++;
  kept.deadLetters.set(kept.lettersLost, copy({ ...row, number: kept.lettersLost, reason }));
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
