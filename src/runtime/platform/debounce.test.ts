/** Debounces: the last of many calls counts, once it has been quiet for a while, whatever dies in between. */
import { describe, expect, test } from "vitest";
import { counter } from "../../../test/runtime/machines.ts";
import type { Call } from "../../../test/runtime/watched-store.ts";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { HoldfastError, type Json } from "../../index.ts";
import type { DebounceOptions, Problem, Runtime } from "../run.ts";
import { Debounces } from "./debounce.ts";

const code = (error: { code?: string }) => error.code;

test("a call that the run which gathers does not take, since it ends, is made anew until one does", async () => {
  const ended = new HoldfastError("RUN_ENDED", "It has ended");
  const lost = new HoldfastError("STORE_UNAVAILABLE", "The store is not there");
  const gathering = (send: () => Promise<unknown>) => ({ begun: false, run: { send } });
  const handled = (outcome: string) => gathering(async () => ({ handled: async () => ({ outcome }) }));
  const failing = (error: Error) => gathering(() => Promise.reject(error));
  const begun = { begun: true, run: { id: "new" } };
  const starts: unknown[] = [failing(ended), handled("ignored"), begun, handled("taken"), failing(lost)];
  const singletons = { start: async () => starts.shift() };
  const debounces = new Debounces({ singletons, machine: () => counter } as never);
  const call = () => debounces.call("k", { for: "5s", start: { machine: counter } });
  expect([await call(), starts.length]).toEqual([begun.run, 2]);
  await call();
  await expect(call()).rejects.toBe(lost);
});

