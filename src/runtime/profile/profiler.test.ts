/** Where the time of a runtime goes, measured: exact on a clock that stands still. */
import { describe, expect, test } from "vitest";
import { callerWith, counter } from "../../../test/runtime/machines.ts";
import { onEveryStore } from "../../../test/runtime/world.ts";
import { createRuntime, type RuntimeProfile, showProfile } from "../../index.ts";
import { limits } from "../../limits.ts";
import { memory } from "../../store/memory/store.ts";
import { systemClock } from "../clock.ts";
import { HitCount, Measure, Measures, others } from "./measure.ts";
import { timeStore } from "./timed-store.ts";

onEveryStore((world, kind) => {
  describe("the profile of a runtime", () => {
    test("G1: counts steps by state, and every verb of the store", async () => {
      const here = await world();
      const runtime = await here.boot([counter], { profile: true });
      const run = await runtime.start(counter, { id: "a" });
      for (const n of [1, 2, 3]) await run.send("add", n);
      await run.send("nap");
      const profile = runtime.profile() as RuntimeProfile;
      expect(profile.steps.count).toBe(5);
      expect(profile.queue.events.count).toBe(5);
      expect(profile.states).toMatchObject({
        "counter: (start)": { count: 1 },
        "counter: open": { count: 4 },
      });
      const calls = here.watch.calls.map(({ verb }) => verb);
      for (const verb of ["commit", "load", "own"] as const)
        expect(profile.store[verb]?.count).toBe(calls.filter((one) => one === verb).length);
    });

    test("G1: tells the wait for a slot from the time of the activity", async () => {
      const { boot, clock, rest } = await world();
      const ends: ((given: unknown) => void)[] = [];
      const tool = () => new Promise((end) => void ends.push(end));
      const machine = callerWith();
      const options = { profile: true, flow: { slots: 1 } };
      const runtime = await boot([{ machine, activities: { tool } }], options);
      for (const id of ["a", "b"]) await runtime.start(machine, { id });
      await clock.advance("3s");
      ends[0]?.(1);
      await rest();
      await clock.advance("2s");
      ends[1]?.(1);
      await rest();
      const { queue, activities } = runtime.profile() as RuntimeProfile;
      expect(queue.slots).toMatchObject({ count: 2, totalMs: 3_000, maxMs: 3_000 });
      expect(activities).toMatchObject({ tool: { count: 2, totalMs: 5_000, maxMs: 3_000 } });
    });

    test("G1: tells how often a run was in memory, and how often a large text was stored already", async () => {
      const { boot, crash } = await world();
      const first = await boot([counter]);
      await first.start(counter, { id: "a" });
      await crash(first);
      const runtime = await boot([counter], { profile: true });
      const run = await runtime.run("a");
      expect(runtime.profile()?.caches.runs).toEqual({ hits: 0, misses: 1, rate: 0 });
      const text = "x".repeat(limits.contentLengthMin);
      for (let times = 0; times < 3; times++) await run.send("note", text);
      const { runs, contents } = (runtime.profile() as RuntimeProfile).caches;
      expect(runs).toEqual({ hits: 3, misses: 1, rate: 0.75 });
      expect(contents).toMatchObject({ hits: 2, misses: 1 });
      // A run that begins is nobody's miss.
      await runtime.start(counter, { id: "new" });
      expect(runtime.profile()?.caches.runs.misses).toBe(1);
    });

    test("G1: tells how often a store that remembers runs knew the one that commits", async () => {
      const { boot, place } = await world();
      const first = await boot([counter]);
      await first.start(counter, { id: "a" });
      await first.close();
      const runtime = await boot([counter], { profile: true, store: place.connect() });
      const known = () => runtime.profile()?.caches.store["known runs"];
      if (kind !== "SQLite") return expect(known()).toBe(undefined);
      const run = await runtime.run("a");
      for (let times = 0; times < 3; times++) await run.send("add", 1);
      expect(known()).toEqual({ hits: 3, misses: 0, rate: 1 });
      await runtime.start(counter, { id: "new" });
      expect(known(), "one that begins is nobody's miss").toMatchObject({ hits: 3, misses: 0 });
      expect(showProfile(runtime.profile() as RuntimeProfile)).toContain("known runs");
    });

    test("G1: can be read", async () => {
      const { boot } = await world();
      const runtime = await boot([counter], { profile: true });
      const run = await runtime.start(counter, { id: "a" });
      await run.send("add", 1);
      const text = showProfile(runtime.profile() as RuntimeProfile);
      for (const word of ["queue of events", "commit", "counter: open", "runs"]) expect(text).toContain(word);
    });
  });
});

describe("a runtime", () => {
  test.each([false, true])("G1: looks at no clock to measure unless it was asked to: %s", async (profile) => {
    let stamps = 0;
    const clock = { ...systemClock, stamp: () => stamps++ };
    const runtime = await createRuntime({ store: memory(), machines: [counter as never], clock, profile });
    const run = await runtime.start(counter);
    await run.send("add", 1);
    expect(runtime.profile() !== undefined).toBe(profile);
    expect(stamps > 0).toBe(profile);
    await runtime.close();
  });
});

describe("a measure", () => {
  test("G1: keeps a few numbers, and puts each time into one bucket", () => {
    const measure = new Measure();
    for (const ms of [0, 0.1, 0.2, 1, 1_000, 1_001, -5]) measure.add(ms);
    expect(measure.read()).toEqual({
      ...{ count: 7, maxMs: 1_001, buckets: [3, 2, 0, 0, 1, 1] },
      totalMs: expect.closeTo(2_002.3),
    });
  });

  test("G1: beyond so many names the rest share one", () => {
    const measures = new Measures(2);
    for (const name of ["a", "b", "c", "d", "a"]) measures.add(name, 1);
    expect(Object.entries(measures.read()).map(([name, { count }]) => [name, count])).toEqual([
      ["a", 2],
      [others, 2],
      ["b", 1],
    ]);
  });

  test("G1: of a cache that nobody asked has no rate", () => {
    expect(new HitCount().read()).toEqual({ hits: 0, misses: 0, rate: undefined });
  });
});

describe("a store that is timed", () => {
  test("G1: answers as the store does, in its failures too, and says how long it took", async () => {
    let now = 0;
    const told: [string, number][] = [];
    const gone = () => Promise.reject(new Error("gone"));
    const store = Object.assign(memory(), { name: "not a verb", nextDue: gone });
    const timed = timeStore(store, { stamp: () => now++, answered: (...one) => told.push(one) });
    await timed.open();
    expect(await timed.readHead({ tenant: "t", run: "r" })).toBeUndefined();
    await timed.close();
    await expect(timed.nextDue(0)).rejects.toThrow("gone");
    expect(told).toEqual(["open", "readHead", "close", "nextDue"].map((verb) => [verb, 1]));
    expect((timed as typeof store).name).toBe("not a verb");
  });

  test("G1: on the system's clock time only goes on", () => {
    const from = systemClock.stamp?.() as number;
    expect(systemClock.stamp?.()).toBeGreaterThanOrEqual(from);
  });
});
