/**
 * Indexes of words, by run (`../search.ts`). A word stands there with the number of its run before it, so that no search goes
 * through the words of other runs. Rows go with the row of their run.
 *
 * `fastupdate` is off: what is removed must not stand in a list of things to do as well. A row that was removed is seen by
 * nobody, and is overwritten when the server vacuums.
 */

export const searchFunctions = (schema: string): string => `
  CREATE TABLE ${schema}.index_mark (
    run_id bigint NOT NULL,
    mark bigint NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (run_id, shard),
    FOREIGN KEY (run_id, shard) REFERENCES ${schema}.run (id, shard) ON UPDATE CASCADE ON DELETE CASCADE
  );
  CREATE TABLE ${schema}.indexed_text (
    run_id bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    words tsvector NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (run_id, id, shard),
    FOREIGN KEY (run_id, shard) REFERENCES ${schema}.run (id, shard) ON UPDATE CASCADE ON DELETE CASCADE
  );
  CREATE INDEX indexed_text_words ON ${schema}.indexed_text USING gin (words) WITH (fastupdate = off);

  CREATE FUNCTION ${schema}.write_words(p_full boolean, p_tenant text, p_run text, p_change jsonb) RETURNS text
  LANGUAGE plpgsql AS $$
  DECLARE
    v_run record;
    v_mark bigint := (p_change ->> 'mark')::bigint;
    v_expect bigint := (p_change ->> 'expect')::bigint;
    v_before bigint;
  BEGIN
    PERFORM ${schema}.guard(p_full);
    SELECT r.id, r.shard, r.status INTO v_run FROM ${schema}.run r
      WHERE ${schema}.name_key(r.tenant, r.run) = ${schema}.name_key(p_tenant, p_run) FOR NO KEY UPDATE;
    IF v_run.id IS NULL OR v_run.status NOT IN ('active', 'parked') THEN RETURN 'missing'; END IF;
    v_before := coalesce((SELECT m.mark FROM ${schema}.index_mark m WHERE m.run_id = v_run.id), 0);
    IF v_before = v_mark THEN RETURN 'written'; END IF;
    IF v_before > v_mark OR v_before <> v_expect THEN RETURN 'stale'; END IF;
    IF v_expect IS NULL THEN
      DELETE FROM ${schema}.indexed_text t WHERE t.run_id = v_run.id;
    ELSE
      DELETE FROM ${schema}.indexed_text t WHERE t.run_id = v_run.id
        AND t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(p_change -> 'remove')));
    END IF;
    INSERT INTO ${schema}.indexed_text AS t (run_id, id, words, shard)
      SELECT v_run.id, p.id, array_to_tsvector(ARRAY(
          SELECT DISTINCT v_run.id || '·' || w FROM jsonb_array_elements_text(p.words) w)), v_run.shard
        FROM jsonb_to_recordset(p_change -> 'put') p(id text, words jsonb)
      ON CONFLICT (run_id, id, shard) DO UPDATE SET words = excluded.words;
    INSERT INTO ${schema}.index_mark AS m (run_id, mark, shard) VALUES (v_run.id, v_mark, v_run.shard)
      ON CONFLICT (run_id, shard) DO UPDATE SET mark = excluded.mark;
    RETURN 'written';
  END $$;
`;

/** $1 and $2 name the run; then come the words, and how many at most. */
export const findWords = (schema: string, named: string): string => `
  WITH run AS (SELECT r.id FROM ${schema}.run r WHERE ${named}),
    query AS (SELECT string_agg('''' || r.id || '·' || w || '''', ' | ')::tsquery AS words FROM run r, unnest($3::text[]) w)
  SELECT coalesce((SELECT m.mark FROM ${schema}.index_mark m JOIN run r ON m.run_id = r.id), 0) AS mark,
    to_jsonb(ARRAY(SELECT t.id FROM ${schema}.indexed_text t
      WHERE t.words @@ (SELECT q.words FROM query q) AND t.run_id = (SELECT r.id FROM run r) LIMIT $4)) AS ids`;
