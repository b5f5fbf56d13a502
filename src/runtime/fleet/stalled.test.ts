/** A process that was stopped for long, and goes on where others have taken over. */
import { expect, test } from "vitest";
import { holding } from "../../../test/runtime/holding.ts";
import { callerWith } from "../../../test/runtime/machines.ts";
import { memory } from "../../store/memory/store.ts";
import { createRuntime } from "../runtime.ts";

test("G2: a process that was stopped while it began an activity does not run it after others have", async () => {
  const store = memory({ shared: true });
  const stalled = holding(store);
  const machine = callerWith();
  const calls: string[] = [];
  const entry = (place: string) => ({ machine, activities: { tool: () => void calls.push(place) } }) as never;
  const one = await createRuntime({ store: stalled.store, machines: [entry("one")] });
  const goOn = [stalled.hold("commit"), stalled.hold("beat")];
  // Its first step is durable, and it does not hear of it.
  const begun = one.start(machine, { id: "errand" }).catch(() => {});
  const two = await createRuntime({ store, machines: [entry("two")] });
  await expect.poll(() => calls).toEqual(["two"]);
  await (await two.run("errand")).waitFor("done");
  for (const answer of goOn) answer();
  await one.stopped;
  await begun;
  expect(calls).toEqual(["two"]);
  await Promise.all([one.close(), two.close()]);
});
