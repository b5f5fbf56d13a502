/** The role of workers: it does all that a store does, and nothing beyond. */
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPool, openStore } from "../../../../test/postgres/database.ts";
import { createSecured, type Secured } from "../../../../test/postgres/secured.ts";
import { callerWith, counter } from "../../../../test/runtime/machines.ts";
import { createRuntime } from "../../../index.ts";
import { conformance } from "../../conformance/index.ts";
import { type Fleet, fleetOf } from "../../fleet.ts";
import { postgres } from "../store.ts";

let secured: Secured;
let pool: pg.Pool;

beforeAll(async () => {
  secured = await createSecured();
  pool = createPool(secured.urlOf(secured.roles.workerLogin));
});

afterAll(async () => {
  await pool?.end();
  await secured?.drop();
});

const kit = { describe, test, expect };
conformance({
  name: "a secured store, to a worker",
  test: kit,
  open: () => openStore({ ...secured.database, pool }),
});

test("B3: a runtime lives as a worker, through a restart", async () => {
  const url = secured.urlOf(secured.roles.workerLogin);
  const caller = callerWith();
  const machines = [counter, { machine: caller, activities: { tool: () => "answer" } }];
  const first = await createRuntime({ store: postgres(url), machines });
  const run = await first.start(counter, { id: "of-ada", subject: "ada", input: 1 });
  await run.send("add", 2);
  await (await first.start(caller, { id: "calls", subject: "ada" })).waitFor("done");
  await first.close();
  const second = await createRuntime({ store: postgres(url), machines });
  const again = await second.run("of-ada");
  await again.send("end");
  expect(await again.finished()).toMatchObject({ status: "done", output: 3 });
  await second.close();
});

test("a worker has turns of a key, and they go with it", async () => {
  const store = postgres(secured.urlOf(secured.roles.workerLogin));
  await store.open();
  const fleet = fleetOf(store) as Fleet;
  const use = { key: "k", limit: 1, held: 0, wanted: 1 };
  for (const worker of ["a", "b"]) {
    const { epoch } = await fleet.join(worker, 60_000, 0);
    expect(await fleet.takeTurns([use], epoch)).toEqual([{ given: 1, isWanted: false }]);
    await fleet.leave(epoch, 0);
  }
  await store.close();
});

test.each([
  "CREATE TABLE holdfast.mine (a int)",
  "CREATE FUNCTION holdfast.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
  "ALTER TABLE holdfast.run DISABLE ROW LEVEL SECURITY",
  "ALTER TABLE holdfast.run NO FORCE ROW LEVEL SECURITY",
  "CREATE POLICY mine ON holdfast.run USING (true)",
  "DROP POLICY holdfast_user ON holdfast.run",
  "ALTER TABLE holdfast.run ADD COLUMN mine int",
  "CREATE INDEX ON holdfast.run (status)",
  "CREATE TRIGGER mine BEFORE INSERT ON holdfast.run EXECUTE FUNCTION suppress_redundant_updates_trigger()",
  "DROP TABLE holdfast.run CASCADE",
  "DROP FUNCTION holdfast.guard",
  "TRUNCATE holdfast.run",
  "UPDATE holdfast.store_version SET version = 1",
  "DELETE FROM holdfast.store_version",
  "SELECT * FROM holdfast_views.agent_runs",
  "SELECT holdfast_views.uid()",
  "DROP VIEW holdfast_views.agent_runs",
  "CREATE SCHEMA mine",
  "CREATE ROLE mine",
  "SET ROLE holdfast",
  "SELECT pg_read_file('postgresql.conf')",
  "SELECT * FROM pg_authid",
])("a worker cannot: %s", async (statement) => {
  await expect(pool.query(statement)).rejects.toMatchObject({ code: "42501" });
});

test("a worker becomes neither the owner nor a user", async () => {
  for (const role of [secured.roles.owner, secured.roles.user])
    await expect(pool.query(`SET ROLE ${role}`)).rejects.toMatchObject({ code: "42501" });
});
