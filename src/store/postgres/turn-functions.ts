/**
 * Turns of concurrency keys (`../turns.ts` says how they are given). A member's rows go with its row of the table of leases.
 * Whoever asks holds its own row there and then the keys, in order; it writes no rows but its own.
 */

export const turnFunctions = (schema: string): string => `
  CREATE TABLE ${schema}.turn (
    key bytea NOT NULL,
    "limit" bigint NOT NULL,
    lease_id integer NOT NULL DEFAULT 2 CHECK (lease_id = 2),
    epoch bigint NOT NULL,
    held bigint NOT NULL,
    since bigint,
    PRIMARY KEY (epoch, key, "limit"),
    FOREIGN KEY (lease_id, epoch) REFERENCES ${schema}.lease (id, epoch) ON DELETE CASCADE
  );
  CREATE INDEX turn_key ON ${schema}.turn (key);

  CREATE FUNCTION ${schema}.take_turns(p_full boolean, p_epoch bigint, p_uses jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_all jsonb := '[]';
    v_use record;
    v_used bigint;
    v_since bigint;
    v_last bigint;
    v_before bigint;
    v_given bigint;
    v_place bigint;
    v_wanted boolean;
  BEGIN
    PERFORM ${schema}.guard(p_full);
    PERFORM 1 FROM ${schema}.lease WHERE id = 2 AND epoch = p_epoch FOR KEY SHARE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    PERFORM pg_advisory_xact_lock(place) FROM (
      SELECT DISTINCT hashtextextended(key, '${schema.replaceAll("'", "''")}.turn'::regclass::oid::bigint) AS place
        FROM jsonb_to_recordset(p_uses) u(key text) ORDER BY place OFFSET 0) k;
    FOR v_use IN SELECT sha256(convert_to(u.key, 'UTF8')) AS key, u."limit", u.held, u.wanted
      FROM ROWS FROM (jsonb_to_recordset(p_uses) AS (key text, "limit" bigint, held bigint, wanted bigint))
        WITH ORDINALITY u(key, "limit", held, wanted, place) ORDER BY u.place LOOP
      SELECT v_use.held + coalesce(sum(t.held) FILTER (WHERE t.epoch <> p_epoch OR t."limit" <> v_use."limit"), 0),
          min(t.since) FILTER (WHERE t.epoch = p_epoch AND t."limit" = v_use."limit" AND t.held <= v_use.held),
          1 + coalesce(max(t.since), 0)
        INTO v_used, v_since, v_last FROM ${schema}.turn t WHERE t.key = v_use.key;
      SELECT count(*) INTO v_before FROM ${schema}.turn t WHERE t.key = v_use.key AND v_used < t."limit"
        AND (t.epoch <> p_epoch OR t."limit" <> v_use."limit") AND t.since < coalesce(v_since, v_last);
      v_given := greatest(0, least(v_use.wanted, v_use."limit" - v_used - v_before));
      v_place := CASE WHEN v_given = v_use.wanted THEN NULL WHEN v_given > 0 THEN v_last ELSE coalesce(v_since, v_last) END;
      IF v_use.held + v_given = 0 AND v_place IS NULL THEN
        DELETE FROM ${schema}.turn t WHERE t.key = v_use.key AND t.epoch = p_epoch AND t."limit" = v_use."limit";
      ELSE
        INSERT INTO ${schema}.turn AS t (key, "limit", epoch, held, since)
          VALUES (v_use.key, v_use."limit", p_epoch, v_use.held + v_given, v_place)
          ON CONFLICT (epoch, key, "limit") DO UPDATE SET held = excluded.held, since = excluded.since;
      END IF;
      v_wanted := EXISTS (SELECT 1 FROM ${schema}.turn t WHERE t.key = v_use.key AND v_used + v_given < t."limit"
        AND (t.epoch <> p_epoch OR t."limit" <> v_use."limit") AND t.since IS NOT NULL);
      v_all := v_all || jsonb_build_object('given', v_given, 'isWanted', v_wanted);
    END LOOP;
    RETURN v_all;
  END $$;
`;
