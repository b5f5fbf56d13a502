/**
 * Putting events into inboxes, for `enqueue` and for the sends of a commit alike, and what becomes of those that no run
 * takes. See `functions.ts` for how they are called.
 */
import { type Place, steadyPlans, unsharded } from "./place.ts";

/** Whether a run of this status has ended, as SQL. */
const isFinal = (status: string): string => `${status} NOT IN ('active', 'parked')`;

export const inboxFunctions = (schema: string): string =>
  `${deliver(schema)}${findRuns(schema)}${enqueue(schema)}${sendAndBury(schema)}`;

/** Puts one event into the inbox of a run whose row is locked. */
export const deliver = (schema: string, { create, columns, of }: Place = unsharded): string => `
  ${create} ${schema}.deliver(p_run_id bigint, p_event jsonb, p_bytes bytea) RETURNS text
  LANGUAGE plpgsql AS $$
  DECLARE
    v_status text;
    v_key text := p_event ->> 'key';
  BEGIN
    SELECT status INTO v_status FROM ${schema}.run WHERE id = p_run_id;
    IF NOT FOUND THEN RETURN 'missing'; END IF;
    IF EXISTS (SELECT 1 FROM ${schema}.seen_key WHERE run_id = p_run_id AND key = v_key) THEN
      RETURN 'duplicate';
    END IF;
    IF ${isFinal("v_status")} THEN RETURN 'ended'; END IF;
    INSERT INTO ${schema}.inbox (${columns}, id, subject, key, expendable, priority, at, open, bytes)
      VALUES (${of("p_run_id")}, p_event ->> 'id', p_event ->> 'subject', v_key, (p_event ->> 'expendable')::boolean,
        (p_event ->> 'priority')::float8, (p_event ->> 'at')::float8, v_status = 'active',
        substring(p_bytes FROM (p_event ->> 'offset')::int FOR (p_event ->> 'size')::int))
      ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN RETURN 'duplicate'; END IF;
    IF v_key IS NOT NULL THEN
      INSERT INTO ${schema}.seen_key (${columns}, key) VALUES (${of("p_run_id")}, v_key);
    END IF;
    RETURN 'accepted';
  END $$;
`;

const findRuns = (schema: string): string => `
  CREATE FUNCTION ${schema}.find_runs(p_named jsonb) RETURNS bigint[] LANGUAGE plpgsql AS $$
  BEGIN
    RETURN (SELECT array_agg(r.id ORDER BY n.place)
      FROM ROWS FROM (jsonb_to_recordset(p_named) AS (tenant text, run text)) WITH ORDINALITY n(tenant, run, place)
      LEFT JOIN ${schema}.run r ON ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(n.tenant, n.run));
  END $$;
`;

const enqueue = (schema: string): string => `
  CREATE FUNCTION ${schema}.enqueue(p_full boolean, p_events jsonb, p_bytes bytea) RETURNS text[]
  LANGUAGE plpgsql AS $$
  DECLARE
    v_ids bigint[] := ${schema}.find_runs(p_events);
    v_outcomes text[] := '{}';
    v_place int := 0;
    v_event jsonb;
  BEGIN
    PERFORM ${schema}.guard(p_full);
    PERFORM 1 FROM ${schema}.run WHERE id = ANY(v_ids) ORDER BY id FOR NO KEY UPDATE;
    FOR v_event IN SELECT value FROM jsonb_array_elements(p_events) LOOP
      v_place := v_place + 1;
      v_outcomes := v_outcomes || ${schema}.deliver(v_ids[v_place], v_event, p_bytes);
    END LOOP;
    RETURN v_outcomes;
  END $$;
`;

/**
 * The same for events of which no two are for one run with the same id or key: all that is asked of each can be asked before the
 * first is written, so a group of them is written at once and its runs are held for as short as can be. Each row is asked for by
 * itself, by questions that cannot become joins: the server would read whole tables for them.
 */
