/** One story on every store: whoever reads the journals afterwards cannot tell where it happened. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type Database } from "../../test/postgres/database.ts";
import { callerWith, counter } from "../../test/runtime/machines.ts";
import { type Place, storeKinds } from "../../test/runtime/stores.ts";
import { listOf, type Stored, World } from "../../test/runtime/world.ts";
import { defineMachine } from "../index.ts";
import { postgres } from "../store/postgres/store.ts";
import type { Ids } from "./ids.ts";

let database: Database;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const onServer = async (): Promise<Place> => ({
  connect: () => postgres(database.pool, { clock: "caller", shared: false }),
  dispose: async () => {},
});

/** Ids that count, so that two stories have the same. */
function countingIds(): Ids {
  let count = 0;
  return { next: () => `id-${String(++count).padStart(6, "0")}`, chance: () => 0.5 };
}

const caller = callerWith({ retry: { attempts: 3, first: "10s" } });
const parent = defineMachine({
  id: "parent",
  initial: "waiting",
  states: {
    waiting: { invoke: { machine: caller, onDone: "over" }, after: { "1h": "over" }, on: { skip: "over" } },
    over: { type: "final", output: "done" },
  },
});

/** Events with keys, batches, sends between runs, deferral, timers, a retried activity, a child, a crash and an end. */
async function tell(place: Place): Promise<Record<string, Stored>> {
  const world = new World(place);
  const { boot, crash, clock, rest, stored } = world;
  const ids = countingIds();
  const tool = (_: unknown, { attempt }: { attempt: number }) => {
    if (attempt < 2) throw new Error("busy");
    return { answer: "x".repeat(5_000) };
  };
  const machines = [counter, { machine: caller, activities: { tool } }, parent];
  const first = await boot(machines, { ids });
  const one = await first.start(counter, { id: "one", input: 7, attributes: { colour: "red" } });
  await first.start(counter, { id: "other", subject: "ada" });
  await first.start(caller, { id: "call" });
  await first.start(parent, { id: "family" });
  await one.send("add", 2, { key: "k" });
  await one.send("add", 2, { key: "k" });
  await one.send("tell", { run: "other", data: "hello" });
  await one.sendAll([{ type: "note", data: "😀 \u0000 Ω" }, { type: "nap" }, { type: "add", data: 5 }]);
  await rest();
  await crash(first);
  const second = await boot(machines, { ids });
  await clock.advance("3m");
  await (await second.run("family")).send("skip");
  await (await second.run("other")).send("end");
  await rest();
  const heads = await listOf(second.find());
  const books = await Promise.all(heads.map(async ({ run }) => [run, await stored(run)] as const));
  await world.dispose();
  return Object.fromEntries(books);
}

test("B3: the same story leaves the same journals in memory, in SQLite and in PostgreSQL, to the last byte", async () => {
  const books = await tell(await storeKinds.memory!());
  expect(books).toMatchObject({
    one: { head: { status: "active", attributes: { colour: "red" } } },
    other: { head: { status: "done" } },
    family: { head: { status: "done" } },
    call: { head: { status: "active" } },
  });
  expect(Object.keys(books)).toHaveLength(5);
  expect(await tell(await storeKinds.SQLite!())).toEqual(books);
  expect(await tell(await onServer())).toEqual(books);
});
