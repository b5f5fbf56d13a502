/** Who a user is: claims of every kind and none, Supabase's `auth.uid()`, logins, and what SQL of a user's own can do. */
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ada, bob, claimsOf, populate } from "../../../../test/postgres/attacks.ts";
import { createPool } from "../../../../test/postgres/database.ts";
import { createSecured, type Secured } from "../../../../test/postgres/secured.ts";

const runs = "SELECT id FROM holdfast_views.agent_runs ORDER BY id";
const idsOf = (rows: readonly Record<string, unknown>[]): unknown[] => rows.map(({ id }) => id);

describe("by claim", () => {
  let secured: Secured;

  beforeAll(async () => {
    secured = await createSecured({ events: true });
    await populate(secured);
  });

  afterAll(() => secured?.drop());

  test("B3: a user sees the runs whose subject is the `sub` of the token, in whatever tenant", async () => {
    expect(idsOf(await secured.as({ sub: "ada" }, runs))).toEqual(["trip-elsewhere", "trip-of-ada"]);
    expect(idsOf(await secured.as({ sub: "bob" }, runs))).toEqual(["trip-of-bob"]);
  });

  test.each([
    ["no claim", undefined],
    ["an empty claim, as a transaction leaves it behind", ""],
    ["a token without a sub", { role: "authenticated" }],
    ["a sub that is null", { sub: null }],
    ["an empty sub", { sub: "" }],
    ["nobody's sub", { sub: "eve" }],
    ["a sub in other letters", { sub: "Ada" }],
    ["a sub with a space", { sub: "ada " }],
    ["a sub that is a list", { sub: ["ada"] }],
    ["a sub that is an object", { sub: { eq: "ada" } }],
    ["a list for a token", ["ada"]],
    ["a text for a token", '"ada"'],
    ["SQL", { sub: "ada' OR 'a' = 'a" }],
    ["a pattern", { sub: "%" }],
  ])("%s shows nothing", async (_, claims) => {
    expect(await secured.as(claims, runs)).toEqual([]);
    expect(await secured.as(claims, "SELECT * FROM holdfast_views.agent_snapshots")).toEqual([]);
    const send = `SELECT holdfast_views.send_event('${ada.run}', 'add', NULL, NULL, 'acme') AS outcome`;
    expect(await secured.as(claims, send)).toEqual([{ outcome: "missing" }]);
  });

  test("a token that is no JSON is an error, and shows nothing", async () => {
    await expect(secured.as("{sub: ada}", runs)).rejects.toMatchObject({ code: "22P02" });
  });

  test("a claim ends with its transaction, so the next user of a connection has none", async () => {
    const pool = createPool(secured.urlOf(secured.roles.gateway), 1);
    await pool.query(`BEGIN; SET LOCAL ROLE ${secured.roles.user};
      SELECT set_config('request.jwt.claims', '{"sub":"ada"}', true); ${runs}; COMMIT`);
    await pool.query(`BEGIN; SET LOCAL ROLE ${secured.roles.user}`);
    expect((await pool.query(runs)).rows).toEqual([]);
    await pool.query("COMMIT");
    await pool.end();
  });

  test("claims are believed: who may send SQL of their own as the role of users can be anybody", async () => {
    const forged = "SELECT set_config('request.jwt.claims', '{\"sub\":\"bob\"}', true)";
    expect(idsOf(await secured.as({ sub: "ada" }, forged, runs))).toEqual([bob.run]);
  });

  test("whoever passes tokens on has no rights of its own", async () => {
    const claim = 'SET request.jwt.claims = \'{"sub":"ada"}\'';
    await expect(secured.login(secured.roles.gateway, claim, runs)).rejects.toMatchObject({ code: "42501" });
    await expect(secured.login(secured.roles.gateway, `SET ROLE ${secured.roles.owner}`)).rejects.toThrow();
    await expect(secured.login(secured.roles.gateway, `SET ROLE ${secured.roles.worker}`)).rejects.toThrow();
  });
});

describe("by a claim for the tenant", () => {
  let secured: Secured;

  beforeAll(async () => {
    secured = await createSecured({ tenantClaim: "organisation's \\ id" });
    await populate(secured);
  });

  afterAll(() => secured?.drop());

  const tenantOf = (tenant: unknown): object => ({ sub: "ada", "organisation's \\ id": tenant });

  test("B3: a user sees runs of that tenant alone; without the claim, none", async () => {
    expect(idsOf(await secured.as(tenantOf("acme"), runs))).toEqual([ada.run]);
    expect(idsOf(await secured.as(tenantOf("globex"), runs))).toEqual(["trip-elsewhere"]);
    for (const claims of [
      { sub: "ada" },
      tenantOf(null),
      tenantOf(["acme"]),
      tenantOf("ACME"),
      claimsOf(ada),
    ])
      expect(await secured.as(claims, runs)).toEqual([]);
  });
});

