/** The step loop through the façade: what a busy run and a failing store must not do to the others. */
import { expect, test } from "vitest";
import { defineMachine } from "../core/machine.ts";
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { memory } from "../store/memory/store.ts";
import { debugEvent } from "./debug.ts";
import type { Delivery, LiveRun } from "./live-run.ts";
import { createRuntime } from "./runtime.ts";
import { type LoopWorld, StepLoop } from "./step-loop.ts";

const counter = defineMachine<{ n: number }>({
  id: "counter",
  start: { n: 0 },
  initial: "open",
  states: { open: { on: { add: { update: (draft) => void draft.n++ } } } },
});
const machines = [{ machine: counter as never }];

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
