/**
 * Reading and writing across users, tenants and roles, on a real server with real roles. Each planted mistake is found by
 * the attacks that find none on the store as it is made, and is gone once the store is secured again.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ada, claimsOf, populate, problemOf, problemsOf } from "../../../../test/postgres/attacks.ts";
import { createSecured, type Secured } from "../../../../test/postgres/secured.ts";

let secured: Secured;

const tenantClaim = ["app_metadata", "tenant"];

beforeAll(async () => {
  secured = await createSecured({ tenantClaim, events: true });
  await populate(secured);
});

afterAll(() => secured?.drop());

/** Users could name the tables then, so that the policies are all that is left. */
const openSchema = () => secured.database.query(`GRANT USAGE ON SCHEMA holdfast TO ${secured.roles.user}`);

test("B3: nobody reads or writes across users, tenants and roles", async () => {
  expect(await problemsOf(secured)).toEqual([]);
});

test("B3: nor where users can name the tables: policies and columns hold by themselves", async () => {
  await openSchema();
  expect(await problemsOf(secured)).toEqual([]);
  const { attempt } = secured;
  expect(await attempt(claimsOf(ada), "SELECT run FROM holdfast.run")).toEqual({ rows: [{ run: ada.run }] });
  await secured.secure();
  expect(await attempt(claimsOf(ada), "SELECT run FROM holdfast.run")).toEqual({ state: "42501" });
});

/** Each is made with the schema open to users. */
const mistakes: Readonly<Record<string, (user: string) => string>> = {
  "a policy that shows everything": (user) =>
    `CREATE POLICY wide ON holdfast.run FOR SELECT TO ${user} USING (true)`,
  "a policy that forgets the tenant": (user) =>
    `DROP POLICY holdfast_user ON holdfast.run;
     CREATE POLICY holdfast_user ON holdfast.run FOR SELECT TO ${user} USING (subject = holdfast_views.uid())`,
  "a policy that lets users write": (user) =>
    `CREATE POLICY wide ON holdfast.snapshot TO ${user} USING (true); GRANT DELETE ON holdfast.snapshot TO ${user}`,
  "runs without row-level security": () => "ALTER TABLE holdfast.run DISABLE ROW LEVEL SECURITY",
  "the journal without row-level security": () => "ALTER TABLE holdfast.entry DISABLE ROW LEVEL SECURITY",
  "snapshots without row-level security": () => "ALTER TABLE holdfast.snapshot DISABLE ROW LEVEL SECURITY",
  "activities without row-level security": () => "ALTER TABLE holdfast.activity DISABLE ROW LEVEL SECURITY",
  "security that is not forced": () => "ALTER TABLE holdfast.content NO FORCE ROW LEVEL SECURITY",
  "all rights for everybody": () => "GRANT ALL ON ALL TABLES IN SCHEMA holdfast TO PUBLIC",
  "the bytes for users": (user) => `GRANT SELECT (bytes) ON holdfast.entry TO ${user}`,
  "functions for everybody": () => "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA holdfast TO PUBLIC",
  "a view with its owner's rights": () =>
    "ALTER VIEW holdfast_views.agent_runs SET (security_invoker = false)",
  "snapshots shown with their owner's rights": () =>
    "ALTER VIEW holdfast_views.agent_snapshots RESET (security_invoker)",
  "users who are workers": (user) => `GRANT ALL ON holdfast.document TO ${user};
     CREATE POLICY wide ON holdfast.document TO ${user} USING (true)`,
  "an id that is always the same": () => `CREATE OR REPLACE FUNCTION holdfast_views.uid() RETURNS text
     LANGUAGE sql STABLE AS $$ SELECT 'bob' $$`,
  "a tenant that is always the same": () => `CREATE OR REPLACE FUNCTION holdfast_views.tenant() RETURNS text
     LANGUAGE sql STABLE AS $$ SELECT 'globex' $$`,
  "a look that does not ask whose it is": () =>
    forgetful("look", "r.subject = (SELECT holdfast_views.uid())"),
  "a look that does not ask which tenant's": () =>
    forgetful("look", "r.tenant = (SELECT holdfast_views.tenant())"),
  "a send that does not ask whose run it is": () =>
    forgetful("send_event", "r.subject = (SELECT holdfast_views.uid())"),
  "a send that does not ask which tenant's": () =>
    forgetful("send_event", "r.tenant = (SELECT holdfast_views.tenant())"),
};

/** A function of ours without a condition that it has. */
const forgetful = (name: string, condition: string): string => `
  DO $do$
  DECLARE
    v_old text := pg_get_functiondef('holdfast_views.${name}'::regproc);
    v_new text := replace(replace(v_old, '"holdfast_views"', 'holdfast_views'), $c$${condition}$c$, 'true');
  BEGIN
    IF position($c$${condition}$c$ IN replace(v_old, '"holdfast_views"', 'holdfast_views')) = 0 THEN
      RAISE EXCEPTION 'the function has no such condition';
    END IF;
    EXECUTE v_new;
  END $do$`;

describe("the attacks find, and securing the store again undoes,", () => {
  let whole: unknown;

  beforeAll(async () => {
    whole = await secured.fingerprint();
  });

  const undone = async (): Promise<void> => {
    await secured.secure();
    expect(await secured.fingerprint()).toEqual(whole);
  };

  test.each(Object.keys(mistakes))("%s", async (name) => {
    await openSchema();
    await secured.database.query(mistakes[name]!(secured.roles.user));
    expect(await problemOf(secured)).toBeDefined();
    await undone();
  });

  test("there are rows of everybody to be found in every table that is filled here", async () => {
    const filled = ["run", "attribute", "entry", "snapshot", "content", "inbox", "seen_key", "dead_letter"];
    for (const table of [
      ...filled,
      "activity",
      "chunk",
      "document",
      "lease",
      "removal",
      "store_version",
      "index_mark",
      "indexed_text",
    ])
      expect(await secured.database.query(`SELECT 1 FROM holdfast.${table}`), table).not.toEqual([]);
  });

  test("every single policy that is taken away", { timeout: 300_000 }, async () => {
    const { database } = secured;
    const policies = await database.query("SELECT policyname, tablename FROM pg_policies");
    expect(policies.length).toBeGreaterThan(30);
    for (const { policyname, tablename } of policies) {
      await database.query(`DROP POLICY ${policyname} ON holdfast.${tablename}`);
      expect(await problemOf(secured), `${policyname} on ${tablename}`).toBeDefined();
      await undone();
    }
    expect(await problemsOf(secured)).toEqual([]);
  });
});