describe("on Supabase", () => {
  const uuid = "5f2d9c1e-0000-4000-8000-00000000000a";
  /** As Supabase makes it. */
  const auth = `CREATE SCHEMA auth; GRANT USAGE ON SCHEMA auth TO PUBLIC;
    CREATE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE AS $$
      SELECT coalesce(nullif(current_setting('request.jwt.claim.sub', true), ''),
        (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'))::uuid $$`;

  test("B3: users are who `auth.uid()` says", async () => {
    const secured = await createSecured({}, auth);
    await populate(secured);
    await secured.database.query(`UPDATE holdfast.run SET subject = '${uuid}' WHERE run = '${ada.run}'`);
    expect(idsOf(await secured.as({ sub: uuid }, runs))).toEqual([ada.run]);
    const older = `SELECT set_config('request.jwt.claim.sub', '${uuid}', true)`;
    expect(idsOf(await secured.as(undefined, older, runs))).toEqual([ada.run]);
    expect(await secured.as(undefined, runs)).toEqual([]);
    await expect(secured.as({ sub: "bob" }, runs)).rejects.toMatchObject({ code: "22P02" });
    await secured.drop();
  });
});

describe("by login", () => {
  let secured: Secured;
  let login: string;
  let pool: pg.Pool;

  beforeAll(async () => {
    secured = await createSecured({ identity: "login" });
    await populate(secured);
    const { database, roles, urlOf } = secured;
    login = `login_${roles.user}`;
    await database.query(`CREATE ROLE ${login} LOGIN IN ROLE ${roles.user};
      CREATE SCHEMA own AUTHORIZATION ${login}; UPDATE holdfast.run SET subject = '${login}' WHERE run = '${ada.run}'`);
    pool = createPool(urlOf(login), 1);
  });

  afterAll(async () => {
    await pool?.end();
    await secured?.database.query(`DROP OWNED BY ${login} CASCADE; DROP ROLE ${login}`);
    await secured?.drop();
  });

  test("B3: who may send any SQL sees their own runs, and claims change nothing", async () => {
    const forged = `SET request.jwt.claims = '{"sub":"bob"}'; SET request.jwt.claim.sub = 'bob'`;
    for (const before of ["SELECT 1", forged, `SET ROLE ${secured.roles.user}`]) {
      await pool.query(before);
      expect(idsOf((await pool.query(runs)).rows)).toEqual([ada.run]);
    }
    await expect(pool.query("SET SESSION AUTHORIZATION bob")).rejects.toThrow();
    await pool.query("RESET ALL; RESET ROLE");
  });

  test("a search path with functions, operators and tables of an attacker's is not looked at", async () => {
    await pool.query(`
      CREATE FUNCTION own.always(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
      CREATE OPERATOR own.= (FUNCTION = own.always, LEFTARG = text, RIGHTARG = text);
      CREATE FUNCTION own.current_setting(text, boolean) RETURNS text LANGUAGE sql AS 'SELECT ''{"sub":"bob"}''';
      CREATE FUNCTION own.uid() RETURNS text LANGUAGE sql AS 'SELECT ''bob''';
      CREATE FUNCTION own.octet_length(bytea) RETURNS int LANGUAGE sql AS 'SELECT 1/0';
      CREATE FUNCTION own.to_timestamp(float8) RETURNS timestamptz LANGUAGE sql AS 'SELECT now()';
      CREATE TABLE own.run AS SELECT 'bob' AS subject; CREATE TEMP TABLE run AS SELECT 'bob' AS subject;
      CREATE TEMP TABLE entry AS SELECT 1 AS run_id`);
    await pool.query("SET search_path = own, pg_temp, pg_catalog");
    expect(idsOf((await pool.query(runs)).rows)).toEqual([ada.run]);
    const snapshots = "SELECT run_id, bytes FROM holdfast_views.agent_snapshots";
    expect((await pool.query(snapshots)).rows).toEqual([{ run_id: ada.run, bytes: expect.any(String) }]);
    await pool.query("RESET search_path");
  });

  test("a function of the user's in a condition is shown no row but their own", async () => {
    const notices: string[] = [];
    await pool.query(`CREATE FUNCTION own.tell(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$
      BEGIN RAISE NOTICE '%', $1; RETURN true; END $$`);
    const client = await pool.connect();
    client.on("notice", ({ message }) => notices.push(message ?? ""));
    for (const query of [
      "SELECT id FROM holdfast_views.agent_runs WHERE own.tell(id || user_id)",
      "SELECT seq FROM holdfast_views.agent_snapshots WHERE own.tell(run_id || user_id)",
      "SELECT id FROM holdfast_views.agent_runs r JOIN holdfast_views.agent_snapshots s ON own.tell(r.id || s.user_id)",
      "SELECT id FROM holdfast_views.agent_runs WHERE 1 / CASE user_id WHEN 'bob' THEN 0 ELSE 1 END = 1",
    ])
      expect((await client.query(query)).rows).toHaveLength(1);
    client.release();
    expect(new Set(notices)).toEqual(new Set([ada.run + login]));
  });

  test("statistics, plans and catalogs tell nothing of others' rows", async () => {
    const { rows } = await pool.query("SELECT * FROM pg_stats WHERE schemaname = 'holdfast'");
    expect(rows).toEqual([]);
    await secured.database.query("ANALYZE holdfast.run");
    expect((await pool.query("SELECT * FROM pg_stats WHERE schemaname = 'holdfast'")).rows).toEqual([]);
    const plan = await pool.query(
      "EXPLAIN (ANALYZE, FORMAT TEXT) SELECT * FROM holdfast_views.agent_runs WHERE user_id = 'bob'",
    );
    expect(JSON.stringify(plan.rows)).not.toContain(bob.run);
  });
});
