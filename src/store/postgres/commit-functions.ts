/**
 * The commit of a batch. See `functions.ts` for how it is called.
 *
 * C1. Whatever can refuse an item is asked once its runs are locked and before the first write of any item. Only a new
 *     run's name can still turn out to be taken, by a run that began meanwhile; what that item began is then removed.
 * C2. Items are flat: a commit and all that begins with it stand one after the other, and `p_roots` says whose they are.
 *     They are numbered from one. An item without a number of its run, or with a change to its row, has its head in
 *     `p_beside`; a step that changes nothing but where its run stands is one row of `entry`.
 */
import { snapshotsKept } from "../records.ts";
import { goodEpoch } from "./fence.ts";
import { type Place, sharded, steadyPlans, unsharded } from "./place.ts";

export const commitFunctions = (schema: string): string =>
  `${refuse(schema)}${describe(schema)}${writeBeside(schema)}${begin(schema)}${commitParts(schema)}${commit(schema)}`;

/** What stands against the items of a commit, the first reason of each, in the order the port gives. */
const refuse = (schema: string, create = "CREATE FUNCTION", forks = ""): string => `
  ${create} ${schema}.refuse(
    p_roots int[], p_ids bigint[], p_expects bigint[], p_seqs bigint[], p_epochs bigint[], p_beside jsonb
  ) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_good bigint[] := '{}';
    v_epoch bigint;
  BEGIN
    FOR v_epoch IN SELECT DISTINCT epoch FROM unnest(p_epochs) e(epoch) ORDER BY epoch LOOP
      PERFORM ${goodEpoch(schema, "v_epoch")};
      IF FOUND THEN v_good := v_good || v_epoch; END IF;
    END LOOP;
    SELECT epoch INTO v_epoch FROM ${schema}.lease WHERE id = 1;
    RETURN (SELECT jsonb_agg(to_jsonb(first)) FROM (
      SELECT DISTINCT ON (root) root, outcome, item, p_seqs[item::int] AS seq, key, v_epoch AS epoch FROM (
        SELECT i.root, 1 AS rank, i.item, 'fenced' AS outcome, NULL AS key, 0 AS place
          FROM unnest(p_roots, p_epochs) WITH ORDINALITY i(root, epoch, item)
          WHERE i.epoch <> ALL(v_good)
        UNION ALL SELECT i.root, 2, i.item, 'conflict', NULL, 0
          FROM unnest(p_roots, p_expects, p_seqs) WITH ORDINALITY i(root, expect, seq, item)
          WHERE i.seq <> i.expect
        UNION ALL SELECT p_roots[c.item], 3, c.item, 'conflict', NULL, 0
          FROM jsonb_to_recordset(p_beside -> 'consumed') c(item int, id text)
          WHERE NOT EXISTS (SELECT 1 FROM ${schema}.inbox b WHERE b.run_id = p_ids[c.item] AND b.id = c.id)${forks}
        UNION ALL SELECT p_roots[k.item], 4, k.item, 'duplicate', k.key, k.place
          FROM ROWS FROM (jsonb_to_recordset(p_beside -> 'keys') AS (item int, key text))
            WITH ORDINALITY k(item, key, place)
          WHERE EXISTS (SELECT 1 FROM ${schema}.seen_key s WHERE s.run_id = p_ids[k.item] AND s.key = k.key)
      ) reason ORDER BY root, rank, item, place
    ) first);
  END $$;
`;

