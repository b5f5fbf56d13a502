/** Runs on a store with a warm tier, from one process to the next: what Redis saves, and that it changes nothing. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createRuntime } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { withRedis } from "../../src/store/redis/index.ts";
import type { Store } from "../../src/store/store.ts";
import { createDatabase, type Database } from "../postgres/database.ts";
import { counterWith } from "../runtime/machines.ts";
import { findRedis, patientMs, type RedisServer, startRedis } from "./server.ts";

const counter = counterWith();

describe.skipIf(findRedis() === undefined)("runs with a warm tier", () => {
  let server: RedisServer;
  let database: Database;

  beforeAll(async () => {
    server = await startRedis();
    database = await createDatabase();
  });
  afterEach(() => server.command("FLUSHALL"));
  afterAll(async () => {
    await server?.stop();
    await database?.drop();
  });

  /** A runtime as in a process of its own, and what its store had to read of PostgreSQL. */
  async function processOn(schema: string) {
    const read = { bytes: 0, texts: 0 };
    const store = postgres(database.pool, { schema });
    const verbs: Partial<Store> = {
      load: async (...given) => {
        const loaded = await store.load(...given);
        for (const row of [loaded?.snapshot, ...(loaded?.entries ?? [])])
          read.bytes += row?.bytes.length ?? 0;
        return loaded;
      },
      readContents: async (...given) => {
        const rows = await store.readContents(...given);
        read.texts += rows.length;
        return rows;
      },
    };
    const watched = new Proxy(store, {
      get: (_, name: keyof Store) => {
        const verb: unknown = verbs[name] ?? store[name];
        return typeof verb === "function" ? verb.bind(store) : verb;
      },
    });
    const problems: unknown[] = [];
    const runtime = await createRuntime({
      store: withRedis(watched, { url: server.url, prefix: schema, deadline: patientMs }),
      machines: [counter],
      onProblem: (problem) => void problems.push(problem),
    });
    return { runtime, read, problems };
  }

  const textOf = (step: number, length: number): string =>
    Array.from({ length: length / 8 }, (_, index) =>
      (step * 7_919 + index * 104_729).toString(36).slice(-7),
    ).join(" ");

  test("C9: a large run comes back from Redis, and from PostgreSQL what Redis does not have", async () => {
    const first = await processOn("large");
    const run = await first.runtime.start(counter, { id: "a" });
    for (let step = 0; step < 250; step++) await run.send("note", textOf(step, 1_600));
    const before = await run.state();
    await first.runtime.close();

    const second = await processOn("large");
    const again = await second.runtime.run("a");
    expect(await again.state()).toEqual(before);
    expect(second.read.bytes, "only what was not worth a piece yet").toBeLessThan(40_000);
    await again.send("note", "one more");
    const after = await again.state();
    await second.runtime.close();

    server.command("FLUSHALL");
    const third = await processOn("large");
    expect(await (await third.runtime.run("a")).state()).toEqual(after);
    expect(third.read.bytes).toBeGreaterThan(100_000);
    await third.runtime.close();
    expect([...second.problems, ...third.problems]).toEqual([]);
  });

  test("C9: so do large texts, once somebody has read them", async () => {
    const texts = Array.from({ length: 5 }, (_, step) => textOf(step, 8_000));
    const first = await processOn("texts");
    const run = await first.runtime.start(counter, { id: "a" });
    for (const text of texts) await run.send("note", text);
    const before = await run.state();
    await first.runtime.close();
    const read: number[] = [];
    for (let reads = 0; reads < 2; reads++) {
      const next = await processOn("texts");
      expect(await (await next.runtime.run("a")).state()).toEqual(before);
      await next.runtime.close();
      read.push(next.read.texts);
      expect(next.problems).toEqual([]);
    }
    expect(read).toEqual([5, 0]);
  });
});
