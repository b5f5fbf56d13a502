import { afterEach, beforeEach, expect, test } from "vitest";
import { delivered, listening, notesOf, openRuntime } from "../../../test/changes/world.ts";
import { createDatabase, createPool, type Database } from "../../../test/postgres/database.ts";
import { pgbouncer, startPooler } from "../../../test/postgres/pooler.ts";
import { startProxy } from "../../../test/postgres/proxy.ts";
import { type Clock, systemClock } from "../clock.ts";
import type { Runtime } from "../run.ts";
import { type WatchOptions, watchTables } from "./index.ts";

let database: Database;
let runtime: Runtime;
let ending: (() => Promise<unknown>)[];

beforeEach(async () => {
  database = await createDatabase();
  await database.query("CREATE TABLE orders (id int)");
  runtime = await openRuntime("a");
  ending = [];
});

afterEach(async () => {
  for (const end of ending.reverse()) await end();
  await runtime.close();
  await database.drop();
});

async function watch(options: Partial<Omit<WatchOptions, "rules">> = {}) {
  const changes = await watchTables({
    ...{ runtime, database: database.pool, ...options },
    rules: {
      order: {
        table: "orders",
        on: ["insert"],
        send: { run: () => "a", type: "note", data: ({ new: row }) => row.id },
      },
    },
  });
  ending.push(() => changes.close());
  return changes;
}

const insert = (id: number) => database.query("INSERT INTO orders VALUES ($1)", [id]);

/** Resolves when whoever delivers has asked to be woken. */
async function asleep(): Promise<void> {
  const text = "SELECT 1 FROM holdfast.change_turn WHERE asleep_until > now()";
  while ((await database.query(text)).length === 0);
}

/** A clock on which waits from this length on never end, so that nothing is found by looking again in a while. */
const deaf = (fromMs: number): Clock => ({
  ...systemClock,
  after: (ms, run) => (ms >= fromMs ? () => {} : systemClock.after(ms, run)),
});

test("whoever sleeps is woken, without looking", async () => {
  const changes = await watch({ clock: deaf(1_000) });
  for (const id of [1, 2]) {
    await asleep();
    await insert(id);
    await delivered(changes);
  }
  expect(await notesOf(runtime, "a")).toEqual([1, 2]);
});

test("a transaction wakes once, however many rows it changes", async () => {
  const changes = await watch();
  await asleep();
  const heard: string[] = [];
  const client = await database.pool.connect();
  const [{ channel }] = (await database.query(
    "SELECT (regexp_match(prosrc, 'holdfast_change_[0-9a-f]+'))[1] AS channel FROM pg_proc WHERE proname = 'note_change'",
  )) as [{ channel: string }];
  client.on("notification", ({ channel: on }) => heard.push(on));
  await client.query(`LISTEN ${channel}`);
  await client.query(
    "BEGIN; INSERT INTO orders SELECT generate_series(1, 50); INSERT INTO orders VALUES (51); COMMIT",
  );
  await client.query("SELECT 1");
  client.release(true);
  expect(heard).toEqual([channel]);
  await delivered(changes);
  expect(await notesOf(runtime, "a")).toHaveLength(51);
});

test("without notify nobody is woken, and changes are found by looking", async () => {
  const changes = await watch({ notify: false });
  await insert(1);
  await delivered(changes);
  expect((await changes.status()).listening).toBe(false);
  expect(await notesOf(runtime, "a")).toEqual([1]);
});

test("a pool of one connection is shared with everybody else, by looking", async () => {
  const pool = createPool(database.url, 1);
  ending.push(() => pool.end());
  const changes = await watch({ database: pool });
  await insert(1);
  await delivered(changes);
  expect(await notesOf(runtime, "a")).toEqual([1]);
});

test("a connection that listened and was cut off is made again", async () => {
  const changes = await watch({ clock: deaf(5_001) });
  await asleep();
  await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE query LIKE 'LISTEN %' AND datname = current_database()`);
  while ((await changes.status()).listening);
  await insert(1);
  await listening(changes);
  await delivered(changes);
  await insert(2);
  await delivered(changes);
  expect(await notesOf(runtime, "a")).toEqual([1, 2]);
});

test.skipIf(pgbouncer === undefined)(
  "D3: behind a pooler in transaction mode changes are found by looking",
  async () => {
    const pooler = await startPooler(database.socketFolder);
    ending.push(() => pooler.stop());
    const changes = await watch({ database: pooler.url(database.url) });
    for (let id = 1; id <= 20; id++) await insert(id);
    await delivered(changes);
    expect(await notesOf(runtime, "a")).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect((await changes.status()).listening).toBe(false);
  },
);

test.each(["before", "after"] as const)(
  "D3: a change whose settling is cut off %s the server hears of it is taken once",
  async (when) => {
    const proxy = await startProxy(database.socketFolder);
    ending.push(() => proxy.close());
    const changes = await watch({ database: proxy.url(database.url), notify: false });
    for (let id = 1; id <= 5; id++) {
      proxy.cut("WITH gone AS", when);
      await insert(id);
      for (let left = 1; proxy.cuts < id || left > 0; )
        left = (await database.query("SELECT 1 FROM holdfast.table_change")).length;
    }
    expect(proxy.cuts).toBe(5);
    expect(await notesOf(runtime, "a")).toEqual([1, 2, 3, 4, 5]);
    expect((await changes.status()).failed).toBe(0);
  },
);
