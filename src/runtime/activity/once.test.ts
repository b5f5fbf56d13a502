/** Activities that may happen once: begun at most once, unknown when nobody can know, and reconciled where that helps. */
import { describe, expect, test } from "vitest";
import { callerWith } from "../../../test/runtime/machines.ts";
import { onEveryStore } from "../../../test/runtime/world.ts";
import type { Json } from "../../index.ts";
import type { ActivityScope } from "./attempt.ts";
import type { Reconciled } from "./attempts.ts";

const hang = () => new Promise(() => {});

onEveryStore((world) => {
  /** A run whose tool may happen once; `reconcile` is asked what became of it. */
  const begin = async (
    tool: (call: number, scope: ActivityScope) => unknown,
    options: object = {},
    reconcile?: (tries: number, scope: ActivityScope) => unknown,
  ) => {
    const here = await world();
    const machine = callerWith({ once: true, ...(reconcile && { reconcile: "ask" }), ...options });
    const counts = { calls: 0, tries: 0 };
    const entry = {
      machine,
      activities: {
        tool: (_: never, scope: ActivityScope) => tool(++counts.calls, scope),
        ask: (_: never, scope: ActivityScope) => reconcile?.(++counts.tries, scope),
      },
    };
    const runtime = await here.boot([entry]);
    const run = await runtime.start(machine, { id: "a" });
    const again = async () => {
      await here.rest();
      await here.crash(runtime);
      return (await here.boot([entry])).run("a");
    };
    return { ...here, counts, run, runtime, again };
  };

  describe("an activity that may happen once", () => {
    test("B12: is told as done or failed when its end is known, and not tried again", async () => {
      const done = await begin(() => "out");
      await done.run.waitFor("done");
      const failed = await begin(
        () => {
          throw new Error("no");
        },
        { retry: { attempts: 5 } },
      );
      await failed.run.waitFor("failed");
      await failed.clock.advance("2m");
      expect([done.counts.calls, failed.counts.calls]).toEqual([1, 1]);
    });

    test("B12: is durable as begun before it begins", async () => {
      const here = await world();
      const machine = callerWith({ once: true });
      const seen: unknown[] = [];
      const tool = async () => {
        const loaded = await (await here.look()).load({ tenant: "default", run: "a" });
        seen.push(loaded?.activities);
      };
      const runtime = await here.boot([{ machine, activities: { tool } }]);
      await (await runtime.start(machine, { id: "a" })).waitFor("done");
      expect(seen).toMatchObject([[{ status: "running", attempt: 1 }]]);
    });

    test("B12: does not begin while that cannot be made durable", async () => {
      const here = await world();
      const machine = callerWith({ once: true });
      let calls = 0;
      const runtime = await here.boot([{ machine, activities: { tool: () => ++calls } }]);
      here.watch.fault = ({ verb }) => (verb === "recordActivities" ? "before" : undefined);
      const run = await runtime.start(machine, { id: "a" });
      await here.clock.advance("5s");
      expect(calls).toBe(0);
      here.watch.comeBack();
      await here.clock.advance("2s");
      expect([calls, (await run.state()).configuration]).toEqual([1, ["done"]]);
    });

    test("B12: does not begin if its state is left while that is made durable", async () => {
      const here = await world();
      const machine = callerWith({ once: true });
      let calls = 0;
      const runtime = await here.boot([{ machine, activities: { tool: () => ++calls } }]);
      here.watch.alter = async ({ verb }, answer) => {
        if (verb === "recordActivities") await (await runtime.run("a")).send("stop");
        return answer;
      };
      await runtime.start(machine, { id: "a" });
      await here.rest();
      expect([calls, (await (await runtime.run("a")).state()).configuration]).toEqual([0, ["stopped"]]);
    });

    test("B12: is unknown after a crash, and never begun twice", async () => {
      const { again, counts } = await begin(hang);
      const run = await again();
      await run.waitFor("unknown");
      expect(counts.calls).toBe(1);
      expect((await run.state()).context).toEqual({ got: { message: expect.stringContaining("not known") } });
    });

    test("B12: that a crash kept from beginning is begun after it", async () => {
      const here = await world();
      const machine = callerWith({ once: true });
      let calls = 0;
      const entry = { machine, activities: { tool: () => ++calls } };
      const first = await here.boot([entry]);
      here.watch.fault = ({ verb }) => (verb === "recordActivities" ? "before" : undefined);
      await first.start(machine, { id: "a" });
      await here.rest();
      await here.crash(first);
      here.watch.comeBack();
      const run = await (await here.boot([entry])).run("a");
      await run.waitFor("done");
      expect(calls).toBe(1);
    });

    test("B12: is unknown when it takes too long or gives no sign of life", async () => {
      for (const options of [{ timeout: "30s" }, { heartbeat: "30s" }]) {
        const { run, clock, counts } = await begin(hang, options);
        await clock.advance("30s");
        expect([(await run.state()).configuration, counts.calls]).toEqual([["unknown"], 1]);
      }
    });

    test.each<[string, Reconciled, string, Json]>([
      ["done", { outcome: "done", output: "found" }, "done", "found"],
      ["done without output", { outcome: "done" }, "done", null],
      ["failed", { outcome: "failed", error: { message: "no" } }, "failed", { message: "no" }],
      ["unknown", { outcome: "unknown" }, "unknown", expect.anything() as never],
    ])("B12: is reconciled after a crash and after a timeout: %s", async (_, found, state, got) => {
      const seen: string[] = [];
      const reconcile = (_tries: number, { key }: ActivityScope) => {
        seen.push(key);
        return found;
      };
      const crashed = await begin(hang, {}, reconcile);
      const run = await crashed.again();
      await run.waitFor(state);
      expect((await run.state()).context).toEqual({ got });
      const late = await begin(hang, { timeout: "30s" }, reconcile);
      await late.clock.advance("30s");
      expect((await late.run.state()).configuration).toEqual([state]);
      expect(seen).toEqual(["a:1.0", "a:1.0"]);
      expect([crashed.counts, late.counts]).toEqual(Array(2).fill({ calls: 1, tries: 1 }));
    });

    test("B12: that is found to be absent is tried again", async () => {
      const { again, counts } = await begin(
        (call) => (call === 1 ? hang() : "second"),
        {},
        () => ({ outcome: "absent" }),
      );
      const run = await again();
      await run.waitFor("done");
      expect(counts).toEqual({ calls: 2, tries: 1 });
    });

    test("B12: is asked after again when asking fails, and is unknown in the end", async () => {
      const { again, counts, clock } = await begin(hang, {}, (tries) => {
        if (tries < 3) throw new Error("busy");
        return { outcome: "done", output: "third" };
      });
      const run = await again();
      await clock.advance("10s");
      expect((await run.state()).context).toEqual({ got: "third" });
      expect(counts).toEqual({ calls: 1, tries: 3 });
      const never = await begin(hang, {}, () => {
        throw new Error("busy");
      });
      const lost = await never.again();
      await never.clock.advance("6m");
      expect((await lost.state()).configuration).toEqual(["unknown"]);
      expect(never.counts).toEqual({ calls: 1, tries: 10 });
    });

    test.each([
      ["undefined", undefined],
      ["text", "done"],
      ["another outcome", { outcome: "fine" }],
    ])("F5: is unknown when the answer about it is %s", async (_, answer) => {
      const { again, counts } = await begin(hang, {}, () => answer);
      const run = await again();
      await run.waitFor("unknown");
      expect(counts.calls).toBe(1);
    });

    test("F5: is unknown when the activity that would know is not there", async () => {
      const { again } = await begin(hang, { reconcile: "nobody" });
      const run = await again();
      await run.waitFor("unknown");
    });
  });
});
