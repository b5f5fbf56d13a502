/**
 * The functions that write: each verb of the port that changes anything is one call of one of them, so it is one
 * statement, one round trip and one transaction of its own, and nothing of it lives in the connection (which may be
 * another one for the next call, as behind PgBouncer). Bytes of all rows of a call come in one piece, with an offset and
 * a size for each.
 *
 * P1. Locks are taken in one order by everybody: runs by number, the lease, new names, contents, each sorted, and last
 *     the order of dead letters. So two calls never wait for each other in a circle.
 */
import { commitFunctions } from "./commit-functions.ts";
import { goodEpoch } from "./fence.ts";
import { inboxFunctions } from "./inbox-functions.ts";

/** The statements that create them; the schema's name is quoted. */
export const functions = (schema: string): string => `
  ${guard(schema)}
  ${inboxFunctions(schema)}
  ${commitFunctions(schema)}
  ${lease(schema)}
  ${beside(schema)}
  ${due(schema)}
`;

/** Whoever writes asks this first. `full`: the transaction's end waits for the disk, whatever the server is set to. */
const guard = (schema: string): string => `
  CREATE FUNCTION ${schema}.guard(p_full boolean) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
      RAISE EXCEPTION 'transactions must be read committed' USING ERRCODE = 'HF001';
    END IF;
    IF p_full AND current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
  END $$;
`;

/** The lease is written only as the one it was decided on; whoever comes second decides anew. */
const lease = (schema: string): string => `
  CREATE FUNCTION ${schema}.write_lease(
    p_full boolean, p_old jsonb, p_owner text, p_epoch bigint, p_taken_at float8, p_until float8
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM ${schema}.guard(p_full);
    UPDATE ${schema}.lease SET owner = p_owner, epoch = p_epoch, taken_at = p_taken_at, until = p_until
      WHERE id = 1 AND owner IS NOT DISTINCT FROM p_old ->> 'owner' AND epoch = (p_old ->> 'epoch')::bigint
        AND taken_at = (p_old ->> 'from')::float8 AND until = (p_old ->> 'until')::float8;
    RETURN FOUND;
  END $$;

  CREATE FUNCTION ${schema}.release_lease(p_full boolean, p_owner text, p_epoch bigint, p_now float8)
  RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM ${schema}.guard(p_full);
    UPDATE ${schema}.lease SET owner = NULL, taken_at = coalesce(p_now, taken_at)
      WHERE id = 1 AND owner = p_owner AND epoch = p_epoch;
  END $$;
`;

/** What is written beside the commits. */
const beside = (schema: string): string => `${recordActivities(schema)}${besides(schema)}`;

/** `free`: which rows are nobody else's; at first there was nobody else. */
export const recordActivities = (schema: string, create = "CREATE FUNCTION", free = ""): string => `
  ${create} ${schema}.record_activities(p_full boolean, p_epoch bigint, p_rows jsonb, p_bytes bytea)
  RETURNS boolean[] LANGUAGE plpgsql AS $$
  DECLARE
    v_ids bigint[] := ${schema}.find_runs(p_rows);
    v_recorded boolean[] := '{}';
    v_owned boolean;
    v_row record;
  BEGIN
    PERFORM ${schema}.guard(p_full);
    PERFORM 1 FROM ${schema}.run WHERE id = ANY(v_ids) ORDER BY id FOR NO KEY UPDATE;
    PERFORM ${goodEpoch(schema, "p_epoch")};
    v_owned := FOUND;
    FOR v_row IN SELECT * FROM ROWS FROM (jsonb_to_recordset(p_rows) AS (key text, activity text, attempt bigint,
        status text, due_at float8, "offset" int, size int, report_offset int, report_size int))
        WITH ORDINALITY a(key, activity, attempt, status, due_at, start, size, report_start, report_size, place)
      ORDER BY place LOOP
      UPDATE ${schema}.activity SET activity = v_row.activity, attempt = v_row.attempt, status = v_row.status,
          due_at = v_row.due_at, epoch = p_epoch, bytes = substring(p_bytes FROM v_row.start FOR v_row.size),
          report = substring(p_bytes FROM v_row.report_start FOR v_row.report_size)
        WHERE v_owned AND run_id = v_ids[v_row.place::int] AND key = v_row.key${free};
      v_recorded := v_recorded || FOUND;
    END LOOP;
    RETURN v_recorded;
  END $$;
`;

