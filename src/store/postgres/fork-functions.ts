/**
 * What forks stand on, since a fork that needs its source no more may still have forks of its own that do: `../forks.ts` says
 * when. A commit that begins a fork looks at all of it, and holds it against those who remove and prune.
 */
import { refuseToForks } from "./commit-functions.ts";

export const forkFunctions = (schema: string): string =>
  `${forks(schema)}${isThere(schema)}${refuseToForks(schema, `${schema}.is_there(f.tenant, f.run, f.seq)`)}`;

const firstKept = (schema: string): string =>
  `(SELECT min(s.seq) FROM ${schema}.snapshot s WHERE s.run_id = f.id AND s.kept)`;

const forks = (schema: string): string => `
  CREATE OR REPLACE FUNCTION ${schema}.forks(p_tenant text, p_run text)
  RETURNS TABLE (run text, seq bigint, stands boolean) LANGUAGE plpgsql STABLE AS $$
  BEGIN
    RETURN QUERY WITH RECURSIVE below AS (
      SELECT f.id AS root, f.id, f.tenant, f.run, ${firstKept(schema)} AS kept
        FROM ${schema}.run f WHERE f.fork_run IS NOT NULL
          AND ${schema}.name_key(f.tenant, f.fork_run) = ${schema}.name_key(p_tenant, p_run)
      UNION SELECT b.root, f.id, f.tenant, f.run, ${firstKept(schema)}
        FROM below b JOIN ${schema}.run f ON f.fork_run IS NOT NULL
          AND ${schema}.name_key(f.tenant, f.fork_run) = ${schema}.name_key(b.tenant, b.run) AND f.fork_seq < b.kept
    )
    SELECT f.run, f.fork_seq, bool_or(b.kept IS NULL)
      FROM below b JOIN ${schema}.run f ON f.id = b.root GROUP BY f.run, f.fork_seq;
  END $$;
`;

const isThere = (schema: string): string => `
  CREATE FUNCTION ${schema}.is_there(p_tenant text, p_run text, p_seq bigint) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    v_name text := p_run;
    v_seq bigint := p_seq;
    v_passed text[] := '{}';
    v_ground record;
  BEGIN
    WHILE v_name <> ALL(v_passed) LOOP
      SELECT r.id, r.pruned, r.fork_run, r.fork_seq INTO v_ground FROM ${schema}.run r
        WHERE ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(p_tenant, v_name) FOR KEY SHARE;
      IF NOT FOUND OR v_seq < v_ground.pruned
        OR v_seq > (SELECT max(e.seq) FROM ${schema}.entry e WHERE e.run_id = v_ground.id) THEN
        RETURN false;
      END IF;
      IF v_ground.fork_run IS NULL OR EXISTS (SELECT 1 FROM ${schema}.snapshot s
        WHERE s.run_id = v_ground.id AND s.kept AND s.seq <= v_seq) THEN
        RETURN true;
      END IF;
      v_passed := v_passed || v_name;
      v_name := v_ground.fork_run;
      v_seq := v_ground.fork_seq;
    END LOOP;
    RETURN false;
  END $$;
`;
