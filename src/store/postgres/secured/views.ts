/**
 * What users see: `agent_runs`, a row for each run of theirs, and `agent_snapshots`, a row for each checkpoint of those.
 *
 * The views have no rights of their own (`security_invoker`): they show what the policies show to whoever asks. What they
 * tell stands in columns, with two exceptions that only bytes tell: how large a checkpoint is, and the error of one that
 * went wrong. Those come from `look`, which asks for itself whose the run is. Contexts, inputs and outputs are not told.
 */
import { isOwn, type Names } from "./names.ts";

/** Times are milliseconds in the store. */
const time = (ms: string): string => `to_timestamp(${ms} / 1000)`;

export const views = (names: Names): string => `${agentRuns(names)}${agentSnapshots(names)}`;

const agentRuns = ({ store, views }: Names): string => `
  CREATE OR REPLACE VIEW ${views}.agent_runs WITH (security_invoker = true) AS
    SELECT r.run AS id, r.tenant, r.subject AS user_id, r.machine, (a.about ->> 'version')::int AS version, r.status,
      e.seq, ${time("r.created_at")} AS created_at, ${time("e.at")} AS updated_at,
      ${time("(a.about ->> 'completedAt')::float8")} AS completed_at,
      (a.about ->> 'completedAt')::float8 - r.created_at AS duration_ms,
      CASE WHEN r.status IN ('parked', 'failed') THEN (SELECT l.error FROM ${views}.look(r.id, e.seq) l) END AS error,
      a.about -> 'attributes' AS attributes, a.about -> 'spent' AS spent, a.about #>> '{parent,run}' AS parent_id
    FROM ${store}.run r
    CROSS JOIN LATERAL (SELECT r.about::json AS about) a
    CROSS JOIN LATERAL (
      SELECT n.seq, n.at FROM ${store}.entry n WHERE n.run_id = r.id ORDER BY n.seq DESC LIMIT 1
    ) e;
`;

/** The run went on from every checkpoint but the newest; what became of that one is what became of the run. */
const status = `
      CASE WHEN l.error IS NOT NULL THEN 'error'
        WHEN n.at IS NOT NULL OR r.status = 'done' THEN 'success'
        WHEN r.status = 'cancelled' THEN 'cancelled'
        WHEN r.status <> 'active' THEN 'error'
        WHEN w.is_busy THEN 'running'
        ELSE 'pending' END`;

/**
 * What is looked up for each row is asked for by its key and with a limit. Row-level security lets nothing else reach an
 * index: a sum such as `seq + 1` is compared row by row, and what is asked without a limit is read as a whole.
 */
const agentSnapshots = ({ store, views }: Names): string => `
  CREATE OR REPLACE VIEW ${views}.agent_snapshots WITH (security_invoker = true) AS
    SELECT r.run AS run_id, r.tenant, r.subject AS user_id, e.seq, ${status} AS status,
      ${time("e.at")} AS created_at, n.at - e.at AS duration_ms, l.error, l.bytes, s.seq IS NOT NULL AS whole
    FROM ${store}.run r
    JOIN ${store}.entry e ON e.run_id = r.id AND e.seq > r.pruned
    LEFT JOIN LATERAL (
      SELECT f.at FROM ${store}.entry f WHERE f.run_id = e.run_id AND f.seq > e.seq ORDER BY f.seq LIMIT 1
    ) n ON true
    LEFT JOIN LATERAL (SELECT true AS is_busy FROM ${store}.activity a WHERE a.run_id = e.run_id LIMIT 1) w ON true
    LEFT JOIN ${store}.snapshot s ON s.run_id = e.run_id AND s.seq = e.seq
    LEFT JOIN LATERAL ${views}.look(e.run_id, e.seq) l ON true;
`;

/**
 * The size of a checkpoint and its error. An error is why a step was refused, why the run was parked with it, or why it
 * was ended as failed: its name, code and message. Bytes that are compressed or sealed tell none.
 */
export const look = (names: Names, hasTenant: boolean, tellsErrors: boolean): string => `
  CREATE OR REPLACE FUNCTION ${names.views}.look(run_id bigint, seq bigint, OUT bytes bigint, OUT error jsonb)
  RETURNS SETOF record LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DECLARE
    v_bytes bytea;
    v_packed jsonb;
    v_path text[];
  BEGIN
    SELECT e.bytes, octet_length(e.bytes) + coalesce((SELECT octet_length(s.bytes) FROM ${names.store}.snapshot s
        WHERE s.run_id = e.run_id AND s.seq = e.seq), 0)
      INTO v_bytes, look.bytes
      FROM ${names.store}.entry e JOIN ${names.store}.run r ON r.id = e.run_id
      WHERE e.run_id = look.run_id AND e.seq = look.seq AND ${isOwn(names, hasTenant, "r")};
    IF NOT FOUND THEN RETURN; END IF;
    ${tellsErrors ? readError : ""}
    RETURN NEXT;
  END $$;
`;

/** Long texts may stand beside the body (`../../content.ts`); a large one is elsewhere, and then there is no message. */
const readError = `
    IF octet_length(v_bytes) > 5 AND get_byte(v_bytes, 0) = 0 THEN
      BEGIN
        v_packed := convert_from(substring(v_bytes FROM 6), 'UTF8')::jsonb;
        v_path := CASE
          WHEN v_packed #> '{body,error}' IS NOT NULL THEN '{error}'
          WHEN v_packed #>> '{body,event,kind}' <> 'platform' THEN NULL
          WHEN v_packed #>> '{body,event,type}' = 'park' THEN '{event,data,error}'
          WHEN v_packed #>> '{body,event,type}' = 'cancel' THEN '{event,data}'
        END;
        SELECT jsonb_object_agg(field, text) INTO look.error FROM (
          SELECT field, coalesce((
              SELECT v_packed -> 'texts' -> (p ->> 0)::int FROM jsonb_array_elements(v_packed -> 'places') p
              WHERE p - 0 = to_jsonb(v_path || field)
            ), v_packed #> ('{body}' || v_path || field)) AS text
            FROM unnest('{name,code,message}'::text[]) field
        ) told WHERE jsonb_typeof(text) = 'string';
      EXCEPTION WHEN data_exception THEN NULL;
      END;
    END IF;`;
