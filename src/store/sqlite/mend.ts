/** Changes that tools make to rows, inside the caller's transaction. */
import type { DatabaseSync } from "node:sqlite";
import type { RunHead } from "../records.ts";
import { aboutOf, type Row } from "../rows.ts";
import { keyIn, numberIn } from "../tables.ts";
import type { Mending } from "../upkeep.ts";
import { attributesOf, openFlag } from "./commit.ts";
import type { Statements } from "./queries.ts";
import { cut } from "./remove.ts";
import { tables } from "./scan.ts";

export function mend(database: DatabaseSync, statements: Statements, mending: Mending): void {
  if (mending.change === "lease") renewLease(database);
  else if (mending.change === "remove") {
    const { name, key } = tables[mending.kind];
    const where = key.map((column) => `${column} = ?`).join(" AND ");
    database.prepare(`DELETE FROM ${name} WHERE ${where}`).run(...keyIn(mending.place));
  } else if (mending.change === "content") {
    const { tenant, subject, content } = mending;
    database
      .prepare(
        `INSERT INTO content (tenant, subject, digest, bytes) VALUES (?, ?, ?, ?)
        ON CONFLICT (tenant, subject, digest) DO UPDATE SET bytes = excluded.bytes`,
      )
      .run(tenant, subject, content.digest, content.bytes);
  } else if (mending.change === "document") {
    database
      .prepare(
        `INSERT INTO document (tenant, name, version, bytes) VALUES (?, ?, 1, ?)
        ON CONFLICT (tenant, name) DO UPDATE SET bytes = excluded.bytes, version = version + 1`,
      )
      .run(mending.tenant, mending.name, mending.bytes);
  } else mendRun(database, statements, mending);
}

type RunMending = Extract<Mending, { readonly run: string }>;

function mendRun(database: DatabaseSync, statements: Statements, mending: RunMending): void {
  const id = numberIn(mending.run);
  const row = database.prepare("SELECT tenant, run, subject, status FROM run WHERE id = ?").get(id);
  if (row === undefined) return;
  if (mending.change === "set") {
    setBack(database, id, row, mending.head);
    if (mending.pruned !== undefined) statements.pruneRun.run(mending.pruned, id);
  } else if (mending.change === "rejoin") rejoin(database, id);
  else if (mending.change === "forget") forget(database, statements, id, row);
  else if (mending.change === "prune") cut(statements, id, row as never, mending.seq);
  else if (mending.change === "entry") {
    const { seq, at, digest, bytes } = mending.entry;
    database
      .prepare(
        `INSERT INTO entry (run_id, seq, at, digest, bytes) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (run_id, seq) DO UPDATE SET at = excluded.at, digest = excluded.digest, bytes = excluded.bytes`,
      )
      .run(id, seq, at, digest, bytes);
  } else if (mending.change === "snapshot") {
    const { seq, bytes, kept } = mending.snapshot;
    database
      .prepare(
        `INSERT INTO snapshot (run_id, seq, bytes, kept) VALUES (?, ?, ?, ?)
        ON CONFLICT (run_id, seq) DO UPDATE SET bytes = excluded.bytes, kept = excluded.kept`,
      )
      .run(id, seq, bytes, kept ? 1 : 0);
  } else if (mending.change === "key") {
    database
      .prepare(
        `INSERT INTO seen_key (run_id, key, seq) VALUES (?, ?, ?)
        ON CONFLICT (run_id, key) DO UPDATE SET seq = excluded.seq`,
      )
      .run(id, mending.key.key, mending.key.seq ?? null);
  } else {
    const { key, activity, attempt, status, dueAt, bytes, report } = mending.activity;
    statements.writeActivity.run(
      ...[id, key, activity, attempt, status, dueAt, 0, openFlag(row as unknown as RunHead)],
      ...[bytes, report ?? null],
    );
  }
}

function setBack(database: DatabaseSync, id: number, before: Row, head: RunHead): void {
  const { tenant, run, subject, machine, status, createdAt, wakeAt, snapshotSeq, fork, seq } = head;
  database
    .prepare(
      `UPDATE run SET tenant = ?, run = ?, subject = ?, machine = ?, status = ?, created_at = ?, wake_at = ?,
        snapshot_seq = ?, about = ?, fork_run = ?, fork_seq = ? WHERE id = ?`,
    )
    .run(
      ...[tenant, run, subject, machine, status, createdAt, wakeAt ?? null, snapshotSeq, aboutOf(head)],
      ...[fork?.run ?? null, fork?.seq ?? null, id],
    );
  for (const table of ["entry", "snapshot", "seen_key"])
    database.prepare(`DELETE FROM ${table} WHERE run_id = ? AND seq > ?`).run(id, seq);
  for (const table of ["inbox", "activity"])
    database.prepare(`UPDATE ${table} SET open = ? WHERE run_id = ? AND open <> ?1`).run(openFlag(head), id);
  forgetAttributes(database, before);
  const insert = database.prepare("INSERT INTO attribute VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  for (const attribute of attributesOf(head)) insert.run(...attribute);
}

function rejoin(database: DatabaseSync, id: number): void {
  const numbers = database
    .prepare(
      `SELECT DISTINCT run_id FROM entry WHERE run_id NOT IN (SELECT id FROM run)
        AND run_id NOT IN (SELECT run_id FROM removal WHERE until IS NULL)`,
    )
    .all();
  const hasEntries = database.prepare("SELECT 1 FROM entry WHERE run_id = ?").get(id) !== undefined;
  const [found] = numbers;
  if (hasEntries || numbers.length !== 1 || found === undefined) return;
  database.prepare("UPDATE run SET id = ? WHERE id = ?").run(found.run_id as number, id);
}

/** Whatever they are: the run may not be able to tell any more. */
function forgetAttributes(database: DatabaseSync, { tenant, run }: Row): void {
  database.prepare("DELETE FROM attribute WHERE tenant = ? AND run = ?").run(tenant as string, run as string);
}

function forget(database: DatabaseSync, statements: Statements, id: number, row: Row): void {
  database
    .prepare(
      `INSERT INTO dead_letter (tenant, run, id, subject, key, priority, at, reason, bytes)
        SELECT ?, ?, id, subject, key, priority, at, 'missing', bytes FROM inbox
        WHERE run_id = ? AND expendable = 0 ORDER BY priority DESC, id`,
    )
    .run(row.tenant as string, row.run as string, id);
  forgetAttributes(database, row);
  statements.deleteRun.run(id);
  statements.insertRemoval.run(id, row.tenant as string, row.subject as string, null);
}

function renewLease(database: DatabaseSync): void {
  const epoch = database
    .prepare(
      `SELECT 1 + max(coalesce((SELECT max(epoch) FROM lease), 0), coalesce((SELECT max(epoch) FROM activity), 0)) AS epoch`,
    )
    .get()?.epoch as number;
  database.exec("DELETE FROM lease");
  database.prepare("INSERT INTO lease (id, epoch, taken_at, until) VALUES (1, ?, 0, 0)").run(epoch);
}
