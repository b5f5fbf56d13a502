/**
 * Who asks: the functions that tell the user's id, and tenant, of the present request.
 *
 * A claim is a setting of the transaction that whoever checked the token has made: PostgREST, or a server of one's own. The
 * database cannot tell who made it. A user who may send SQL of their own can claim to be anybody; for those there is
 * `login`, which goes by the role that logged in.
 */
import { literal, type Names } from "./names.ts";

export interface Identity {
  /** `claim`: by the token's `sub`. `login`: by the name of the role that logged in. */
  readonly by: "claim" | "login";
  /** Whether the database has `auth.uid()`, as Supabase does. */
  readonly hasAuth: boolean;
  /** Where in the token the tenant stands. */
  readonly tenantClaim: readonly string[] | undefined;
}

/** A setting is empty once a transaction that made it is over; no JSON at all is an error, and shows nothing. */
const claims = "nullif(current_setting('request.jwt.claims', true), '')::json";

/** The bodies name everything in full or find it in `pg_catalog`, whatever path the caller has set. */
const plain = "LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp";

export function identityFunctions({ views }: Names, { by, hasAuth, tenantClaim }: Identity): string {
  const user = by === "login" ? "session_user::text" : hasAuth ? "auth.uid()::text" : `${claims} ->> 'sub'`;
  const path = tenantClaim?.map((step) => ` -> ${literal(step)}`).join("") ?? "";
  return `
  CREATE OR REPLACE FUNCTION ${views}.uid() RETURNS text ${plain} AS $$ SELECT ${user} $$;
  ${
    tenantClaim === undefined
      ? ""
      : `CREATE OR REPLACE FUNCTION ${views}.tenant() RETURNS text ${plain} AS $$
    SELECT (${claims}${path}) #>> '{}'
  $$;`
  }
`;
}
