/** Between records and rows: which field of a record is which column, in both directions. */
import type { SQLOutputValue } from "node:sqlite";
import type { ActivityRow, ChunkRow, EntryRow, InboxRow, RunHead, RunName } from "../records.ts";

/** What SQLite hands out. Tables are strict, so a column has its declared type. */
export type Row = Record<string, SQLOutputValue>;

/** The part of a head that nothing is searched by; `attributes` stand in their own table as well. */
type About = Pick<RunHead, "version" | "hash" | "completedAt" | "attributes" | "parent" | "fork">;

export function aboutOf({ version, hash, completedAt, attributes, parent, fork }: RunHead): string {
  return JSON.stringify({ version, hash, completedAt, attributes, parent, fork });
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

/** Entries come as lists. */
export function entryOf(row: unknown): EntryRow {
  const [seq, at, digest, bytes] = row as [number, number, string, Uint8Array];
  return { seq, at, digest, bytes };
}

export function eventOf({ tenant, run }: RunName, row: Row): InboxRow {
  const { id, priority, at, bytes } = row as unknown as InboxRow;
  return { tenant, run, id, ...(row.key === null ? {} : { key: row.key as string }), priority, at, bytes };
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
