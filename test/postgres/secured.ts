/**
 * A database under row-level security, with real roles and logins. Roles belong to the whole server, which other tests
 * share, so their names are of this database alone.
 */
import type pg from "pg";
import { type SecureOptions, secure } from "../../src/store/postgres/secured/index.ts";
import { createDatabase, createPool, type Database } from "./database.ts";

export type Rows = Record<string, unknown>[];

export type Attempt = { readonly rows: Rows } | { readonly state: string };

export interface Secured {
  readonly database: Database;
  readonly roles: Readonly<Record<"owner" | "worker" | "user" | "gateway" | "workerLogin", string>>;
  /** The URL with which somebody logs in. */
  urlOf(role: string): string;
  /** Secures the store once more. */
  secure(options?: SecureOptions): Promise<void>;
  /** Runs statements as users do: through a gateway that has checked their token, in one transaction. */
  as(claims: object | string | undefined, ...statements: string[]): Promise<Rows>;
  /** The same of one statement that leaves nothing behind: its rows, or the state it failed with. */
  attempt(claims: object | undefined, statement: string): Promise<Attempt>;
  /** Runs statements as somebody who logged in. */
  login(role: string, ...statements: string[]): Promise<Rows>;
  /** Everything that row-level security consists of, as the database has it. */
  fingerprint(): Promise<unknown>;
  drop(): Promise<void>;
}

const fingerprint = `SELECT jsonb_build_object(
  'policies', (SELECT jsonb_agg(to_jsonb(p) ORDER BY p.schemaname, p.tablename, p.policyname) FROM pg_policies p),
  'relations', (SELECT jsonb_agg(jsonb_build_array(oid::regclass, relowner, relrowsecurity, relforcerowsecurity, reloptions,
      relacl) ORDER BY oid) FROM pg_class WHERE relnamespace::regnamespace::text LIKE 'holdfast%' AND relkind <> 'i'),
  'columns', (SELECT jsonb_agg(jsonb_build_array(attrelid, attnum, attacl) ORDER BY attrelid, attnum) FROM pg_attribute
      WHERE attacl IS NOT NULL),
  'views', (SELECT jsonb_agg(definition ORDER BY viewname) FROM pg_views WHERE schemaname LIKE 'holdfast%'),
  'functions', (SELECT jsonb_agg(jsonb_build_array(pg_get_functiondef(oid), proowner, proacl) ORDER BY oid) FROM pg_proc
      WHERE pronamespace::regnamespace::text LIKE 'holdfast%'),
  'schemas', (SELECT jsonb_agg(nspacl ORDER BY nspname) FROM pg_namespace WHERE nspname LIKE 'holdfast%')) AS it`;

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
  const within = async (role: string, work: (client: pg.PoolClient) => Promise<Rows>): Promise<Rows> => {
    const pool = pools.get(role) ?? createPool(urlOf(role), 3);
    pools.set(role, pool);
    const client = await pool.connect();
    try {
      return await work(client);
    } finally {
      await client.query("ROLLBACK");
      client.release();
    }
  };
  const asUser = (claims: object | string | undefined): string => {
    const token = typeof claims === "string" ? claims : JSON.stringify(claims);
    const claim = `SELECT set_config('request.jwt.claims', '${token?.replaceAll("'", "''")}', true);`;
    return `BEGIN; SET LOCAL ROLE ${roles.user}; ${claims === undefined ? "" : claim}`;
  };
  const secured: Secured = {
    ...{ database, roles, urlOf },
    secure: (more = {}) => secure(urlOf(roles.owner), { ...given, ...more }),
    as: (claims, ...statements) =>
      within(roles.gateway, async (client) => {
        await client.query(asUser(claims));
        let rows: Rows = [];
        for (const statement of statements) rows = (await client.query(statement)).rows;
        await client.query("COMMIT");
        return rows;
      }),
    attempt: (claims, statement) =>
      within(roles.gateway, async (client) => {
        const results = await client.query(`${asUser(claims)} ${statement}`);
        return (results as unknown as pg.QueryResult[]).at(-1)?.rows ?? [];
      }).then(
        (rows) => ({ rows }),
        ({ code }: { code: string }) => ({ state: code }),
      ),
    login: (role, ...statements) =>
      within(role, async (client) => {
        let rows: Rows = [];
        for (const statement of statements) rows = (await client.query(statement)).rows;
        return rows;
      }),
    fingerprint: async () => (await database.query(fingerprint))[0]?.it,
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
