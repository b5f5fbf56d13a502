/**
 * Between records and what stands in the files: bytes are shown, and a row does not repeat the name of the run in whose
 * file it is. On the way in every field is looked at: people edit these files.
 */
import type { Outage } from "../../core/timer.ts";
import type { LeaseRow } from "../lease.ts";
import type { ActivityOfEpoch, Removal } from "../memory/tables.ts";
import type {
  ChunkRow,
  ContentRow,
  DeadLetterRow,
  DocumentRow,
  EntryRow,
  InboxRow,
  RunHead,
  RunName,
  SeenKey,
  SnapshotRow,
} from "../records.ts";
import { Fields } from "./fields.ts";
import { hide, show } from "./shown.ts";

export function headOf(value: unknown): RunHead {
  const fields = new Fields(value);
  return Object.freeze({
    tenant: fields.text("tenant"),
    run: fields.text("run"),
    subject: fields.text("subject"),
    machine: fields.text("machine"),
    version: fields.number("version"),
    hash: fields.text("hash"),
    status: fields.choice("status", ["active", "parked", "done", "failed", "cancelled"]),
    seq: fields.count("seq"),
    digest: fields.text("digest"),
    snapshotSeq: fields.count("snapshotSeq"),
    createdAt: fields.number("createdAt"),
    updatedAt: fields.number("updatedAt"),
    ...fields.optional("completedAt", fields.number),
    ...fields.optional("wakeAt", fields.number),
    ...fields.optional("limits", fields.object<NonNullable<RunHead["limits"]>>),
    ...fields.optional("spent", fields.object<NonNullable<RunHead["spent"]>>),
    attributes: fields.object<RunHead["attributes"]>("attributes"),
    ...fields.optional("parent", fields.object<NonNullable<RunHead["parent"]>>),
    ...fields.optional("debug", fields.object<NonNullable<RunHead["debug"]>>),
    ...fields.optional("fork", fields.object<NonNullable<RunHead["fork"]>>),
  });
}

/** An entry as a line of its journal; the checkpoint comes first, where `lines.ts` looks for it. */
export function showEntry({ seq, at, digest, bytes }: EntryRow): object {
  return { seq, at, digest, ...show(bytes) };
}

export function entryOf(value: unknown): EntryRow {
  const fields = new Fields(value);
  return {
    seq: fields.count("seq"),
    at: fields.number("at"),
    digest: fields.text("digest"),
    bytes: hide(value),
  };
}

/** The checkpoint of an entry, by how its line begins. */
export function seqOf(beginning: string): number {
  const [, digits] = /^\{"seq":(\d+),/.exec(beginning) ?? [];
  if (digits === undefined) throw new Error(`a line begins with ${beginning.slice(0, 20)}`);
  return Number(digits);
}

export function showSnapshot({ seq, bytes }: SnapshotRow): object {
  return { seq, ...show(bytes) };
}

export function showEvent({ tenant: _tenant, run: _run, bytes, ...row }: InboxRow): object {
  return { ...row, ...show(bytes) };
}

export function eventOf({ tenant, run }: RunName, value: unknown): InboxRow {
  const fields = new Fields(value);
  return {
    tenant,
    run,
    id: fields.text("id"),
    subject: fields.text("subject"),
    ...fields.optional("key", fields.text),
    ...(fields.flag("expendable") ? { expendable: true } : {}),
    priority: fields.number("priority"),
    at: fields.number("at"),
    bytes: hide(value),
  };
}

export function seenKeyOf(value: unknown): SeenKey {
  const fields = new Fields(value);
  return { key: fields.text("key"), ...fields.optional("seq", fields.count) };
}

export function showActivity({ row, epoch }: ActivityOfEpoch): object {
  const { tenant: _tenant, run: _run, bytes, report, ...rest } = row;
  return { ...rest, epoch, ...show(bytes), ...(report === undefined ? {} : { report: show(report) }) };
}

export function activityOf({ tenant, run }: RunName, value: unknown): ActivityOfEpoch {
  const fields = new Fields(value);
  const row = {
    tenant,
    run,
    key: fields.text("key"),
    activity: fields.text("activity"),
    attempt: fields.count("attempt"),
    status: fields.choice("status", ["waiting", "running"]),
    dueAt: fields.number("dueAt"),
    bytes: hide(value),
    ...fields.optional("report", (name) => hide(fields.object(name))),
  };
  return { row, epoch: fields.count("epoch") };
}

export function showLetter({ bytes, ...row }: DeadLetterRow): object {
  return { ...row, ...show(bytes) };
}

export function letterOf(value: unknown): DeadLetterRow {
  const fields = new Fields(value);
  const name = { tenant: fields.text("tenant"), run: fields.text("run") };
  return {
    ...eventOf(name, value),
    number: fields.count("number"),
    reason: fields.choice("reason", ["missing", "ended"]),
  };
}

export function showChunk(key: string, { offset, attempt, bytes }: ChunkRow): object {
  return { key, offset, attempt, ...show(bytes) };
}

/** With whose it is: names that are too long cannot be told from where the file is. */
export function showContent(tenant: string, subject: string, { digest, bytes }: ContentRow): object {
  return { tenant, subject, digest, ...show(bytes) };
}

export function contentOf(value: unknown): ContentRow {
  return { digest: new Fields(value).text("digest"), bytes: hide(value) };
}

export function showDocument(tenant: string, name: string, { version, bytes }: DocumentRow): object {
  return { tenant, name, version, ...show(bytes) };
}

export function documentOf(value: unknown): DocumentRow {
  return { version: new Fields(value).count("version"), bytes: hide(value) };
}

export function removalOf(value: unknown): Removal {
  const fields = new Fields(value);
  return {
    tenant: fields.text("tenant"),
    subject: fields.optional("subject", fields.text).subject,
    rows: fields.number("rows"),
  };
}

export function leaseOf(value: unknown): LeaseRow {
  const fields = new Fields(value);
  return {
    owner: fields.optional("owner", fields.text).owner,
    epoch: fields.count("epoch"),
    from: fields.number("from"),
    until: fields.number("until"),
    // Before there was a place for them nobody noted any.
    outages: (fields.optional("outages", fields.list).outages ?? []).map(outageOf),
  };
}

function outageOf(value: unknown): Outage {
  const fields = new Fields(value);
  return { from: fields.number("from"), until: fields.number("until") };
}