onEveryStore((world) => {
  const open = async () => {
    const { boot, crash, clock, watch } = await world();
    const problems: Problem[] = [];
    const start = () => boot([counter], { onProblem: (problem) => problems.push(problem) });
    const runtime = await start();
    const run = await runtime.start(counter, { id: "c" });
    const log = async () => (await run.state()).context.log;
    const note = (data: Json, parts: Partial<DebounceOptions> = {}, given: Runtime = runtime) =>
      given.debounce("k", { for: "5s", send: { run: "c", type: "note", data }, ...parts } as DebounceOptions);
    return { runtime, run, log, note, clock, crash, watch, problems, boot: start };
  };

  describe("a debounce", () => {
    test("sends the last event of many, once it has been quiet for as long as it is told", async () => {
      const { note, log, clock } = await open();
      for (const data of [1, 2, 3]) {
        await note(data);
        await clock.advance("4s");
      }
      expect(await log()).toEqual([]);
      await clock.advance("999ms");
      expect(await log()).toEqual([]);
      await clock.advance("1ms");
      expect(await log()).toEqual([3]);
      await clock.advance("1 min");
      expect(await log()).toEqual([3]);
      await note(4);
      await clock.advance("5s");
      expect(await log()).toEqual([3, 4]);
    });

    test("waits no longer than it may, however many calls come", async () => {
      const { note, log, clock } = await open();
      for (let call = 0; call < 10; call++) {
        await note(call, { max: "12s" });
        await clock.advance("2s");
      }
      expect(await log()).toEqual([5]);
      await clock.advance("5s");
      expect(await log()).toEqual([5, 9]);
    });

    test("starts a run, with what the last call gives it, and it can be found", async () => {
      const { runtime, clock } = await open();
      for (const input of [1, 2])
        await runtime.debounce("k", {
          ...{ for: "5s", start: { machine: counter, input, subject: "ada", attributes: { kind: "x" } } },
        });
      await clock.advance("5s");
      const gathered = await listOf(runtime.find({ attributes: { debounce: "k" } }));
      expect(gathered.map(({ subject }) => subject)).toEqual(["ada", "ada"]);
      const [head, ...others] = gathered.filter(({ machine }) => machine === "counter");
      expect(others).toEqual([]);
      expect(head).toMatchObject({ subject: "ada", attributes: { kind: "x", debounce: "k" } });
      const run = await runtime.run((head as { run: string }).run);
      expect((await run.state()).context).toMatchObject({ n: 2 });
    });

    test("has keys that have nothing to do with each other, nor with those of other tenants", async () => {
      const { runtime, note, log, clock } = await open();
      const theirs = await runtime.start(counter, { id: "c", tenant: "t", subject: "theirs" });
      await note(1);
      const gathering = await note(2, { tenant: "t" });
      expect((await gathering.head()).subject, "whose data it holds").toBe("theirs");
      await runtime.debounce("j", { for: "5s", send: { run: "c", type: "note", data: 3 } });
      await clock.advance("5s");
      expect([(await log()).toSorted(), (await theirs.state()).context.log]).toEqual([[1, 3], [2]]);
    });

    test("gives the run that gathers: it tells when it will act, and is over when it has", async () => {
      const { note, clock } = await open();
      const run = await note(1);
      const { current, count } = (await run.state()).context;
      expect([current.due, count]).toEqual([clock.now() + 5_000, 0]);
      await clock.advance("5s");
      expect((await run.finished()).status).toBe("done");
      expect((await run.head()).subject).toBe("c");
    });

    test("keeps what comes while it acts for the next time", async () => {
      const { note, log, clock, watch } = await open();
      const gathering = await note(1);
      // What it sends cannot be taken for a while.
      watch.fault = (call) => {
        const commits = call.verb === "commit" ? (call as Call<"commit">).given[0] : [];
        return commits.some(({ head }) => head.run === "c") ? "before" : undefined;
      };
      await clock.advance("5s");
      expect((await gathering.state()).configuration).toEqual(["acting"]);
      expect((await note(2)).id).toBe(gathering.id);
      expect((await note(3)).id).toBe(gathering.id);
      watch.comeBack();
      await clock.advance("3s");
      expect(await log()).toEqual([1]);
      await clock.advance("2s");
      expect(await log()).toEqual([1, 3]);
      expect((await gathering.head()).status).toBe("done");
    });

    test("makes a call anew where the run that gathers has ended, or ends before it hears of it", async () => {
      const { note, log, clock, watch } = await open();
      const first = await note(1);
      let isOver = false;
      watch.alter = async ({ verb }, answer) => {
        // Between the look at the one that is live and the call.
        if (verb !== "readDocument" || isOver) return answer;
        isOver = true;
        await clock.advance("5s");
        return answer;
      };
      const second = await note(2);
      expect([isOver, second.id === first.id]).toEqual([true, false]);
      await clock.advance("5s");
      expect(await log()).toEqual([1, 2]);
    });

    test("counts how long it may wait from the first call that came while it acted", async () => {
      const { note, log, clock, watch } = await open();
      await note(1, { max: "6s" });
      watch.fault = (call) => {
        const commits = call.verb === "commit" ? (call as Call<"commit">).given[0] : [];
        return commits.some(({ head }) => head.run === "c") ? "before" : undefined;
      };
      await clock.advance("5s");
      await note(2, { max: "6s" });
      watch.comeBack();
      await clock.advance("4s");
      expect(await log()).toEqual([1]);
      await clock.advance("1s");
      expect(await log()).toEqual([1, 2]);
    });

    test("loses no call to a crash, and acts once", async () => {
      const { note, clock, crash, runtime, boot } = await open();
      await note(1);
      await note(2);
      await clock.advance("2s");
      await crash(runtime);
      const second = await boot();
      await note(3, {}, second);
      await clock.advance("4s");
      await crash(second);
      const third = await boot();
      await clock.advance("10s");
      await crash(third);
      const fourth = await boot();
      await clock.advance("10s");
      expect((await (await fourth.run("c")).state()).context.log).toEqual([3]);
    });

    test("makes up for a quiet time that passed while nobody was there", async () => {
      const { note, clock, crash, runtime, boot } = await open();
      await note(1);
      await crash(runtime);
      await clock.advance("1h");
      const second = await boot();
      await clock.advance("1s");
      expect((await (await second.run("c")).state()).context.log).toEqual([1]);
    });

    test("tells of what it cannot do, and is over", async () => {
      const { note, run, clock, problems } = await open();
      const gathering = await note(1);
      await run.send("end");
      await clock.advance("5s");
      expect(problems).toMatchObject([{ run: gathering.id, error: { code: "RUN_ENDED" } }]);
      expect((await gathering.finished()).status).toBe("done");
    });

    test("refuses what cannot be meant, and what could only fail", async () => {
      const { runtime, note } = await open();
      const send = { run: "c", type: "note" };
      const tried = (options: object) =>
        runtime.debounce("k", { for: "5s", ...options } as never).catch(code);
      expect(await tried({})).toBe("FLOW_INVALID");
      expect(await tried({ send, start: { machine: counter } })).toBe("FLOW_INVALID");
      expect(await tried({ send, max: "1s" })).toBe("FLOW_INVALID");
      expect(await tried({ send, for: "soon" })).toBe("DURATION_INVALID");
      expect(await tried({ send: { ...send, run: "nobody" } })).toBe("RUN_UNKNOWN");
      expect(await tried({ start: { machine: "nothing" } })).toBe("MACHINE_UNKNOWN");
      expect(await note(1, { max: "5s" }).then(({ id }) => typeof id)).toBe("string");
      expect(await note(1, { for: "0s" }).then(({ id }) => typeof id)).toBe("string");
    });
  });
});
