/** Boards that processes share: what one does, the others see, on stores that several runtimes have. In real time. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type Database } from "../../../test/postgres/database.ts";
import { createRuntime, type Runtime } from "../../runtime/runtime.ts";
import { memory } from "../../store/memory/store.ts";
import { postgres } from "../../store/postgres/store.ts";
import type { Store } from "../../store/store.ts";
import { defineBoard } from "./board.ts";
import { openBoard } from "./open.ts";
import { mergeText, openText, textKey } from "./yjs.ts";

const team = defineBoard({
  id: "team",
  keys: { count: { policy: "reject" }, notes: textKey, release: { policy: "last-write", lease: "deploy" } },
  merges: { text: mergeText },
});

let database: Database;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

let schemas = 0;
const kinds: Readonly<Record<string, () => () => Store>> = {
  memory: () => {
    const store = memory({ shared: true });
    return () => store;
  },
  PostgreSQL: () => {
    const schema = `boards_${++schemas}`;
    return () => postgres(database.url, { schema });
  },
};

describe.each(Object.keys(kinds))("on %s that is shared", (kind) => {
  const runtimes: Runtime[] = [];
  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) await runtime.close();
  });
  /** Two agents, each in a runtime of its own. */
  const two = async () => {
    const connect = (kinds[kind] as () => () => Store)();
    const open = async (agent: string) => {
      const runtime = await createRuntime({ store: connect(), machines: [team] });
      runtimes.push(runtime);
      return openBoard(runtime, team, { id: "b", agent });
    };
    return [await open("ada"), await open("bob")] as const;
  };

  test("C8: no update is lost between processes, and each reads what the other wrote", async () => {
    const agents = await two();
    const add = (current: unknown) => ((current as number | undefined) ?? 0) + 1;
    await Promise.all(
      agents.map(async (agent) => {
        for (let count = 0; count < 10; count++)
          expect(await agent.update("count", add, { attempts: 100 })).toMatchObject({ outcome: "written" });
      }),
    );
    for (const agent of agents) expect((await agent.read("count")).value).toBe(20);
  });

  test("C8: one process waits for a lease of another, and is served when that gives it back", async () => {
    const [ada, bob] = await two();
    const held = await ada.lease("deploy", { for: "1m" });
    const waiting = bob.lease("deploy", { for: "1m", wait: "forever" });
    expect(await bob.lease("deploy", { for: "1m" })).toMatchObject({ outcome: "busy" });
    if (held.outcome === "granted") await held.release();
    const next = await waiting;
    if (held.outcome !== "granted" || next.outcome !== "granted") throw new Error("Nobody had it");
    expect(next.token).toBeGreaterThan(held.token);
    expect(await ada.write("release", 1, { fence: held.token })).toMatchObject({ outcome: "fenced" });
    expect(await bob.write("release", 2, { fence: next.token })).toMatchObject({ outcome: "written" });
  });

  test("C8: changes are told in other processes, in order, and a vote's end is", async () => {
    const [ada, bob] = await two();
    const seen: number[] = [];
    const reading = (async () => {
      for await (const { version, value } of bob.subscribe({ from: 0 })) {
        seen.push(version, value as number);
        if (version === 3) return;
      }
    })();
    for (const value of [7, 8, 9]) await ada.update("count", () => value);
    await reading;
    expect(seen).toEqual([1, 7, 2, 8, 3, 9]);
    const { id } = await ada.propose({ question: "Go?", options: ["yes", "no"], voters: ["ada", "bob"] });
    const decided = bob.decided(id);
    await bob.vote(id, "yes");
    await ada.vote(id, "yes");
    expect((await decided).decision).toMatchObject({ winner: "yes" });
  });

  test("C8: a text that two processes edit at the same time becomes the same for both", async () => {
    const texts = await Promise.all((await two()).map((agent) => openText(agent, "notes")));
    const bodies = texts.map(({ doc }) => doc.getText("body"));
    for (let count = 0; count < 8; count++)
      for (const [index, body] of bodies.entries()) body.insert(body.length, `${index}${count} `);
    const length = 2 * 8 * 3;
    await Promise.all(texts.map((text) => text.flushed()));
    await Promise.all(
      texts.map(({ doc }) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const look = () => doc.getText("body").length === length && resolve();
        doc.on("update", look);
        look();
        return promise;
      }),
    );
    expect(bodies[0]?.toString()).toBe(bodies[1]?.toString());
    for (const text of texts) await text.close();
  });
});