/** Brings the rows of runs that were there before up to date, and the attributes of all. */
const describe = (schema: string, { create, columns, of }: Place = unsharded): string => `
  ${create} ${schema}.describe(p_ids bigint[], p_ok boolean[], p_expects bigint[], p_heads jsonb)
  RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    v_turned bigint[];
  BEGIN
    SELECT array_agg(r.id) INTO v_turned
      FROM jsonb_to_recordset(p_heads) h(item int, status text) JOIN ${schema}.run r ON r.id = p_ids[h.item]
      WHERE p_ok[h.item] AND (r.status = 'active') <> (h.status = 'active');
    UPDATE ${schema}.run r SET subject = h.subject, machine = h.machine, status = h.status,
        created_at = h.created_at, wake_at = h.wake_at, snapshot_seq = h.snapshot_seq, about = h.about
      FROM jsonb_to_recordset(p_heads) h(item int, subject text, machine text, status text,
        created_at float8, wake_at float8, snapshot_seq bigint, about text)
      WHERE r.id = p_ids[h.item] AND p_ok[h.item] AND p_expects[h.item] > 0;
    DELETE FROM ${schema}.attribute a
      USING jsonb_to_recordset(p_heads) h(item int, created_at float8, places jsonb)
      WHERE a.run_id = p_ids[h.item] AND p_ok[h.item]
        AND (a.created_at <> h.created_at OR NOT h.places ? encode(a.place, 'hex'));
    INSERT INTO ${schema}.attribute (${columns}, place, created_at, run)
      SELECT ${of("p_ids[h.item]")}, decode(place, 'hex'), h.created_at, h.run
      FROM jsonb_to_recordset(p_heads) h(item int, run text, created_at float8, places jsonb),
        jsonb_array_elements_text(h.places) place
      WHERE p_ok[h.item] ON CONFLICT DO NOTHING;
    IF v_turned IS NULL THEN RETURN; END IF;
    UPDATE ${schema}.inbox i SET open = r.status = 'active'
      FROM ${schema}.run r WHERE r.id = i.run_id AND i.run_id = ANY(v_turned);
    UPDATE ${schema}.activity a SET open = r.status = 'active'
      FROM ${schema}.run r WHERE r.id = a.run_id AND a.run_id = ANY(v_turned);
  END $$;
`;

/** Snapshots as the first versions kept them: the newest ones of each run. */
const writeSnapshots = (schema: string): string => `
      INSERT INTO ${schema}.snapshot (run_id, seq, bytes)
        SELECT p_ids[s.item], s.seq, substring(p_bytes FROM s."offset" FOR s.size)
        FROM jsonb_to_recordset(p_beside -> 'snapshots') s(item int, seq bigint, "offset" int, size int)
        WHERE p_ok[s.item];
      DELETE FROM ${schema}.snapshot o USING jsonb_to_recordset(p_beside -> 'snapshots') s(item int)
        WHERE p_ok[s.item] AND o.run_id = p_ids[s.item] AND o.seq <= (SELECT k.seq FROM ${schema}.snapshot k
          WHERE k.run_id = p_ids[s.item] ORDER BY k.seq DESC OFFSET ${snapshotsKept} LIMIT 1);`;

/** The same, and those that are kept for good. */
const writeKeptSnapshots = (schema: string, { columns, of }: Place = unsharded): string => `
      INSERT INTO ${schema}.snapshot (${columns}, seq, bytes, kept)
        SELECT ${of("p_ids[s.item]")}, s.seq, substring(p_bytes FROM s."offset" FOR s.size), coalesce(s.kept, false)
        FROM jsonb_to_recordset(p_beside -> 'snapshots')
          s(item int, seq bigint, "offset" int, size int, kept boolean)
        WHERE p_ok[s.item];
      DELETE FROM ${schema}.snapshot o USING jsonb_to_recordset(p_beside -> 'snapshots') s(item int)
        WHERE p_ok[s.item] AND o.run_id = p_ids[s.item] AND NOT o.kept AND o.seq <= (
          SELECT k.seq FROM ${schema}.snapshot k
          WHERE k.run_id = p_ids[s.item] ORDER BY k.seq DESC OFFSET ${snapshotsKept} LIMIT 1);`;

/** Snapshots that stay. The index is what makes removing the others cost the same however many stay. */
export const keptSnapshots = (schema: string): string => `
  ALTER TABLE ${schema}.snapshot ADD COLUMN kept boolean NOT NULL DEFAULT false;
  CREATE INDEX snapshot_passing ON ${schema}.snapshot (run_id, seq) WHERE NOT kept;
  ${writeBeside(schema, { ...unsharded, create: "CREATE OR REPLACE FUNCTION" }, writeKeptSnapshots(schema))}
`;

