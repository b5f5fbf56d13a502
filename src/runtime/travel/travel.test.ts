/** Travel: states of the past, the way back to them, and forks. */
import { describe, expect, test } from "vitest";
import { callerWith, counter, counterWith } from "../../../test/runtime/machines.ts";
import { onEveryStore } from "../../../test/runtime/world.ts";
import { defineMachine, type Json } from "../../index.ts";
import { limits } from "../../limits.ts";

const listOf = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
};

/** Something that can be ended from outside, as often as it is begun. */
function tool() {
  const calls: { input: unknown; key: string; signal: AbortSignal; end(output: Json): void }[] = [];
  const code = (input: Json, { key, signal }: { key: string; signal: AbortSignal }) =>
    new Promise<Json>((end) => void calls.push({ input, key, signal, end }));
  return { calls, code };
}

onEveryStore((world) => {
  describe("the state at a checkpoint", () => {
    test("B7: is what it was, at each one, over snapshots and restarts", async () => {
      const here = await world();
      const first = await here.boot([counter]);
      const run = await first.start(counter, { id: "a" });
      const text = "x".repeat(limits.contentLengthMin);
      const were = [await run.state()];
      for (let n = 1; n <= 60; n++) {
        await run.send(n % 7 === 0 ? "note" : "add", n % 7 === 0 ? `${text} ${n}` : n);
        were.push(await run.state());
      }
      await here.crash(first);
      const again = await (await here.boot([counter])).run("a");
      for (const [index, state] of were.entries()) expect(await again.at(index + 1)).toEqual(state);
    });

    test("B7: that there is not is refused, and so is what is no number", async () => {
      const here = await world();
      const run = await (await here.boot([counter])).start(counter, { id: "a" });
      for (const seq of [0, 2, -1, 1.5, Number.NaN])
        await expect(run.at(seq)).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
      for (const target of [{ to: 9 }, { by: 1 }, { by: -1 }])
        await expect(run.rollback(target)).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
      expect((await run.head()).seq).toBe(1);
    });
  });

  describe("going back", () => {
    test("E3: goes on with an edited context, and an edit that the machine refuses changes nothing", async () => {
      const here = await world();
      const machine = counterWith({ invariants: { fair: ({ context }) => Number(context.n) >= 0 } });
      const first = await here.boot([machine]);
      const run = await first.start(machine, { id: "a" });
      await run.send("add", 1);
      await run.send("add", 2);
      const before = await here.stored("a");
      const adding = (n: number) => (draft: { n: number }) => {
        draft.n += n;
      };
      const below = run.rollback({ to: 2, edit: adding(-10) });
      await expect(below).rejects.toMatchObject({ code: "INVARIANT_VIOLATED" });
      expect(await here.stored("a")).toEqual(before);
      expect(await run.rollback({ by: 1, edit: adding(10) })).toBe(4);
      expect((await run.state()).context.n).toBe(11);
      await here.crash(first);
      const again = await (await here.boot([machine])).run("a");
      await again.send("add", 1);
      expect((await again.state()).context.n).toBe(12);
    });

    test("B7: is a new step to the state of then, and leaves the history as it is", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      for (const n of [1, 2, 3]) await run.send("add", n);
      const before = (await here.stored("a")).journal;
      expect(await run.rollback({ to: 2 })).toBe(5);
      expect(await run.state()).toMatchObject({ context: { n: 1 }, seq: 5 });
      expect((await here.stored("a")).journal.slice(0, 4)).toEqual(before);
      expect(await run.rollback({ by: 1 })).toBe(6);
      expect((await run.state()).context.n).toBe(6);
      await run.send("add", 10);
      await here.crash(runtime);
      const again = await (await here.boot([counter])).run("a");
      expect(await again.state()).toMatchObject({ context: { n: 16 } });
    });

    test("B7: cancels what began since, and begins again what was under way then and has ended", async () => {
      const here = await world();
      const { calls, code } = tool();
      const machine = callerWith();
      const runtime = await here.boot([{ machine, activities: { tool: code } }]);
      const run = await runtime.start(machine, { id: "a" });
      await here.rest();
      calls[0]?.end("first");
      await run.waitFor("done");
      await run.send("again");
      await here.rest();
      expect(calls.map(({ key }) => key)).toEqual(["a:1.0", "a:3.0"]);
      await run.rollback({ to: 1 });
      await here.rest();
      expect(calls[1]?.signal.aborted).toBe(true);
      expect(calls.map(({ key, input }) => [key, input])).toEqual([
        ["a:1.0", "in"],
        ["a:3.0", "in"],
        ["a:4.0", "in"],
      ]);
      calls[1]?.end("late");
      calls[2]?.end("third");
      await run.waitFor("done");
      expect((await run.state()).context.got).toBe("third");
    });

    test("B7: leaves alone what was under way then and still is", async () => {
      const here = await world();
      const { calls, code } = tool();
      const machine = callerWith();
      const runtime = await here.boot([{ machine, activities: { tool: code } }]);
      const run = await runtime.start(machine, { id: "a" });
      await run.send("note", "x");
      await run.rollback({ to: 1 });
      await here.rest();
      expect(calls).toHaveLength(1);
      expect(calls[0]?.signal.aborted).toBe(false);
      calls[0]?.end("first");
      await run.waitFor("done");
    });

    test("B7: sets timers again that fired since, and ends those that were set since", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      await run.send("nap");
      const asleep = (await run.head()).seq;
      await here.clock.advance("3m");
      expect((await run.state()).configuration).toEqual(["open"]);
      await run.rollback({ to: asleep });
      // Its deadline has passed: it fires at once.
      await here.clock.advance("1s");
      expect((await run.state()).configuration).toEqual(["open"]);
      await run.send("nap");
      await run.rollback({ to: 1 });
      await here.clock.advance("5m");
      const events = (await listOf(run.journal())).map(({ event }) => event.type);
      expect(events.at(-1)).toBe("rollback");
      expect((await run.state()).timers).toEqual([]);
    });

    test("B7: says which deferred events are gone, and whoever asked hears of it", async () => {
      const here = await world();
      const run = await (await here.boot([counter])).start(counter, { id: "a" });
      await run.send("nap");
      await run.send("add", 1);
      const asking = run.ask("add", 2);
      await here.rest();
      const went = await run.rollback({ to: 3 });
      await expect(asking).rejects.toMatchObject({ code: "ASK_UNANSWERED" });
      const [entry] = await listOf(run.journal(went));
      expect(entry).toMatchObject({ event: { type: "rollback" }, dropped: [{ type: "add", data: 2 }] });
      expect((await run.state()).deferred).toMatchObject([{ type: "add", data: 1 }]);
    });

    test("B7: brings a parked run back, and not one that has ended", async () => {
      const here = await world();
      const machine = callerWith({ onDone: { target: "done", require: { never: () => false } } });
      const { calls, code } = tool();
      const runtime = await here.boot([{ machine, activities: { tool: code } }]);
      const run = await runtime.start(machine, { id: "a" });
      await here.rest();
      calls[0]?.end("bad");
      await here.rest();
      expect((await run.head()).status).toBe("parked");
      await run.rollback({ to: 1 });
      await here.rest();
      expect([(await run.head()).status, calls.length]).toEqual(["active", 2]);
      await run.cancel();
      await expect(run.rollback({ to: 1 })).rejects.toMatchObject({ code: "RUN_ENDED" });
    });

    test("begins again what ended while it was on its way, with the edit, and goes where it was to go", async () => {
      const here = await world();
      const machine = callerWith({ onDone: { target: "done", require: { never: () => false } } });
      const { calls, code } = tool();
      const runtime = await here.boot([{ machine, activities: { tool: code } }]);
      const run = await runtime.start(machine, { id: "a" });
      await run.send("note", 1);
      await run.send("note", 2);
      await here.rest();
      let isParked = false;
      here.watch.alter = async ({ verb }, answer) => {
        if (verb !== "readAt" || isParked) return answer;
        isParked = true;
        calls[0]?.end("bad");
        await run.parked();
        return answer;
      };
      const edit = (draft: { got: Json }) => {
        draft.got = [draft.got, "edited"];
      };
      await run.rollback({ by: 1, edit });
      await here.rest();
      expect([(await run.head()).status, calls.length]).toEqual(["active", 2]);
      expect((await run.state()).context.got).toEqual([1, "edited"]);
    });

    test("begins a child again that has ended since, or whose result could not be taken", async () => {
      const here = await world();
      const kid = counterWith({ id: "kid" });
      const parentWith = (id: string, onDone: object) =>
        defineMachine({
          id,
          initial: "waiting",
          states: { waiting: { invoke: { machine: kid, id: "kid", input: 5, onDone } }, over: {} },
        });
      const machines = [
        parentWith("taking", { target: "over" }),
        parentWith("refusing", { target: "over", require: { never: () => false } }),
      ];
      const runtime = await here.boot([...machines, kid]);
      for (const machine of machines) {
        const run = await runtime.start(machine, { id: machine.id });
        const kids = async () =>
          (await listOf(runtime.find({ machine: "kid" })))
            .filter(({ parent, status }) => parent?.run === machine.id && status === "active")
            .map((head) => head.run);
        await here.rest();
        const [first] = await kids();
        await (await runtime.run(first as string)).send("end");
        await here.rest();
        await run.rollback({ to: 1 });
        await here.rest();
        const [second] = await kids();
        expect(second, machine.id).not.toBe(first);
        expect((await (await runtime.run(second as string)).state()).context, machine.id).toMatchObject({
          n: 5,
        });
      }
    });

    test("goes by the version of then, and so does a fork from there", async () => {
      const here = await world();
      const poking = (version: number) =>
        counterWith({ version, on: { poke: { update: (draft) => void draft.log.push(version) } } });
      const runtime = await here.boot([poking(1), poking(2)]);
      const run = await runtime.start(poking(1), { id: "a" });
      await run.migrate();
      await run.send("poke");
      const twin = await run.fork({ at: 1, id: "b" });
      await run.rollback({ to: 1 });
      for (const one of [run, twin]) {
        await one.send("poke");
        expect((await one.state()).context.log).toEqual([1]);
        expect((await one.head()).version).toBe(1);
      }
      await here.crash(runtime);
      const again = await here.boot([poking(1), poking(2)]);
      for (const id of ["a", "b"]) expect((await (await again.run(id)).state()).version).toBe(1);
    });

    test("B7: does not count the time that a run was parked for timers that go on", async () => {
      const here = await world();
      const timed = defineMachine({
        id: "timed",
        initial: "waiting",
        states: {
          waiting: {
            after: { "10m": { target: "rung", resume: "remaining" } },
            on: { poke: { actions: { log: "poked" } } },
          },
          rung: {},
        },
      });
      const runtime = await here.boot([timed]);
      const [gone, kept] = [
        await runtime.start(timed, { id: "rolled" }),
        await runtime.start(timed, { id: "retried" }),
      ];
      for (const run of [gone, kept]) {
        await run.send("poke");
        await here.clock.advance("2m");
        await run.pause();
      }
      await here.clock.advance("30m");
      await gone.rollback({ to: 1 });
      await kept.retry();
      const due = async (run: typeof gone) => (await run.state()).timers[0]?.due as number;
      const left = async (run: typeof gone) => (await due(run)) - here.clock.now();
      // One had been under way for two minutes longer when it was parked.
      expect([await left(gone), await left(kept)]).toEqual([8 * 60_000, 6 * 60_000]);
      await here.clock.advance("8m");
      expect((await gone.state()).configuration).toEqual(["rung"]);
    });

    test("B7: keeps what would undo what was done", async () => {
      const here = await world();
      const done: string[] = [];
      const machine = defineMachine({
        id: "trip",
        initial: "booking",
        states: {
          booking: {
            invoke: { activity: "book", compensate: { activity: "unbook" }, onDone: "booked" },
          },
          booked: { on: { go: "away" } },
          away: {},
        },
      });
      const activities = {
        book: () => "seat",
        unbook: (input: Json) => void done.push(`unbook ${input}`),
      };
      const runtime = await here.boot([{ machine, activities }]);
      const run = await runtime.start(machine, { id: "a" });
      await run.waitFor("booked");
      await run.rollback({ to: 1 });
      await run.waitFor("booked");
      await run.cancel();
      await here.rest();
      expect(done).toEqual(["unbook seat", "unbook seat"]);
    });
  });

  describe("a fork", () => {
    test("B7: begins with the state of then, changed as asked, and leaves its source as it was", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const given = { attributes: { colour: "red" }, limits: { tokens: 50 } };
      const run = await runtime.start(counter, { id: "a", ...given });
      for (const n of [1, 2, 3]) await run.send("add", n);
      const before = await here.stored("a");
      const twin = await run.fork({
        at: 3,
        id: "b",
        edit: (draft) => {
          draft.n += 100;
        },
      });
      await twin.send("add", 1_000);
      expect((await twin.state()).context.n).toBe(1_103);
      expect(await twin.head()).toMatchObject({ fork: { run: "a", seq: 3 }, subject: "a", ...given });
      expect(await here.stored("a")).toEqual(before);
      await here.crash(runtime);
      const again = await here.boot([counter]);
      expect((await (await again.run("b")).state()).context.n).toBe(1_103);
      expect((await (await again.run("a")).state()).context.n).toBe(6);
    });

    test("B7: of a fork, and of its newest checkpoint unless another is given", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      await run.send("add", 1);
      const second = await run.fork({ id: "b" });
      await second.send("add", 2);
      const third = await second.fork({ id: "c" });
      await third.send("add", 4);
      await run.send("add", 100);
      await here.crash(runtime);
      const again = await (await here.boot([counter])).run("c");
      expect(await again.state()).toMatchObject({ context: { n: 7 } });
      expect(await again.at(1)).toMatchObject({ context: { n: 3 } });
    });

    test("B7: is begun once under its id, and refused where that is another run", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      const one = await run.fork({ at: 1, id: "b" });
      await one.send("add", 5);
      const same = await run.fork({ at: 1, id: "b" });
      expect((await same.state()).context.n).toBe(5);
      await run.send("add", 1);
      await expect(run.fork({ at: 2, id: "b" })).rejects.toMatchObject({ code: "RUN_DIFFERS" });
      await expect(run.fork({ at: 2, id: "a" })).rejects.toMatchObject({ code: "RUN_DIFFERS" });
      const other = await runtime.start(counter, { id: "other" });
      await expect(other.fork({ at: 1, id: "b" })).rejects.toMatchObject({ code: "RUN_DIFFERS" });
      await expect(run.fork({ at: 9, id: "z" })).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
    });

    test("B7: shares large contents and its source's journal: it costs the same whatever came before", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      const sizes: number[] = [];
      for (const id of ["b", "c"]) {
        for (let n = 0; n < 20; n++) await run.send("note", `${n} `.repeat(limits.contentLengthMin));
        await run.fork({ id });
        const { journal } = await here.stored(id);
        sizes.push(journal.reduce((sum, { bytes }) => sum + bytes.length, 0));
      }
      expect(sizes[1]! - sizes[0]!).toBeLessThan(10);
      await here.crash(runtime);
      const again = await (await here.boot([counter])).run("c");
      expect((await again.state()).context.log).toHaveLength(40);
    });

    test("B7: begins under its own name what was under way, and does not undo what its source did", async () => {
      const here = await world();
      const { calls, code } = tool();
      const undone: Json[] = [];
      const machine = callerWith({ compensate: { activity: "undo" } });
      const activities = { tool: code, undo: (input: Json) => void undone.push(input) };
      const runtime = await here.boot([{ machine, activities }]);
      const run = await runtime.start(machine, { id: "a" });
      await here.rest();
      const twin = await run.fork({ id: "b" });
      await here.rest();
      expect(calls.map(({ key }) => key)).toEqual(["a:1.0", "b:2.0"]);
      calls[0]?.end("mine");
      calls[1]?.end("its");
      await Promise.all([run.waitFor("done"), twin.waitFor("done")]);
      const late = await run.fork({ id: "c" });
      await late.cancel();
      await here.rest();
      expect(undone).toEqual([]);
      expect((await late.state()).context.got).toBe("mine");
    });

    test("B7: an edit that does not fit, or throws, begins nothing", async () => {
      const here = await world();
      const fussy = counterWith({ id: "fussy", invariants: { small: ({ context }) => context.n < 10 } });
      const run = await (await here.boot([fussy])).start(fussy, { id: "a" });
      const edit = (draft: unknown) => {
        (draft as { n: number }).n = 50;
      };
      await expect(run.fork({ id: "b", edit })).rejects.toMatchObject({ code: "INVARIANT_VIOLATED" });
      const fail = () => {
        throw new Error("no");
      };
      await expect(run.fork({ id: "b", edit: fail })).rejects.toThrow("no");
      expect((await here.stored("b")).head).toBeUndefined();
    });
  });
});
