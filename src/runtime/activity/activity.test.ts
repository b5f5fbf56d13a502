/** Activities: at least once with a stable key, retried, timed, kept alive, cancelled, and counted on after a crash. */
import { describe, expect, test, vi } from "vitest";
import { callerWith } from "../../../test/runtime/machines.ts";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import { defineMachine, type HoldfastError, type Json } from "../../index.ts";
import { limits } from "../../limits.ts";
import { systemIds } from "../ids.ts";
import type { ActivityScope } from "./attempt.ts";

type Tool = (input: never, scope: ActivityScope) => unknown;
const hang = () => new Promise(() => {});

onEveryStore((world) => {
  /** A run that calls a tool. */
  const begin = async (tool: Tool | undefined, options: object = {}, chance = 0.5, given?: World) => {
    const here = given ?? (await world());
    const machine = callerWith(options);
    const activities = tool === undefined ? {} : { tool };
    const ids = { ...systemIds, chance: () => chance };
    const runtime = await here.boot([{ machine, activities }], { ids });
    const run = await runtime.start(machine, { id: "a" });
    const again = async (next: Tool, others: Record<string, Tool> = {}) => {
      await here.crash(runtime);
      const second = await here.boot([{ machine, activities: { tool: next, ...others } }], { ids });
      return second.run("a");
    };
    const got = async () => (await run.state()).context.got;
    return { ...here, machine, runtime, run, again, got };
  };

  describe("an activity", () => {
    test("B12: gives its result to the run that invoked it, in one step", async () => {
      const { run, got } = await begin((input: Json) => `${input} → out`);
      await run.waitFor("done");
      expect([await got(), (await run.head()).seq]).toEqual(["in → out", 2]);
    });

    test("B12: is given a key that is its own, its run, its tenant and its attempt", async () => {
      const seen: ActivityScope[] = [];
      const { run } = await begin((_, scope) => void seen.push(scope));
      await run.waitFor("done");
      await run.send("again");
      await run.waitFor("done");
      expect(seen).toMatchObject([
        { key: "a:1.0", run: "a", tenant: "default", attempt: 1, progress: undefined },
        { key: "a:3.0", run: "a", tenant: "default", attempt: 1, progress: undefined },
      ]);
    });

    test("B5: is not tried again unless that is asked for, and its error says what happened", async () => {
      let calls = 0;
      const { run, got } = await begin(() => {
        calls++;
        throw Object.assign(new TypeError("odd"), { code: "ODD" });
      });
      await run.waitFor("failed");
      expect([await got(), calls]).toEqual([
        { name: "TypeError", message: "odd", code: "ODD", attempts: 1 },
        1,
      ]);
    });

    test("B5: waits longer after each failure, between half and all of an exponent, up to a limit", async () => {
      for (const [chance, share] of [
        [0, 0.5],
        [0.999_999, 1],
      ] as const) {
        const here = await world();
        const at: number[] = [];
        const retry = { attempts: 6, first: "1s", factor: 3, max: "20s" };
        const fail = () => {
          at.push(here.clock.now());
          throw new Error("busy");
        };
        const { got } = await begin(fail, { retry }, chance, here);
        await here.clock.advance("70s");
        const waits = at.slice(1).map((time, index) => time - (at[index] as number));
        expect(waits).toEqual([1, 3, 9, 20, 20].map((seconds) => Math.round(seconds * 1_000 * share)));
        expect(await got()).toEqual({ name: "Error", message: "busy", attempts: 6 });
      }
    });

    test("B5: has the same key in every attempt, and ends with the one that works", async () => {
      const seen: [number, string][] = [];
      const { run, got, clock } = await begin(
        (_, { attempt, key }) => {
          seen.push([attempt, key]);
          if (attempt < 3) throw new Error("busy");
          return "at last";
        },
        { retry: { attempts: 3, first: "1s" } },
      );
      await clock.advance("10s");
      expect(await got()).toBe("at last");
      expect(seen).toEqual([1, 2, 3].map((attempt) => [attempt, "a:1.0"]));
      expect((await run.head()).seq).toBe(2);
    });

    test.each([
      ["whose name is listed", { retry: { attempts: 5, never: ["RangeError"] } }, new RangeError("no")],
      ["whose code is listed", { retry: { never: ["NO"] } }, Object.assign(new Error("no"), { code: "NO" })],
      ["that says so itself", { retry: {} }, Object.assign(new Error("no"), { retryable: false })],
      ["that is thrown as a value", { retry: {} }, { message: "no", retryable: false }],
    ])("B5: is not tried again after an error %s", async (_, options, error) => {
      let calls = 0;
      const { clock, got } = await begin(() => {
        calls++;
        throw error;
      }, options);
      await clock.advance("3m");
      expect([await got(), calls]).toMatchObject([{ message: "no", attempts: 1 }, 1]);
    });

    test("B5: goes on counting attempts and waiting after a crash", async () => {
      const here = await world();
      const seen: [number, number][] = [];
      const tool = (_: never, { attempt }: ActivityScope) => {
        seen.push([attempt, here.clock.now()]);
        throw new Error("busy");
      };
      const from = here.clock.now();
      const retry = { attempts: 3, first: "60s", factor: 1 };
      const { again } = await begin(tool, { retry }, 1, here);
      await here.clock.advance("20s");
      const run = await again(tool);
      await here.clock.advance("39s");
      expect(seen.length).toBe(1);
      await here.clock.advance("62s");
      expect(seen).toEqual([
        [1, from],
        [2, from + 60_000],
        [3, from + 120_000],
      ]);
      expect((await run.state()).configuration).toEqual(["failed"]);
    });

    test("B5: that takes too long fails, its signal tells it so, and what it gives then is ignored", async () => {
      let finish: (value: string) => void = () => {};
      let reason: unknown;
      const { run, clock, got } = await begin(
        (_, { signal }) => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
          });
          return new Promise((resolve) => {
            finish = resolve;
          });
        },
        { timeout: "30s" },
      );
      await clock.advance(29_999);
      expect((await run.state()).configuration).toEqual(["calling"]);
      await clock.advance(1);
      expect(await got()).toEqual({ name: "TimeoutError", message: "It took longer than 30s", attempts: 1 });
      expect(reason).toMatchObject({ message: "It took longer than 30s" });
      finish("late");
      await clock.advance("1m");
      expect((await run.head()).seq).toBe(2);
    });

    test("B5: that takes too long is tried again where retries are asked for", async () => {
      const { clock, got } = await begin((_, { attempt }) => (attempt === 1 ? hang() : "second"), {
        ...{ timeout: "30s", retry: { attempts: 2, first: "1s" } },
      });
      await clock.advance("32s");
      expect(await got()).toBe("second");
    });

    test("B5: that gives no sign of life is given up; a heartbeat, a checkpoint or a chunk is one", async () => {
      const signs: Record<string, (scope: ActivityScope) => void> = {
        none: () => {},
        heartbeat: (scope) => scope.heartbeat(),
        checkpoint: (scope) => void scope.checkpoint(1),
        write: (scope) => void scope.write("still here"),
      };
      for (const [name, sign] of Object.entries(signs)) {
        const here = await world();
        const { got } = await begin(
          async (_, scope) => {
            for (let times = 0; times < 4; times++) {
              await new Promise<void>((resolve) => here.clock.after(8_000, resolve));
              sign(scope);
            }
            return "alive";
          },
          { heartbeat: "10s" },
          0,
          here,
        );
        await here.clock.advance("9s");
        await here.clock.advance("24s");
        const silent = { name: "TimeoutError", message: "It gave no sign of life for 10s", attempts: 1 };
        expect([name, await got()]).toEqual([name, name === "none" ? silent : "alive"]);
      }
    });

    test("B2: hands its progress to the next attempt, after a failure and after a crash", async () => {
      const seen: unknown[] = [];
      const here = await begin(
        async (_, { progress, checkpoint, attempt }) => {
          seen.push([attempt, progress]);
          await checkpoint({ page: attempt });
          if (attempt === 1) throw new Error("busy");
          return hang();
        },
        { retry: { attempts: 5, first: "1s" } },
      );
      await here.clock.advance("2s");
      const run = await here.again((_, { progress, key }) => ({ progress, key }));
      await run.waitFor("done");
      expect(seen).toEqual([
        [1, undefined],
        [2, { page: 1 }],
      ]);
      expect((await run.state()).context).toEqual({ got: { progress: { page: 2 }, key: "a:1.0" } });
    });

    test("B12: an attempt that was given up can no longer report progress, chunks or spending", async () => {
      const scopes: ActivityScope[] = [];
      const here = await world();
      const { got, run } = await begin(
        async (_, scope) => {
          scopes.push(scope);
          if (scope.attempt === 1) return hang();
          await new Promise<void>((resolve) => here.clock.after(5_000, resolve));
          return scope.progress ?? "none";
        },
        { timeout: "10s", retry: { attempts: 3, first: "1s" } },
        0,
        here,
      );
      await here.clock.advance("12s");
      expect(scopes.map(({ attempt }) => attempt)).toEqual([1, 2]);
      const [stale] = scopes as [ActivityScope];
      await expect(stale.checkpoint("stale")).rejects.toThrow("over");
      await expect(stale.write("stale")).rejects.toThrow("over");
      stale.spend({ tokens: 1_000 });
      stale.heartbeat();
      await here.clock.advance("6s");
      expect(await got()).toBe("none");
      expect((await run.head()).spent).toBeUndefined();
      const chunks = await (await here.look()).readChunks({ tenant: "default", run: "a" }, "1.0", 0, 9);
      expect(chunks).toEqual([]);
    });

    test("B12: is aborted when its state is left, and what it gives then is ignored", async () => {
      let finish: (value: string) => void = () => {};
      const reasons: unknown[] = [];
      const { run, clock } = await begin((_, { signal }) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        return new Promise((resolve) => {
          finish = resolve;
        });
      });
      await clock.advance(0);
      await run.send("stop");
      expect(reasons).toMatchObject([{ message: "The activity was cancelled" }]);
      finish("late");
      await clock.advance("1m");
      expect([(await run.state()).configuration, (await run.head()).seq]).toEqual([["stopped"], 2]);
    });

    test("B12: is aborted when its run is cancelled, and not tried again", async () => {
      let calls = 0;
      const { run, clock, stored } = await begin(
        () => {
          calls++;
          throw new Error("busy");
        },
        { retry: { attempts: 9, first: "5s" } },
      );
      await clock.advance("1s");
      await run.cancel();
      await clock.advance("1m");
      expect([calls, (await stored("a")).head?.status]).toEqual([1, "cancelled"]);
    });

    test("B12: that nobody has written is an error its run hears of", async () => {
      const { run, got } = await begin(undefined);
      await run.waitFor("failed");
      expect(await got()).toEqual({ name: "Error", message: 'There is no activity "tool"' });
    });

    test("F5: whose output is not JSON, or too deep, is an error its run hears of", async () => {
      const deep = () => {
        let value: Json = 1;
        for (let level = 0; level <= limits.jsonDepthMax; level++) value = [value];
        return value;
      };
      for (const output of [() => 1n, () => new Date(0), () => ({ f: () => 1 }), deep]) {
        const { run, got } = await begin(output);
        await run.waitFor("failed");
        expect(await got()).toMatchObject({ code: "NOT_JSON" });
      }
    });

    test("F5: whose output is larger than a store keeps is an error its run hears of, and was paid for", async () => {
      const { run, got } = await begin((_, { spend }) => {
        spend({ tokens: 5 });
        return "x".repeat(limits.valueBytesMax);
      });
      await run.waitFor("failed");
      expect(await got()).toMatchObject({ code: "VALUE_TOO_LARGE" });
      expect((await run.head()).spent).toEqual({ tokens: 5, cost: 0 });
    });

    test("F5: whose progress is not JSON is told so and goes on", async () => {
      const { run, got } = await begin(async (_, { checkpoint, write }) => {
        const errors = [];
        for (const call of [checkpoint(1n as never), write(2n as never)])
          errors.push(await call.catch((error: HoldfastError) => error.code));
        return errors;
      });
      await run.waitFor("done");
      expect(await got()).toEqual(["NOT_JSON", "NOT_JSON"]);
    });

    test("whose progress is larger than a store keeps is told so, and its next attempt has the one before", async () => {
      const { run, got, clock } = await begin(
        async (_, { progress, checkpoint, attempt }) => {
          if (attempt > 1) return progress;
          await checkpoint("small");
          const huge = await checkpoint("x".repeat(limits.valueBytesMax)).catch((error: Error) => error);
          expect(huge).toMatchObject({ code: "VALUE_TOO_LARGE" });
          throw new Error("busy");
        },
        { retry: { attempts: 2, first: "1s" } },
      );
      await clock.advance("2s");
      await run.waitFor("done");
      expect(await got()).toBe("small");
    });

    test("B12: is run again after a crash with the same key and input", async () => {
      const { again, clock } = await begin(hang);
      await clock.advance(0);
      const run = await again((input: Json, { key, attempt }) => ({ input, key, attempt }));
      await run.waitFor("done");
      expect((await run.state()).context).toMatchObject({ got: { input: "in", key: "a:1.0" } });
    });

    test("B12: of a fork reads the fork as it was when it went on", async () => {
      const { boot, rest } = await world();
      const machine = callerWith({}, { unhandled: "reject" });
      const scopes: ActivityScope[] = [];
      const entry = {
        machine,
        activities: { tool: (_: never, scope: ActivityScope) => new Promise(() => void scopes.push(scope)) },
      };
      const runtime = await boot([entry]);
      const run = await runtime.start(machine, { id: "a" });
      await run.send("note", "before");
      await run.send("stop");
      // What is refused has a place in the journal and none among the steps.
      await (await run.send("nothing")).handled();
      for (const edit of [undefined, (draft: object) => void Object.assign(draft, { got: "edited" })]) {
        const other = await run.fork({ at: 1, ...(edit && { edit }) });
        await rest();
        const begun = await other.state();
        expect(begun.context).toEqual({ got: edit === undefined ? null : "edited" });
        expect(await scopes.at(-1)?.state()).toEqual(begun);
        await other.send("note", "later");
        await rest();
        expect((await scopes.at(-1)?.state())?.context).toEqual(begun.context);
      }
    });

    test("B12: reads its run as it was when it began, in every attempt, whatever came since", async () => {
      const { boot, rest, crash } = await world();
      const machine = callerWith({}, { unhandled: "reject" });
      const scopes: ActivityScope[] = [];
      const entry = {
        machine,
        activities: { tool: (_: never, scope: ActivityScope) => new Promise(() => void scopes.push(scope)) },
      };
      const runtime = await boot([entry]);
      const run = await runtime.start(machine, { id: "a" });
      await rest();
      const began = await run.state();
      expect(await scopes.at(-1)?.state()).toEqual(began);
      await run.send("note", "later");
      for (let count = 0; count < 150; count++) await (await run.send("again")).handled();
      await rest();
      expect((await run.state()).context).toEqual({ got: "later" });
      expect(await scopes.at(-1)?.state()).toEqual(began);
      await crash(runtime);
      await boot([entry]);
      await rest();
      expect(scopes).toHaveLength(2);
      expect(await scopes.at(-1)?.state<{ got: null }>()).toEqual(began);
    });

    test("B12: many of them run side by side, each to its own end", async () => {
      const { boot } = await world();
      const machine = callerWith();
      const tool = async (_: never, { run }: ActivityScope) => `for ${run}`;
      const runtime = await boot([{ machine, activities: { tool } }]);
      const runs = await Promise.all(
        Array.from({ length: 50 }, (_, n) => runtime.start(machine, { id: `${n}` })),
      );
      for (const run of runs) {
        await run.waitFor("done");
        expect((await run.state()).context.got).toBe(`for ${run.id}`);
      }
    });

    test("B12: of a state with several invocations ends each by itself", async () => {
      const { boot } = await world();
      const machine = defineMachine<{ got: Json[] }>({
        id: "both",
        start: { got: [] },
        initial: "here",
        states: {
          here: {
            invoke: ["one", "two"].map((id) => ({
              ...{ id, activity: "tool", input: id },
              onDone: { update: (draft: { got: Json[] }, { event }) => void draft.got.push(event.data) },
            })),
            always: { guard: ({ context }) => context.got.length === 2, target: "over" },
          },
          over: { type: "final", output: ({ context }) => context.got.toSorted() },
        },
      });
      const runtime = await boot([{ machine, activities: { tool: (input: Json) => `${input}!` } }]);
      const run = await runtime.start(machine, { id: "a" });
      expect((await run.finished()).output).toEqual(["one!", "two!"]);
    });

    test("F5: whose result is too large for a store fails, though its run was parked meanwhile", async () => {
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      const { run, rest, got } = await begin(async () => {
        await gate;
        return "x".repeat(limits.valueBytesMax + 1);
      });
      await run.pause();
      open();
      await rest();
      expect((await run.head()).status).toBe("parked");
      await run.retry();
      await run.waitFor("failed");
      expect(await got()).toMatchObject({ code: "VALUE_TOO_LARGE" });
    });

    test("F5: whose result was too large while its run was parked has failed after a crash as well", async () => {
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      const { run, rest, again } = await begin(async (_, { spend }) => {
        spend({ cost: 2 });
        await gate;
        return "x".repeat(limits.valueBytesMax + 1);
      });
      await run.pause();
      open();
      await rest();
      const after = await again(() => "not called");
      await after.retry();
      await after.waitFor("failed");
      expect((await after.head()).spent).toEqual({ tokens: 0, cost: 2 });
      expect((await after.state()).context).toMatchObject({ got: { code: "VALUE_TOO_LARGE" } });
    });

    test("B12: that ends in the moment its run is parked is not called again, and its result is taken", async () => {
      for (const ticks of Array.from({ length: 10 }, (_, index) => index)) {
        const { promise, resolve } = Promise.withResolvers<string>();
        let calls = 0;
        const { run, rest, got } = await begin(() => {
          calls++;
          return promise;
        });
        await rest();
        resolve("out");
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        await run.pause();
        await rest();
        await run.retry();
        await run.waitFor("done");
        expect([await got(), calls]).toEqual(["out", 1]);
      }
    });

    test("that ended while its run is parked keeps nobody who waits for the end of all", async () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const { run, runtime, rest, got, watch, clock } = await begin(() => promise);
      await run.pause();
      watch.fault = ({ verb }) => (verb === "recordActivities" ? "before" : undefined);
      resolve("out");
      await rest();
      // Until its end is in its row, this process is the only one to know of it.
      expect(await runtime.drain(0)).toBe(false);
      watch.comeBack();
      await clock.advance("2s");
      expect(await runtime.drain(0)).toBe(true);
      await run.retry();
      await run.waitFor("done");
      expect([await got(), await runtime.drain(0)]).toEqual(["out", true]);
    });

    test("B5: is not tried again after an error whose code, be it a number, says that it is no use", async () => {
      let calls = 0;
      const { run, got } = await begin(
        () => {
          calls++;
          throw Object.assign(new Error("not found"), { code: 404 });
        },
        { retry: { attempts: 5, never: ["404"] } },
      );
      await run.waitFor("failed");
      expect([calls, await got()]).toMatchObject([1, { code: 404, attempts: 1 }]);
    });

    test("B12: is given the state it began with, whatever was refused or taken since", async () => {
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      const { run, got } = await begin(async (_, { state }) => {
        await gate;
        return (await state()).seq;
      });
      for (const type of ["other", "other", "note"]) await run.send(type, 1);
      open();
      await run.waitFor("done");
      expect(await got()).toBe(1);
    });

    test("B12: is not tried again by a process that it no longer belongs to", async () => {
      let calls = 0;
      const { watch, clock } = await begin(
        () => {
          calls++;
          throw new Error("busy");
        },
        { retry: { attempts: 5 } },
        0.5,
        await world().then((here) => {
          here.watch.alter = ({ verb }, answer) => (verb === "recordActivities" ? [false] : answer);
          return here;
        }),
      );
      await clock.advance("1m");
      expect([calls, watch.count("recordActivities")]).toEqual([1, 1]);
    });

    test("B5: leaves nothing behind that waits for its end, however often it is tried", async () => {
      const listening = { now: 0, most: 0 };
      const add = vi.spyOn(AbortSignal.prototype, "addEventListener").mockImplementation(function (
        this: AbortSignal,
        ...given: Parameters<AbortSignal["addEventListener"]>
      ) {
        listening.most = Math.max(listening.most, ++listening.now);
        EventTarget.prototype.addEventListener.apply(this, given);
      } as never);
      const remove = vi.spyOn(AbortSignal.prototype, "removeEventListener").mockImplementation(function (
        this: AbortSignal,
        ...given: Parameters<AbortSignal["removeEventListener"]>
      ) {
        listening.now--;
        EventTarget.prototype.removeEventListener.apply(this, given);
      } as never);
      try {
        const { run, clock } = await begin(
          () => {
            throw new Error("no");
          },
          { retry: { attempts: 50, first: 10, factor: 1, max: 10 } },
        );
        await clock.advance("10s");
        await run.waitFor("failed");
        expect(listening.most).toBeLessThan(10);
      } finally {
        add.mockRestore();
        remove.mockRestore();
      }
    });
  });
});