/** Everything a commit has besides heads, entries and sends. */
const writeBeside = (
  schema: string,
  { create, columns, of, keyEnd }: Place = unsharded,
  snapshots = writeSnapshots(schema),
): string => `
  ${create} ${schema}.write_beside(
    p_ids bigint[], p_ok boolean[], p_epochs bigint[], p_beside jsonb, p_bytes bytea
  ) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF p_beside ? 'snapshots' THEN${snapshots}
    END IF;
    IF p_beside ? 'contents' THEN
      INSERT INTO ${schema}.content (tenant, subject, digest, bytes)
        SELECT c.tenant, c.subject, c.digest, substring(p_bytes FROM c."offset" FOR c.size)
        FROM jsonb_to_recordset(p_beside -> 'contents')
          c(item int, tenant text, subject text, digest text, "offset" int, size int)
        WHERE p_ok[c.item] ORDER BY ${schema}.name_key(c.tenant, c.subject), c.digest COLLATE "C"
        ON CONFLICT DO NOTHING;
    END IF;
    IF p_beside ? 'consumed' THEN
      WITH taken AS (
        DELETE FROM ${schema}.inbox i USING jsonb_to_recordset(p_beside -> 'consumed') c(item int, id text, seq bigint)
        WHERE p_ok[c.item] AND i.run_id = p_ids[c.item] AND i.id = c.id RETURNING i.run_id, i.key, c.seq
      )
      UPDATE ${schema}.seen_key s SET seq = t.seq FROM taken t WHERE s.run_id = t.run_id AND s.key = t.key;
    END IF;
    INSERT INTO ${schema}.seen_key (${columns}, key, seq) SELECT ${of("p_ids[k.item]")}, k.key, k.seq
      FROM jsonb_to_recordset(p_beside -> 'keys') k(item int, key text, seq bigint) WHERE p_ok[k.item];
    INSERT INTO ${schema}.activity (${columns}, key, activity, attempt, status, due_at, epoch, open, bytes, report)
      SELECT ${of("p_ids[a.item]")}, a.key, a.activity, a.attempt, a.status, a.due_at, p_epochs[a.item], a.open,
        substring(p_bytes FROM a."offset" FOR a.size), substring(p_bytes FROM a.report_offset FOR a.report_size)
      FROM jsonb_to_recordset(p_beside -> 'begun') a(item int, key text, activity text, attempt bigint, status text,
        due_at float8, open boolean, "offset" int, size int, report_offset int, report_size int)
      WHERE p_ok[a.item]
      ON CONFLICT (run_id, key${keyEnd}) DO UPDATE SET activity = excluded.activity, attempt = excluded.attempt,
        status = excluded.status, due_at = excluded.due_at, epoch = excluded.epoch, open = excluded.open,
        bytes = excluded.bytes, report = excluded.report;
    DELETE FROM ${schema}.activity a USING jsonb_to_recordset(p_beside -> 'ended') e(item int, key text)
      WHERE p_ok[e.item] AND a.run_id = p_ids[e.item] AND a.key = e.key;
  END $$;
`;

/** What stands against commits since runs can be removed: what is known of a run may be of one that is gone. */
export const refuseToForks = (schema: string, there = sourceIsThere(schema)): string =>
  refuse(
    schema,
    "CREATE OR REPLACE FUNCTION",
    `
        UNION ALL SELECT p_roots[f.item], 3, p_roots[f.item], 'conflict', NULL, 0
          FROM jsonb_to_recordset(p_beside -> 'forks') f(item int, tenant text, run text, seq bigint)
          WHERE NOT ${there}`,
  );

/** As long as only the source itself was looked at. */
const sourceIsThere = (schema: string): string => `EXISTS (SELECT 1 FROM ${schema}.run r
            WHERE ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(f.tenant, f.run) AND f.seq >= r.pruned
              AND f.seq <= (SELECT max(e.seq) FROM ${schema}.entry e WHERE e.run_id = r.id))`;

/** Commits as they are since then. */
export const commitOfLiving = (schema: string): string => `
  ${refuseToForks(schema)}
  ${commit(schema, {
    ...firstVersion(schema),
    place: { ...unsharded, create: "CREATE OR REPLACE FUNCTION" },
    locked: `v_ids || v_recipients || ${schema}.find_runs(p_beside -> 'forks')`,
    living: living(schema),
  })}
`;

/** What commits differ in from version to version. */
interface CommitVersion {
  readonly place: Place;
  /** The runs it locks, and what it does before it does. */
  readonly locked: string;
  readonly first: string;
  /** How the checkpoint of a run is found. */
  readonly living: string;
  readonly settings: string;
}

const firstVersion = (schema: string): CommitVersion => ({
  place: unsharded,
  locked: "v_ids || v_recipients",
  first: "",
  living: `(SELECT max(seq) FROM ${schema}.entry WHERE run_id = i.id)`,
  settings: "",
});

/** The checkpoint of a run that was not removed. */
const living = (schema: string): string =>
  `(SELECT max(e.seq) FROM ${schema}.entry e JOIN ${schema}.run r ON r.id = e.run_id WHERE e.run_id = i.id)`;

/**
 * Commits as they are since rows have their shard. A function in a condition is called for every row that is looked at:
 * the forks are looked up once, before.
 */
