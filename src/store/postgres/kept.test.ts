/** The connection that is kept for steps which only append. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type Database } from "../../../test/postgres/database.ts";
import { begun, commitOn, committed, firstCommit } from "../conformance/sample.ts";
import { postgres } from "./store.ts";

let database: Database;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

let names = 0;

/** A store whose connections can be told from others, and the ones that have appended something last. */
async function open() {
  const name = `kept ${++names}`;
  const schema = `kept_${names}`;
  const url = `${database.url}&application_name=${encodeURIComponent(name)}`;
  const store = postgres(url, { clock: "caller", schema });
  await store.open();
  const asked = async (condition: string) => {
    const { rows } = await database.pool.query(
      `SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND ${condition}`,
      [name],
    );
    return rows.map(({ pid }) => pid as number);
  };
  return {
    store,
    connections: () => asked("true"),
    appenders: () => asked("query LIKE '%INSERT INTO%entry%'"),
  };
}

test("steps that come one after the other go through one connection, and through another when that is ended", async () => {
  const { store, appenders } = await open();
  let { epoch, head } = await begun(store);
  const step = async () => {
    const commit = commitOn(head, epoch);
    await committed(store, commit);
    ({ head } = commit);
  };
  await step();
  const [first, ...others] = await appenders();
  expect(others).toEqual([]);
  for (let count = 0; count < 5; count++) await step();
  expect(await appenders()).toEqual([first]);
  await database.pool.query("SELECT pg_terminate_backend($1)", [first]);
  await expect.poll(appenders).toEqual([]);
  // Whoever has not heard of it yet hears of it now, as the runtime would, and nothing was committed. A store that did
  // not know the outcome commits the whole way once, and appends from then on.
  await step().catch(step);
  await step();
  const second = await appenders();
  expect(second.length).toBe(1);
  expect(second).not.toEqual([first]);
  await store.close();
});

test("steps that are committed at the same time do not wait for one connection", async () => {
  const { store, connections } = await open();
  const { epoch, head } = await begun(store);
  const other = firstCommit("run-2", epoch);
  await committed(store, other);
  const commits = [commitOn(head, epoch), commitOn(other.head, epoch)];
  const outcomes = await Promise.all(commits.map((commit) => store.commit([commit])));
  expect(outcomes).toEqual([[{ outcome: "committed" }], [{ outcome: "committed" }]]);
  await store.close();
  await expect.poll(connections).toEqual([]);
});

test("a store that is closed while a step is committed lets it end, and no connection stays", async () => {
  const { store, connections } = await open();
  const { epoch, head } = await begun(store);
  const commit = commitOn(head, epoch);
  await committed(store, commit);
  const last = store.commit([commitOn(commit.head, epoch)]);
  const closed = store.close();
  expect(await last).toEqual([{ outcome: "committed" }]);
  await closed;
  await expect.poll(connections).toEqual([]);
});
