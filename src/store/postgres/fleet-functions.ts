/**
 * Members of a fleet, as rows of the table of leases (`fence.ts`), and what they ask of the runs they see to. See
 * `functions.ts` for how functions are called; whoever changes who is there decides in `../members.ts`.
 */
import { appendMany } from "./append.ts";
import { appendPieces } from "./chunk-functions.ts";
import { refuseToForks } from "./commit-functions.ts";
import { goodEpoch } from "./fence.ts";
import { due, recordActivities } from "./functions.ts";
import { sharded } from "./place.ts";
import { pruneJournal, removeRuns, sweep } from "./upkeep-functions.ts";

const replace = "CREATE OR REPLACE FUNCTION";

/** From an owner of all to members. What asks for a good epoch asks for theirs from now on. */
export const fleet = (schema: string): string => `
  ALTER TABLE ${schema}.lease DROP CONSTRAINT lease_id_check, ADD COLUMN sign text;
  ${refuseToForks(schema)}
  ${recordActivities(schema, replace)}
  ${appendPieces(schema, sharded(schema))}
  ${appendMany(schema, replace)}
  ${removeRuns(schema, replace)}
  ${pruneJournal(schema, replace)}
  ${sweep(schema, replace, "run_id = v_removal.run_id AND ")}
  ${members(schema)}
  ${adopt(schema)}
  ${due(schema, {
    name: "due_in",
    first: "p_shards int[], p_since float8, ",
    within: (need) => `AND shard = ANY(p_shards) AND ${need} <= p_since`,
    gone: `= ANY(${schema}.gone())`,
  })}
`;

/** The store's own lease is written only as the one that was decided on, as by \`write_lease\`; whoever comes second decides anew. */
const members = (schema: string): string => `
  CREATE FUNCTION ${schema}.join_fleet(
    p_full boolean, p_old jsonb, p_epoch bigint, p_left float8, p_outages text, p_stay bigint[],
    p_worker text, p_from float8, p_until float8, p_sign text
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT ${schema}.write_lease(p_full, p_old, NULL, p_epoch, p_left, p_left, p_outages) THEN RETURN false; END IF;
    DELETE FROM ${schema}.lease WHERE id = 2 AND epoch <> ALL(p_stay);
    INSERT INTO ${schema}.lease (id, epoch, owner, taken_at, until, sign)
      VALUES (2, p_epoch, p_worker, p_from, p_until, p_sign);
    RETURN true;
  END $$;

  CREATE FUNCTION ${schema}.own_all(
    p_full boolean, p_old jsonb, p_owner text, p_epoch bigint, p_taken_at float8, p_until float8, p_outages text
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT ${schema}.write_lease(p_full, p_old, p_owner, p_epoch, p_taken_at, p_until, p_outages) THEN
      RETURN false;
    END IF;
    DELETE FROM ${schema}.lease WHERE id = 2;
    RETURN true;
  END $$;

  CREATE FUNCTION ${schema}.put_out(p_lapsed boolean, p_epoch bigint, p_now float8) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    v_last float8;
  BEGIN
    WITH gone AS (
      DELETE FROM ${schema}.lease WHERE id = 2 AND CASE WHEN p_lapsed
        THEN epoch <> p_epoch AND NOT (p_now < until AND until - p_now <= 2 * (until - taken_at))
        ELSE epoch = p_epoch END
      RETURNING taken_at
    )
    SELECT max(CASE WHEN p_lapsed THEN taken_at ELSE p_now END) INTO v_last FROM gone;
    UPDATE ${schema}.lease SET taken_at = greatest(taken_at, v_last) WHERE id = 1 AND v_last IS NOT NULL;
  END $$;

  -- A sign of life that is lost with the power is no loss: nothing waits for the disk.
  CREATE FUNCTION ${schema}.beat(p_epoch bigint, p_lease_ms float8, p_sign text, p_now float8)
  RETURNS TABLE (epoch bigint, worker text, sign text) LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE ${schema}.lease l SET taken_at = p_now, until = p_now + p_lease_ms, sign = p_sign
      WHERE l.id = 2 AND l.epoch = p_epoch;
    IF NOT FOUND THEN RETURN; END IF;
    PERFORM ${schema}.put_out(true, p_epoch, p_now);
    RETURN QUERY SELECT l.epoch, l.owner, l.sign FROM ${schema}.lease l WHERE l.id = 2 ORDER BY l.epoch;
  END $$;

  CREATE FUNCTION ${schema}.leave(p_full boolean, p_epoch bigint, p_now float8) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM ${schema}.guard(p_full);
    PERFORM ${schema}.put_out(false, p_epoch, p_now);
  END $$;

  -- Epochs under which activities are recorded as running and whose member is gone. One index entry is read for each epoch.
  CREATE FUNCTION ${schema}.gone() RETURNS bigint[] LANGUAGE sql STABLE AS $$
    WITH RECURSIVE recorded AS (
      SELECT (SELECT min(epoch) FROM ${schema}.activity WHERE open AND status = 'running') AS epoch
      UNION ALL SELECT (SELECT min(a.epoch) FROM ${schema}.activity a
        WHERE a.open AND a.status = 'running' AND a.epoch > r.epoch) FROM recorded r WHERE r.epoch IS NOT NULL
    )
    SELECT coalesce(array_agg(epoch), '{}') FROM recorded
      WHERE epoch IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${schema}.lease l WHERE l.id = 2 AND l.epoch = recorded.epoch)
  $$;
`;

/** Which activities are nobody else's. */
const free = (
  schema: string,
  activity: string,
): string => `AND (${activity}.status = 'waiting' OR ${activity}.epoch = p_epoch
            OR NOT EXISTS (SELECT 1 FROM ${schema}.lease l WHERE l.id = 2 AND l.epoch = ${activity}.epoch))`;

/**
 * What is recorded of an activity is recorded by who has it, and it is taken over as it was read; before this version any member
 * could record, and take it over however far it had come. Processes of that version do not say which attempt they have read.
 */
export const ownActivities = (schema: string): string => `
  ${recordActivities(schema, replace, `\n          ${free(schema, "activity")}`)}
  ${adopt(schema, replace, "AND a.attempt = coalesce(v_row.attempt, a.attempt)")}
`;

const adopt = (schema: string, create = "CREATE FUNCTION", asRead = ""): string => `
  ${create} ${schema}.adopt(p_full boolean, p_epoch bigint, p_rows jsonb) RETURNS boolean[] LANGUAGE plpgsql AS $$
  DECLARE
    v_ids bigint[] := ${schema}.find_runs(p_rows);
    v_adopted boolean[] := '{}';
    v_owned boolean;
    v_row record;
  BEGIN
    PERFORM ${schema}.guard(p_full);
    PERFORM 1 FROM ${schema}.run WHERE id = ANY(v_ids) ORDER BY id FOR NO KEY UPDATE;
    PERFORM ${goodEpoch(schema, "p_epoch")};
    v_owned := FOUND;
    FOR v_row IN SELECT * FROM ROWS FROM (jsonb_to_recordset(p_rows) AS (key text, attempt bigint))
      WITH ORDINALITY a(key, attempt, place) ORDER BY place LOOP
      UPDATE ${schema}.activity a SET status = 'running', epoch = p_epoch
        WHERE v_owned AND a.run_id = v_ids[v_row.place::int] AND a.key = v_row.key
          ${free(schema, "a")} ${asRead};
      v_adopted := v_adopted || FOUND;
    END LOOP;
    RETURN v_adopted;
  END $$;
`;
