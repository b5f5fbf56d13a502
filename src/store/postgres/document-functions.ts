/**
 * Documents that go, and what is decided by documents. Whoever removes or prunes runs says which documents it looked at,
 * and they stay as they were until it is done: whoever writes one meanwhile waits, and comes after.
 */

export const documentFunctions = (schema: string): string =>
  `${removeDocument(schema)}${seenDocuments(schema)}${removeAsSeen(schema)}${pruneAsSeen(schema)}`;

/**
 * The highest version that was removed stands in a row of its own. Whoever writes a new document looks at it first, and
 * waits for whoever is removing one: so no version comes twice.
 */
const removeDocument = (schema: string): string => `
  CREATE TABLE ${schema}.document_removed (id integer PRIMARY KEY CHECK (id = 1), version bigint NOT NULL);
  INSERT INTO ${schema}.document_removed VALUES (1, 0);

  CREATE OR REPLACE FUNCTION ${schema}.write_document(
    p_full boolean, p_tenant text, p_name text, p_expect bigint, p_bytes bytea
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    v_removed bigint;
  BEGIN
    PERFORM ${schema}.guard(p_full);
    IF p_expect = 0 THEN
      SELECT version INTO v_removed FROM ${schema}.document_removed WHERE id = 1 FOR SHARE;
      INSERT INTO ${schema}.document (tenant, name, version, bytes)
        VALUES (p_tenant, p_name, v_removed + 1, p_bytes) ON CONFLICT DO NOTHING;
    ELSE
      UPDATE ${schema}.document SET version = version + 1, bytes = p_bytes
        WHERE ${schema}.name_key(tenant, name) = ${schema}.name_key(p_tenant, p_name) AND version = p_expect;
    END IF;
    RETURN FOUND;
  END $$;

  CREATE FUNCTION ${schema}.remove_document(p_full boolean, p_tenant text, p_name text, p_expect bigint)
  RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM ${schema}.guard(p_full);
    UPDATE ${schema}.document_removed SET version = greatest(version, p_expect)
      WHERE id = 1 AND EXISTS (SELECT 1 FROM ${schema}.document d WHERE ${schema}.name_key(d.tenant, d.name) =
        ${schema}.name_key(p_tenant, p_name) AND d.version = p_expect);
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM ${schema}.document
      WHERE ${schema}.name_key(tenant, name) = ${schema}.name_key(p_tenant, p_name) AND version = p_expect;
    RETURN FOUND;
  END $$;
`;

/**
 * Holds documents as they were seen, until the transaction ends; says whether they were so. One that is not there is held by
 * a row that nobody else sees (its version is 0): whoever wants to write the first one waits for it to go.
 */
const seenDocuments = (schema: string): string => `
  CREATE FUNCTION ${schema}.hold_documents(p_seen jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    v_seen record;
  BEGIN
    FOR v_seen IN SELECT * FROM jsonb_to_recordset(p_seen) s(tenant text, name text, version bigint)
      ORDER BY ${schema}.name_key(tenant, name) LOOP
      IF v_seen.version = 0 THEN
        INSERT INTO ${schema}.document (tenant, name, version, bytes) VALUES (v_seen.tenant, v_seen.name, 0, '')
          ON CONFLICT DO NOTHING;
      ELSE
        PERFORM 1 FROM ${schema}.document WHERE ${schema}.name_key(tenant, name) =
          ${schema}.name_key(v_seen.tenant, v_seen.name) AND version = v_seen.version FOR SHARE;
      END IF;
      IF NOT FOUND THEN
        PERFORM ${schema}.let_documents_go(p_seen);
        RETURN false;
      END IF;
    END LOOP;
    RETURN true;
  END $$;

  CREATE FUNCTION ${schema}.let_documents_go(p_seen jsonb) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM ${schema}.document d USING jsonb_to_recordset(p_seen) s(tenant text, name text, version bigint)
      WHERE s.version = 0 AND d.version = 0
        AND ${schema}.name_key(d.tenant, d.name) = ${schema}.name_key(s.tenant, s.name);
  END $$;
`;

const removeAsSeen = (schema: string): string => `
  CREATE FUNCTION ${schema}.remove_runs(p_full boolean, p_epoch bigint, p_named jsonb, p_seen jsonb)
  RETURNS boolean[] LANGUAGE plpgsql AS $$
  DECLARE
    v_removed boolean[];
  BEGIN
    PERFORM ${schema}.guard(p_full);
    IF NOT ${schema}.hold_documents(p_seen) THEN
      RETURN array_fill(false, ARRAY[jsonb_array_length(p_named)]);
    END IF;
    v_removed := ${schema}.remove_runs(p_full, p_epoch, p_named);
    PERFORM ${schema}.let_documents_go(p_seen);
    RETURN v_removed;
  END $$;
`;

const pruneAsSeen = (schema: string): string => `
  CREATE FUNCTION ${schema}.prune_journal(
    p_full boolean, p_epoch bigint, p_tenant text, p_run text, p_seq bigint, p_seen jsonb
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    v_pruned boolean;
  BEGIN
    PERFORM ${schema}.guard(p_full);
    IF NOT ${schema}.hold_documents(p_seen) THEN RETURN false; END IF;
    v_pruned := ${schema}.prune_journal(p_full, p_epoch, p_tenant, p_run, p_seq);
    PERFORM ${schema}.let_documents_go(p_seen);
    RETURN v_pruned;
  END $$;
`;
