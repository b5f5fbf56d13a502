/**
 * Who may use what at all: everybody but the owner loses every right on the store's tables and functions, and on the views.
 * Workers get back what their work takes. Users get the views and what those read: some columns of four tables, never the
 * bytes, and no way to name the tables, since that takes a right on their schema.
 */
import { literal, type Names } from "./names.ts";

/** What the views read. */
export const columnsOfUsers: Readonly<Record<string, readonly string[]>> = {
  run: ["id", "tenant", "run", "subject", "machine", "status", "created_at", "pruned", "about"],
  entry: ["run_id", "seq", "at"],
  snapshot: ["run_id", "seq"],
  activity: ["run_id"],
};

/** What is made in the views' schema. */
export const ownViews: readonly string[] = ["agent_runs", "agent_snapshots"];
const ownFunctions: readonly string[] = ["uid", "tenant", "look", "checksum", "send_event"];

/** Workers read it; only migrations write it. */
export const versionTable = '"store_version"';

/** `functions`: those for users. */
export function grants(names: Names, tables: readonly string[], functions: readonly string[]): string {
  const { store, views, workerRole, userRole } = names;
  const writable = tables.filter((table) => table !== versionTable).map((table) => `${store}.${table}`);
  return `
  GRANT USAGE ON SCHEMA ${store} TO ${workerRole};
  GRANT SELECT ON ALL TABLES IN SCHEMA ${store} TO ${workerRole};
  GRANT INSERT, UPDATE, DELETE ON ${writable.join(", ")} TO ${workerRole};
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${store} TO ${workerRole};

  GRANT USAGE ON SCHEMA ${views} TO ${userRole};
  GRANT SELECT ON ${ownViews.map((view) => `${views}.${view}`).join(", ")} TO ${userRole};
  GRANT EXECUTE ON FUNCTION ${functions.map((name) => `${views}.${name}`).join(", ")} TO ${userRole};
  ${Object.entries(columnsOfUsers)
    .map(([table, columns]) => `GRANT SELECT (${columns.join(", ")}) ON ${store}.${table} TO ${userRole};`)
    .join("\n  ")}
`;
}

/**
 * Takes from everybody but the owner what they were ever given on the store's schema, on all that is in it, and on what
 * is made here in the views'. What else may be in that one is nobody's business here.
 */
export const revokeAll = ({ store, views, owner }: Names): string => `
  DO $$
  DECLARE
    v_given record;
  BEGIN
    FOR v_given IN
      SELECT DISTINCT kind, name, CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
      FROM (
        SELECT 'SCHEMA' AS kind, oid::regnamespace::text AS name, (aclexplode(nspacl)).grantee
          FROM pg_namespace WHERE oid = ${literal(store)}::regnamespace
        UNION ALL SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass::text, (aclexplode(acl)).grantee
          FROM pg_class c, LATERAL (
            SELECT c.relacl AS acl UNION ALL SELECT a.attacl FROM pg_attribute a WHERE a.attrelid = c.oid
          ) granted
          WHERE c.relkind IN ('r', 'p', 'v', 'S') AND (c.relnamespace = ${literal(store)}::regnamespace
            OR c.relnamespace = ${literal(views)}::regnamespace AND c.relname IN (${ownViews.map(literal).join(", ")}))
        UNION ALL SELECT 'FUNCTION', p.oid::regprocedure::text,
            (aclexplode(coalesce(p.proacl, acldefault('f', p.proowner)))).grantee
          FROM pg_proc p WHERE p.pronamespace = ${literal(store)}::regnamespace
            OR p.pronamespace = ${literal(views)}::regnamespace AND p.proname IN (${ownFunctions.map(literal).join(", ")})
      ) granted WHERE grantee = 0 OR grantee <> ${literal(owner)}::regrole
    LOOP
      EXECUTE format('REVOKE ALL ON %s %s FROM %s', v_given.kind, v_given.name, v_given.role);
    END LOOP;
  END $$;
`;
