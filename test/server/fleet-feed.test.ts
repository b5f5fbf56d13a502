/** The feed in a fleet: whichever member is asked tells the steps of all of them, each once, and says so where it cannot. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Client, createClient } from "../../src/client/index.ts";
import { createRuntime, type Runtime } from "../../src/index.ts";
import { limits } from "../../src/limits.ts";
import { createServer } from "../../src/server/index.ts";
import type { SharedStore } from "../../src/store/fleet.ts";
import { memory } from "../../src/store/memory/store.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { createDatabase, type Database } from "../postgres/database.ts";
import { token } from "./house.ts";
import { counter } from "./machines.ts";

let database: Database;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  await database?.drop();
});
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface House {
  readonly client: Client;
  readonly runtime: Runtime;
  /** How often the store was asked for entries. */
  reads(): number;
}

/** A member with a server. */
async function openMember(given: Store): Promise<House> {
  let reads = 0;
  const store = new Proxy(given, {
    get: (target, name) => {
      const verb: unknown = Reflect.get(target, name, target);
      if (typeof verb !== "function") return verb;
      return (...args: unknown[]) => {
        if (name === "readJournal") reads++;
        return Reflect.apply(verb, target, args) as unknown;
      };
    },
  });
  const runtime = await createRuntime({ store, machines: [counter] });
  const server = await createServer({ runtime, store, dev: { token } });
  closing.push(async () => {
    await server.drain(0);
    server.close();
    await runtime.close();
  });
  const fetch = async (request: Request) => server.fetch(request);
  return {
    ...{ runtime, reads: () => reads },
    client: createClient({ url: "http://127.0.0.1:4400", key: token, fetch }),
  };
}

/** What a member's feed tells, as it comes. */
function follow({ client }: House, lastEventId?: string) {
  const told: string[] = [];
  const ids: string[] = [];
  const stop = new AbortController();
  const over = (async () => {
    const options = { signal: stop.signal, ...(lastEventId === undefined ? {} : { lastEventId }) };
    for await (const { id, type, data } of client.steps.follow({}, options)) {
      ids.push(id);
      told.push(
        type === "gap" ? "gap" : `${data.run}:${data.seq}:${data.event}:${data.configuration.join()}`,
      );
    }
  })().catch(() => {});
  closing.push(async () => {
    stop.abort();
    await over;
  });
  return { told, ids, stop: () => stop.abort() };
}

const kinds: Readonly<Record<string, () => () => Store>> = {
  memory: () => {
    const store = memory({ shared: true });
    return () => store;
  },
  PostgreSQL: () => () => postgres(database.url),
};

const known = async ({ runtime }: House) => expect.poll(() => runtime.members().length).toBe(2);

describe.each(Object.keys(kinds))("the feed of a member, on %s", (kind) => {
  test("D1: tells the steps of every member in the order of each run, each once", async () => {
    const open = (kinds[kind] as () => () => Store)();
    const [one, other] = [await openMember(open()), await openMember(open())];
    await Promise.all([known(one), known(other)]);
    const feed = follow(one);
    await expect.poll(async () => (await one.client.operations.overview()).server?.streams).toBe(1);
    // Whoever begins to hear may have missed something, and says so.
    const told = () => feed.told.filter((what) => what !== "gap");
    await one.client.runs.start({ machine: "counter", run: "here" });
    await other.client.runs.start({ machine: "counter", run: "there" });
    await other.client.runs.send({ run: "there", events: [{ type: "add", data: 1 }], wait: "handled" });
    await expect.poll(told).toContain("there:2:add:open");
    // From hand to hand.
    for (let count = 0; count < 4; count++) {
      const { client } = count % 2 === 0 ? one : other;
      await client.runs.send({ run: "there", events: [{ type: "add", data: 1 }], wait: "handled" });
    }
    await other.client.runs.send({ run: "here", events: [{ type: "end" }], wait: "handled" });
    await expect.poll(told).toHaveLength(8);
    expect(told().filter((what) => what.startsWith("there"))).toEqual(
      ["start", "add", "add", "add", "add", "add"].map((type, index) => `there:${index + 1}:${type}:open`),
    );
    expect(told().filter((what) => what.startsWith("here:2"))).toHaveLength(1);
  });
});

describe("the feed of a member", () => {
  test("D1: costs no reading while nobody follows", async () => {
    const store = memory({ shared: true });
    const [one, other] = [await openMember(store), await openMember(store)];
    await Promise.all([known(one), known(other)]);
    const before = one.reads();
    await other.client.runs.start({ machine: "counter", run: "there" });
    await other.client.runs.send({ run: "there", events: [{ type: "add", data: 1 }], wait: "handled" });
    await new Promise((rest) => setTimeout(rest, 100));
    expect(one.reads()).toBe(before);
  });

  test("D1: goes on where a client was, also with what others did meanwhile", async () => {
    const store = memory({ shared: true });
    const [one, other] = [await openMember(store), await openMember(store)];
    await Promise.all([known(one), known(other)]);
    const first = follow(one);
    await expect.poll(async () => (await one.client.operations.overview()).server?.streams).toBe(1);
    await other.client.runs.start({ machine: "counter", run: "there" });
    await expect.poll(() => first.told).toContain("there:1:start:open");
    first.stop();
    await expect.poll(async () => (await one.client.operations.overview()).server?.streams).toBe(0);
    await other.client.runs.send({ run: "there", events: [{ type: "add", data: 1 }], wait: "handled" });
    await new Promise((rest) => setTimeout(rest, 50));
    const again = follow(one, first.ids.at(-1));
    await expect.poll(() => again.told).toEqual(["there:2:add:open"]);
  });

  test("D1: tells of a gap where something may have been missed", async () => {
    const store = memory({ shared: true });
    const [one, other] = [await openMember(store), await openMember(store)];
    await Promise.all([known(one), known(other)]);
    const feed = follow(one);
    await expect.poll(async () => (await one.client.operations.overview()).server?.streams).toBe(1);
    const count = feed.told.length;
    (store as SharedStore).fleet.signals.send([], 4_711);
    await expect.poll(() => feed.told.slice(count)).toEqual(["gap"]);
    // More at once than are read one by one.
    const names = Array.from({ length: limits.feedWaitingMax + 1 }, (_, index) => ({
      ...{ tenant: "default", run: `r-${index}`, since: 0 },
    }));
    (store as SharedStore).fleet.signals.send(names, 4_711);
    await expect.poll(() => feed.told.slice(count)).toEqual(["gap", "gap"]);
  });
});
