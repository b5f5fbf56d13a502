/** A conversation over the tiers: hot in one process, warm in Redis, cold in PostgreSQL, and one window of it wherever it is read. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildWindow, defineAgent, estimate, reportOf } from "../../src/agent/index.ts";
import { createRuntime } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { withRedis } from "../../src/store/redis/index.ts";
import { createDatabase, type Database } from "../postgres/database.ts";
import { findRedis, patientMs, type RedisServer, startRedis } from "./server.ts";

const agent = defineAgent({
  id: "companion",
  model: ({ messages }) => ({ parts: [{ type: "text", text: `I see ${messages.length}. `.repeat(20) }] }),
  window: { budget: 1_500 },
});

describe.skipIf(findRedis() === undefined)("a conversation over the tiers", () => {
  let server: RedisServer;
  let database: Database;
  beforeAll(async () => {
    server = await startRedis();
    database = await createDatabase();
  });
  afterAll(async () => {
    await server?.stop();
    await database?.drop();
  });

  const open = async () => {
    const runtime = await createRuntime({
      store: withRedis(postgres(database.pool, { schema: "talk", shared: false }), {
        ...{ url: server.url, prefix: "talk", deadline: patientMs },
      }),
      machines: [agent],
    });
    return { runtime, thread: await runtime.thread(agent, { id: "t", user: "ada" }) };
  };
  const options = { budget: 1_500, count: estimate(), now: 0 };

  test("C9: is the same, with the same window, hot, warm and cold, and goes on from there", async () => {
    const first = await open();
    for (let turn = 0; turn < 30; turn++) await first.thread.say(`Day ${turn}?`, { id: `q${turn}` }).answer();
    const hot = await first.thread.run.state();
    const window = buildWindow(hot.context.thread, options);
    expect(window.left.summarised).toBeGreaterThan(0);
    await first.runtime.close();
    for (const tier of ["warm", "cold"]) {
      if (tier === "cold") await server.command("FLUSHALL");
      const { runtime, thread } = await open();
      const state = await thread.run.state();
      expect(reportOf(state), tier).toEqual(reportOf(hot));
      expect(buildWindow(state.context.thread, options), tier).toEqual(window);
      if (tier === "cold") expect(await thread.say("And now?").answer()).toContain("I see");
      await runtime.close();
    }
  });
});
