/** Closing a runtime while things are under way: everybody is told, nothing durable is lost, and the store is free. */
import { describe, expect, test } from "vitest";
import { callerWith, counter } from "../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../test/runtime/world.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import type { ActivityScope } from "./activity/attempt.ts";
import type { Clock } from "./clock.ts";
import { openReader } from "./reader.ts";
import { createRuntime } from "./runtime.ts";

const closed = { code: "RUNTIME_CLOSED" };
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

onEveryStore((world) => {
  describe("a runtime that is closed", () => {
    test("B4: answers every send that is under way, and keeps exactly those it said yes to", async () => {
      for (const ticks of numbers(12)) {
        const { boot, close } = await world();
        const first = await boot([counter]);
        const run = await first.start(counter, { id: "a" });
        const sends = numbers(200).map((n) => run.send("note", n));
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        const closing = close(first);
        const outcomes = await Promise.allSettled(sends);
        await closing;
        for (const outcome of outcomes)
          if (outcome.status === "rejected") expect(outcome.reason).toMatchObject(closed);
        const again = await (await boot([counter])).run("a");
        const accepted = outcomes.flatMap(({ status }, n) => (status === "fulfilled" ? n : []));
        expect((await again.state()).context.log).toEqual(accepted);
      }
    });

    test("tells whoever waits, and refuses whatever is asked of it after", async () => {
      const { boot, close } = await world();
      const runtime = await boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      const waiting = [run.finished(), run.waitFor("asleep"), run.ask("nothing", 1, { timeout: "1h" })];
      const told = Promise.allSettled(waiting);
      await close(runtime);
      const [finished, waited] = await told;
      expect([finished, waited]).toMatchObject([{ reason: closed }, { reason: closed }]);
      for (const call of [
        run.send("add", 1),
        run.sendAll([{ type: "add" }]),
        run.ask("add", 1),
        run.state(),
        run.finished(),
        run.waitFor("open"),
        run.cancel(),
        runtime.run("a"),
        runtime.start(counter, { id: "b" }),
        runtime.find()[Symbol.asyncIterator]().next(),
        runtime.deadLetters.list()[Symbol.asyncIterator]().next(),
        runtime.machines.mark("counter", 1, "deprecated"),
        runtime.machines.deploy(counter),
        runtime.machines.migrate("counter")[Symbol.asyncIterator]().next(),
      ])
        await expect(call).rejects.toMatchObject(closed);
      for (const call of [() => runtime.machines.list(), () => runtime.machines.read("counter")])
        expect(call).toThrow(expect.objectContaining(closed));
      await runtime.close();
    });

    test("tells whoever is reading that it was closed, and not that the store was", async () => {
      const { boot, close } = await world();
      const runtime = await boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      for (const id of numbers(150)) await runtime.start(counter, { id: `${id}` });
      await run.sendAll(numbers(150).map((data) => ({ type: "note", data })));
      const readers = [run.journal(), run.follow(), runtime.find()].map((all) => all[Symbol.asyncIterator]());
      for (const reader of readers) await reader.next();
      await close(runtime);
      for (const reader of readers) {
        const rest = (async () => {
          while (!(await reader.next()).done);
        })();
        await expect(rest).rejects.toMatchObject(closed);
      }
    });

    test("tells of no problem where an activity ends as it closes", async () => {
      for (const ticks of numbers(12)) {
        const { boot, close, rest } = await world();
        const machine = callerWith();
        const { promise, resolve } = Promise.withResolvers<string>();
        const problems: unknown[] = [];
        const runtime = await boot([{ machine, activities: { tool: () => promise } }], {
          onProblem: (problem) => void problems.push(problem),
        });
        await runtime.start(machine, { id: "a" });
        await rest();
        resolve("out");
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        await close(runtime);
        expect(problems).toEqual([]);
      }
    });

    test("aborts its activities, which run again in the next process", async () => {
      const { boot, close, clock } = await world();
      const machine = callerWith();
      const reasons: unknown[] = [];
      const tool = (_: never, { signal }: ActivityScope) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason);
            reject(signal.reason);
          });
        });
      const first = await boot([{ machine, activities: { tool } }]);
      await first.start(machine, { id: "a" });
      await clock.advance(0);
      await close(first);
      expect(reasons).toMatchObject([{ message: "The runtime is closing" }]);
      const run = await (await boot([{ machine, activities: { tool: () => "out" } }])).run("a");
      await run.waitFor("done");
      expect((await run.state()).context.got).toBe("out");
    });

    test("leaves no timer behind that would keep its process from ending", async () => {
      const { boot, close, clock } = await world();
      const machine = callerWith({ timeout: "1h", heartbeat: "1h" });
      const waiting = new Set<object>();
      const counted: Clock = {
        now: () => clock.now(),
        soon: (run) => void setImmediate(run),
        after: (ms, run) => {
          const timer = {};
          waiting.add(timer);
          const over = () => waiting.delete(timer);
          const stop = clock.after(ms, () => over() && run());
          return () => over() && stop();
        },
      };
      const late: ActivityScope[] = [];
      const tool = (_: never, scope: ActivityScope) => {
        late.push(scope);
        scope.heartbeat();
        return "out";
      };
      const runtime = await boot([{ machine, activities: { tool } }, counter], { clock: counted });
      const idle = waiting.size;
      const [call, run] = [
        await runtime.start(machine, { id: "a" }),
        await runtime.start(counter, { id: "b" }),
      ];
      await call.waitFor("done");
      for (const { heartbeat } of late) heartbeat();
      await expect(run.ask("other", 1, { timeout: "1h" })).rejects.toMatchObject({ code: "ASK_UNANSWERED" });
      expect(waiting.size).toBe(idle);
      await run.send("nap");
      await close(runtime);
      expect(waiting.size).toBe(0);
    });

    test("is closed for everybody who closes it when it is, and not before", async () => {
      const { boot, close, watch, rest } = await world();
      const runtime = await boot([counter]);
      const { promise, resolve } = Promise.withResolvers<void>();
      let isClosed = false;
      watch.alter = async ({ verb }) => {
        if (verb !== "close") return;
        await promise;
        isClosed = true;
      };
      const closings = [close(runtime), runtime.close()].map((closing) => closing.then(() => isClosed));
      while (watch.count("close") === 0) await new Promise((pass) => setImmediate(pass));
      resolve();
      expect(await Promise.all(closings)).toEqual([true, true]);
      await rest();
      expect(watch.count("close")).toBe(1);
    });

    test("tells of no problem where a timer waits for its turn as it closes", async () => {
      const { boot, close, watch } = await world();
      const clock = new VirtualClock(1_000_000);
      const problems: unknown[] = [];
      const runtime = await boot([counter], { clock, onProblem: (problem) => void problems.push(problem) });
      const [napping, other] = [
        await runtime.start(counter, { id: "a" }),
        await runtime.start(counter, { id: "b" }),
      ];
      await napping.send("nap");
      const { promise, resolve } = Promise.withResolvers<void>();
      const commits = watch.count("commit");
      watch.alter = async ({ verb }, answer) => {
        if (verb === "commit") await promise;
        return answer;
      };
      const sent = other.send("add", 1);
      while (watch.count("commit") === commits) await new Promise((pass) => setImmediate(pass));
      const looks = watch.count("nextDue");
      await clock.advance("2m");
      while (watch.count("nextDue") === looks) await new Promise((pass) => setImmediate(pass));
      const closing = close(runtime);
      resolve();
      await Promise.all([sent, closing]);
      expect(problems).toEqual([]);
    });

    test("leaves the store open to the others that were given it", async () => {
      const { place, clock } = await world();
      const given = { store: place.connect(), clock, machines: [counter] };
      const first = await createRuntime(given);
      await expect(createRuntime(given)).rejects.toMatchObject({ code: "STORE_OWNED" });
      const run = await first.start(counter, { id: "a" });
      const reader = await openReader({ store: given.store });
      expect((await listOf(reader.steps("a"))).length).toBe(1);
      await reader.close();
      expect((await (await run.send("add", 1)).handled()).outcome).toBe("taken");
      await first.close();
      const again = await createRuntime(given);
      expect((await (await again.run("a")).head()).seq).toBe(2);
      await again.close();
    });

    test("gives the store back: another opens it at once, while one that is open is refused", async () => {
      const { boot, close, place, clock } = await world();
      const first = await boot([counter]);
      const second = { store: place.connect(), clock, machines: [] };
      await expect(createRuntime(second)).rejects.toMatchObject({ code: "STORE_OWNED" });
      await close(first);
      await (await createRuntime({ ...second, store: place.connect() })).close();
    });
  });
});
