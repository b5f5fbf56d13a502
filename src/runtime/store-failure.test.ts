/** A store that cannot be reached for a while, or loses its answers: nobody is lied to, and everything goes on by itself. */
import { describe, expect, test } from "vitest";
import { callerWith, counter, counterWith } from "../../test/runtime/machines.ts";
import type { Fault } from "../../test/runtime/watched-store.ts";
import { onEveryStore } from "../../test/runtime/world.ts";
import { HoldfastError } from "../errors.ts";
import { defineMachine } from "../index.ts";
import type { ActivityRow } from "../store/records.ts";
import type { ActivityScope } from "./activity/attempt.ts";
import type { Problem } from "./runtime.ts";

const unavailable = { code: "STORE_UNAVAILABLE" };
const faults: readonly Fault[] = ["before", "after"];
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

onEveryStore((world) => {
  describe("a store that is not there", () => {
    test("B4: senders are told, other runs are not harmed, and all go on when it is back", async () => {
      const { boot, watch, clock } = await world();
      const runtime = await boot([counter]);
      const one = await runtime.start(counter, { id: "one" });
      const two = await runtime.start(counter, { id: "two" });
      watch.breakDown();
      for (const send of [one.send("add", 1), one.send("add", 2), two.send("add", 3, { key: "k" })])
        await expect(send).rejects.toMatchObject(unavailable);
      await expect(runtime.start(counter, { id: "three" })).rejects.toMatchObject(unavailable);
      await clock.advance("5s");
      watch.comeBack();
      await one.send("add", 10);
      await two.send("add", 20, { key: "k" });
      expect([(await one.state()).context.n, (await two.state()).context.n]).toEqual([10, 20]);
      expect((await runtime.start(counter, { id: "three" })).id).toBe("three");
    });

    test("B4: a run that did not begin for it is looked for, and not missed", async () => {
      const { boot, watch, clock } = await world();
      const problems: Problem[] = [];
      const runtime = await boot([counter], { onProblem: (problem) => void problems.push(problem) });
      watch.failNext("commit", "before");
      await expect(runtime.start(counter, { id: "a" })).rejects.toMatchObject(unavailable);
      await clock.advance("5s");
      expect(problems).toEqual([]);
      await expect(runtime.run("a")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    });

    test("B4: for longer than a lease lasts is no reason to stop, as long as nobody else came", async () => {
      const { boot, watch, clock } = await world();
      const runtime = await boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      await run.send("nap");
      watch.breakDown();
      await clock.advance("5m");
      watch.comeBack();
      await clock.advance("5s");
      expect((await run.state()).configuration).toEqual(["open"]);
      await run.send("add", 1);
      expect((await run.state()).context.n).toBe(1);
      const renewed = watch.count("own");
      await clock.advance("1m");
      expect(watch.count("own")).toBeGreaterThan(renewed + 10);
    });

    test("B11: a timer that is due meanwhile fires when it is back, once", async () => {
      const { boot, watch, clock } = await world();
      const runtime = await boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      await run.send("nap");
      await clock.advance("119s");
      watch.breakDown();
      await clock.advance("6s");
      watch.comeBack();
      await clock.advance("2s");
      expect((await run.state()).configuration).toEqual(["open"]);
      expect((await run.head()).seq).toBe(3);
    });

    test.each([{}, { once: true }])(
      "B12: an activity %o that ends meanwhile is settled when it is back, and not run again",
      async (options) => {
        const { boot, watch, clock } = await world();
        const machine = callerWith(options);
        let calls = 0;
        let finish: (value: string) => void = () => {};
        const tool = () => {
          calls++;
          return new Promise((resolve) => {
            finish = resolve;
          });
        };
        const runtime = await boot([{ machine, activities: { tool } }]);
        const run = await runtime.start(machine, { id: "a" });
        await clock.advance(0);
        watch.breakDown();
        finish("out");
        await expect(run.send("note", 1)).rejects.toMatchObject(unavailable);
        await clock.advance("4s");
        watch.comeBack();
        await clock.advance("2s");
        expect((await run.state()).context).toEqual({ got: "out" });
        expect([(await run.state()).configuration, calls]).toEqual([["done"], 1]);
        expect((await run.head()).seq).toBe(2);
      },
    );

    test("B5: an activity that fails meanwhile is tried again when it is back", async () => {
      const { boot, watch, clock } = await world();
      const machine = callerWith({ retry: { attempts: 3, first: "1s" } });
      const attempts: number[] = [];
      const tool = (_: never, { attempt }: ActivityScope) => {
        attempts.push(attempt);
        if (attempt === 1) throw new Error("busy");
        return attempt;
      };
      const runtime = await boot([{ machine, activities: { tool } }]);
      watch.fault = ({ verb }) => (verb === "recordActivities" ? "before" : undefined);
      const run = await runtime.start(machine, { id: "a" });
      await clock.advance("5s");
      expect(attempts).toEqual([1]);
      watch.comeBack();
      await clock.advance("5s");
      expect([(await run.state()).context.got, attempts]).toEqual([2, [1, 2]]);
    });

    test("A5: an event between runs is taken when its run can be read again", async () => {
      for (const verb of ["load", "readInbox"] as const) {
        const { boot, crash, watch, clock } = await world();
        const first = await boot([counter]);
        await first.start(counter, { id: "one" });
        await first.start(counter, { id: "two" });
        await crash(first);
        const second = await boot([counter]);
        const one = await second.run("one");
        watch.fault = (call) => (call.verb === verb ? "before" : undefined);
        await one.send("tell", { run: "two", data: 1 });
        await clock.advance("3s");
        watch.comeBack();
        await clock.advance("3s");
        const two = await second.run("two");
        expect([verb, (await two.state()).context.log]).toEqual([verb, [1]]);
        expect((await two.head()).seq).toBe(2);
      }
    });
  });

  describe("what is wrong with a store for good", () => {
    const damaged = () => new HoldfastError("STORE_CORRUPT", "The store is damaged");
    const problemsOf = () => {
      const problems: Problem[] = [];
      return { problems, onProblem: (problem: Problem) => void problems.push(problem) };
    };

    test("in the inbox of a run parks it, and what waits is taken when that was mended", async () => {
      const { boot, watch, rest } = await world();
      const { problems, onProblem } = problemsOf();
      const runtime = await boot([counter], { onProblem });
      const one = await runtime.start(counter, { id: "one" });
      const two = await runtime.start(counter, { id: "two" });
      await two.pause();
      await one.send("tell", { run: "two", data: 1 });
      watch.error = damaged;
      watch.fault = ({ verb }) => (verb === "readInbox" ? "before" : undefined);
      await two.retry();
      await rest();
      expect(problems).toMatchObject([{ run: "two", error: { code: "STORE_CORRUPT" } }]);
      expect((await two.head()).status).toBe("parked");
      watch.comeBack();
      await two.retry();
      await rest();
      expect((await two.state()).context.log).toEqual([1]);
    });

    test("so that a run cannot be read when something comes for it is told, and others go on", async () => {
      const { boot, crash, watch, rest } = await world();
      const first = await boot([counter]);
      await first.start(counter, { id: "one" });
      await first.start(counter, { id: "two" });
      await crash(first);
      const { problems, onProblem } = problemsOf();
      const second = await boot([counter], { onProblem });
      const one = await second.run("one");
      watch.error = () => new TypeError("a bug");
      watch.fault = ({ verb }) => (verb === "load" ? "before" : undefined);
      await one.send("tell", { run: "two", data: 1 });
      await rest();
      expect(problems).toMatchObject([{ run: "two", error: { message: "a bug" } }]);
      await one.send("add", 1);
      expect((await one.state()).context.n).toBe(1);
    });

    test("in a commit, of a kind that nobody knows, stops the process, which says why", async () => {
      const { boot, watch } = await world();
      const runtime = await boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      watch.error = () => new TypeError("a bug");
      watch.fault = ({ verb }) => (verb === "commit" ? "before" : undefined);
      await expect(run.send("add", 1)).rejects.toThrow("a bug");
      watch.fault = () => undefined;
      expect(await runtime.stopped).toMatchObject({ message: "a bug" });
      await expect(run.send("add", 1)).rejects.toThrow("a bug");
    });

    test("so that a run cannot be taken up when it comes back parks it again", async () => {
      const { boot, watch, rest } = await world();
      const { problems, onProblem } = problemsOf();
      const run = await (await boot([counter], { onProblem })).start(counter, { id: "a" });
      await run.pause();
      watch.error = damaged;
      watch.fault = ({ verb }) => (verb === "load" ? "before" : undefined);
      await run.retry();
      await rest();
      expect(problems).toMatchObject([{ run: "a", error: { code: "STORE_CORRUPT" } }]);
      expect((await run.head()).status).toBe("parked");
    });

    test.each([{ retry: { attempts: 3, first: "1s" } }, { once: true }])(
      "so that an activity %o cannot be recorded is its error, and no other's",
      async (options) => {
        const { boot, watch, clock } = await world();
        const machine = callerWith(options);
        const tool = (_: never, { attempt }: ActivityScope) => {
          if (attempt === 1 && !("once" in options)) throw new Error("busy");
          return "out";
        };
        const runtime = await boot([{ machine, activities: { tool } }]);
        watch.error = damaged;
        watch.fault = ({ verb, given: [rows] }) =>
          verb === "recordActivities" && (rows as ActivityRow[]).some(({ run }) => run === "a")
            ? "before"
            : undefined;
        const ids = ["a", "b"];
        const runs = await Promise.all(ids.map((id) => runtime.start(machine, { id })));
        await clock.advance("5s");
        const got = await Promise.all(runs.map(async (run) => (await run.state()).context.got));
        expect(got).toMatchObject([{ code: "STORE_CORRUPT" }, "out"]);
      },
    );
  });

  describe("an answer that is lost", () => {
    test("A5: of a send with a key is asked for again without harm", async () => {
      for (const fault of faults) {
        const { boot, watch } = await world();
        const run = await (await boot([counter])).start(counter, { id: "a" });
        watch.failNext("commit", fault);
        await expect(run.send("add", 1, { key: "k" })).rejects.toMatchObject(unavailable);
        expect(await (await run.send("add", 1, { key: "k" })).handled()).toMatchObject({ seq: 2 });
        expect((await run.state()).context.n).toBe(1);
        expect((await run.head()).seq).toBe(2);
      }
    });

    test("B1: of a start is asked for again without harm", async () => {
      for (const fault of faults) {
        const { boot, watch } = await world();
        const runtime = await boot([counter]);
        watch.failNext("commit", fault);
        await expect(runtime.start(counter, { id: "a", input: 1 })).rejects.toMatchObject(unavailable);
        const run = await runtime.start(counter, { id: "a", input: 1 });
        expect([(await run.head()).seq, (await run.state()).context.n]).toEqual([1, 1]);
      }
    });

    test("A5: of a large batch leaves every event in it taken once", async () => {
      for (const fault of faults) {
        const { boot, watch, clock } = await world();
        const run = await (await boot([counter])).start(counter, { id: "a" });
        const batch = numbers(100).map((data) => ({ type: "note", data, key: `k${data}` }));
        watch.failNext("enqueue", fault);
        await expect(run.sendAll(batch)).rejects.toMatchObject(unavailable);
        await clock.advance("3s");
        if (fault === "after") expect((await run.state()).context.log).toEqual(numbers(100));
        await Promise.all((await run.sendAll(batch)).map((receipt) => receipt.handled()));
        expect((await run.state()).context.log).toEqual(numbers(100));
        expect((await run.head()).seq).toBe(101);
      }
    });

    test("A5: of a step that took an event which had waited tells whoever waits for it", async () => {
      const { boot, watch } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const batch = Array.from({ length: 100 }, (_, data) => ({ type: "note", data }));
      watch.fault = ({ verb }) => (verb === "commit" ? "after" : undefined);
      const [first] = await run.sendAll(batch);
      await expect(first?.handled()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    });

    test("A5: of a step that sent to another run delivers it once", async () => {
      const { boot, watch, clock } = await world();
      const runtime = await boot([counter]);
      const one = await runtime.start(counter, { id: "one" });
      const two = await runtime.start(counter, { id: "two" });
      watch.failNext("commit", "after");
      await expect(one.send("tell", { run: "two", data: 1 }, { key: "k" })).rejects.toMatchObject(
        unavailable,
      );
      await clock.advance("3s");
      expect((await two.state()).context.log).toEqual([1]);
      await one.send("tell", { run: "two", data: 1 }, { key: "k" });
      await clock.advance("3s");
      expect((await two.state()).context.log).toEqual([1]);
    });

    test("B12: of a step that began an activity runs it once", async () => {
      const { boot, watch, clock } = await world();
      const machine = callerWith();
      let calls = 0;
      const runtime = await boot([{ machine, activities: { tool: () => ++calls } }]);
      watch.failNext("commit", "after");
      await expect(runtime.start(machine, { id: "a" })).rejects.toMatchObject(unavailable);
      await clock.advance("3s");
      const run = await runtime.run("a");
      expect([(await run.state()).configuration, calls]).toEqual([["done"], 1]);
    });

    test("B12: of a settled activity counts neither its result nor its spending twice", async () => {
      const { boot, watch, clock } = await world();
      const machine = callerWith({});
      let calls = 0;
      const tool = (_: never, { spend }: ActivityScope) => {
        calls++;
        spend({ tokens: 10 });
        watch.failNext("commit", "after");
        return "out";
      };
      const runtime = await boot([{ machine, activities: { tool } }]);
      const run = await runtime.start(machine, { id: "a" });
      await clock.advance("3s");
      expect((await run.state()).context.got).toBe("out");
      expect([(await run.head()).spent, calls]).toEqual([{ tokens: 10, cost: 0 }, 1]);
    });

    test("B1: of the last step still tells whoever waits for the end", async () => {
      for (const fault of faults) {
        const { boot, watch, clock } = await world();
        const ending = defineMachine({
          id: "ending",
          initial: "calling",
          states: { calling: { invoke: { activity: "tool", onDone: "over" } }, over: { type: "final" } },
        });
        const tool = () => {
          watch.failNext("commit", fault);
        };
        const run = await (await boot([{ machine: ending, activities: { tool } }])).start(ending, {
          id: "a",
        });
        const finished = run.finished();
        const over = run.waitFor("over");
        await clock.advance("5s");
        expect((await finished).status).toBe("done");
        expect((await over).status).toBe("done");
      }
    });

    test("B2: of a checkpoint by hand is told, and its steps are taken again", async () => {
      for (const fault of faults) {
        const { boot, watch, clock } = await world();
        const machine = counterWith({ checkpoint: "manual" });
        const runtime = await boot([machine]);
        const run = await runtime.start(machine, { id: "a" });
        await run.sendAll(numbers(100).map((data) => ({ type: "note", data })));
        await clock.advance(0);
        expect((await run.head()).seq).toBe(1);
        watch.failNext("commit", fault);
        await expect(run.checkpoint()).rejects.toMatchObject(unavailable);
        await clock.advance("3s");
        await run.checkpoint();
        expect((await run.state()).context.log).toEqual(numbers(100));
        expect((await run.head()).seq).toBe(101);
      }
    });
  });
});
