/** Limits: steps, time, tokens and money of a run are bounded, and reaching a bound ends it cleanly with the reason. */
import { describe, expect, test } from "vitest";
import { callerWith, counter, counterWith } from "../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../test/runtime/world.ts";
import type { ActivityScope } from "./activity/attempt.ts";

onEveryStore((world) => {
  describe("a run", () => {
    test("B13: ends with the step that uses up its steps, and says so", async () => {
      const { boot } = await world();
      const machine = counterWith({ limits: { steps: 3 } });
      const run = await (await boot([machine])).start(machine, { id: "a" });
      await run.send("add", 1);
      expect((await run.head()).status).toBe("active");
      expect(await (await run.send("add", 1)).handled()).toMatchObject({ outcome: "taken", seq: 3 });
      expect(await run.finished()).toEqual({
        ...{ status: "failed", state: undefined, stoppedIn: "open", output: undefined },
        reason: {
          ...{ name: "LimitReached", limit: "steps", max: 3, used: 3 },
          message: "The run has used up its limit of steps: 3 of 3",
        },
      });
      await expect(run.send("add", 1)).rejects.toMatchObject({ code: "RUN_ENDED" });
      expect((await run.state()).context.n).toBe(2);
      const last = (await listOf(run.journal())).at(-1);
      expect(last).toMatchObject({ seq: 4, event: { type: "cancel" }, outcome: "taken" });
    });

    test("B13: counts steps through a crash", async () => {
      const { boot, crash } = await world();
      const machine = counterWith({ limits: { steps: 4 } });
      const first = await boot([machine]);
      const run = await first.start(machine, { id: "a" });
      await run.send("add", 1);
      await crash(first);
      const again = await (await boot([machine])).run("a");
      await again.send("add", 1);
      expect((await again.head()).status).toBe("active");
      await again.send("add", 1);
      expect(await again.finished()).toMatchObject({ status: "failed", reason: { limit: "steps" } });
    });

    test("B13: that is idle ends when its time is up, and not before", async () => {
      const { boot, clock, stored } = await world();
      const machine = counterWith({ limits: { time: "1m" } });
      const run = await (await boot([machine])).start(machine, { id: "a" });
      await clock.advance(59_999);
      expect((await stored("a")).head?.status).toBe("active");
      const finished = run.finished();
      await clock.advance(1);
      expect(await finished).toMatchObject({
        ...{ status: "failed", reason: { limit: "time", max: 60_000, used: 60_000 } },
      });
    });

    test("B13: whose time was up while nobody was there ends at the next start", async () => {
      const { boot, crash, clock, stored } = await world();
      const machine = counterWith({ limits: { time: "1 day" } });
      const first = await boot([machine]);
      await first.start(machine, { id: "a" });
      await crash(first);
      await clock.advance("2 days");
      await boot([machine]);
      await clock.advance(0);
      expect((await stored("a")).head).toMatchObject({ status: "failed", seq: 2 });
    });

    test("B13: whose time is up ends its activity, and its timers with it", async () => {
      const { boot, clock } = await world();
      const machine = callerWith({}, { limits: { time: "10s" } });
      const reasons: unknown[] = [];
      const tool = (_: never, { signal }: ActivityScope) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        return new Promise(() => {});
      };
      const run = await (await boot([{ machine, activities: { tool } }])).start(machine, { id: "a" });
      await clock.advance("10s");
      expect(await run.finished()).toMatchObject({ reason: { limit: "time" } });
      expect(reasons.length).toBe(1);
      expect((await run.state()).activities).toEqual([]);
    });

    test.each(["tokens", "cost"] as const)(
      "B13: ends when its activities have used up its %s",
      async (limit) => {
        const { boot } = await world();
        const machine = callerWith({}, { limits: { [limit]: 100 } });
        const tool = (_: never, { spend }: ActivityScope) => {
          spend({ [limit]: 30 });
          spend({ [limit]: 20 });
          return "out";
        };
        const run = await (await boot([{ machine, activities: { tool } }])).start(machine, { id: "a" });
        await run.waitFor("done");
        expect((await run.head()).spent).toMatchObject({ [limit]: 50 });
        await run.send("again");
        expect(await run.finished()).toMatchObject({
          ...{ status: "failed", reason: { limit, max: 100, used: 100 } },
        });
        expect((await run.state()).context.got).toBe("out");
      },
    );

    test("B13: counts what failed attempts have used up, through a crash", async () => {
      const { boot, crash, clock } = await world();
      const machine = callerWith({ retry: { attempts: 3, first: "10s", factor: 1 } });
      const tool = (_: never, { spend, attempt }: ActivityScope) => {
        spend({ tokens: 10 ** attempt, cost: 0.25 });
        throw new Error("busy");
      };
      const entry = { machine, activities: { tool } };
      const first = await boot([entry]);
      await first.start(machine, { id: "a", limits: { tokens: 1_110 } });
      await clock.advance("1s");
      await crash(first);
      const run = await (await boot([entry])).run("a");
      // Each wait is between five and ten seconds: the third attempt has not begun by now, and has by then.
      await clock.advance("8s");
      expect((await run.head()).spent).toBeUndefined();
      await clock.advance("20s");
      expect(await run.head()).toMatchObject({ status: "failed", spent: { tokens: 1_110, cost: 0.75 } });
      const entries = await listOf(run.journal());
      expect(entries.map(({ spent }) => spent)).toEqual([
        undefined,
        { tokens: 1_110, cost: 0.75 },
        undefined,
      ]);
    });

    test("counts nothing that nobody can have used up: whoever says so is told", async () => {
      const { boot } = await world();
      const machine = callerWith({}, { limits: { tokens: 100 } });
      const told: unknown[] = [];
      const wrong = [
        { tokens: Number.NaN },
        { tokens: -5 },
        { cost: "5" },
        { cost: Number.POSITIVE_INFINITY },
      ];
      const tool = (_: never, { spend }: ActivityScope) => {
        spend({ tokens: 10 });
        for (const spending of [...wrong, null, undefined, 5] as never[]) {
          try {
            spend(spending);
          } catch (error) {
            told.push(error);
          }
        }
      };
      const run = await (await boot([{ machine, activities: { tool } }])).start(machine, { id: "a" });
      await run.waitFor("done");
      const message = expect.stringContaining("spend({ tokens, cost })");
      expect(told).toMatchObject(Array(7).fill({ code: "OPTIONS_INVALID", message }));
      expect(await run.head()).toMatchObject({ status: "active", spent: { tokens: 10, cost: 0 } });
    });

    test("B13: counts what an activity used up that ended while the run was parked", async () => {
      const { boot, clock } = await world();
      let good = false;
      const machine = callerWith({ onDone: { target: "done", require: { good: () => good } } });
      const two = counterWith({
        id: "two",
        initial: "both",
        states: {
          both: {
            type: "parallel",
            states: {
              one: { invoke: { activity: "quick", onDone: { require: { good: () => good } } } },
              other: { invoke: { activity: "slow", onDone: {} } },
            },
          },
        },
      });
      const activities = {
        quick: () => "now",
        slow: (_: never, { spend }: ActivityScope) => {
          spend({ tokens: 7 });
          return new Promise((resolve) => clock.after(5_000, () => resolve("later")));
        },
      };
      const run = await (await boot([{ machine: two, activities }])).start(two, { id: "a" });
      await clock.advance("6s");
      expect(await run.head()).toMatchObject({ status: "parked" });
      good = true;
      await run.retry();
      await clock.advance(0);
      expect((await run.state()).activities).toEqual([]);
      expect(await run.head()).toMatchObject({ status: "active", spent: { tokens: 7 } });
      expect(machine.id).toBe("caller");
    });

    test("B13: is started with limits of its own, beside or instead of its machine's", async () => {
      const { boot, clock } = await world();
      const machine = counterWith({ limits: { steps: 2, time: "1m" } });
      const runtime = await boot([machine]);
      const longer = await runtime.start(machine, { id: "longer", limits: { steps: 3 } });
      expect((await longer.head()).limits).toEqual({ steps: 3, time: 60_000 });
      await longer.send("add", 1);
      expect((await longer.head()).status).toBe("active");
      const shorter = await runtime.start(machine, { id: "shorter", limits: { time: "10s", tokens: 5 } });
      expect((await shorter.head()).limits).toEqual({ steps: 2, time: 10_000, tokens: 5 });
      await clock.advance("10s");
      expect(await shorter.finished()).toMatchObject({ reason: { limit: "time" } });
      expect((await longer.head()).status).toBe("active");
    });

    test("B13: without limits has none", async () => {
      const { boot } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      expect((await run.head()).limits).toBeUndefined();
    });

    test("F5: is not started with limits that bound nothing", async () => {
      const { boot, stored } = await world();
      const runtime = await boot([counter]);
      for (const limits of [
        { steps: 0 },
        { steps: -1 },
        { steps: Number.NaN },
        { tokens: "many" },
        { cost: null },
        { time: 0 },
        { money: 5 },
        "none",
      ] as never[])
        await expect(runtime.start(counter, { id: "a", limits })).rejects.toMatchObject({
          code: "LIMIT_INVALID",
          message: expect.stringContaining("limits"),
        });
      await expect(runtime.start(counter, { id: "a", limits: { time: "soon" } })).rejects.toMatchObject({
        code: "LIMIT_INVALID",
      });
      expect((await stored("a")).head).toBeUndefined();
    });
  });
});
