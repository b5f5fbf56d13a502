/** Readiness: a server is ready while its store answers in time, and asks it no more often than it has to. */
import { describe, expect, test } from "vitest";
import { HoldfastError } from "../../src/errors.ts";
import { createRuntime } from "../../src/index.ts";
import { limits } from "../../src/limits.ts";
import { createServer } from "../../src/server/index.ts";
import { memory } from "../../src/store/memory/store.ts";
import type { Store } from "../../src/store/store.ts";
import { counter } from "./machines.ts";

/** A server over a store whose answers to its questions are made here, by a clock that is moved by hand. */
async function openServer(answer: () => Promise<undefined>) {
  const kept = memory();
  const runtime = await createRuntime({ store: kept, machines: [counter] });
  let [asked, now] = [0, 1_000_000];
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  const clock = {
    now: () => now,
    after: (ms: number, run: () => void) => {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    soon: (run: () => void) => void setImmediate(run),
  };
  let isOpen = false;
  const store: Store = new Proxy(kept, {
    get: (target, name) => {
      const verb: unknown = Reflect.get(target, name, target);
      if (typeof verb !== "function") return verb;
      if (name !== "readDocument" || !isOpen) return verb.bind(target);
      return () => {
        asked++;
        return answer();
      };
    },
  });
  const server = await createServer({ runtime, store, clock });
  isOpen = true;
  return {
    server,
    asked: () => asked,
    ready: async () => server.fetch(new Request("http://127.0.0.1/readyz")),
    alive: async () => (await server.fetch(new Request("http://127.0.0.1/healthz"))).status,
    pass: (ms: number) => {
      now += ms;
      for (const timer of [...timers]) if (timer.at <= now && timers.delete(timer)) timer.run();
    },
    close: async () => {
      server.close();
      await runtime.close();
    },
  };
}

/** A moment for whatever was asked to reach the store. */
const soon = () => new Promise<void>((over) => setImmediate(over));

describe("a server", () => {
  test("G4: is ready when its store answers, asked once by all who ask within a second", async () => {
    const house = await openServer(async () => undefined);
    const answers = await Promise.all([house.ready(), house.ready(), house.ready()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await answers[0]?.text()).toBe("ready\n");
    expect(house.asked()).toBe(1);
    house.pass(limits.readyKnownMs - 1);
    expect([(await house.ready()).status, house.asked()]).toEqual([200, 1]);
    house.pass(1);
    expect([(await house.ready()).status, house.asked()]).toEqual([200, 2]);
    await house.close();
  });

  test("G4: is not ready when its store fails, says which part it is, and lives on", async () => {
    let isUp = false;
    const house = await openServer(async () => {
      if (!isUp) throw new HoldfastError("STORE_UNAVAILABLE", "postgres://secret@host refused");
      return undefined;
    });
    const response = await house.ready();
    expect(response.status).toBe(503);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("retry-after")).toBe("1");
    const problem = await response.json();
    expect(problem).toMatchObject({ code: "SERVER_UNREADY", errors: [{ path: "store" }] });
    // Anybody may ask, so what the store said of itself is not told.
    expect(JSON.stringify(problem)).not.toContain("secret");
    expect(await house.alive()).toBe(200);
    isUp = true;
    house.pass(limits.readyKnownMs);
    expect((await house.ready()).status).toBe(200);
    await house.close();
  });

  test("G4: is not ready when its store takes longer than the bound, and asks no second time meanwhile", async () => {
    const question = Promise.withResolvers<undefined>();
    const house = await openServer(() => question.promise);
    const first = house.ready();
    await soon();
    house.pass(limits.readyMsMax - 1);
    expect(await Promise.race([first.then(() => "answered"), soon().then(() => "waits")])).toBe("waits");
    house.pass(1);
    expect((await first).status).toBe(503);
    // Whoever comes later is told at once: the question is as old as it was.
    house.pass(10 * limits.readyMsMax);
    expect((await house.ready()).status).toBe(503);
    expect(house.asked()).toBe(1);
    expect(await house.alive()).toBe(200);
    question.resolve(undefined);
    await soon();
    expect((await house.ready()).status).toBe(200);
    await house.close();
  });

  test("G4: is not ready while it drains, whatever its store says", async () => {
    const house = await openServer(async () => undefined);
    expect((await house.ready()).status).toBe(200);
    await house.server.drain();
    const response = await house.ready();
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      code: "SERVER_UNREADY",
      errors: [{ path: "server", message: "is draining" }],
    });
    expect(await house.alive()).toBe(200);
    await house.close();
  });
});
