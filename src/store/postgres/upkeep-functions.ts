/**
 * Removing runs and entries. What is removed is only noted, in `removal`; its rows go later, a few at a time. A run's
 * number is never given again, so nobody finds them meanwhile. See `functions.ts` for how they are called.
 */
import { commitOfLiving } from "./commit-functions.ts";
import { goodEpoch } from "./fence.ts";
import { sendAndBury } from "./inbox-functions.ts";

export const upkeepFunctions = (schema: string): string =>
  `${tables(schema)}${commitOfLiving(schema)}${sendAndBury(schema, true)}${forks(schema)}${removeRuns(schema)}${pruneJournal(schema)}${sweep(schema)}`;

const tables = (schema: string): string => `
  ALTER TABLE ${schema}.run ADD COLUMN pruned bigint NOT NULL DEFAULT 0;
  ALTER TABLE ${schema}.run ADD COLUMN fork_run text COLLATE "C"
    GENERATED ALWAYS AS (CASE WHEN about LIKE '%"fork":%' THEN about::jsonb #>> '{fork,run}' END) STORED;
  ALTER TABLE ${schema}.run ADD COLUMN fork_seq bigint
    GENERATED ALWAYS AS (CASE WHEN about LIKE '%"fork":%' THEN (about::jsonb #>> '{fork,seq}')::bigint END) STORED;
  CREATE INDEX run_fork ON ${schema}.run (${schema}.name_key(tenant, fork_run)) WHERE fork_run IS NOT NULL;

  CREATE TABLE ${schema}.removal (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    until bigint
  );
  CREATE INDEX removal_run ON ${schema}.removal (run_id) WHERE until IS NULL;
`;

const forks = (schema: string): string => `
  CREATE FUNCTION ${schema}.forks(p_tenant text, p_run text) RETURNS TABLE (run text, seq bigint, stands boolean)
  LANGUAGE plpgsql STABLE AS $$
  BEGIN
    RETURN QUERY SELECT f.run, f.fork_seq, NOT EXISTS (
        SELECT 1 FROM ${schema}.snapshot s WHERE s.run_id = f.id AND s.kept)
      FROM ${schema}.run f WHERE f.fork_run IS NOT NULL
        AND ${schema}.name_key(f.tenant, f.fork_run) = ${schema}.name_key(p_tenant, p_run);
  END $$;
`;

/** One after the other, so that a fork and then its source can go together. */
export const removeRuns = (schema: string, create = "CREATE FUNCTION"): string => `
  ${create} ${schema}.remove_runs(p_full boolean, p_epoch bigint, p_named jsonb) RETURNS boolean[]
  LANGUAGE plpgsql AS $$
  DECLARE
    v_ids bigint[] := ${schema}.find_runs(p_named);
    v_removed boolean[] := '{}';
    v_owned boolean;
    v_id bigint;
  BEGIN
    PERFORM ${schema}.guard(p_full);
    PERFORM 1 FROM ${schema}.run WHERE id = ANY(v_ids) ORDER BY id FOR UPDATE;
    PERFORM ${goodEpoch(schema, "p_epoch")};
    v_owned := FOUND;
    FOREACH v_id IN ARRAY v_ids LOOP
      WITH gone AS (
        DELETE FROM ${schema}.run r WHERE r.id = v_id AND v_owned AND r.status NOT IN ('active', 'parked')
          AND NOT EXISTS (SELECT 1 FROM ${schema}.forks(r.tenant, r.run) f WHERE f.stands)
        RETURNING r.id, r.tenant, r.subject
      )
      INSERT INTO ${schema}.removal (run_id, tenant, subject) SELECT id, tenant, subject FROM gone;
      v_removed := v_removed || FOUND;
    END LOOP;
    RETURN v_removed;
  END $$;
`;