export const commitOfSharded = (schema: string): string => {
  const place = sharded(schema);
  return `
  ${describe(schema, place)}
  ${writeBeside(schema, place, writeKeptSnapshots(schema, place))}
  ${begin(schema, place, `${schema}.shard_of(tenant, run)`)}
  ${commit(schema, shardedVersion(schema))}`;
};

const shardedVersion = (schema: string): CommitVersion => ({
  place: sharded(schema),
  first: `v_locked := v_ids || v_recipients || ${schema}.find_runs(p_beside -> 'forks');
    `,
  locked: "v_locked",
  living: living(schema),
  settings: steadyPlans,
});

/** Commits that look up the newest entry of a run: for the join of before the server read all of them. */
export const commitOfLong = (schema: string): string =>
  commit(schema, {
    ...shardedVersion(schema),
    living: `(SELECT (SELECT e.seq FROM ${schema}.entry e WHERE e.run_id = r.id AND e.shard = r.shard
        ORDER BY e.seq DESC LIMIT 1) FROM ${schema}.run r WHERE r.id = i.id)`,
  });

const commit = (schema: string, version: CommitVersion = firstVersion(schema)): string => {
  const { place, locked, first, living, settings } = version;
  return `
  ${place.create} ${schema}.commit(
    p_full boolean, p_roots int[], p_ids bigint[], p_expects bigint[], p_epochs bigint[],
    p_entry_items int[], p_entry_seqs bigint[], p_entry_ats float8[], p_entry_digests text[], p_entry_offsets int[],
    p_entry_sizes int[], p_beside jsonb, p_bytes bytea
  ) RETURNS jsonb LANGUAGE plpgsql ${settings} AS $$
  DECLARE
    v_ids bigint[] := p_ids;
    v_recipients bigint[] := ${schema}.find_runs(p_beside -> 'sends');
    v_locked bigint[];
    v_seqs bigint[];
    v_refused jsonb;
    v_late jsonb;
    v_ok boolean[];
  BEGIN
    PERFORM ${schema}.guard(p_full);
    IF array_position(p_ids, NULL) IS NOT NULL THEN
      SELECT array_agg(coalesce(i.id, r.id) ORDER BY i.item) INTO v_ids
        FROM unnest(p_ids) WITH ORDINALITY i(id, item)
        LEFT JOIN jsonb_to_recordset(p_beside -> 'heads') h(item int, tenant text, run text)
          ON i.id IS NULL AND h.item = i.item
        LEFT JOIN ${schema}.run r ON ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(h.tenant, h.run);
    END IF;
    ${first}PERFORM 1 FROM ${schema}.run WHERE id = ANY(${locked}) ORDER BY id FOR NO KEY UPDATE;
    SELECT array_agg(coalesce(${living}, 0) ORDER BY i.item)
      INTO v_seqs FROM unnest(v_ids) WITH ORDINALITY i(id, item);
    v_refused := ${schema}.refuse(p_roots, v_ids, p_expects, v_seqs, p_epochs, p_beside);
    v_ok := ${schema}.allowed(p_roots, v_refused);
    IF array_position(v_ids, NULL) IS NOT NULL THEN
      v_ids := ${schema}.begin(v_ids, v_ok, p_beside);
      v_late := ${schema}.refuse_late(p_roots, v_ids, v_ok, p_beside);
      IF v_late IS NOT NULL THEN
        v_refused := coalesce(v_refused, '[]') || v_late;
        v_ok := ${schema}.allowed(p_roots, v_refused);
        DELETE FROM ${schema}.run r USING unnest(v_ids, v_ok, p_expects) i(id, ok, expect)
          WHERE r.id = i.id AND NOT i.ok AND i.expect = 0
            AND NOT EXISTS (SELECT 1 FROM ${schema}.entry e WHERE e.run_id = r.id);
      END IF;
    END IF;
    INSERT INTO ${schema}.entry (${place.columns}, seq, at, digest, bytes)
      SELECT ${place.of("v_ids[e.item]")}, e.seq, e.at, e.digest, substring(p_bytes FROM e.start FOR e.size)
      FROM unnest(p_entry_items, p_entry_seqs, p_entry_ats, p_entry_digests, p_entry_offsets, p_entry_sizes)
        e(item, seq, at, digest, start, size)
      WHERE v_ok[e.item];
    IF p_beside ? 'heads' THEN
      PERFORM ${schema}.describe(v_ids, v_ok, p_expects, p_beside -> 'heads');
    END IF;
    IF p_beside IS NOT NULL THEN
      PERFORM ${schema}.write_beside(v_ids, v_ok, p_epochs, p_beside, p_bytes);
      PERFORM ${schema}.send_and_bury(v_ids, v_ok,
        ${schema}.with_begun(v_recipients, v_ids, p_beside), p_beside, p_bytes);
    END IF;
    RETURN jsonb_build_object('refused', v_refused,
      'ids', CASE WHEN array_position(p_ids, NULL) IS NOT NULL THEN to_jsonb(v_ids) END);
  END $$;
`;
};

