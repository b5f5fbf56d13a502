/** Members of a fleet whose database has more to do than it can. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type Database, waiters } from "../../../test/postgres/database.ts";
import { noon } from "../conformance/sample.ts";
import { type Fleet, fleetOf } from "../fleet.ts";
import { postgres } from "./store.ts";

/** How many connections a pool of `pg` has. */
const poolMax = 10;

let database: Database;

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(() => database?.drop());

test("a sign of life does not wait until all that waits for a connection has had its turn", async () => {
  const store = postgres(database.url);
  await store.open();
  const fleet = fleetOf(store) as Fleet;
  const lease = await fleet.join("worker", 60_000, noon);
  const blocker = await database.pool.connect();
  await blocker.query("BEGIN; LOCK TABLE holdfast.document IN ACCESS EXCLUSIVE MODE");
  const reads = Array.from({ length: poolMax + 1 }, () => store.readDocument("acme", "none"));
  await waiters(database, poolMax);
  const sign = { isLeaving: false, slots: 1, running: 0, waiting: 0 };
  const members = await fleet.beat(lease.epoch, 60_000, sign, noon);
  expect(members?.map(({ worker }) => worker)).toEqual(["worker"]);
  await blocker.query("COMMIT");
  blocker.release();
  expect(await Promise.all(reads)).toEqual(reads.map(() => undefined));
  await store.close();
});
