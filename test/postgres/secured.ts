/**
 * A database under row-level security, with real roles and logins. Roles belong to the whole server, which other tests
 * share, so their names are of this database alone.
 */
import type pg from "pg";
import { type SecureOptions, secure } from "../../src/store/postgres/secured/index.ts";
import { createDatabase, createPool, type Database } from "./database.ts";

export type Rows = Record<string, unknown>[];

export interface Secured {
  readonly database: Database;
  readonly roles: Readonly<Record<"owner" | "worker" | "user" | "gateway" | "workerLogin", string>>;
  /** The URL with which somebody logs in. */
  urlOf(role: string): string;
  /** Secures the store once more. */
  secure(options?: SecureOptions): Promise<void>;
  /** Runs statements as users do: through a gateway that has checked their token, in one transaction. */
  as(claims: object | string | undefined, ...statements: string[]): Promise<Rows>;
  /** Runs statements as somebody who logged in. */
  login(role: string, ...statements: string[]): Promise<Rows>;
  drop(): Promise<void>;
}

/** `prepare` is run by the superuser before the store is secured. */
export async function createSecured(options: SecureOptions = {}, prepare = "SELECT 1"): Promise<Secured> {
  const database = await createDatabase();
  const [{ name }] = (await database.query("SELECT current_database() AS name")) as [{ name: string }];
  const suffix = name.slice(5, 17);
  const of = (role: string): string => `${role}_${suffix}`;
  const roles = {
    ...{ owner: of("owner"), worker: of("worker"), user: of("user"), gateway: of("gateway") },
    workerLogin: of("worker_login"),
  };
  await database.query(`
    CREATE ROLE ${roles.owner} LOGIN CREATEROLE; GRANT CREATE ON DATABASE ${name} TO ${roles.owner};
    CREATE ROLE ${roles.worker}; CREATE ROLE ${roles.user};
    CREATE ROLE ${roles.gateway} LOGIN NOINHERIT IN ROLE ${roles.user};
    CREATE ROLE ${roles.workerLogin} LOGIN IN ROLE ${roles.worker}; ${prepare}`);
  const urlOf = (role: string): string => database.url.replace("holdfast@", `${role}@`);
  const given = { workerRole: roles.worker, userRole: roles.user, ...options };
  const pools = new Map<string, pg.Pool>();
  const within = async (
    role: string,
    statements: readonly (string | [string, unknown[]])[],
  ): Promise<Rows> => {
    const pool = pools.get(role) ?? createPool(urlOf(role), 3);
    pools.set(role, pool);
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      let rows: Rows = [];
      for (const statement of statements) {
        const [text, values] = typeof statement === "string" ? [statement, []] : statement;
        rows = (await client.query(text, values)).rows;
      }
      await client.query("COMMIT");
      return rows;
    } catch (error) {
      await client.query("ROLLBACK");
      throw error;
    } finally {
      client.release();
    }
  };
  const secured: Secured = {
    ...{ database, roles, urlOf },
    secure: (more = {}) => secure(urlOf(roles.owner), { ...given, ...more }),
    as: (claims, ...statements) => {
      const token = typeof claims === "string" ? claims : JSON.stringify(claims);
      const claim: [string, unknown[]] = ["SELECT set_config('request.jwt.claims', $1, true)", [token]];
      return within(roles.gateway, [
        `SET LOCAL ROLE ${roles.user}`,
        ...(claims === undefined ? [] : [claim]),
        ...statements,
      ]);
    },
    login: (role, ...statements) => within(role, statements),
    drop: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.end()));
      const all = Object.values(roles).join(", ");
      await database.query(`DROP OWNED BY ${all} CASCADE; DROP ROLE ${all}`);
      await database.drop();
    },
  };
  await secured.secure();
  return secured;
}
