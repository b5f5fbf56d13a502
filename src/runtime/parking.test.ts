/** Parking: a run that cannot go on is put aside with its error, harms nobody, and has a way back. */
import { describe, expect, test } from "vitest";
import { callerWith, counter, counterWith } from "../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../test/runtime/world.ts";
import { HoldfastError } from "../errors.ts";
import { defineMachine, type Json } from "../index.ts";
import { limits } from "../limits.ts";
import { encode } from "../store/codec.ts";
import type { EntryRow, RunName } from "../store/records.ts";
import type { Commit, LoadedRun } from "../store/store.ts";
import type { Problem } from "./runtime.ts";

/** Refuses its tool's result as long as the code is not fixed. */
const pickyWith = (isFixed: () => boolean) =>
  callerWith({
    onDone: {
      target: "done",
      require: { fixed: isFixed },
      update: (draft: { got: Json }, { event }: { event: { data: Json } }) => {
        draft.got = event.data;
      },
    },
  });

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

onEveryStore((world) => {
  /** A run that is parked, since it refused its tool's result. */
  const begin = async () => {
    const here = await world();
    const problems: Problem[] = [];
    const onProblem = (problem: Problem) => void problems.push(problem);
    let calls = 0;
    const tool = () => `result ${++calls}`;
    const code = { fixed: false };
    const entry = { machine: pickyWith(() => code.fixed), activities: { tool } };
    const runtime = await here.boot([entry, counter], { onProblem });
    const run = await runtime.start(entry.machine, { id: "a" });
    await here.rest();
    const again = () => here.boot([{ ...entry, machine: pickyWith(() => true) }, counter], { onProblem });
    return { ...here, code, entry, runtime, run, problems, calls: () => calls, again };
  };

  describe("a run whose step the store cannot keep", () => {
    test("G4: is parked, its sender is told, and those of the same commit are not harmed", async () => {
      const { boot, watch, rest } = await world();
      const runtime = await boot([counter], { onProblem: () => {} });
      const [bad, good] = [
        await runtime.start(counter, { id: "bad" }),
        await runtime.start(counter, { id: "good" }),
      ];
      watch.error = () => new HoldfastError("VALUE_UNSTORABLE", "There is something odd in it");
      const isOdd = ({ head }: Commit) => head.run === "bad" && head.status === "active";
      watch.fault = ({ verb, given }) =>
        verb === "commit" && (given[0] as readonly Commit[]).some(isOdd) ? "before" : undefined;
      const fates = await Promise.allSettled([bad.send("add", 1), good.send("add", 1)]);
      expect(fates).toMatchObject([
        { status: "rejected", reason: { code: "VALUE_UNSTORABLE" } },
        { status: "fulfilled" },
      ]);
      await rest();
      expect(await bad.head()).toMatchObject({ status: "parked", seq: 2 });
      expect((await good.state()).context.n).toBe(1);
      watch.comeBack();
      await bad.retry();
      await (await bad.send("add", 2)).handled();
      expect((await bad.state()).context.n).toBe(2);
    });

    test("G4: does not begin, and whoever starts it is told", async () => {
      const { boot, watch, stored } = await world();
      const runtime = await boot([counter]);
      watch.error = () => new HoldfastError("VALUE_UNSTORABLE", "There is something odd in it");
      watch.failNext("commit", "before");
      await expect(runtime.start(counter, { id: "a" })).rejects.toMatchObject({ code: "VALUE_UNSTORABLE" });
      expect((await stored("a")).head).toBeUndefined();
      expect((await (await runtime.start(counter, { id: "a" })).head()).seq).toBe(1);
    });
  });

  describe("a run that refuses the result of an activity", () => {
    test("G4: is parked with the error, in its head, its journal and onProblem", async () => {
      const { run, problems } = await begin();
      expect(await run.head()).toMatchObject({ status: "parked", seq: 3 });
      const entries = await listOf(run.journal(2));
      expect(entries).toMatchObject([
        { event: { type: "done.invoke.call", data: "result 1" }, outcome: "refused" },
        { event: { type: "park", data: { error: { code: "CONTRACT_VIOLATED" }, refused: 2 } } },
      ]);
      expect(problems).toMatchObject([{ run: "a", error: { code: "CONTRACT_VIOLATED" } }]);
      expect((await run.state()).configuration).toEqual(["calling"]);
    });

    test("G4: comes back with that result once the code was fixed, and its tool is not called again", async () => {
      const { runtime, crash, again, calls } = await begin();
      await crash(runtime);
      const run = await (await again()).run("a");
      expect((await run.head()).status).toBe("parked");
      await run.retry();
      await run.waitFor("done");
      expect((await run.state()).context).toEqual({ got: "result 1" });
      expect([calls(), (await run.head()).status]).toEqual([1, "active"]);
    });

    test("G4: is parked again when it still refuses it, as often as somebody tries", async () => {
      const { run, rest, problems, code, calls } = await begin();
      for (const tries of [2, 3]) {
        await run.retry();
        await rest();
        expect([(await run.head()).status, problems.length]).toEqual(["parked", tries]);
      }
      code.fixed = true;
      await run.retry();
      await run.waitFor("done");
      expect([(await run.state()).context.got, calls()]).toEqual(["result 1", 1]);
    });

    test("G4: is not brought back by who saw it parked before, once it is parked again", async () => {
      const { run, rest, watch, stored } = await begin();
      let answer = () => {};
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      let isHeld = false;
      watch.alter = async ({ verb }, journal) => {
        if (verb !== "readJournal" || isHeld) return journal;
        isHeld = true;
        await answered;
        return journal;
      };
      const late = run.retry();
      await run.retry();
      await rest();
      const again = await stored("a");
      expect(again.head).toMatchObject({ status: "parked", seq: 6 });
      answer();
      await late;
      await rest();
      expect(await stored("a")).toEqual(again);
    });

    test("G4: keeps the events that come meanwhile, in order, and takes them when it is back", async () => {
      const { run, runtime, crash, again, stored, rest } = await begin();
      const receipts = await Promise.all(numbers(5).map((n) => run.send("note", n, { key: `k${n}` })));
      const batch = await run.sendAll(numbers(5).map((n) => ({ type: "note", data: 5 + n })));
      const repeat = await run.send("note", 0, { key: "k0" });
      expect((await stored("a")).inbox.length).toBe(10);
      expect([receipts.length, batch.length]).toEqual([5, 5]);
      await crash(runtime);
      const back = await (await again()).run("a");
      const waiting = await back.send("note", 0, { key: "k0" });
      await back.retry();
      await rest();
      const entries = await listOf(back.journal(4));
      expect(entries.map(({ event }) => event.data)).toEqual([
        expect.objectContaining({ result: expect.anything() }),
        "result 1",
        ...numbers(10),
      ]);
      expect(await waiting.handled()).toMatchObject({ seq: 6, outcome: "taken" });
      expect(repeat).toBeDefined();
      expect((await stored("a")).inbox).toEqual([]);
    });

    test("A5: a repeat of what waits for it is told what becomes of the first", async () => {
      const { run, code, rest } = await begin();
      const first = await run.send("note", 1, { key: "k" });
      const second = await run.send("note", 2, { key: "k" });
      const [third] = await run.sendAll([{ type: "note", data: 3, key: "k" }]);
      code.fixed = true;
      await run.retry();
      const handled = await first.handled();
      expect(handled.outcome).toBe("taken");
      expect([await second.handled(), await third?.handled()]).toEqual([handled, handled]);
      await rest();
      expect(await second.handled()).toEqual(handled);
      expect((await run.state()).context.got).toBe(1);
    });

    test("A5: an event sent in the moment it is parked is durable, and answered", async () => {
      for (const ticks of numbers(8)) {
        const here = await world();
        let finish: (value: string) => void = () => {};
        const machine = pickyWith(() => fixed);
        let fixed = false;
        const tool = () =>
          new Promise((resolve) => {
            finish = resolve;
          });
        const run = await (await here.boot([{ machine, activities: { tool } }])).start(machine, { id: "a" });
        await here.rest();
        finish("out");
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        const receipt = await run.send("note", 5);
        await here.rest();
        expect((await run.head()).status).toBe("parked");
        fixed = true;
        await run.retry();
        expect(await receipt.handled()).toMatchObject({ outcome: "taken" });
      }
    });

    test("A5: events sent in the moment it is parked keep their priority", async () => {
      const { boot, stored, rest } = await world();
      const machine = counterWith({ priorities: { add: 10, end: 20 } });
      const run = await (await boot([machine])).start(machine, { id: "a" });
      await run.breakpoints([{ event: "end" }]);
      await Promise.all([run.send("note", 1), run.send("add", 2), run.send("end")]);
      await rest();
      expect((await stored("a")).inbox.map(({ priority }) => priority)).toEqual([20, 10, 0]);
    });

    test("G4: takes breakpoints that are set in the moment it is parked", async () => {
      const { boot } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      await Promise.all([run.pause(), run.breakpoints([{ state: "asleep" }])]);
      expect(await run.head()).toMatchObject({
        ...{ status: "parked", debug: { breakpoints: [{ state: "asleep" }] } },
      });
    });

    test("A5: a batch in which it is parked is kept as a whole or not at all", async () => {
      const fates = new Set<string>();
      for (const ticks of numbers(12)) {
        const here = await world();
        let finish: (value: string) => void = () => {};
        const machine = pickyWith(() => fixed);
        let fixed = false;
        const tool = () =>
          new Promise((resolve) => {
            finish = resolve;
          });
        const run = await (await here.boot([{ machine, activities: { tool } }])).start(machine, { id: "a" });
        await here.rest();
        finish("out");
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        // What is not kept with the step that parks the run is lost.
        here.watch.fault = ({ verb }) => (verb === "enqueue" ? "before" : undefined);
        const batch = numbers(3).map((data) => ({ type: "note", data }));
        const receipts = await run.sendAll(batch).catch(() => []);
        await here.rest();
        expect((await run.head()).status).toBe("parked");
        const taken = (await listOf(run.journal())).filter(({ event }) => event.type === "note").length;
        const kept = taken + (await here.stored("a")).inbox.length;
        expect(kept).toBe(receipts.length);
        fates.add(`${kept} kept, ${taken} taken before`);
        fixed = true;
        await run.retry();
        for (const receipt of receipts) expect(await receipt.handled()).toMatchObject({ error: undefined });
      }
      expect([...fates]).toContain("3 kept, 0 taken before");
    });

    test("G4: can be cancelled, and what waited for it becomes dead letters", async () => {
      const { run, runtime, stored } = await begin();
      const receipt = await run.send("note", 1);
      await Promise.all([run.cancel(), run.cancel()]);
      expect((await run.finished()).status).toBe("cancelled");
      await expect(receipt.handled()).rejects.toMatchObject({ code: "RUN_ENDED" });
      expect(await listOf(runtime.deadLetters.list())).toMatchObject([
        { run: "a", reason: "ended", event: { type: "note", data: 1 } },
      ]);
      expect((await stored("a")).head?.seq).toBe(4);
    });

    test("G4: is brought back once, however many try, and a cancel beside them is not lost", async () => {
      const { run, code, rest } = await begin();
      code.fixed = true;
      await Promise.all([run.retry(), run.retry(), run.retry()]);
      await run.waitFor("done");
      expect((await run.head()).seq).toBe(5);
      await run.retry();
      expect((await run.head()).seq).toBe(5);
      const other = await begin();
      await Promise.allSettled([other.run.retry(), other.run.cancel()]);
      expect((await other.run.finished()).status).toBe("cancelled");
      await rest();
    });

    test("B12: does not lose what its other activities give meanwhile, nor call them again", async () => {
      const here = await world();
      const code = { fixed: false };
      let calls = 0;
      const machine = defineMachine<{ got: Json }>({
        id: "both",
        start: { got: null },
        initial: "here",
        states: {
          here: {
            invoke: [
              { id: "quick", activity: "quick", onDone: { require: { fixed: () => code.fixed } } },
              {
                ...{ id: "slow", activity: "slow", once: true, onUnknown: "unknown" },
                onDone: {
                  target: "done",
                  update: (draft, { event }) => {
                    draft.got = event.data;
                  },
                },
              },
            ],
          },
          done: {},
          unknown: {},
        },
      });
      const slow = () => {
        calls++;
        return new Promise((resolve) => here.clock.after(2_000, () => resolve("slow result")));
      };
      const entry = { machine, activities: { quick: () => 1, slow } };
      const first = await here.boot([entry]);
      await first.start(machine, { id: "a" });
      await here.clock.advance("3s");
      await here.crash(first);
      code.fixed = true;
      const run = await (await here.boot([entry])).run("a");
      await run.retry();
      await run.waitFor("done");
      expect([(await run.state()).context.got, calls]).toEqual(["slow result", 1]);
    });

    test("B12: goes on with what they gave if it could not be read as it came back, though somebody had it still", async () => {
      const here = await world();
      const code = { fixed: false };
      const machine = counterWith({
        id: "both",
        initial: "both",
        states: {
          both: {
            type: "parallel",
            states: {
              one: { invoke: { activity: "quick", onDone: { require: { fixed: () => code.fixed } } } },
              other: { invoke: { activity: "slow", onDone: {} } },
            },
          },
        },
      });
      const slow = () => new Promise((resolve) => here.clock.after(2_000, () => resolve("slow result")));
      const entry = { machine, activities: { quick: () => 1, slow } };
      const first = await here.boot([entry]);
      await first.start(machine, { id: "a" });
      await here.clock.advance("3s");
      await here.crash(first);
      const run = await (await here.boot([entry])).run("a");
      code.fixed = true;
      const delayed = new Map<string, PromiseWithResolvers<void>>();
      const delay = (verb: "readJournal" | "load") => void delayed.set(verb, Promise.withResolvers<void>());
      here.watch.alter = async ({ verb }, answer) => {
        await delayed.get(verb)?.promise;
        return answer;
      };
      delay("readJournal");
      const late = run.retry();
      await here.clock.advance(0);
      const { resolve } = delayed.get("readJournal") as PromiseWithResolvers<void>;
      delayed.clear();
      here.watch.failNext("load", "before");
      delay("load");
      await run.retry();
      await here.clock.advance(0);
      resolve();
      await here.clock.advance(0);
      delayed.get("load")?.resolve();
      await late;
      await here.clock.advance("5s");
      expect((await run.state()).activities).toEqual([]);
    });
  });

  describe("a run that fails inside", () => {
    /** Grows by more than a store keeps, all at once, when its timer fires or it is told to. */
    const growing = counterWith({
      id: "growing",
      on: {
        grow: {
          update: (draft) => {
            const piece = "x".repeat(60);
            draft.log = Array.from({ length: limits.valueBytesMax / 60 }, () => piece);
          },
        },
      },
      states: {
        open: { on: { wait: "waiting" } },
        waiting: {
          after: { "1s": { target: "open", update: (draft) => void Object.assign(draft, grown()) } },
        },
      },
    });
    const grown = () => ({ log: Array.from({ length: limits.valueBytesMax / 60 }, () => "y".repeat(60)) });

    test("G4: on an event from outside tells the sender, and is as it was", async () => {
      const { boot, stored } = await world();
      const run = await (await boot([growing])).start(growing, { id: "a" });
      const before = await stored("a");
      await expect(run.send("grow")).rejects.toMatchObject({ code: "VALUE_TOO_LARGE" });
      expect(await stored("a")).toEqual(before);
      expect((await run.state()).context.log).toEqual([]);
    });

    test("G4: on a timer is parked, and others go on", async () => {
      const { boot, clock } = await world();
      const problems: Problem[] = [];
      const runtime = await boot([growing, counter], { onProblem: (problem) => void problems.push(problem) });
      const run = await runtime.start(growing, { id: "a" });
      const other = await runtime.start(counter, { id: "b" });
      await run.send("wait");
      await other.send("nap");
      await clock.advance("3s");
      expect(await run.head()).toMatchObject({ status: "parked", seq: 3 });
      expect(problems).toMatchObject([{ run: "a", error: { code: "VALUE_TOO_LARGE" } }]);
      await clock.advance("2m");
      expect((await other.state()).configuration).toEqual(["open"]);
    });

    test("G4: on a damaged event in its inbox is parked once, and comes back when that is mended", async () => {
      const { boot, crash, look, clock, rest } = await world();
      const first = await boot([counter]);
      await first.start(counter, { id: "a" });
      await first.start(counter, { id: "b" });
      await crash(first);
      const store = await look();
      const row = { tenant: "default", subject: "a", priority: 0, at: clock.now() };
      const bytes = encode({ type: "note", data: 1 });
      const damaged = Uint8Array.from(bytes, (byte, index) => (index === 9 ? byte ^ 1 : byte));
      await store.enqueue([
        { ...row, run: "a", id: "1", bytes },
        ...["2", "3"].map((id) => ({ ...row, run: "a", id, bytes: damaged })),
        { ...row, run: "a", id: "4", bytes },
        { ...row, run: "b", id: "5", bytes },
      ]);
      const problems: Problem[] = [];
      const second = await boot([counter], { onProblem: (problem) => void problems.push(problem) });
      await rest();
      const run = await second.run("a");
      expect((await run.head()).status).toBe("parked");
      expect(problems).toMatchObject([{ run: "a", error: { code: "STORE_CORRUPT" } }]);
      expect((await (await second.run("b")).state()).context).toMatchObject({ log: [1] });
      const parks = (await listOf(run.journal())).filter(({ event }) => event.type === "park");
      expect(parks.length).toBe(1);
    });

    test("G4: in what it is to be found by tells the sender, is as it was, and can be parked", async () => {
      const { boot, clock, stored } = await world();
      let broken = false;
      const attributes = () => {
        if (broken) throw new Error("no idea");
        return { fine: true };
      };
      const problems: Problem[] = [];
      const runtime = await boot([{ machine: counter, attributes }], {
        onProblem: (problem) => void problems.push(problem),
      });
      const run = await runtime.start(counter, { id: "a" });
      await run.send("nap");
      const before = await stored("a");
      broken = true;
      await expect(run.send("add", 1)).rejects.toThrow("no idea");
      expect(await stored("a")).toEqual(before);
      await clock.advance("2m");
      expect(await run.head()).toMatchObject({ status: "parked", attributes: { fine: true } });
      expect(problems).toMatchObject([{ error: { message: "no idea" } }]);
      broken = false;
      await run.retry();
      await clock.advance("1s");
      expect((await run.state()).configuration).toEqual(["open"]);
    });

    test("G4: on one of two events of a turn takes the other, as if the first had never been", async () => {
      const { boot, stored } = await world();
      const attributes = ({ context }: { readonly context: unknown }) => {
        const { n } = context as { n: number };
        if (n === 1) throw new Error("no idea");
        return { n };
      };
      const run = await (await boot([{ machine: counter, attributes }])).start(counter, { id: "a" });
      const [first, second] = await Promise.allSettled([run.send("add", 1), run.send("add", 2)]);
      expect([first.status, second.status]).toEqual(["rejected", "fulfilled"]);
      expect(await run.state()).toMatchObject({ seq: 2, context: { n: 2 } });
      expect((await stored("a")).journal.length).toBe(2);
    });

    test("G4: whose journal is damaged cannot be read, and others go on", async () => {
      const { boot, crash, watch, clock } = await world();
      const first = await boot([counter]);
      await (await first.start(counter, { id: "a" })).send("nap");
      await (await first.start(counter, { id: "b" })).send("nap");
      await crash(first);
      watch.alter = ({ verb, given }, answer) => {
        const spoil = (rows: readonly EntryRow[]) => rows.map((row) => ({ ...row, digest: "another" }));
        if ((given[0] as RunName | undefined)?.run !== "a") return answer;
        if (verb === "readJournal") return spoil(answer as EntryRow[]);
        return verb === "load"
          ? { ...(answer as LoadedRun), entries: spoil((answer as LoadedRun).entries) }
          : answer;
      };
      const problems: Problem[] = [];
      const onProblem = (problem: Problem) => void problems.push(problem);
      const second = await boot([counter], { onProblem });
      await clock.advance("3m");
      expect(problems).toMatchObject([{ run: "a", error: { code: "STORE_CORRUPT" } }]);
      await expect(second.run("a")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
      expect((await (await second.run("b")).state()).configuration).toEqual(["open"]);
    });
  });
});
