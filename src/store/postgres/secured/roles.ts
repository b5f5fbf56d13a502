/** The roles of the database: made where they are missing, and refused where row-level security would not hold them. */
import { HoldfastError } from "../../../errors.ts";
import type { PostgresClient } from "../connect.ts";
import { types } from "../connect.ts";
import { quote } from "../migrate.ts";

export interface Roles {
  readonly workerRole: string;
  readonly userRole: string;
}

/** Makes the roles that are missing, without the right to log in. Throws ROLE_UNUSABLE with what to run if that is not allowed. */
export async function makeRoles(client: PostgresClient, { workerRole, userRole }: Roles): Promise<void> {
  const text = `SELECT rolsuper OR rolcreaterole AS may, to_jsonb(ARRAY(SELECT given FROM unnest($1::text[]) given
      WHERE NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = given))) AS missing
    FROM pg_roles WHERE rolname = current_user`;
  const { rows } = await client.query({ text, values: [[workerRole, userRole]], types });
  const { missing, may } = rows[0] as { missing: string[]; may: boolean };
  const statements = missing.map((role) => `CREATE ROLE ${quote(role)} NOLOGIN;`);
  if (missing.length > 0 && !may)
    throw unusable(
      `The role ${missing.join(" and the role ")} is not there, and this one may make none. Run as an administrator: ${statements.join(" ")}`,
      { missing },
    );
  for (const statement of statements) await client.query({ text: statement });
}

/** Throws ROLE_UNUSABLE if a role can get round what was just made, or is itself what it must be kept from. */
export async function checkRoles(
  client: PostgresClient,
  { workerRole, userRole, schema, owner }: Roles & { readonly schema: string; readonly owner: string },
): Promise<void> {
  const { rows } = await client.query({
    text: problems,
    values: [userRole, workerRole, owner, schema],
    types,
  });
  const [found] = rows as { role: string; problem: string }[];
  if (found !== undefined)
    throw unusable(
      `The role ${found.role} ${found.problem}, so row-level security would not hold it; take that from it, or give another role`,
      { role: found.role },
    );
}

const problems = `
  SELECT rolname AS role, 'passes by row-level security' AS problem FROM pg_roles
    WHERE rolname IN ($1, $2) AND (rolsuper OR rolbypassrls)
  UNION ALL SELECT $1, 'is a member of ' || other FROM unnest(ARRAY[$2, $3]) other WHERE pg_has_role($1, other, 'MEMBER')
  UNION ALL SELECT $2, 'is a member of ' || $3 WHERE pg_has_role($2, $3, 'MEMBER')
  UNION ALL SELECT $1, 'may ' || lower(rights) || ' ' || relname FROM pg_class,
      unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'SELECT']) rights
    WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $4) AND relkind IN ('r', 'p')
      AND has_table_privilege($1, oid, rights)
  UNION ALL SELECT $2, 'may truncate ' || relname FROM pg_class
    WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $4) AND relkind IN ('r', 'p')
      AND has_table_privilege($2, oid, 'TRUNCATE')`;

/** The error for roles that cannot be used as they are. */
export function unusable(message: string, details: Readonly<Record<string, unknown>> = {}): HoldfastError {
  return new HoldfastError("ROLE_UNUSABLE", message, { details });
}
