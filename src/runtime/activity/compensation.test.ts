/** Compensation: what a run has done is undone in reverse order, durably, when it cannot go on. */
import { describe, expect, test } from "vitest";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { defineMachine, type Json, type MachineDefinition } from "../../index.ts";

const step = (name: string, target: string) => ({
  invoke: { activity: "do", id: name, input: name, compensate: "undo", onDone: target },
});

const tripWith = (parts: Partial<MachineDefinition> = {}) =>
  defineMachine({
    id: "trip",
    start: {},
    initial: "flight",
    states: {
      flight: step("flight", "hotel"),
      hotel: step("hotel", "car"),
      car: step("car", "booked"),
      booked: {
        on: {
          regret: { target: "undoing", actions: { compensate: true } },
          pay: "paid",
        },
      },
      undoing: { on: { "done.invoke.compensation": { target: "undone" } } },
      undone: {},
      paid: { type: "final" },
    },
    ...parts,
  });

onEveryStore((world) => {
  const begin = async (machine = tripWith(), undo?: (what: Json) => unknown, options: object = {}) => {
    const here = await world();
    const log: string[] = [];
    const activities = {
      do: (what: Json) => {
        log.push(`do ${what}`);
        return `${what} 1`;
      },
      undo: (what: Json) => {
        log.push(`undo ${what}`);
        return undo?.(what);
      },
    };
    const entry = { machine, activities };
    const runtime = await here.boot([entry]);
    const run = await runtime.start(machine, { id: "a", ...options });
    return { ...here, entry, runtime, run, log };
  };
  const done = ["do flight", "do hotel", "do car"];
  const undone = ["undo car 1", "undo hotel 1", "undo flight 1"];

  describe("what a run has done", () => {
    test("B12: is undone in reverse order when its machine says so, and the run goes on", async () => {
      const { run, log } = await begin();
      await run.waitFor("booked");
      await run.send("regret");
      await run.waitFor("undone");
      expect(log).toEqual([...done, ...undone]);
      expect((await run.head()).status).toBe("active");
    });

    test("B12: is undone in reverse order when the run is cancelled", async () => {
      const { run, log, clock, runtime } = await begin();
      await run.waitFor("booked");
      await run.cancel();
      await clock.advance(0);
      expect(log).toEqual([...done, ...undone]);
      expect((await run.finished()).status).toBe("cancelled");
      // Nobody is there to hear of its end, and nobody needs to.
      expect(await listOf(runtime.deadLetters.list())).toEqual([]);
    });

    test("B13: is undone when a limit ends the run, and only as far as it got", async () => {
      const { run, log, clock } = await begin(tripWith(), undefined, { limits: { steps: 3 } });
      expect(await run.finished()).toMatchObject({ status: "failed", reason: { limit: "steps" } });
      await clock.advance(0);
      expect(log).toEqual([...done.slice(0, 2), ...undone.slice(1)]);
    });

    test("B12: stays when the run is done", async () => {
      const { run, log, clock, runtime } = await begin();
      await run.waitFor("booked");
      await run.send("pay");
      await clock.advance("1m");
      expect([log, (await run.finished()).status]).toEqual([done, "done"]);
      const runs = [];
      for await (const { run: name } of runtime.find()) runs.push(name);
      expect(runs).toEqual(["a"]);
    });

    test("B12: is undone to the end through a crash, each once", async () => {
      const { run, log, boot, crash, runtime, entry, clock } = await begin(tripWith(), (what) =>
        what === "hotel 1" && !crashed ? new Promise(() => {}) : undefined,
      );
      let crashed = false;
      await run.waitFor("booked");
      await run.cancel();
      await clock.advance(0);
      expect(log).toEqual([...done, ...undone.slice(0, 2)]);
      await crash(runtime);
      crashed = true;
      await boot([entry]);
      await clock.advance(0);
      expect(log).toEqual([...done, ...undone.slice(0, 2), ...undone.slice(1)]);
    });

    test("B12: begins to be undone with the step that ends the run, whatever dies in between", async () => {
      const { run, log, boot, crash, runtime, entry, clock, watch } = await begin();
      await run.waitFor("booked");
      watch.failNext("commit", "after");
      await expect(run.cancel()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      await crash(runtime);
      await boot([entry]);
      await clock.advance(0);
      expect(log).toEqual([...done, ...undone]);
    });

    test("B12: that cannot be undone is tried for long, noted, and does not keep the rest from being undone", async () => {
      const { run, runtime, log, clock } = await begin(tripWith(), (what) => {
        if (what === "hotel 1") throw Object.assign(new Error("full"), { retryable: false });
      });
      await run.waitFor("booked");
      await run.cancel();
      await clock.advance(0);
      expect(log).toEqual([...done, ...undone]);
      const [name] = (await names(runtime)).filter((one) => one !== "a");
      const undoing = await runtime.run(name as string);
      expect((await undoing.finished()).output).toMatchObject({
        undone: [expect.any(String), expect.any(String)],
        failed: [{ activity: "undo", error: { message: "full" } }],
      });
    });

    test("B5: is undone again and again while undoing fails", async () => {
      let tries = 0;
      const { run, log, clock } = await begin(tripWith(), () => {
        if (++tries < 4) throw new Error("busy");
      });
      await run.waitFor("booked");
      await run.cancel();
      await clock.advance("30s");
      expect(log.slice(3)).toEqual([...Array(3).fill("undo car 1"), ...undone]);
    });
  });
});

async function names(runtime: { find(): AsyncIterable<{ run: string }> }): Promise<string[]> {
  const found = [];
  for await (const { run } of runtime.find()) found.push(run);
  return found;
}