/** The parts of `commit`: who is left after refusals, runs that began meanwhile, and sends to new ones. */
const commitParts = (schema: string): string => `
  CREATE FUNCTION ${schema}.allowed(p_roots int[], p_refused jsonb) RETURNS boolean[] LANGUAGE plpgsql AS $$
  BEGIN
    RETURN (SELECT array_agg(r.root IS NULL ORDER BY i.item) FROM unnest(p_roots) WITH ORDINALITY i(root, item)
      LEFT JOIN jsonb_to_recordset(p_refused) r(root int) ON r.root = i.root);
  END $$;

  CREATE FUNCTION ${schema}.refuse_late(p_roots int[], p_ids bigint[], p_ok boolean[], p_beside jsonb)
  RETURNS jsonb LANGUAGE plpgsql AS $$
  BEGIN
    RETURN (SELECT jsonb_agg(to_jsonb(first)) FROM (
      SELECT DISTINCT ON (i.root) i.root, 'conflict' AS outcome, i.item, (SELECT max(e.seq) FROM ${schema}.run r
          JOIN ${schema}.entry e ON e.run_id = r.id
          WHERE ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(h.tenant, h.run)) AS seq
        FROM unnest(p_roots, p_ids, p_ok) WITH ORDINALITY i(root, id, ok, item)
        JOIN jsonb_to_recordset(p_beside -> 'heads') h(item int, tenant text, run text) ON h.item = i.item
        WHERE i.ok AND i.id IS NULL ORDER BY i.root, i.item
    ) first);
  END $$;

  CREATE FUNCTION ${schema}.with_begun(p_recipients bigint[], p_ids bigint[], p_beside jsonb) RETURNS bigint[]
  LANGUAGE plpgsql AS $$
  BEGIN
    IF p_recipients IS NULL OR array_position(p_recipients, NULL) IS NULL THEN RETURN p_recipients; END IF;
    RETURN (SELECT array_agg(coalesce(i.id, r.id) ORDER BY i.place)
      FROM unnest(p_recipients) WITH ORDINALITY i(id, place)
      JOIN ROWS FROM (jsonb_to_recordset(p_beside -> 'sends') AS (tenant text, run text))
        WITH ORDINALITY s(tenant, run, place) ON s.place = i.place
      LEFT JOIN ${schema}.run r ON i.id IS NULL AND r.id = ANY(p_ids)
        AND ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(s.tenant, s.run));
  END $$;
`;

/** Inserts the runs that begin; the numbers of all, without those of runs that began meanwhile. */
const begin = (schema: string, { create }: Place = unsharded, shard?: string): string => `
  ${create} ${schema}.begin(p_ids bigint[], p_ok boolean[], p_beside jsonb) RETURNS bigint[]
  LANGUAGE plpgsql AS $$
  DECLARE
    v_ids bigint[];
  BEGIN
    WITH head AS (
      SELECT * FROM jsonb_to_recordset(p_beside -> 'heads') h(item int, tenant text, run text, subject text,
        machine text, status text, created_at float8, wake_at float8, snapshot_seq bigint, about text)
    ), begun AS (
      INSERT INTO ${schema}.run
        (${shard === undefined ? "" : "shard, "}tenant, run, subject, machine, status, created_at, wake_at, snapshot_seq, about)
        SELECT ${shard === undefined ? "" : `${shard}, `}tenant, run, subject, machine, status, created_at, wake_at,
          snapshot_seq, about FROM head
        WHERE p_ok[item] AND p_ids[item] IS NULL ORDER BY ${schema}.name_key(tenant, run)
        ON CONFLICT DO NOTHING RETURNING id, tenant, run
    )
    SELECT array_agg(coalesce(i.id, b.id) ORDER BY i.item) INTO v_ids
      FROM unnest(p_ids, p_ok) WITH ORDINALITY i(id, ok, item)
      LEFT JOIN head h ON i.id IS NULL AND i.ok AND h.item = i.item
      LEFT JOIN begun b ON b.tenant = h.tenant AND b.run = h.run;
    RETURN v_ids;
  END $$;
`;
