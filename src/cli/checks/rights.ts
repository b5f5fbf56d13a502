/** Whether the role that workers come with may do what they do, in the store that is there or to make one. */
import { amount, bad, type Finding, good } from "./finding.ts";

/** What the server says of the role, in one row of `rightsQuery`. */
export interface RightsFacts {
  readonly role: string;
  /** Whether it may make a store where there is none. */
  readonly can_create: boolean;
  /** How many tables it may not read, or not write, and one of them. */
  readonly refused: number;
  readonly refused_table: string | null;
}

/** `$1`: the schema. Only migrations write the store's version, so workers need not be able to. */
export const rightsQuery = `SELECT current_user::text AS role,
  coalesce((SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = $1),
    has_database_privilege(current_database(), 'CREATE')) AS can_create,
  refused.count AS refused, refused.first AS refused_table
  FROM (SELECT count(*)::int AS count, min(c.relname::text) AS first FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND NOT (has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
        AND (c.relname = 'store_version' OR has_table_privilege(c.oid, 'INSERT')
          AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')))
  ) refused`;

/** `hasStore`: whether there is one, of whatever version. */
export function judgeRights(facts: RightsFacts, hasStore: boolean): Finding {
  const { role, can_create, refused, refused_table: table } = facts;
  if (refused > 0)
    return bad(
      "rights",
      `${role} may not read and write ${amount(refused, "table")}, such as ${table}`,
      "give --store the role of the workers: the owner of the schema, or one with SELECT, INSERT, UPDATE and DELETE",
    );
  return hasStore || can_create
    ? good("rights", `${role} may ${hasStore ? "read and write all tables" : "make the store"}`)
    : bad(
        "rights",
        `${role} may not make the store`,
        `let somebody who may do so once: holdfast db migrate; or GRANT CREATE ON DATABASE … TO ${role}`,
      );
}
