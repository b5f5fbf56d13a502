/** Steps that wait for a later commit, of a run that goes on elsewhere meanwhile. */
import { expect, test } from "vitest";
import { counterWith } from "../../../test/runtime/machines.ts";
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
