/** Changes that tools make to rows, inside the caller's transaction. */
import type { RunHead } from "../records.ts";
import { aboutOf, type Row } from "../rows.ts";
import { keyIn, numberIn } from "../tables.ts";
import type { Mending } from "../upkeep.ts";
import { placeOf } from "./find.ts";
import { type Ask, tables } from "./scan.ts";
import { shardedTables } from "./shards.ts";

/** One row of a run, put in the place of the one that has its key. */
interface Placed {
  readonly table: string;
  readonly key: readonly string[];
  readonly row: Readonly<Record<string, unknown>>;
}

/** Makes changes if the epoch is good, or if the lease is all there is to change; nobody owns the runs after it. */
export async function mendAll(
  ask: Ask,
  schema: string,
  changes: readonly Mending[],
  epoch: number,
): Promise<boolean> {
  // Runs before the lease, as everybody locks them (P1).
  const ids = changes.flatMap((change) => ("run" in change ? [numberIn(change.run)] : []));
  await ask(`SELECT 1 FROM ${schema}.run WHERE id = ANY($1) ORDER BY id FOR UPDATE`, [ids]);
  const [lease] = await ask(`SELECT owner, epoch FROM ${schema}.lease WHERE id = 1 FOR UPDATE`, []);
  const isOwned = lease !== undefined && lease.owner !== null && lease.epoch === epoch;
  if (!isOwned && changes.some(({ change }) => change !== "lease")) return false;
  for (const change of changes) await mend(ask, schema, change);
  await ask(`UPDATE ${schema}.lease SET owner = NULL WHERE id = 1`, []);
  return true;
}

async function mend(ask: Ask, schema: string, mending: Mending): Promise<void> {
  if (mending.change === "lease") return renewLease(ask, schema);
  if (mending.change === "remove") {
    const { name, key } = tables[mending.kind];
    const where = key.map((column, index) =>
      column === "place" ? `place = decode($${index + 1}, 'hex')` : `${column} = $${index + 1}`,
    );
    await ask(`DELETE FROM ${schema}.${name} WHERE ${where.join(" AND ")}`, keyIn(mending.place));
    return;
  }
  if (mending.change === "content" || mending.change === "document") return putBeside(ask, schema, mending);
  const id = numberIn(mending.run);
  const text = `SELECT tenant, run, subject, status, shard FROM ${schema}.run WHERE id = $1`;
  const [run] = await ask(text, [id]);
  if (run === undefined) return;
  if (mending.change === "set") {
    await setBack(ask, schema, id, mending.head);
    if (mending.pruned !== undefined)
      await ask(`UPDATE ${schema}.run SET pruned = $2 WHERE id = $1`, [id, mending.pruned]);
  } else if (mending.change === "rejoin") await rejoin(ask, schema, id);
  else if (mending.change === "forget") await forget(ask, schema, id, run);
  else if (mending.change === "prune") await cut(ask, schema, id, run, mending.seq);
  else await put(ask, schema, placedOf(id, run, mending));
}

/** What belongs to no run. Its keys are sums, which cannot be named as those of a conflict. */
async function putBeside(
  ask: Ask,
  schema: string,
  mending: Extract<Mending, { readonly change: "content" | "document" }>,
): Promise<void> {
  const { tenant } = mending;
  if (mending.change === "document") {
    const given = [tenant, mending.name, Buffer.from(mending.bytes)];
    const changed = await ask(
      `UPDATE ${schema}.document SET bytes = $3, version = version + 1
        WHERE ${schema}.name_key(tenant, name) = ${schema}.name_key($1, $2) RETURNING 1`,
      given,
    );
    if (changed.length === 0)
      await ask(
        `INSERT INTO ${schema}.document (tenant, name, version, bytes) VALUES ($1, $2, 1, $3)`,
        given,
      );
    return;
  }
  const { subject, content } = mending;
  await ask(
    `DELETE FROM ${schema}.content
      WHERE ${schema}.name_key(tenant, subject) = ${schema}.name_key($1, $2) AND digest = $3`,
    [tenant, subject, content.digest],
  );
  await ask(`INSERT INTO ${schema}.content (tenant, subject, digest, bytes) VALUES ($1, $2, $3, $4)`, [
    ...[tenant, subject, content.digest, Buffer.from(content.bytes)],
  ]);
}

type PutMending = Extract<Mending, { readonly change: "entry" | "snapshot" | "activity" | "key" }>;

function placedOf(id: number, run: Row, mending: PutMending): Placed {
  const { shard } = run;
  if (mending.change === "entry") {
    const { seq, at, digest, bytes } = mending.entry;
    const row = { run_id: id, shard, seq, at, digest, bytes: Buffer.from(bytes) };
    return { table: "entry", key: ["run_id", "seq", "shard"], row };
  }
  if (mending.change === "snapshot") {
    const { seq, bytes, kept = false } = mending.snapshot;
    return {
      table: "snapshot",
      key: ["run_id", "seq", "shard"],
      row: { run_id: id, shard, seq, kept, bytes: Buffer.from(bytes) },
    };
  }
  if (mending.change === "key") {
    const { key, seq = null } = mending.key;
    return { table: "seen_key", key: ["run_id", "key", "shard"], row: { run_id: id, shard, key, seq } };
  }
  const { key, activity, attempt, status, dueAt, bytes, report } = mending.activity;
  const row = {
    ...{ run_id: id, shard, key, activity, attempt, status, due_at: dueAt, epoch: 0 },
    open: run.status === "active",
    ...{ bytes: Buffer.from(bytes), report: report === undefined ? null : Buffer.from(report) },
  };
  return { table: "activity", key: ["run_id", "key", "shard"], row };
}

