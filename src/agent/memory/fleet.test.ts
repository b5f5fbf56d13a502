/** Memories that processes share, on PostgreSQL, with its own search beside them. In real time. */
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createDatabase, type Database } from "../../../test/postgres/database.ts";
import { createRuntime, type Runtime } from "../../runtime/runtime.ts";
import { decode } from "../../store/codec.ts";
import { postgres } from "../../store/postgres/store.ts";
import { defineMemory } from "./define-memory.ts";
import type { Candidate } from "./fact.ts";
import { type OpenMemory, openMemory } from "./open-memory.ts";
import { FactSearch } from "./recall.ts";

let database: Database;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

const runtimes: Runtime[] = [];
afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime.close();
});

let schemas = 0;
/** A memory, as each of several processes has it. */
async function processes(count: number, roles: readonly ("worker" | "client")[] = []) {
  const schema = `memories_${++schemas}`;
  const all: { runtime: Runtime; kind: ReturnType<typeof defineMemory>; of(user: string): OpenMemory }[] = [];
  for (let index = 0; index < count; index++) {
    const store = postgres(database.url, { schema });
    const kind = defineMemory({ id: "memory", many: ["likes"], search: store });
    const runtime = await createRuntime({ store, machines: [kind], role: roles[index] ?? "worker" });
    runtimes.push(runtime);
    all.push({ runtime, kind, of: (user) => openMemory(runtime, kind, { user }) });
  }
  return all as [(typeof all)[number], (typeof all)[number]];
}

const says = (text: string, message = "m"): Candidate => ({
  ...{ subject: "Ada", text, source: { trust: "trusted", message } },
});

/** Waits until something is so: nobody tells when an activity of another process is done. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

test("C7: what one process remembers another recalls at once, and forgets for both", async () => {
  const [worker, client] = await processes(2, ["worker", "client"]);
  const [one, other] = [worker.of("ada"), client.of("ada")];
  await Promise.all(
    Array.from({ length: 10 }, async (_, number) => {
      await one.remember(says(`Ada owns ${number} harps`, "m1"));
      await other.remember(says(`Ada owns ${number} lutes`, "m2"));
    }),
  );
  const found = await other.recall("harps lutes", { limit: 50 });
  expect(found.length).toBe(20);
  expect((await one.recall("harps lutes", { limit: 50 })).map(({ fact }) => fact.id).sort()).toEqual(
    found.map(({ fact }) => fact.id).sort(),
  );
  expect((await other.forget({ message: "m1" })).length).toBe(10);
  expect((await one.recall("harps", { limit: 50 })).length).toBe(0);
  const run = await worker.runtime.start(worker.kind.machine, { singleton: "ada", subject: "ada" });
  const name = { tenant: run.tenant, run: run.id };
  const indexed = async () => worker.kind.search?.findWords(name, ["harps", "lutes"], 50);
  await until(async () => {
    const { mark, pending, under } = (await run.state()).context.index;
    return pending.length + under.length === 0 && (await indexed())?.mark === mark;
  });
  expect((await indexed())?.ids.length).toBe(10);
  await other.erase();
  expect((await indexed())?.ids).toEqual([]);
  expect(await database.query(`SELECT 1 FROM memories_${schemas}.indexed_text`)).toEqual([]);
});

test("C7: what was forgotten stands in no row once the memory is pruned, whoever of the fleet prunes it", async () => {
  const [worker, client] = await processes(2, ["worker", "client"]);
  const [one, other] = [worker.of("ada"), client.of("ada")];
  await one.remember(says("Ada was in Zanzibar.", "m1"));
  await other.remember(says("Ada saw herons.", "m2"));
  await one.forget({ message: "m1" });
  const schema = `memories_${schemas}`;
  /** What is told by all rows there are, read past the store. */
  const told = async () => {
    const rows: unknown[] = await database.query(`SELECT words::text FROM ${schema}.indexed_text`);
    for (const table of ["entry", "snapshot", "inbox", "activity"])
      for (const { bytes } of await database.query(`SELECT bytes FROM ${schema}.${table}`))
        rows.push(decode(bytes as Uint8Array, table));
    const all = JSON.stringify(rows).toLowerCase();
    return ["herons", "zanzibar"].filter((word) => all.includes(word));
  };
  expect(await told()).toEqual(["herons", "zanzibar"]);
  expect(await other.prune()).toMatchObject({ outcome: "pruned" });
  expect(await told()).toEqual(["herons"]);
  expect((await one.recall("herons Zanzibar")).map(({ fact }) => fact.id)).toEqual(["f2"]);
});

test("C7: what PostgreSQL finds is ranked as the memory itself would rank it, whatever is asked", async () => {
  const [{ of }] = await processes(1);
  const words = ["ada", "the", "flute", "Zürich", "zurich", "東京", "x1", "not", "o'neil"];
  const text = fc
    .array(fc.constantFrom(...words), { minLength: 1, maxLength: 5 })
    .map((some) => some.join(" "));
  let users = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 5 }), text, async (facts, question) => {
      const memory = of(`user ${++users}`);
      for (const [index, fact] of facts.entries()) await memory.remember(says(fact, `m${index % 3}`));
      await memory.forget({ message: "m1" });
      const now = Date.now();
      const reference = new FactSearch().search(await memory.read(), question, { now });
      const found = await memory.recall(question, { now });
      const shown = (list: typeof found) => list.map(({ fact, score }) => [fact.id, score.toFixed(6)]);
      expect(shown(found)).toEqual(shown(reference));
    }),
    { numRuns: 15 },
  );
});
