/** Between records and rows: which field of a record is which column, in both directions and in every database. */
import type { Outage } from "../core/timer.ts";
import type { LeaseRow } from "./lease.ts";
import type {
  ActivityRow,
  ChunkRow,
  DeadLetterRow,
  EntryRow,
  InboxRow,
  RunHead,
  RunName,
  SeenKey,
  SnapshotRow,
} from "./records.ts";

/** What a database hands out. A column has the type it was declared with, and is null where there is nothing. */
export type Row = Readonly<Record<string, unknown>>;

/** The part of a head that nothing is searched by; `attributes` stand in their own table as well. */
type About = Pick<
  RunHead,
  "version" | "hash" | "completedAt" | "limits" | "spent" | "attributes" | "parent" | "fork" | "debug"
>;

export function aboutOf(head: RunHead): string {
  const { version, hash, completedAt, limits, spent, attributes, parent, fork, debug } = head;
  return JSON.stringify({
    version,
    hash,
    completedAt,
    limits,
    spent,
    attributes,
    parent,
    fork,
    debug,
  } satisfies {
    [Field in keyof About]: About[Field] | undefined;
  });
}

export function headOf(row: Row): RunHead {
  const { tenant, run, subject, machine, status, seq, digest } = row as unknown as RunHead;
  return {
    tenant,
    run,
    subject,
    machine,
    status,
    seq,
    digest,
    snapshotSeq: row.snapshot_seq as number,
    createdAt: row.created_at as number,
    updatedAt: row.at as number,
    ...(row.wake_at === null ? {} : { wakeAt: row.wake_at as number }),
    ...(JSON.parse(row.about as string) as About),
  };
}

export function entryOf(row: Row): EntryRow {
  const { seq, at, digest, bytes } = row as unknown as EntryRow;
  return { seq, at, digest, bytes };
}

export function snapshotOf(row: Row): SnapshotRow {
  const { seq, bytes } = row as unknown as SnapshotRow;
  return { seq, bytes, ...(row.kept ? { kept: true } : {}) };
}

export function eventOf({ tenant, run }: RunName, row: Row): InboxRow {
  const { id, subject, priority, at, bytes } = row as unknown as InboxRow;
  const key = row.key === null ? {} : { key: row.key as string };
  return {
    tenant,
    run,
    id,
    subject,
    ...key,
    ...(row.expendable ? { expendable: true } : {}),
    priority,
    at,
    bytes,
  };
}

export function seenKeyOf(row: Row): SeenKey {
  return { key: row.key as string, ...(row.seq === null ? {} : { seq: row.seq as number }) };
}

export function deadLetterOf(row: Row): DeadLetterRow {
  const { tenant, run, number, reason } = row as unknown as DeadLetterRow;
  return { ...eventOf({ tenant, run }, row), number, reason };
}

export function activityOf({ tenant, run }: RunName, row: Row): ActivityRow {
  const { key, activity, attempt, status, bytes } = row as unknown as ActivityRow;
  const report = row.report === null ? {} : { report: row.report as Uint8Array };
  return { tenant, run, key, activity, attempt, status, dueAt: row.due_at as number, bytes, ...report };
}

export function chunkOf(row: Row): ChunkRow {
  const { offset, attempt, bytes } = row as unknown as ChunkRow;
  return { offset, attempt, bytes };
}

/** Throws if its outages are not what they should be: nothing else tells that they were damaged. */
export function leaseOf(row: Row): LeaseRow {
  return {
    owner: (row.owner as string | null) ?? undefined,
    epoch: row.epoch as number,
    from: row.taken_at as number,
    until: row.until as number,
    outages: (JSON.parse(row.outages as string) as Outage[]).map(outageOf),
  };
}

function outageOf(outage: Outage): Outage {
  const { from, until } = outage;
  if (Number.isFinite(from) && Number.isFinite(until)) return { from, until };
  throw new SyntaxError(`${JSON.stringify(outage)} is no outage`);
}