async function put(ask: Ask, schema: string, { table, key, row }: Placed): Promise<void> {
  const columns = Object.keys(row);
  const values = columns.map((_, index) => `$${index + 1}`);
  const set = columns
    .filter((column) => !key.includes(column))
    .map((column) => `${column} = excluded.${column}`);
  await ask(
    `INSERT INTO ${schema}.${table} (${columns.join(", ")}) VALUES (${values.join(", ")})
      ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${set.join(", ")}`,
    Object.values(row),
  );
}

async function setBack(ask: Ask, schema: string, id: number, head: RunHead): Promise<void> {
  const { tenant, run, subject, machine, status, createdAt, wakeAt, snapshotSeq, seq } = head;
  await ask(
    `UPDATE ${schema}.run SET tenant = $1, run = $2, subject = $3, machine = $4, status = $5, created_at = $6,
      wake_at = $7, snapshot_seq = $8, about = $9, shard = ${schema}.shard_of($1, $2) WHERE id = $10`,
    [tenant, run, subject, machine, status, createdAt, wakeAt ?? null, snapshotSeq, aboutOf(head), id],
  );
  for (const table of ["entry", "snapshot", "seen_key"])
    await ask(`DELETE FROM ${schema}.${table} WHERE run_id = $1 AND seq > $2`, [id, seq]);
  for (const table of ["inbox", "activity"])
    await ask(`UPDATE ${schema}.${table} SET open = $2 WHERE run_id = $1 AND open <> $2`, [
      id,
      status === "active",
    ]);
  await ask(`DELETE FROM ${schema}.attribute WHERE run_id = $1`, [id]);
  for (const [name, value] of Object.entries(head.attributes))
    await ask(
      `INSERT INTO ${schema}.attribute (shard, run_id, place, created_at, run)
        VALUES (${schema}.shard_of($4, $5), $1, decode($2, 'hex'), $3, $5)`,
      [id, placeOf(tenant, name, value), createdAt, tenant, run],
    );
  await putInShard(ask, schema, id);
}

/** The rows of a run go where the run's own row is. */
async function putInShard(ask: Ask, schema: string, id: number): Promise<void> {
  for (const table of shardedTables)
    await ask(
      `UPDATE ${schema}.${table} t SET shard = r.shard FROM ${schema}.run r
        WHERE r.id = $1 AND t.run_id = $1 AND t.shard <> r.shard`,
      [id],
    );
}

const described =
  "shard, tenant, run, subject, machine, status, created_at, wake_at, snapshot_seq, about, pruned";

async function rejoin(ask: Ask, schema: string, id: number): Promise<void> {
  const numbers = await ask(
    `SELECT DISTINCT run_id FROM ${schema}.entry WHERE run_id NOT IN (SELECT id FROM ${schema}.run)
      AND run_id NOT IN (SELECT m.run_id FROM ${schema}.removal m WHERE m.until IS NULL)`,
    [],
  );
  const own = await ask(`SELECT 1 FROM ${schema}.entry WHERE run_id = $1 LIMIT 1`, [id]);
  const [found] = numbers;
  if (own.length > 0 || numbers.length !== 1 || found === undefined) return;
  await ask(
    `WITH old AS (DELETE FROM ${schema}.run WHERE id = $1 RETURNING *)
      INSERT INTO ${schema}.run (id, ${described}) OVERRIDING SYSTEM VALUE SELECT $2, ${described} FROM old`,
    [id, found.run_id],
  );
  await putInShard(ask, schema, found.run_id as number);
}

async function cut(ask: Ask, schema: string, id: number, run: Row, seq: number): Promise<void> {
  await ask(`UPDATE ${schema}.run SET pruned = $2 WHERE id = $1`, [id, seq]);
  await ask(`UPDATE ${schema}.snapshot SET kept = true WHERE run_id = $1 AND seq = $2`, [id, seq]);
  await noteRemoval(ask, schema, id, run, seq);
}

async function forget(ask: Ask, schema: string, id: number, run: Row): Promise<void> {
  await ask("SELECT pg_advisory_xact_lock($1::regclass::oid::bigint)", [`${schema}.dead_letter`]);
  await ask(
    `INSERT INTO ${schema}.dead_letter (tenant, run, id, subject, key, priority, at, reason, bytes)
      SELECT $2, $3, id, subject, key, priority, at, 'missing', bytes FROM ${schema}.inbox
      WHERE run_id = $1 AND NOT expendable ORDER BY priority DESC, id`,
    [id, run.tenant, run.run],
  );
  await ask(`DELETE FROM ${schema}.run WHERE id = $1`, [id]);
  await noteRemoval(ask, schema, id, run, null);
}

async function noteRemoval(
  ask: Ask,
  schema: string,
  id: number,
  run: Row,
  until: number | null,
): Promise<void> {
  await ask(`INSERT INTO ${schema}.removal (run_id, tenant, subject, until) VALUES ($1, $2, $3, $4)`, [
    ...[id, run.tenant, run.subject, until],
  ]);
}

async function renewLease(ask: Ask, schema: string): Promise<void> {
  const [row] = await ask(
    `SELECT 1 + greatest((SELECT max(epoch) FROM ${schema}.lease), (SELECT max(epoch) FROM ${schema}.activity), 0) AS epoch`,
    [],
  );
  await ask(`DELETE FROM ${schema}.lease`, []);
  await ask(`INSERT INTO ${schema}.lease (id, epoch, owner, taken_at, until) VALUES (1, $1, NULL, 0, 0)`, [
    row?.epoch,
  ]);
}
