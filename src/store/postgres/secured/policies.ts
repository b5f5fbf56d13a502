/**
 * Who sees which rows of the store's own tables.
 *
 * R1. Row-level security is on for every table and forced, so that also the owner sees rows through a policy only. The
 *     version is the exception: the owner must find out what is there even where policies were lost.
 * R2. Workers and the owner see all rows; users see the runs whose subject they are, and what hangs on them.
 */
import { isOwn, literal, type Names } from "./names.ts";
import { columnsOfUsers, ownViews, versionTable } from "./rights.ts";

/** The policies for users; without one a table shows them nothing. */
const userPolicy = "holdfast_user";

/** `tables`: all of the store's, quoted, partitions included. */
export function policies(names: Names, tables: readonly string[], hasTenant: boolean): string {
  const { store, userRole } = names;
  return `
  ${dropPolicies(store)}
  ${tables.map((table) => protect(names, table)).join("")}
  ${Object.keys(columnsOfUsers)
    .map(
      (table) => `CREATE POLICY ${userPolicy} ON ${store}.${table} FOR SELECT TO ${userRole}
    USING (${ownRows(names, table, hasTenant)});`,
    )
    .join("\n  ")}
  CREATE INDEX IF NOT EXISTS run_user ON ${store}.run (subject, created_at);
`;
}

/** A row that hangs on a run is one's own if its run can be seen. */
const ownRows = (names: Names, table: string, hasTenant: boolean): string =>
  table === "run" ? isOwn(names, hasTenant, "run") : `run_id IN (SELECT r.id FROM ${names.store}.run r)`;

function protect({ store, workerRole, owner }: Names, table: string): string {
  const name = `${store}.${table}`;
  return `
  ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY, ${table === versionTable ? "NO FORCE" : "FORCE"} ROW LEVEL SECURITY;
  ${table === versionTable ? "" : `CREATE POLICY holdfast_owner ON ${name} TO ${owner} USING (true) WITH CHECK (true);`}
  CREATE POLICY holdfast_worker ON ${name} TO ${workerRole} USING (true) WITH CHECK (true);
`;
}

/** Any policy can show more, whoever made it, so none stays that is not made here. */
const dropPolicies = (store: string): string => `
  DO $$
  DECLARE
    v_policy record;
  BEGIN
    FOR v_policy IN SELECT polname, polrelid::regclass AS name FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
      WHERE c.relnamespace = ${literal(store)}::regnamespace
    LOOP
      EXECUTE format('DROP POLICY %I ON %s', v_policy.polname, v_policy.name);
    END LOOP;
  END $$;
`;

/** Takes the views and what users see away; the tables can then be changed, and nobody sees more than before meanwhile. */
export const unveil = ({ store, views }: Pick<Names, "store" | "views">): string => `
  DROP VIEW IF EXISTS ${ownViews.map((view) => `${views}.${view}`).join(", ")};
  ${Object.keys(columnsOfUsers)
    .map((table) => `DROP POLICY IF EXISTS ${userPolicy} ON ${store}.${table};`)
    .join("\n  ")}
`;