export const pruneJournal = (schema: string, create = "CREATE FUNCTION"): string => `
  ${create} ${schema}.prune_journal(p_full boolean, p_epoch bigint, p_tenant text, p_run text, p_seq bigint)
  RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    v_run record;
  BEGIN
    PERFORM ${schema}.guard(p_full);
    SELECT id, tenant, subject, pruned INTO v_run FROM ${schema}.run
      WHERE ${schema}.name_key(tenant, run) = ${schema}.name_key(p_tenant, p_run) FOR UPDATE;
    PERFORM ${goodEpoch(schema, "p_epoch")};
    IF NOT FOUND OR v_run.id IS NULL OR p_seq <= v_run.pruned
      OR p_seq >= (SELECT max(seq) FROM ${schema}.entry WHERE run_id = v_run.id)
      OR EXISTS (SELECT 1 FROM ${schema}.forks(p_tenant, p_run) f WHERE f.stands AND f.seq < p_seq) THEN
      RETURN false;
    END IF;
    UPDATE ${schema}.snapshot SET kept = true WHERE run_id = v_run.id AND seq = p_seq;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE ${schema}.run SET pruned = p_seq WHERE id = v_run.id;
    INSERT INTO ${schema}.removal (run_id, tenant, subject, until)
      VALUES (v_run.id, v_run.tenant, v_run.subject, p_seq);
    RETURN true;
  END $$;
`;

/**
 * Deletes rows, the oldest removal first; what another call is sweeping is left to it. Contents may be wanted by a run
 * that begins just now, so no commit is made while they go: all leases are held against them, and it is the last thing a
 * call does.
 */
export const sweep = (schema: string, create = "CREATE FUNCTION", within = ""): string => {
  const some = (table: string, condition = ""): string => `
      IF v_left > 0 THEN
        DELETE FROM ${schema}.${table} WHERE ${within}ctid = ANY(ARRAY(
          SELECT ctid FROM ${schema}.${table} WHERE run_id = v_removal.run_id ${condition} LIMIT v_left));
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_left := v_left - v_count;
      END IF;`;
  return `
  ${create} ${schema}.sweep(p_full boolean, p_limit int) RETURNS int LANGUAGE plpgsql AS $$
  DECLARE
    v_left int := p_limit;
    v_count int;
    v_removal record;
    v_last boolean := false;
  BEGIN
    PERFORM ${schema}.guard(p_full);
    WHILE v_left > 0 AND NOT v_last LOOP
      SELECT * INTO v_removal FROM ${schema}.removal ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
      EXIT WHEN NOT FOUND;
      ${some("entry", "AND (v_removal.until IS NULL OR seq <= v_removal.until)")}
      ${some("snapshot", "AND (v_removal.until IS NULL OR seq < v_removal.until)")}
      IF v_removal.until IS NULL THEN
        ${["attribute", "inbox", "seen_key", "activity", "chunk"].map((table) => some(table)).join("")}
        IF v_left > 0 AND EXISTS (SELECT 1 FROM ${schema}.content
            WHERE ${schema}.name_key(tenant, subject) = ${schema}.name_key(v_removal.tenant, v_removal.subject)) THEN
          v_last := true;
          PERFORM 1 FROM ${schema}.lease ORDER BY id, epoch FOR UPDATE;
          IF NOT EXISTS (SELECT 1 FROM ${schema}.run WHERE tenant = v_removal.tenant AND subject = v_removal.subject
              AND ${schema}.tenant_key(tenant, subject) = ${schema}.tenant_key(v_removal.tenant, v_removal.subject)) THEN
            DELETE FROM ${schema}.content WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${schema}.content
              WHERE ${schema}.name_key(tenant, subject) = ${schema}.name_key(v_removal.tenant, v_removal.subject)
              LIMIT v_left));
            GET DIAGNOSTICS v_count = ROW_COUNT;
            v_left := v_left - v_count;
          END IF;
        END IF;
      END IF;
      EXIT WHEN v_left = 0;
      DELETE FROM ${schema}.removal WHERE id = v_removal.id;
      v_left := v_left - 1;
    END LOOP;
    RETURN p_limit - v_left;
  END $$;
`;
};
