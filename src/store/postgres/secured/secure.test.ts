/** Making it: once or often, by whom, on what, and what is refused without a trace. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ada, bob, claimsOf, populate, problemsOf } from "../../../../test/postgres/attacks.ts";
import { createSecured, type Secured } from "../../../../test/postgres/secured.ts";
import type { PostgresClient, PostgresPool, Query } from "../connect.ts";
import { migrate } from "../migrate.ts";
import { migrations } from "../schema.ts";
import { postgres } from "../store.ts";
import { secure } from "./index.ts";

let secured: Secured;

beforeEach(async () => {
  secured = await createSecured();
});

afterEach(() => secured.drop());

const rolesOf = ({ roles }: Secured) => ({ workerRole: roles.worker, userRole: roles.user });
const failure = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    () => "made",
    (error: unknown) => error,
  );

test("is the same when it is made again, also by several at once", async () => {
  await populate(secured);
  const before = await secured.fingerprint();
  await Promise.all([secured.secure(), secured.secure(), secured.secure()]);
  expect(await secured.fingerprint()).toEqual(before);
  expect(await secured.as({ sub: "bob" }, "SELECT id FROM holdfast_views.agent_runs")).toEqual([
    { id: bob.run },
  ]);
});

test("takes a pool, which stays open, and makes roles that are missing", async () => {
  const { database, roles } = secured;
  const given = { schema: "other", workerRole: `new ${roles.worker}`, userRole: `"new" ${roles.user}` };
  await secure(database.pool, given);
  const found = await database.query("SELECT rolname, rolcanlogin FROM pg_roles WHERE rolname = ANY($1)", [
    [given.workerRole, given.userRole],
  ]);
  expect(found.map(({ rolcanlogin }) => rolcanlogin)).toEqual([false, false]);
  for (const { rolname } of found) {
    const quoted = `"${String(rolname).replaceAll('"', '""')}"`;
    await database.query(`DROP OWNED BY ${quoted}; DROP ROLE ${quoted}`);
  }
});

test("what a superuser makes belongs to the owner of the store, and has no more rights than that", async () => {
  await secure(secured.database.url, { ...rolesOf(secured), events: true });
  const owners = await secured.database.query(
    `SELECT DISTINCT pg_get_userbyid(owner) AS owner FROM (
      SELECT proowner AS owner FROM pg_proc WHERE pronamespace = 'holdfast_views'::regnamespace
      UNION SELECT relowner FROM pg_class WHERE relnamespace = 'holdfast_views'::regnamespace
      UNION SELECT nspowner FROM pg_namespace WHERE nspname = 'holdfast_views') made`,
  );
  expect(owners).toEqual([{ owner: secured.roles.owner }]);
});

test("security is forced: also the owner sees nothing without a policy", async () => {
  await populate(secured);
  const { database, login, roles } = secured;
  const count = "SELECT count(*)::int AS count FROM holdfast.run";
  expect(await login(roles.owner, count)).toEqual([{ count: 3 }]);
  await database.query("DROP POLICY holdfast_owner ON holdfast.run");
  expect(await login(roles.owner, count)).toEqual([{ count: 0 }]);
  await database.query("ALTER TABLE holdfast.run NO FORCE ROW LEVEL SECURITY");
  expect(await login(roles.owner, count)).toEqual([{ count: 3 }]);
});

test("rights that others had on the store are taken away, and those on what is not ours stay", async () => {
  const { database } = secured;
  await database.query(`
    CREATE TABLE holdfast_views.theirs (a int); GRANT ALL ON holdfast_views.theirs TO PUBLIC;
    GRANT ALL ON SCHEMA holdfast, holdfast_views TO PUBLIC; GRANT ALL ON ALL TABLES IN SCHEMA holdfast TO PUBLIC;
    GRANT SELECT (bytes) ON holdfast.entry TO ${secured.roles.gateway}`);
  await secured.secure();
  const [found] = await database.query(
    `SELECT has_table_privilege('public', 'holdfast_views.theirs', 'SELECT') AS theirs,
      has_table_privilege('public', 'holdfast.run', 'SELECT') AS ours,
      has_schema_privilege('public', 'holdfast', 'USAGE') AS schema,
      has_column_privilege('${secured.roles.gateway}', 'holdfast.entry', 'bytes', 'SELECT') AS bytes`,
  );
  expect(found).toEqual({ theirs: true, ours: false, schema: false, bytes: false });
});

test("a store of an older version is brought forward, whatever the views of before looked like", async () => {
  const schema = "older";
  await migrate(secured.database.pool, schema, migrations.slice(0, -1));
  await secured.database.query(
    `CREATE SCHEMA older_views; CREATE VIEW older_views.agent_runs AS SELECT wake_at, id FROM older.run`,
  );
  await secure(secured.database.pool, { ...rolesOf(secured), schema });
  const [row] = await secured.database.query("SELECT version FROM older.store_version");
  expect(row?.version).toBe(migrations.length);
  expect(await secured.as({ sub: "ada" }, "SELECT id FROM older_views.agent_runs")).toEqual([]);
});

test("two stores in one database are secured apart", async () => {
  await populate(secured);
  await secure(secured.urlOf(secured.roles.owner), { ...rolesOf(secured), schema: 'a "second" one' });
  const second = `SELECT id FROM "a ""second"" one_views".agent_runs`;
  expect(await secured.as(claimsOf(ada), second)).toEqual([]);
  expect(await secured.as({ sub: "bob" }, "SELECT id FROM holdfast_views.agent_runs")).toHaveLength(1);
});

describe("is refused, and nothing changes,", () => {
  const refused = async (options: object, url = secured.urlOf(secured.roles.owner)): Promise<unknown> => {
    const before = await secured.fingerprint();
    const error = await failure(secure(url, { ...rolesOf(secured), ...options }));
    expect(await secured.fingerprint()).toEqual(before);
    return error;
  };

  test("for a role that is missing where this one may make none, with what to run", async () => {
    await secured.database.query(`ALTER ROLE ${secured.roles.owner} NOCREATEROLE`);
    const error = await refused({ workerRole: "of nobody", userRole: 'the "other"' });
    expect(error).toMatchObject({
      ...{ code: "ROLE_UNUSABLE", retry: "after-fix", details: { missing: ["of nobody", 'the "other"'] } },
    });
    expect((error as Error).message).toContain(
      'CREATE ROLE "of nobody" NOLOGIN; CREATE ROLE "the ""other""" NOLOGIN;',
    );
  });

  test.each([
    ["users that pass by row-level security", (r: Secured["roles"]) => `ALTER ROLE ${r.user} BYPASSRLS`],
    ["users that are superusers", (r: Secured["roles"]) => `ALTER ROLE ${r.user} SUPERUSER`],
    ["workers that pass by row-level security", (r: Secured["roles"]) => `ALTER ROLE ${r.worker} BYPASSRLS`],
    ["users that are workers", (r: Secured["roles"]) => `GRANT ${r.worker} TO ${r.user}`],
    ["users that are the owner", (r: Secured["roles"]) => `GRANT ${r.owner} TO ${r.user}`],
    ["workers that are the owner", (r: Secured["roles"]) => `GRANT ${r.owner} TO ${r.worker}`],
    ["users that may read all data", (r: Secured["roles"]) => `GRANT pg_read_all_data TO ${r.user}`],
    ["users that may write all data", (r: Secured["roles"]) => `GRANT pg_write_all_data TO ${r.user}`],
  ])("for %s", async (_, mistake) => {
    const { database, roles } = secured;
    await database.query(mistake(roles));
    const error = await refused({});
    expect(error).toMatchObject({ code: "ROLE_UNUSABLE" });
    expect((error as Error).message).toContain("row-level security would not hold it");
  });

  test("for roles and schemas that are the same, or public", async () => {
    for (const options of [{ schema: "public" }, { views: "public" }, { views: "holdfast" }])
      expect(await refused(options)).toMatchObject({ code: "STORE_FOREIGN" });
    expect(await refused({ workerRole: secured.roles.user })).toMatchObject({ code: "ROLE_UNUSABLE" });
    expect(await refused({ identity: "login", tenantClaim: "org" })).toMatchObject({ code: "ROLE_UNUSABLE" });
  });

  test("for who is not the owner: users and workers cannot make it, nor undo it", async () => {
    for (const login of [secured.roles.workerLogin, secured.roles.gateway]) {
      const error = await refused({ errors: false }, secured.urlOf(login));
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", details: { state: "42501" } });
    }
  });

  test("for another program's schema", async () => {
    await secured.database.query("CREATE SCHEMA theirs; CREATE TABLE theirs.run (a int)");
    expect(await refused({ schema: "theirs" })).toMatchObject({ code: "STORE_FOREIGN" });
  });

  test("for a server whose views know only their owner's rights", async () => {
    const { pool } = secured.database;
    const older = ({ text, ...rest }: Query): Query => ({
      ...rest,
      text: text.replace("current_setting('server_version_num')::int", "140012"),
    });
    const client = async (): Promise<PostgresClient> => {
      const real = await pool.connect();
      return { query: (query) => real.query(older(query)), release: (error) => real.release(error) };
    };
    const before = await secured.fingerprint();
    const old: PostgresPool = { query: (query) => pool.query(query), connect: client, end: async () => {} };
    const error = await failure(secure(old, rolesOf(secured)));
    expect(error).toMatchObject({ code: "STORE_UNSUPPORTED" });
    expect((error as Error).message).toContain("from version 15 on");
    expect(await secured.fingerprint()).toEqual(before);
  });
});

test("what is made afterwards in the store is nobody's until the store is secured again", async () => {
  await populate(secured);
  const { database, login, roles, attempt } = secured;
  await login(
    roles.owner,
    "CREATE TABLE holdfast.later (a int); INSERT INTO holdfast.later VALUES (1)",
    "COMMIT",
  );
  await expect(login(roles.workerLogin, "SELECT * FROM holdfast.later")).rejects.toMatchObject({
    code: "42501",
  });
  expect(await attempt({ sub: "ada" }, "SELECT * FROM holdfast.later")).toEqual({ state: "42501" });
  await secured.secure({ tenantClaim: ["app_metadata", "tenant"], events: true });
  expect(await login(roles.workerLogin, "SELECT * FROM holdfast.later")).toEqual([{ a: 1 }]);
  expect(await problemsOf(secured)).toEqual([]);
  await database.query("DROP TABLE holdfast.later");
});

test("an unsecured store can be secured while workers are at it", async () => {
  const schema = "busy";
  const store = postgres(secured.database.url, { schema, clock: "caller" });
  await store.open();
  let isOver = false;
  const working = (async () => {
    for (let n = 0; !isOver; n++) await store.writeDocument("acme", `document ${n}`, 0, new Uint8Array([1]));
  })();
  await secure(secured.database.pool, { ...rolesOf(secured), schema });
  isOver = true;
  await working;
  await store.close();
});
