/** The step loop through the façade: what a busy run and a failing store must not do to the others. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { startEvent } from "../core/event.ts";
import { defineMachine } from "../core/machine.ts";
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { memory } from "../store/memory/store.ts";
import type { CommitOutcome } from "../store/store.ts";
import { systemClock } from "./clock.ts";
import { debugEvent } from "./debug.ts";
import { systemIds } from "./ids.ts";
import { type Delivery, type LiveRun, newRun } from "./live/live-run.ts";
import { createRegistry } from "./registry.ts";
import { createRuntime } from "./runtime.ts";
import { noSeal } from "./seal.ts";
import { type LoopWorld, StepLoop } from "./step-loop.ts";

const counter = defineMachine<{ n: number }>({
  id: "counter",
  start: { n: 0 },
  initial: "open",
  states: { open: { on: { add: { update: (draft) => void draft.n++ } } } },
});
const patient = defineMachine({ id: "patient", checkpoint: "manual", initial: "open", states: { open: {} } });
const machines = [{ machine: counter as never }, { machine: patient as never }];

test("a run that is never idle does not keep timers and others from their turn", async () => {
  const runtime = await createRuntime({ store: memory(), machines });
  const run = await runtime.start(counter, { id: "a" });
  let fired = false;
  setTimeout(() => {
    fired = true;
  }, 1);
  for (let n = 0; n < 100_000 && !fired; n++) await run.send("add");
  expect(fired).toBe(true);
  await runtime.close();
});

test("a commit that the store fails fails everybody who waits for it, and whoever comes later", async () => {
  const store = memory();
  const full = new HoldfastError("STORE_UNAVAILABLE", "The disk is full");
  const runtime = await createRuntime({ store, machines });
  const [one, two] = [await runtime.start(counter, { id: "1" }), await runtime.start(counter, { id: "2" })];
  store.commit = async () => {
    throw full;
  };
  const all = [
    one.send("add"),
    one.send("add", 1, { key: "k" }),
    one.send("add", 1, { key: "k" }),
    two.send("add"),
  ];
  for (const outcome of await Promise.allSettled(all)) expect(outcome).toMatchObject({ reason: full });
  await expect(two.send("add")).rejects.toBe(full);
  await runtime.close();
});

test("an event that cannot be kept leaves nothing in the commit of the next one", async () => {
  // Small enough for a text of its own, and too large for the event that holds it.
  const data = "x".repeat(limits.valueBytesMax - 2);
  const teller = defineMachine({
    id: "teller",
    initial: "open",
    states: {
      open: {
        on: {
          tell: { actions: [{ send: { type: "add", to: { run: "b" } } }] },
          shout: {
            actions: [
              { send: { type: "add", to: { run: "b" } } },
              { send: { type: "add", data, to: { run: "b" } } },
            ],
          },
        },
      },
    },
  });
  const runtime = await createRuntime({ store: memory(), machines: [...machines, teller as never] });
  const heard = await runtime.start(counter, { id: "b" });
  const run = await runtime.start(teller, { id: "a" });
  const [shouted, told] = await Promise.allSettled([run.send("shout"), run.send("tell")]);
  expect([shouted, told]).toMatchObject([{ reason: { code: "VALUE_TOO_LARGE" } }, { status: "fulfilled" }]);
  for await (const { seq } of heard.follow()) if (seq === 2) break;
  expect((await heard.state()).context.n).toBe(1);
  expect((await runtime.run("a").then((one) => one.head())).seq).toBe(2);
  await runtime.close();
});

test("a commit takes in no more than a store can take at once, of one run or of many", async () => {
  const store = memory();
  const sizes: number[] = [];
  const commit = store.commit.bind(store);
  store.commit = (commits) => {
    sizes.push(commits.reduce((sum, { entries }) => sum + entries.length, 0));
    return commit(commits);
  };
  const runtime = await createRuntime({ store, machines });
  const start = (id: string) => runtime.start(counter, { id });
  const runs = await Promise.all(["a", "b", "c"].map(start));
  const waits = await runtime.start(patient, { id: "waits" });
  // More than half of what goes into one commit, and nothing that compression makes smaller.
  const large = () => randomBytes(limits.commitBytesMax / 2).toString("base64url");
  sizes.length = 0;
  await Promise.all(runs.map((run) => run.send("add", large())));
  expect(sizes).toEqual([2, 1]);
  sizes.length = 0;
  await (runs[0] as (typeof runs)[number]).sendAll([1, 2, 3].map(() => ({ type: "add", data: large() })));
  expect(sizes).toEqual([2, 1]);
  sizes.length = 0;
  await waits.sendAll([1, 2, 3].map(() => ({ type: "add", data: large() })));
  await waits.checkpoint();
  expect(sizes).toEqual([2, 1]);
  await runtime.close();
});

test("a run that has ended takes nothing more, be it of the platform", () => {
  const left: Delivery[] = [];
  const loop = new StepLoop({
    left: (_: LiveRun, deliveries: readonly Delivery[]) => void left.push(...deliveries),
  } as never);
  const run = { head: { status: "cancelled" }, inbox: [] } as unknown as LiveRun;
  const delivery: Delivery = { event: debugEvent([]), priority: 0, failed: () => {} };
  loop.deliver(run, delivery);
  expect([left, run.inbox]).toEqual([[delivery], []]);
});

test("what is handed to a loop that is closed is told why, and what is in an inbox stays there", async () => {
  const loop = new StepLoop({ standing: { epoch: 1, isWorker: true } } as unknown as LoopWorld);
  const why = new Error("another one owns the runs now");
  await loop.close(why);
  const told: unknown[] = [];
  const run = { inbox: [], head: { status: "active" } } as unknown as LiveRun;
  const handed = { event: { type: "add" }, failed: (error: unknown) => void told.push(error) };
  loop.deliver(run, handed as unknown as Delivery);
  loop.deliver(run, { ...handed, row: "waits" } as unknown as Delivery);
  expect(told).toEqual([why]);
  expect(loop.isTaking(run)).toBe(false);
});

describe("a checkpoint by hand", () => {
  test("waits for the turns of its own run, however busy that and the others are", async () => {
    const runtime = await createRuntime({ store: memory(), machines });
    const busy = await runtime.start(counter, { id: "busy" });
    const other = await runtime.start(counter, { id: "other" });
    let isOver = false;
    const load = Array.from({ length: 4 }, async () => {
      for (let n = 0; n < 5_000 && !isOver; n++) await busy.send("add");
      return isOver;
    });
    for (const run of [other, busy]) {
      const sent = run.send("add");
      await run.checkpoint();
      await run.fork();
      await sent;
    }
    isOver = true;
    expect(await Promise.all(load)).toEqual([true, true, true, true]);
    await runtime.close();
  });

  test("fails with the commit that it waits for", async () => {
    const store = memory();
    const runtime = await createRuntime({ store, machines });
    const run = await runtime.start(counter, { id: "a" });
    const gone = new HoldfastError("STORE_UNAVAILABLE", "The store is not there");
    store.commit = () => Promise.reject(gone);
    const [sent, made] = await Promise.allSettled([run.send("add"), run.checkpoint()]);
    expect([sent, made]).toMatchObject([{ reason: gone }, { reason: gone }]);
    await runtime.close();
  });

  test("is made of the run as the store has it, should that be ahead", async () => {
    const store = memory();
    const runtime = await createRuntime({ store, machines });
    const run = await runtime.start(patient, { id: "a" });
    await run.sendAll([{ type: "one" }, { type: "two" }]);
    const commit = store.commit.bind(store);
    store.commit = async () => {
      store.commit = commit;
      return [{ outcome: "conflict", run: "a", seq: 1 } satisfies CommitOutcome];
    };
    await run.checkpoint();
    expect((await run.head()).seq).toBe(3);
    await runtime.close();
  });

  test("is made though what came with it was a repeat", async () => {
    const runtime = await createRuntime({ store: memory(), machines });
    const run = await runtime.start(patient, { id: "a" });
    await run.send("one", undefined, { key: "k" });
    await run.sendAll([{ type: "two" }, { type: "three" }]);
    const [repeat] = await Promise.all([run.send("one", undefined, { key: "k" }), run.checkpoint()]);
    expect([(await repeat.handled()).seq, (await run.head()).seq]).toEqual([2, 4]);
    await runtime.close();
  });
});

describe("a loop that breaks", () => {
  const told: string[] = [];
  /** A loop of its own over a store, and runs that are about to begin. */
  const begin = async (parts: Partial<LoopWorld>) => {
    told.length = 0;
    const store = memory();
    await store.open();
    await store.own("worker", 1_000_000, 0);
    const registry = createRegistry(machines, noSeal);
    const failed = (error: unknown) => void told.push(`broken: ${(error as Error).message}`);
    const loop = new StepLoop({
      ...{ store, clock: systemClock, ids: systemIds, seal: noSeal, registry, failed },
      ...{ standing: { epoch: 1, isWorker: true }, published: () => {}, ...parts },
    } as unknown as LoopWorld);
    const run = (id: string) =>
      newRun({ tenant: "t", run: id }, registry.read("counter"), { subject: "s", attributes: {} }, 0);
    return { store, loop, one: run("one"), two: run("two") };
  };
  const delivery = (name: string, event: Delivery["event"], row?: string): Delivery => ({
    ...{ event, priority: 0, ...(row !== undefined && { row }) },
    handled: ({ outcome }) => void told.push(`${name} ${outcome}`),
    failed: (error) => void told.push(`${name}: ${(error as Error).message}`),
  });
  const start = (name: string) => delivery(name, startEvent(undefined));

  test("tells whoever was committed so, and everybody else that they were not", async () => {
    const { loop, store, one, two } = await begin({
      published: ({ run }) => {
        told.push(`${run.name.run} published, ${loop.isBusy(one)}, ${loop.isBusy(two)}`);
        if (run === one) throw new Error("a bug");
      },
    });
    const commit = store.commit.bind(store);
    let made: Promise<unknown>[] = [];
    store.commit = (commits) => {
      loop.deliver(one, delivery("late", { type: "add" }));
      loop.deliver(two, delivery("later", { type: "add" }));
      loop.deliver(two, delivery("waits", { type: "add" }, "row"));
      made = [one, two].map((run) => loop.checkpoint(run));
      return commit(commits);
    };
    loop.deliver(one, start("one"));
    loop.deliver(two, start("two"));
    await loop.checkpoint(one).catch(() => {});
    const late = ["late: a bug", "later: a bug", "broken: a bug"];
    await expect(Promise.allSettled(made)).resolves.toMatchObject([
      { reason: { message: "a bug" } },
      { reason: { message: "a bug" } },
    ]);
    expect(told).toEqual([
      ...["one taken", "one published, true, true", "two taken", "two published, true, true"],
      ...late,
    ]);
    expect([loop.isBusy(one), loop.isBusy(two)]).toEqual([false, false]);
    await expect(loop.checkpoint(one)).resolves.toBe(true);
  });

  test("since the store did not say what became of each commit, tells everybody", async () => {
    const { loop, store, one, two } = await begin({});
    store.commit = async () => [{ outcome: "committed" }];
    loop.deliver(one, start("one"));
    loop.deliver(two, start("two"));
    const [made] = await Promise.allSettled([loop.checkpoint(two)]);
    const why = "The store was given 2 commits and told of 1";
    expect(made).toMatchObject({ reason: { message: why } });
    expect(told).toEqual([`one: ${why}`, `two: ${why}`, `broken: ${why}`]);
  });

  test("or is closed tells whoever waits for a turn that does not come", async () => {
    const { loop, one } = await begin({});
    loop.deliver(one, start("one"));
    const made = Promise.allSettled([loop.checkpoint(one)]);
    const why = new Error("closed");
    await loop.close(why);
    expect(await made).toMatchObject([{ reason: why }]);
    expect(told).toEqual(["one: closed"]);
  });
});
