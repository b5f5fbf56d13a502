/** Hints by LISTEN and NOTIFY, between stores with connections of their own. */
import { hash } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type Database } from "../../../test/postgres/database.ts";
import { fleetOf } from "../fleet.ts";
import type { Heard, Hint, Signals } from "../signals.ts";
import type { Store } from "../store.ts";
import { postgres } from "./store.ts";

let database: Database;
let stores: Store[];

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(() => database?.drop());

beforeEach(() => {
  stores = [];
});

afterEach(async () => {
  for (const store of stores) await store.close();
});

async function open(schema = "holdfast"): Promise<Signals> {
  const store = postgres(database.url, { schema });
  stores.push(store);
  await store.open();
  return fleetOf(store)!.signals;
}

const runs = (count: number, length = 0): Hint[] =>
  Array.from({ length: count }, (_, n) => ({ tenant: "acme", run: `${n}`.padEnd(length, "ü") }));

/** Listens; what was heard stands in order. */
async function listen(
  signals: Signals,
  deaf: () => void = () => {},
): Promise<{ readonly heard: Parameters<Heard>[]; stop(): Promise<void> }> {
  const heard: Parameters<Heard>[] = [];
  const stop = await signals.listen((...told) => heard.push(told), deaf);
  return { heard, stop };
}

test("a run is told with the checkpoint before its steps, and from whom", async () => {
  const signals = await open();
  const { heard, stop } = await listen(signals);
  const told = [
    { tenant: "acme", run: "run-1", since: 0 },
    { tenant: 'gl"ob\nex', run: "run 2" },
  ];
  await (await open()).send(told, 7);
  await expect.poll(() => heard).toEqual([[told, 7]]);
  await stop();
});

test("long and many names are told in several pieces, and too many in one that says any", async () => {
  const signals = await open();
  const { heard, stop } = await listen(signals);
  const many = runs(30, 500);
  await signals.send(many, 7);
  await expect.poll(() => heard.flatMap(([names]) => names)).toEqual(many);
  expect(heard.length).toBeGreaterThan(1);
  heard.length = 0;
  await signals.send(runs(500, 500), 7);
  await expect.poll(() => heard).toEqual([[undefined, 7]]);
  heard.length = 0;
  await signals.send([], 7);
  await expect.poll(() => heard).toEqual([[undefined, 7]]);
  await stop();
});

test("what cannot be read may be about anything", async () => {
  const signals = await open();
  const { heard, stop } = await listen(signals);
  const channel = `holdfast_${hash("sha256", "holdfast", "hex").slice(0, 32)}`;
  await database.query("SELECT pg_notify($1, '7\n[no JSON')", [channel]);
  await expect.poll(() => heard).toEqual([[undefined, undefined]]);
  await stop();
});

test("another schema's signals are not heard, nor is anything after the end", async () => {
  const [signals, others] = [await open(), await open("other")];
  const { heard, stop } = await listen(signals);
  const { heard: theirs, stop: stopTheirs } = await listen(others);
  await others.send(runs(1), 1);
  await signals.send(runs(1), 2);
  await expect.poll(() => [heard, theirs]).toEqual([[[runs(1), 2]], [[runs(1), 1]]]);
  await stop();
  await signals.send(runs(2), 3);
  // What is sent to the one that still listens comes after it.
  await others.send(runs(2), 4);
  await expect.poll(() => theirs.length).toBe(2);
  expect(heard.length).toBe(1);
  await stopTheirs();
});

test("whoever listens is told once when its connection is lost, and not when it stops", async () => {
  const signals = await open();
  let deaf = 0;
  const first = await listen(signals, () => deaf++);
  await first.stop();
  expect(deaf).toBe(0);
  await listen(signals, () => deaf++);
  // What a connection that listens has asked last is whether it hears.
  await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
    AND pid <> pg_backend_pid() AND query ~ 'gen_random_uuid|pg_sleep'`);
  await expect.poll(() => deaf).toBe(1);
  const again = await listen(signals);
  await signals.send(runs(1), 7);
  await expect.poll(() => again.heard).toEqual([[runs(1), 7]]);
  await again.stop();
});
