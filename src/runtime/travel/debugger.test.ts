/** Holding a run still: breakpoints, single steps and pauses, through crashes. */
import { describe, expect, test } from "vitest";
import { callerWith, counter } from "../../../test/runtime/machines.ts";
import { onEveryStore } from "../../../test/runtime/world.ts";
import type { Problem } from "../runtime.ts";

onEveryStore((world) => {
  describe("a breakpoint", () => {
    test("E3: at a state stops the run when it comes there, and what follows waits", async () => {
      const here = await world();
      const problems: Problem[] = [];
      const runtime = await here.boot([counter], { onProblem: (problem) => void problems.push(problem) });
      const run = await runtime.start(counter, { id: "a" });
      await run.breakpoints([{ state: "asleep" }]);
      await run.send("add", 1);
      await run.send("nap");
      expect(await run.parked()).toMatchObject({ name: "Breakpoint", state: "asleep" });
      const waiting = await run.send("add", 2);
      expect((await run.state()).deferred).toEqual([]);
      await here.clock.advance("10m");
      expect((await run.state()).configuration).toEqual(["asleep"]);
      await run.retry();
      expect(await waiting.handled()).toMatchObject({ outcome: "deferred" });
      expect(problems).toEqual([]);
    });

    test("E3: before an event stops the run once, and outlives a crash", async () => {
      const here = await world();
      const first = await here.boot([counter]);
      await (await first.start(counter, { id: "a" })).breakpoints([{ event: "add" }]);
      await here.crash(first);
      const second = await here.boot([counter]);
      const run = await second.run("a");
      await run.send("note", 1);
      await run.send("add", 5);
      expect(await run.parked()).toMatchObject({ name: "Breakpoint", event: "add" });
      expect((await run.state()).context).toMatchObject({ n: 0 });
      await here.crash(second);
      const again = await (await here.boot([counter])).run("a");
      expect((await again.head()).status).toBe("parked");
      await again.retry();
      await here.rest();
      expect(await again.state()).toMatchObject({ context: { n: 5 } });
      await again.send("add", 1);
      expect((await again.head()).status).toBe("parked");
      await again.breakpoints([]);
      await again.retry();
      await here.rest();
      await again.send("add", 1);
      expect(await again.state()).toMatchObject({ context: { n: 7 } });
    });

    test("E3: at a state that the machine does not have, or of a run that has ended, is refused", async () => {
      const here = await world();
      const run = await (await here.boot([counter])).start(counter, { id: "a" });
      await expect(run.breakpoints([{ state: "nowhere" }])).rejects.toMatchObject({ code: "STATE_UNKNOWN" });
      for (const events of [0, 1.5, Number.NaN])
        await expect(run.advance(events)).rejects.toMatchObject({ code: "LIMIT_INVALID" });
      await run.retry();
      expect((await run.head()).seq, "it was not parked").toBe(1);
      await run.cancel();
      await expect(run.breakpoints([])).rejects.toMatchObject({ code: "RUN_ENDED" });
      await expect(run.pause()).rejects.toMatchObject({ code: "RUN_ENDED" });
      await expect(run.parked()).rejects.toMatchObject({ code: "RUN_ENDED" });
    });
  });

  describe("a run that is paused", () => {
    test("E3: takes one event at a time, in their order, as often as it is let", async () => {
      const here = await world();
      const run = await (await here.boot([counter])).start(counter, { id: "a" });
      await run.pause();
      for (const n of [1, 2, 4, 8]) await run.send("add", n);
      const seen: unknown[] = [];
      for (const events of [1, 1, 2]) {
        await run.advance(events);
        await here.rest();
        seen.push((await run.state()).context.n, (await run.parked()).name);
      }
      expect(seen).toEqual([1, "Stepped", 3, "Stepped", 15, "Stepped"]);
    });

    test("E3: lets an activity come to its end, and takes that when it is let", async () => {
      const here = await world();
      let finish: (value: string) => void = () => {};
      const machine = callerWith();
      const tool = () =>
        new Promise((resolve) => {
          finish = resolve;
        });
      const run = await (await here.boot([{ machine, activities: { tool } }])).start(machine, { id: "a" });
      await run.pause();
      finish("out");
      await here.rest();
      expect((await run.state()).configuration).toEqual(["calling"]);
      await run.advance();
      await here.rest();
      expect(await run.state()).toMatchObject({ configuration: ["done"], context: { got: "out" } });
      expect(await run.parked()).toMatchObject({ name: "Stepped" });
    });

    test("E3: waits for the next event when it is let and there is none", async () => {
      const here = await world();
      const run = await (await here.boot([counter])).start(counter, { id: "a" });
      await run.pause();
      await run.pause();
      await run.advance();
      expect((await run.head()).status).toBe("active");
      await run.send("add", 1);
      expect((await run.head()).status).toBe("parked");
      await run.retry();
      await run.send("add", 1);
      await run.send("add", 1);
      expect(await run.state()).toMatchObject({ context: { n: 3 } });
    });
  });
});
