/**
 * The short way to commit. Nearly all commits do nothing but append entries to runs that are known: many entries are one
 * call of a function, a single one is a plain statement, which the server prepares once for a connection and which takes
 * little longer than an insert. All of it is written or nothing.
 *
 * A1. It locks and asks what `commit` locks and asks, in the same order: the runs by number, then the lease. That a run is
 *     at the checkpoint it was known at is told by the journal's key, and that it is not far past it, with entries
 *     pruned, by how far that went. Whatever is not as expected is left to `commit`, which finds out what it is.
 * A2. A prepared statement is state of a connection, and a pooler may give the next call another one. The name has a sum
 *     of the text, so nothing else can be found under it; where it is not found nothing was done, and the function is
 *     called instead from then on.
 */
import { hash } from "node:crypto";
import type { KnownRun } from "../known.ts";
import type { EntryRow } from "../records.ts";
import { shardOf } from "../shard.ts";
import { bigints, byteArrays, doubles, texts } from "./arrays.ts";
import { type PostgresPool, types } from "./connect.ts";
import { isMissing, isTaken, isUndone, isUnprepared } from "./errors.ts";
import { goodEpoch } from "./fence.ts";
import { steadyPlans } from "./place.ts";

/** The entries of runs, each run's one after the other. */
export interface Appended {
  readonly epoch: number;
  readonly runs: readonly KnownRun[];
  /** The number of each entry's run. */
  readonly ids: readonly number[];
  readonly entries: readonly EntryRow[];
}

export class Appending {
  readonly #one: { readonly name: string; readonly text: string };
  readonly #many: string;
  /** Whether statements can be prepared. */
  #prepares = true;

  /** For a schema, whose name is quoted. */
  constructor(schema: string) {
    const text = appendOne(schema);
    this.#one = { name: `holdfast.commit(${hash("sha256", text, "hex").slice(0, 32)})`, text };
    this.#many = `SELECT ${schema}.append($1, $2, $3, $4, $5, $6, $7, $8) AS appended`;
  }

  /** Whether the entries were written. If not, nothing was. `full`: once they are, they are on disk. */
  async append(pool: Pick<PostgresPool, "query">, full: boolean, appended: Appended): Promise<boolean> {
    try {
      if (this.#prepares && appended.entries.length === 1) {
        const { rowCount } = await pool.query({
          ...this.#one,
          values: [full, ...valuesOfOne(appended)],
          types,
        });
        return rowCount === 1;
      }
      const values = [full, ...valuesOfMany(appended)];
      const { rows } = await pool.query({ text: this.#many, values, types });
      return rows[0]?.appended === true;
    } catch (error) {
      if (isUnprepared(error)) {
        this.#prepares = false;
        return this.append(pool, full, appended);
      }
      if (isTaken(error) || isMissing(error) || isUndone(error)) return false;
      throw error;
    }
  }
}

function valuesOfOne({ epoch, runs, ids, entries }: Appended): unknown[] {
  const [{ seq, at, digest, bytes }] = entries as [EntryRow];
  return [epoch, ids[0], shardOf((runs[0] as KnownRun).head), seq, at, digest, bytes];
}

function valuesOfMany({ epoch, runs, ids, entries }: Appended): unknown[] {
  return [
    epoch,
    runs.length,
    bigints(ids),
    bigints(entries.map(({ seq }) => seq)),
    doubles(entries.map(({ at }) => at)),
    texts(entries.map(({ digest }) => digest)),
    byteArrays(entries.map(({ bytes }) => bytes)),
  ];
}

/** What `guard` sees to: transactions that are read committed, and on disk when they end. */
const guarded = `(current_setting('transaction_isolation') = 'read committed' AND CASE
    WHEN $1 AND current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
    THEN set_config('synchronous_commit', 'on', true) = 'on' ELSE true END)`;

/**
 * The whole key of the run is given, so that no statistics can talk the server out of its index. Whether it is locked is
 * asked before the lease is looked at: that keeps the order.
 */
export const appendOne = (schema: string): string => `
  WITH locked AS MATERIALIZED (SELECT shard, id FROM ${schema}.run
    WHERE id = $3::bigint AND shard = $4::smallint AND pruned < $5::bigint FOR NO KEY UPDATE),
  owned AS MATERIALIZED (SELECT ${goodEpoch(schema, "$2::bigint AND EXISTS (SELECT FROM locked)")})
  INSERT INTO ${schema}.entry (shard, run_id, seq, at, digest, bytes)
    SELECT shard, id, $5::bigint, $6::float8, $7::text, $8::bytea FROM locked
    WHERE ${guarded} AND EXISTS (SELECT FROM owned)`;

/**
 * The function for many. Its plans are made once for a connection, and do not depend on how large tables were then. An entry
 * that was pruned has no shard to go to.
 */
export const appendMany = (schema: string, create = "CREATE FUNCTION"): string => `
  ${create} ${schema}.append(
    p_full boolean, p_epoch bigint, p_runs bigint, p_ids bigint[], p_seqs bigint[], p_ats float8[], p_digests text[],
    p_bytes bytea[]
  ) RETURNS boolean LANGUAGE plpgsql ${steadyPlans} AS $$
  DECLARE
    v_locked bigint;
  BEGIN
    PERFORM ${schema}.guard(p_full);
    PERFORM 1 FROM ${schema}.run WHERE id = ANY(p_ids) ORDER BY id FOR NO KEY UPDATE;
    GET DIAGNOSTICS v_locked = ROW_COUNT;
    PERFORM ${goodEpoch(schema, "p_epoch")};
    IF NOT FOUND OR v_locked <> p_runs THEN RETURN false; END IF;
    INSERT INTO ${schema}.entry (shard, run_id, seq, at, digest, bytes)
      SELECT (SELECT r.shard FROM ${schema}.run r WHERE r.id = e.id AND r.pruned < e.seq), e.id, e.seq, e.at, e.digest, e.bytes
      FROM unnest(p_ids, p_seqs, p_ats, p_digests, p_bytes) e(id, seq, at, digest, bytes);
    RETURN true;
  END $$;
`;
