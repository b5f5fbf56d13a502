/** Ends of activities whose runs are elsewhere by then: further than this process can read, or parked. */
import { expect, test, vi } from "vitest";
import { holding } from "../../../test/runtime/holding.ts";
import { callerWith } from "../../../test/runtime/machines.ts";
import { defineMachine } from "../../index.ts";
import { memory } from "../../store/memory/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { createRuntime, type Problem } from "../runtime.ts";

const rest = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((pass) => setImmediate(pass));
};

test("what an activity gave is kept where its run cannot be read, somebody is told, and whoever can read it takes it", async () => {
  const store = memory({ shared: true });
  const clock = new VirtualClock(1_000_000, rest);
  const [first, second] = [callerWith({}, { version: 1 }), callerWith({}, { version: 2 })];
  const { promise: given, resolve: give } = Promise.withResolvers<string>();
  const calls: string[] = [];
  const call = (place: string) => ({
    tool: () => {
      calls.push(place);
      return given;
    },
  });
  const problems: Problem[] = [];
  const one = await createRuntime({
    ...{ store, clock, machines: [{ machine: first, activities: call("one") }] as never },
    onProblem: (problem) => void problems.push(problem),
  });
  await one.start(first, { id: "errand" });
  const both = [first, second].map((machine) => ({ machine, activities: call("two") }));
  const two = await createRuntime({ store, clock, machines: both as never });
  await clock.advance("2s");
  const run = await two.run("errand");
  await run.migrate({ to: 2 });
  // It hears that the run has moved on, to where it cannot follow.
  await clock.advance("2s");
  problems.length = 0;
  give("an answer");
  await rest();
  expect(problems).toMatchObject([{ run: "errand", error: { code: "MACHINE_UNKNOWN" } }]);
  await clock.advance("8s");
  expect((await run.state()).context).toEqual({ got: "an answer" });
  expect(calls).toEqual(["one"]);
  await Promise.all([one.close(), two.close()]);
});

test("an activity whose result parks its run while that is taken up again is not called again", async () => {
  const clock = new VirtualClock(1_000_000, rest);
  const { store, hold } = holding(memory({ shared: true }));
  const onDone = { target: "done", require: { never: () => false } };
  const machine = defineMachine({
    id: "picky",
    initial: "calling",
    states: { calling: { invoke: { activity: "tool", onDone } }, done: {} },
  });
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const tool = vi.fn(() => answered);
  const runtime = await createRuntime({
    store,
    clock,
    machines: [{ machine, activities: { tool } }] as never,
  });
  const run = await runtime.start(machine, { id: "a" });
  await run.pause();
  const release = hold("adopt");
  await run.retry();
  answer();
  await run.parked();
  release();
  await rest();
  expect(tool).toHaveBeenCalledOnce();
  await runtime.close();
});
