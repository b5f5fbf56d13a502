/** Times in which no member was there, and timers that do not run meanwhile. */
import { expect, test } from "vitest";
import { holding } from "../../../test/runtime/holding.ts";
import { defineMachine } from "../../index.ts";
import { memory } from "../../store/memory/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { createRuntime } from "../runtime.ts";

const rest = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((pass) => setImmediate(pass));
};

const oven = defineMachine({
  id: "oven",
  initial: "baking",
  states: { baking: { after: { "10m": { target: "done", resume: "remaining" } } }, done: {} },
});

test("B11: a run that is looked at while its process still starts hears of the outage before its timers fire", async () => {
  const memoryStore = memory({ shared: true });
  const clock = new VirtualClock(1_000_000, rest);
  const first = await createRuntime({ store: memoryStore, clock, machines: [oven] });
  await first.start(oven, { id: "a" });
  await first.close();
  await clock.advance("1h");
  const { store, hold } = holding(memoryStore);
  // It is a member, and hears of what is due, before it has read which machines there are.
  const goOn = hold("readDocument");
  const starting = createRuntime({ store, clock, machines: [oven] });
  await clock.advance("5s");
  goOn();
  const second = await starting;
  const run = await second.run("a");
  expect((await run.state()).configuration).toEqual(["baking"]);
  await clock.advance("10m");
  expect((await run.state()).configuration).toEqual(["done"]);
  await second.close();
});