export const enqueueDistinct = (schema: string): string => `
  CREATE FUNCTION ${schema}.enqueue_distinct(p_full boolean, p_events jsonb, p_bytes bytea) RETURNS text[]
  LANGUAGE plpgsql ${steadyPlans} AS $$
  DECLARE
    v_ids bigint[];
    v_outcomes text[];
  BEGIN
    PERFORM ${schema}.guard(p_full);
    SELECT array_agg((SELECT r.id FROM ${schema}.run r
        WHERE ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(n.tenant, n.run)) ORDER BY n.place) INTO v_ids
      FROM ROWS FROM (jsonb_to_recordset(p_events) AS (tenant text, run text)) WITH ORDINALITY n(tenant, run, place);
    PERFORM 1 FROM ${schema}.run WHERE id = ANY(v_ids) ORDER BY id FOR NO KEY UPDATE;
    WITH event AS MATERIALIZED (
      SELECT e.*, r.id AS run_id, r.shard, r.status, CASE WHEN r.id IS NULL THEN 'missing'
          WHEN (SELECT true FROM ${schema}.seen_key s WHERE s.run_id = r.id AND s.key = e.key) THEN 'duplicate'
          WHEN ${isFinal("r.status")} THEN 'ended'
          WHEN (SELECT true FROM ${schema}.inbox i WHERE i.run_id = r.id AND i.id = e.id) THEN 'duplicate'
          ELSE 'accepted' END AS outcome
        FROM ROWS FROM (jsonb_to_recordset(p_events) AS (id text, subject text, key text, expendable boolean,
          priority float8, at float8, "offset" int, size int))
          WITH ORDINALITY e(id, subject, key, expendable, priority, at, start, size, place)
        LEFT JOIN LATERAL (SELECT id, shard, status FROM ${schema}.run WHERE id = v_ids[e.place::int] LIMIT 1) r ON true
    ), kept AS (
      INSERT INTO ${schema}.inbox (shard, run_id, id, subject, key, expendable, priority, at, open, bytes)
        SELECT shard, run_id, id, subject, key, expendable, priority, at, status = 'active',
          substring(p_bytes FROM start FOR size) FROM event WHERE outcome = 'accepted'
    ), noted AS (
      INSERT INTO ${schema}.seen_key (shard, run_id, key)
        SELECT shard, run_id, key FROM event WHERE outcome = 'accepted' AND key IS NOT NULL
    )
    SELECT array_agg(outcome ORDER BY place) INTO v_outcomes FROM event;
    RETURN v_outcomes;
  END $$;
`;

/** The runs that end while something waits for them. */
const endedRuns = (schema: string): string => `
    SELECT array_agg(p_ids[h.item]) INTO v_ended
      FROM jsonb_to_recordset(p_beside -> 'heads') h(item int, status text)
      WHERE p_ok[h.item] AND ${isFinal("h.status")}
        AND EXISTS (SELECT 1 FROM ${schema}.inbox i WHERE i.run_id = p_ids[h.item]);`;

/** Nobody will take what waits any more, so its keys are as if they had never been seen. */
const forgetKeys = (schema: string): string => `
    DELETE FROM ${schema}.seen_key WHERE run_id = ANY(v_ended) AND seq IS NULL;`;

/**
 * Delivers the sends of a commit and keeps as dead letters what nobody takes: what waits for the runs that end, then what
 * was sent in vain. Their numbers are given under a lock, so that one that is read has none before it still to come.
 * `keysFirst`: what a run sends to itself as it ends is no repeat of what waited for it, since nobody takes either; the
 * first version took it for one.
 */
export const sendAndBury = (schema: string, keysFirst = false): string => `
  CREATE ${keysFirst ? "OR REPLACE " : ""}FUNCTION ${schema}.send_and_bury(
    p_ids bigint[], p_ok boolean[], p_recipients bigint[], p_beside jsonb, p_bytes bytea
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    v_outcomes text[] := '{}';
    v_ended bigint[];
    v_place int := 0;
    v_send jsonb;
  BEGIN
${keysFirst ? `${endedRuns(schema)}${forgetKeys(schema)}` : ""}
    FOR v_send IN SELECT value FROM jsonb_array_elements(p_beside -> 'sends') LOOP
      v_place := v_place + 1;
      v_outcomes := v_outcomes || CASE WHEN p_ok[(v_send ->> 'item')::int]
        THEN ${schema}.deliver(p_recipients[v_place], v_send, p_bytes) END;
    END LOOP;
${keysFirst ? "" : endedRuns(schema)}
    IF v_ended IS NULL AND NOT v_outcomes && '{missing,ended}' THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock('${schema.replaceAll("'", "''")}.dead_letter'::regclass::oid::bigint);
${keysFirst ? "" : forgetKeys(schema)}
    WITH buried AS (
      DELETE FROM ${schema}.inbox WHERE run_id = ANY(v_ended) RETURNING *
    )
    INSERT INTO ${schema}.dead_letter (tenant, run, id, subject, key, priority, at, reason, bytes)
      SELECT tenant, run, id, subject, key, priority, at, reason, bytes FROM (
        SELECT array_position(p_ids, b.run_id) AS item, 0 AS place, r.tenant, r.run, b.id, b.subject, b.key,
          b.priority, b.at, 'ended' AS reason, b.bytes
          FROM buried b JOIN ${schema}.run r ON r.id = b.run_id WHERE NOT b.expendable
        UNION ALL SELECT s.item, s.place, s.tenant, s.run, s.id, s.subject, s.key, s.priority, s.at,
          v_outcomes[s.place::int], substring(p_bytes FROM s."offset" FOR s.size)
          FROM ROWS FROM (jsonb_to_recordset(p_beside -> 'sends') AS (item int, tenant text, run text, id text,
            subject text, key text, expendable boolean, priority float8, at float8, "offset" int, size int))
            WITH ORDINALITY s(item, tenant, run, id, subject, key, expendable, priority, at, "offset", size, place)
          WHERE v_outcomes[s.place::int] IN ('missing', 'ended') AND NOT s.expendable
      ) lost ORDER BY item, place, priority DESC, id COLLATE "C";
  END $$;
`;