const besides = (schema: string): string => `
  CREATE FUNCTION ${schema}.append_chunks(p_full boolean, p_tenant text, p_run text, p_key text, p_chunks jsonb, p_bytes bytea)
  RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM ${schema}.guard(p_full);
    INSERT INTO ${schema}.chunk (run_id, key, "offset", attempt, bytes)
      SELECT r.id, p_key, c.place, c.attempt, substring(p_bytes FROM c."offset" FOR c.size)
      FROM ${schema}.run r, jsonb_to_recordset(p_chunks) c(place bigint, attempt bigint, "offset" int, size int)
      WHERE ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(p_tenant, p_run) ORDER BY c.place
      ON CONFLICT DO NOTHING;
  END $$;

  CREATE FUNCTION ${schema}.write_document(
    p_full boolean, p_tenant text, p_name text, p_expect bigint, p_bytes bytea
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM ${schema}.guard(p_full);
    IF p_expect = 0 THEN
      INSERT INTO ${schema}.document (tenant, name, version, bytes) VALUES (p_tenant, p_name, 1, p_bytes)
        ON CONFLICT DO NOTHING;
    ELSE
      UPDATE ${schema}.document SET version = version + 1, bytes = p_bytes
        WHERE ${schema}.name_key(tenant, name) = ${schema}.name_key(p_tenant, p_name) AND version = p_expect;
    END IF;
    RETURN FOUND;
  END $$;

  CREATE FUNCTION ${schema}.remove_dead_letter(p_full boolean, p_tenant text, p_number bigint) RETURNS boolean
  LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM ${schema}.guard(p_full);
    DELETE FROM ${schema}.dead_letter WHERE number = p_number AND tenant = p_tenant;
    RETURN FOUND;
  END $$;
`;

/** What `due` is asked for: of whose needs, each by its time, and what tells that who runs an activity is gone. */
interface Asked {
  readonly name: string;
  readonly first: string;
  within(need: string): string;
  readonly gone: string;
}

const ofAll = (schema: string): Asked => ({
  name: "due",
  first: "",
  within: () => "",
  gone: `< (SELECT epoch FROM ${schema}.lease WHERE id = 1)`,
});

/**
 * The runs with the oldest needs. Each kind of need comes from an index in its own order and is read no further than to
 * `p_limit` different runs: a run among the oldest of all is among the oldest of its kind.
 */
export const due = (schema: string, asked = ofAll(schema)): string => {
  const { name, first, within, gone } = asked;
  const needs = [
    `SELECT run_id, at AS need FROM ${schema}.inbox WHERE open ${within("at")} ORDER BY at`,
    `SELECT id AS run_id, wake_at AS need FROM ${schema}.run
      WHERE status = 'active' AND wake_at IS NOT NULL AND wake_at <= p_now ${within("wake_at")} ORDER BY wake_at`,
    `SELECT run_id, due_at AS need FROM ${schema}.activity
      WHERE open AND status = 'waiting' AND due_at <= p_now ${within("due_at")} ORDER BY due_at`,
    `SELECT run_id, due_at AS need FROM ${schema}.activity
      WHERE open AND status = 'running' AND epoch ${gone} ${within("due_at")} ORDER BY due_at`,
  ];
  const collect = (need: string): string => `
    v_kind := '{}';
    FOR v_row IN ${need} LOOP
      EXIT WHEN cardinality(v_kind) >= p_limit;
      CONTINUE WHEN v_row.run_id = ANY(v_kind);
      v_kind := v_kind || v_row.run_id;
      v_ids := v_ids || v_row.run_id;
      v_needs := v_needs || v_row.need;
    END LOOP;`;
  return `
  CREATE FUNCTION ${schema}.${name}(${first}p_now float8, p_limit int) RETURNS TABLE (tenant text, run text)
  LANGUAGE plpgsql STABLE AS $$
  DECLARE
    v_ids bigint[] := '{}';
    v_needs float8[] := '{}';
    v_kind bigint[];
    v_row record;
  BEGIN
    ${needs.map(collect).join("")}
    RETURN QUERY SELECT r.tenant, r.run FROM (
        SELECT n.id, min(n.need) AS need FROM unnest(v_ids, v_needs) n(id, need) GROUP BY n.id
      ) oldest JOIN ${schema}.run r ON r.id = oldest.id ORDER BY oldest.need LIMIT p_limit;
  END $$;
`;
};
