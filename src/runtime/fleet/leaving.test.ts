/** Activities that wait for their turn, and are left to whoever sees to their runs now. */
import { expect, test } from "vitest";
import { callerWith } from "../../../test/runtime/machines.ts";
import { unavailable } from "../../../test/runtime/watched-store.ts";
import { type Fleet, fleetOf } from "../../store/fleet.ts";
import { memory } from "../../store/memory/store.ts";
import type { Store } from "../../store/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { createRuntime, type Runtime } from "../runtime.ts";

const rest = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((pass) => setImmediate(pass));
};

/** `before`: the store never hears of what is recorded of activities. `after`: it does, and the answer is lost. */
type Fault = "before" | "after" | undefined;

const ids = Array.from({ length: 12 }, (_, index) => `errand-${index}`);

/** A process with one slot and errands for many, and what can be made to go wrong between it and the store. */
async function scene() {
  const store = memory({ shared: true });
  const clock = new VirtualClock(1_000_000, rest);
  const machine = callerWith();
  const places = new Map<string, string[]>();
  const ends: { readonly place: string; end(): void }[] = [];
  const wire: { fault: Fault; adopted: Promise<void> | undefined } = { fault: undefined, adopted: undefined };
  const slow = new Proxy(fleetOf(store) as Fleet, {
    get: (target, verb) => {
      const value = Reflect.get(target, verb) as unknown;
      if (verb !== "adopt") return typeof value === "function" ? value.bind(target) : value;
      return async (...given: Parameters<typeof target.adopt>) => {
        const adopted = await target.adopt(...given);
        await wire.adopted;
        return adopted;
      };
    },
  });
  const faulty = new Proxy(store, {
    get: (target, verb) => {
      if (verb === "fleet") return slow;
      const value = Reflect.get(target, verb) as unknown;
      if (verb !== "recordActivities") return typeof value === "function" ? value.bind(target) : value;
      return async (...given: Parameters<Store["recordActivities"]>) => {
        const { fault } = wire;
        if (fault === "before") throw unavailable();
        const recorded = await target.recordActivities(...given);
        if (fault === "after") throw unavailable();
        return recorded;
      };
    },
  });
  const join = (place: string, slots: number, of: Store = store) => {
    const tool = (_: unknown, { run }: { run: string }) =>
      new Promise<string>((resolve) => {
        places.set(run, [...(places.get(run) ?? []), place]);
        ends.push({ place, end: () => resolve(place) });
      });
    const machines = [{ machine, activities: { tool } }] as never;
    return createRuntime({ store: of, clock, machines, flow: { slots } });
  };
  const one = await join("one", 1, faulty);
  await Promise.all(ids.map((id) => one.start(machine, { id })));
  /** Lets what is under way come to its end, and what waits for that as well. */
  const endAll = async () => {
    for (let round = 0; round < 20; round++) {
      for (const { end } of ends.splice(0)) end();
      await clock.advance("1s");
    }
  };
  /** Lets what one of them has under way come to its end. */
  const endAt = async (where: string) => {
    for (const { place, end } of ends) if (place === where) end();
    await clock.advance("1s");
  };
  const calls = () => ids.map((id) => places.get(id)?.length ?? 0);
  const begun = (place: string) => [...places.values()].filter((all) => all.includes(place)).length;
  const isDone = async (runtime: Runtime, id: string) =>
    (await (await runtime.run(id)).state()).configuration.includes("done");
  return { one, join, store, clock, wire, endAll, endAt, calls, begun, isDone };
}

test.each<Fault>(["before", "after"])(
  "whoever sees to them now takes them up when the store is back, and each is run once, though it failed %s they were left",
  async (fault) => {
    const { one, join, clock, wire, endAll, calls, begun, isDone } = await scene();
    wire.fault = fault;
    const two = await join("two", 12);
    await clock.advance("2s");
    if (fault === "after") expect(begun("two")).toBeGreaterThan(2);
    else expect(begun("two")).toBe(0);
    // What another process has by then is not put where a third one finds it.
    const three = await join("three", 12);
    await clock.advance("3s");
    wire.fault = undefined;
    await clock.advance("5s");
    expect(begun("two") + begun("three")).toBeGreaterThan(4);
    await endAll();
    expect(calls()).toEqual(ids.map(() => 1));
    for (const id of ids) expect(await isDone(two, id)).toBe(true);
    await Promise.all([one, two, three].map((runtime) => runtime.close()));
  },
);

test.each<Fault>(["before", "after"])(
  "one that gets its runs back meanwhile runs them itself, though it failed %s they were left",
  async (fault) => {
    const { one, store, clock, wire, endAll, calls, isDone } = await scene();
    wire.fault = fault;
    const ignorant = await createRuntime({ store, clock, machines: [] });
    await clock.advance("1200ms");
    await ignorant.close();
    await clock.advance("3s");
    wire.fault = undefined;
    await clock.advance("5s");
    await endAll();
    expect(calls()).toEqual(ids.map(() => 1));
    for (const id of ids) expect(await isDone(one, id)).toBe(true);
    await one.close();
  },
);

test("one that left them runs none that it took over before that, however late it is told so", async () => {
  const { one, join, store, clock, wire, endAll, endAt, calls } = await scene();
  const client = await createRuntime({
    store,
    clock,
    machines: [{ machine: callerWith() }] as never,
    role: "client",
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  wire.adopted = promise;
  // What others have changed is read again, and what belongs to it taken over.
  for (const id of ids) await (await client.run(id)).breakpoints([]);
  await clock.advance("1s");
  const two = await join("two", 12);
  await clock.advance("2s");
  wire.adopted = undefined;
  resolve();
  for (let round = 0; round < ids.length; round++) await endAt("one");
  await endAll();
  expect(calls()).toEqual(ids.map(() => 1));
  await Promise.all([one, two, client].map((runtime) => runtime.close()));
});
