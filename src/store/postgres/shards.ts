/**
 * The shard in the key of every row that is a run's, and the journal in partitions if the store was told so.
 *
 * A run's shard follows from its name (`../shard.ts`) and never changes, so a row's key is as unique without it. It is in
 * the key since a database of several servers needs what it spreads rows by in every key, and stands at its end since a
 * row is looked for by its run. Partitions divide the journal by runs, and a run is in one of them; what they cost is in
 * `docs/decisions/0009-shards-and-partitions.md`.
 */
import { appendMany } from "./append.ts";
import { appendPieces } from "./chunk-functions.ts";
import { commitOfSharded } from "./commit-functions.ts";
import { deliver } from "./inbox-functions.ts";
import { sharded } from "./place.ts";
import { sweep } from "./upkeep-functions.ts";

/** The tables whose rows are a run's, the journal apart, and what their keys have besides run and shard. */
const rowsOfRuns: Readonly<Record<string, readonly string[]>> = {
  snapshot: ["seq"],
  attribute: ["place"],
  inbox: ["id"],
  seen_key: ["key"],
  activity: ["key"],
  chunk: ["key", '"offset"'],
};

/** The tables that have a row's shard in its key. */
export const shardedTables: readonly string[] = ["entry", ...Object.keys(rowsOfRuns)];

/** `partitions`: how many the journal has from now on, for good; one is a table that is not divided. */
export const shards = (schema: string, partitions: number): string => {
  const place = sharded(schema);
  // Whoever writes takes the runs first: nobody is half-way through while tables change.
  return `
  LOCK TABLE ${schema}.run IN ACCESS EXCLUSIVE MODE;
  ${runs(schema)}
  ${Object.entries(rowsOfRuns)
    .map(([table, key]) => rows(schema, table, key))
    .join("")}
  ${journal(schema, partitions)}
  DROP FUNCTION ${schema}.append_chunks;
  ${appendPieces(schema, place)}
  ${deliver(schema, place)}
  ${commitOfSharded(schema)}
  ${appendMany(schema)}
  ${sweep(schema, "CREATE OR REPLACE FUNCTION", "run_id = v_removal.run_id AND ")}
`;
};

/** The first byte of the name's sum is what `shardOf` computes. */
const runs = (schema: string): string => `
  CREATE FUNCTION ${schema}.shard_of(p_tenant text, p_run text) RETURNS smallint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT get_byte(${schema}.name_key(p_tenant, p_run), 0)::smallint
  $$;
  ALTER TABLE ${schema}.run ADD COLUMN shard smallint;
  UPDATE ${schema}.run SET shard = ${schema}.shard_of(tenant, run);
  ALTER TABLE ${schema}.run ALTER COLUMN shard SET NOT NULL, DROP CONSTRAINT run_pkey, ADD PRIMARY KEY (id, shard);
  DROP INDEX ${schema}.run_name;
  CREATE UNIQUE INDEX run_name ON ${schema}.run (${schema}.name_key(tenant, run), shard);
`;

/** Rows of runs that are gone wait to be swept, or are damage: any shard does for them. */
const shardOfRow = (schema: string, table: string): string =>
  `coalesce((SELECT r.shard FROM ${schema}.run r WHERE r.id = ${table}.run_id), 0)`;

const rows = (schema: string, table: string, key: readonly string[]): string => `
  ALTER TABLE ${schema}.${table} ADD COLUMN shard smallint;
  UPDATE ${schema}.${table} SET shard = ${shardOfRow(schema, table)};
  ALTER TABLE ${schema}.${table} ALTER COLUMN shard SET NOT NULL,
    DROP CONSTRAINT ${table}_pkey, ADD PRIMARY KEY (run_id, ${key.join(", ")}, shard);
`;

const journal = (schema: string, partitions: number): string => {
  if (partitions === 1) return rows(schema, "entry", ["seq"]);
  const parts = Array.from(
    { length: partitions },
    (_, part) => `
  CREATE TABLE ${schema}.entry_${part} PARTITION OF ${schema}.entry
    FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${part});`,
  );
  return `
  ALTER TABLE ${schema}.entry RENAME TO undivided;
  ALTER INDEX ${schema}.entry_pkey RENAME TO undivided_pkey;
  CREATE TABLE ${schema}.entry (
    run_id bigint NOT NULL,
    seq bigint NOT NULL,
    at double precision NOT NULL,
    digest text NOT NULL,
    bytes bytea NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (run_id, seq, shard)
  ) PARTITION BY HASH (run_id);
  ${parts.join("")}
  INSERT INTO ${schema}.entry (run_id, seq, at, digest, bytes, shard)
    SELECT run_id, seq, at, digest, bytes, ${shardOfRow(schema, "undivided")} FROM ${schema}.undivided;
  DROP TABLE ${schema}.undivided;
`;
};
