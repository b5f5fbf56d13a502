/** A process that was stopped for long, and goes on where others have taken over. */
import { expect, test } from "vitest";
import { holding } from "../../../test/runtime/holding.ts";
import { callerWith } from "../../../test/runtime/machines.ts";
import { joined } from "../../store/conformance/fleet-cases.ts";
import { type Fleet, fleetOf } from "../../store/fleet.ts";
import { memory } from "../../store/memory/store.ts";
import type { ActivityRow } from "../../store/records.ts";
import type { ActivityScope } from "../activity/attempt.ts";
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

test("an attempt whose activity another process has by now is stopped, and is made again once that is gone", async () => {
  const store = memory({ shared: true });
  const machine = callerWith();
  const ends: string[] = [];
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const tool = async (_: unknown, { checkpoint, attempt, signal, progress }: ActivityScope) => {
    if (ends.length > 0) return progress ?? "begun anew";
    await checkpoint("of the first").then(() => gate);
    // Its code pays no heed: nobody waits for it any more.
    const told = await checkpoint("of one that does not have it").catch(({ message }: Error) => message);
    ends.push(`${told}, aborted: ${signal.aborted}, attempt ${attempt}`);
    return "not wanted";
  };
  const problems: unknown[] = [];
  const machines = [{ machine, activities: { tool } }] as never;
  const onProblem = (problem: unknown) => void problems.push(problem);
  const runtime = await createRuntime({ store, machines, onProblem });
  const run = await runtime.start(machine, { id: "errand" });
  const rowOf = async () => (await store.load({ tenant: "default", run: "errand" }))?.activities[0];
  await expect.poll(async () => (await rowOf())?.report).toBeDefined();
  // Another one has it, as when it was left and the answer to that came late.
  const fleet = fleetOf(store) as Fleet;
  const [mine, other] = [runtime.members()[0]?.epoch as number, await joined(store, "another", Date.now())];
  const row = (await rowOf()) as ActivityRow;
  await store.recordActivities([{ ...row, status: "waiting" }], mine);
  expect(await fleet.adopt([row], other)).toEqual([true]);
  open();
  await expect
    .poll(() => ends)
    .toEqual([
      "Attempt 1 of tool is stopped: it has ended for its run, or another process has it, aborted: true, attempt 1",
    ]);
  expect(await rowOf()).toEqual({ ...row, status: "running" });
  await fleet.leave(other, Date.now());
  expect((await run.waitFor("done")).context.got).toBe("of the first");
  expect(problems).toEqual([]);
  await runtime.close();
});
