/** Events for runs that are at home in another process: what they cost, however many are sent at a time. */
import { afterEach, expect, test } from "vitest";
import { counter } from "../../../test/runtime/machines.ts";
import { defineMachine } from "../../index.ts";
import { fleetOf, type SharedStore } from "../../store/fleet.ts";
import { memory } from "../../store/memory/store.ts";
import type { Store } from "../../store/store.ts";
import { createRuntime, type Runtime } from "../runtime.ts";

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

const oracle = defineMachine({
  id: "oracle",
  initial: "open",
  states: { open: { on: { ask: { actions: { reply: ({ event }) => ({ to: event.data ?? null }) } } } } },
});

/** The store as one process sees it, and how often that called each verb. */
function counting(store: Store) {
  const calls: Record<string, number> = {};
  const over = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (name === "fleet") return over(value as object);
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => {
          calls[name as string] = (calls[name as string] ?? 0) + 1;
          return (value as (...given: unknown[]) => unknown).apply(target, given);
        };
      },
    });
  const reset = () => {
    for (const name of Object.keys(calls)) delete calls[name];
  };
  return { store: over(store as SharedStore), calls, reset };
}

/** A worker, and a client of it, each with what it calls. */
async function scene() {
  const store = memory({ shared: true });
  expect(fleetOf(store)).toBeDefined();
  const [of, by] = [counting(store), counting(store)];
  const machines = [counter, oracle];
  const worker = await createRuntime({ store: of.store, machines });
  const client = await createRuntime({ store: by.store, machines, role: "client" });
  runtimes.push(client, worker);
  for (const runtime of [worker, client]) await expect.poll(() => runtime.members().length).toBe(2);
  return { worker, client, of, by };
}

test("G2: what is sent to many runs of another process at once is written, read and answered together", async () => {
  const { worker, client, of, by } = await scene();
  const ids = Array.from({ length: 50 }, (_, index) => `run-${index}`);
  await Promise.all(ids.map((id) => worker.start(counter, { id })));
  const runs = await Promise.all(ids.map((id) => client.run(id)));
  for (const { reset } of [of, by]) reset();
  const handled = await Promise.all(runs.map(async (run) => (await run.send("add")).handled()));
  expect(handled).toEqual(ids.map(() => ({ seq: 2, outcome: "taken", error: undefined })));
  expect(by.calls.enqueue).toBe(1);
  expect(by.calls.readTaken).toBeLessThanOrEqual(2);
  expect(by.calls.readKeys ?? 0).toBe(0);
  expect(by.calls.load ?? 0).toBe(0);
  expect(of.calls.readInboxes).toBeLessThanOrEqual(2);
  expect(of.calls.load ?? 0).toBe(0);
});

test("G2: the reply to what was asked elsewhere comes with what became of the question", async () => {
  const { worker, client, by } = await scene();
  await worker.start(oracle, { id: "o" });
  const run = await client.run("o");
  by.reset();
  const asked = Array.from({ length: 20 }, (_, index) => run.ask("ask", index));
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 20 }, (_, index) => ({ to: index })));
  expect([by.calls.enqueue, by.calls.readJournal ?? 0]).toEqual([1, 0]);
});
