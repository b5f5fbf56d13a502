/** Steps that wait for a later commit, of a run that goes on elsewhere meanwhile. */
import { expect, test } from "vitest";
import { counterWith } from "../../../test/runtime/machines.ts";
import { encode } from "../../store/codec.ts";
import { memory } from "../../store/memory/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { createRuntime } from "../runtime.ts";

const rest = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((pass) => setImmediate(pass));
};

const lazy = counterWith({ checkpoint: "manual" });

test("whoever waits for a run whose steps wait for a commit hears of an end that comes elsewhere", async () => {
  const store = memory({ shared: true });
  const clock = new VirtualClock(1_000_000, rest);
  const worker = await createRuntime({ store, clock, machines: [lazy] });
  const client = await createRuntime({ store, clock, machines: [lazy], role: "client" });
  const run = await worker.start(lazy, { id: "a" });
  await run.sendAll(Array.from({ length: 70 }, () => ({ type: "add", data: 1 })));
  await clock.advance("1s");
  const ends: string[] = [];
  void run.finished().then(({ status }) => ends.push(status));
  await rest();
  await (await client.run("a")).cancel();
  await clock.advance("2s");
  expect(ends).toEqual(["cancelled"]);
  await Promise.all([client.close(), worker.close()]);
});

test("whoever repeats an event whose step waits for a commit elsewhere is told what became of the first", async () => {
  const store = memory({ shared: true });
  const clock = new VirtualClock(1_000_000, rest);
  const worker = await createRuntime({ store, clock, machines: [lazy] });
  const client = await createRuntime({ store, clock, machines: [lazy], role: "client" });
  await worker.start(lazy, { id: "a" });
  // Whoever sent it first died before anybody was told; the worker finds it.
  const place = { tenant: "default", run: "a", subject: "a", at: clock.now(), priority: 0 };
  await store.enqueue([{ ...place, id: "first", key: "k", bytes: encode({ type: "add", data: 1 }) }]);
  await clock.advance("1m");
  const told: unknown[] = [];
  const run = await client.run("a");
  void run.send("add", 1, { key: "k" }).then(async (receipt) => told.push(await receipt.handled()));
  await clock.advance("2s");
  expect(told).toMatchObject([{ seq: 2, outcome: "taken" }]);
  await Promise.all([client.close(), worker.close()]);
});
