/** Runs, as their users hold them: what they are started with, take, tell and end with, across restarts. */
import { describe, expect, test } from "vitest";
import { counter, counterWith } from "../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../test/runtime/world.ts";
import { defineMachine, limits } from "../index.ts";

onEveryStore((world) => {
  describe("a run", () => {
    test("B1: has an id, a tenant, a subject, its machine and version, a status, its times, and its result", async () => {
      const { boot, clock } = await world();
      const runtime = await boot([counter]);
      const options = { id: "a", tenant: "acme", subject: "ada", input: 1, attributes: { team: "red" } };
      const run = await runtime.start(counter, options);
      const createdAt = clock.now();
      expect(await run.head()).toMatchObject({
        ...{ tenant: "acme", run: "a", subject: "ada", machine: "counter", version: 1, status: "active" },
        ...{ seq: 1, createdAt, updatedAt: createdAt, attributes: { team: "red" } },
      });
      await clock.advance("1s");
      await run.send("add", 2);
      expect(await run.head()).toMatchObject({ seq: 2, createdAt, updatedAt: createdAt + 1_000 });
      await clock.advance("1s");
      await run.send("end");
      expect(await run.head()).toMatchObject({ status: "done", seq: 3, completedAt: createdAt + 2_000 });
      expect(await run.finished()).toEqual({ status: "done", state: "closed", output: 3, reason: undefined });
    });

    test("B1: every step makes a new state, and the one before stays as it was", async () => {
      const { boot } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const before = await run.state();
      await run.send("add", 1);
      expect([before.context.n, (await run.state()).context.n]).toEqual([0, 1]);
      expect(() => Object.assign(before.context, { n: 7 })).toThrow(TypeError);
    });

    test("B1: can be followed step by step from any checkpoint, while it goes on, until its end", async () => {
      const { boot } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      await run.send("add", 1);
      const all = listOf(run.follow());
      const some = listOf(run.follow(3));
      await run.send("add", 2);
      await run.send("end");
      expect((await all).map(({ seq, event }) => `${seq} ${event.type}`)).toEqual([
        "1 start",
        "2 add",
        "3 add",
        "4 end",
      ]);
      expect((await some).map(({ seq }) => seq)).toEqual([3, 4]);
      expect(await listOf(run.follow(9))).toEqual([]);
    });

    test("takes events, and a receipt tells what became of each", async () => {
      const { boot } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a", input: 1 });
      expect(await (await run.send("add", 2)).handled()).toMatchObject({ seq: 2, outcome: "taken" });
      const refused = await (await run.send("fly")).handled();
      expect(refused).toMatchObject({ seq: 3, outcome: "refused", error: { code: "EVENT_UNKNOWN" } });
      await run.send("nap");
      expect(await (await run.send("add", 2)).handled()).toMatchObject({ seq: 5, outcome: "deferred" });
      expect(await (await run.send("end")).handled()).toMatchObject({
        ...{ seq: 6, outcome: "refused", error: { code: "EVENT_UNHANDLED" } },
      });
      expect((await run.state()).context.n).toBe(3);
    });

    test("that no policy refuses ignores what no state takes", async () => {
      const { boot } = await world();
      const machine = counterWith({ unhandled: "ignore" });
      const run = await (await boot([machine])).start(machine, { id: "a" });
      expect(await (await run.send("fly")).handled()).toMatchObject({ seq: 2, outcome: "ignored" });
    });

    test("B4: goes on after a crash where it was, with every step in its journal", async () => {
      const { boot, crash } = await world();
      const first = await boot([counter]);
      const run = await first.start(counter, { id: "a" });
      for (const n of [1, 2, 3]) await run.send("add", n);
      const before = await run.state();
      await crash(first);
      const again = await (await boot([counter])).run("a");
      expect(await again.state()).toEqual(before);
      await again.send("end");
      expect(await again.finished()).toMatchObject({ status: "done", state: "closed", output: 6 });
      const steps = [];
      for await (const { seq, event, outcome } of again.journal()) steps.push([seq, event.type, outcome]);
      expect(steps).toEqual([
        [1, "start", "taken"],
        [2, "add", "taken"],
        [3, "add", "taken"],
        [4, "add", "taken"],
        [5, "end", "taken"],
      ]);
    });

    test("B8: its journal holds every event with its data, outcome, time, effects and error", async () => {
      const { boot, clock } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a", input: 4 });
      await clock.advance("1s");
      await run.send("nap");
      await run.send("fly", { to: "the moon" });
      const entries = await listOf(run.journal());
      const at = clock.now();
      expect(entries).toMatchObject([
        { seq: 1, at: at - 1_000, event: { type: "start", data: 4 }, outcome: "taken" },
        { seq: 2, at, event: { type: "nap" }, outcome: "taken", effects: [{ type: "timer" }] },
        { seq: 3, at, event: { type: "fly", data: { to: "the moon" } }, error: { code: "EVENT_UNKNOWN" } },
      ]);
      expect(await listOf(run.journal(3))).toEqual(entries.slice(2));
    });

    test("G1: of many steps is read back from a snapshot and the few entries after it", async () => {
      const { boot, crash, rest } = await world();
      const first = await boot([counter]);
      const run = await first.start(counter, { id: "a" });
      for (let n = 0; n < 300; n++) await run.send("note", `${n} ${"x".repeat(200)}`);
      const { snapshotSeq, seq } = await run.head();
      expect(snapshotSeq).toBeGreaterThan(seq / 2);
      const before = await run.state();
      await crash(first);
      const again = await (await boot([counter])).run("a");
      expect(await again.state()).toEqual(before);
      await rest();
    });

    test("writes no snapshot for a small step after a restart, however well its state compresses", async () => {
      const { boot, crash, rest } = await world();
      const first = await boot([counter]);
      const run = await first.start(counter, { id: "a" });
      const large = Array.from({ length: 400 }, (_, n) => `${n} ${"x".repeat(200)}`);
      await run.send("note", large);
      const text = "y".repeat(limits.snapshotAfterBytesMin / 40);
      for (let n = 0; n < 42; n++) await run.send("note", text);
      const { snapshotSeq } = await run.head();
      expect(snapshotSeq).toBeGreaterThan(0);
      await crash(first);
      const again = await (await boot([counter])).run("a");
      await again.send("note", "small");
      expect((await again.head()).snapshotSeq).toBe(snapshotSeq);
      await rest();
    });

    test("that somebody else began in the same moment is attached to, or refused where it differs", async () => {
      const { boot, crash, watch } = await world();
      const first = await boot([counter]);
      await (await first.start(counter, { id: "a", input: 5 })).send("add", 1);
      await crash(first);
      const runtime = await boot([counter]);
      /** As if it had been looked for just before it began. */
      const overlook = () => {
        let left = 1;
        watch.alter = ({ verb }, answer) => (verb === "load" && left-- > 0 ? undefined : answer);
      };
      overlook();
      await expect(runtime.start(counter, { id: "a", input: 6 })).rejects.toMatchObject({
        code: "RUN_DIFFERS",
      });
      await crash(runtime);
      const third = await boot([counter]);
      overlook();
      const run = await third.start(counter, { id: "a", input: 5 });
      await run.send("add", 1);
      expect([(await run.state()).context.n, (await run.head()).seq]).toEqual([7, 3]);
    });

    test("is attached to when the same id, machine and input come again, and refused when they differ", async () => {
      const { boot } = await world();
      const other = defineMachine({ id: "other", initial: "here", states: { here: {} } });
      const runtime = await boot([counter, other]);
      const input = { a: 1, b: [2] };
      await (await runtime.start(counter, { id: "a", input })).send("note", 1);
      const same = await runtime.start(counter, { id: "a", input: { b: [2], a: 1 } });
      expect((await same.state()).context.log).toEqual([1]);
      for (const start of [
        runtime.start(counter, { id: "a", input: { a: 1, b: [3] } }),
        runtime.start(counter, { id: "a" }),
        runtime.start(other, { id: "a", input }),
      ])
        await expect(start).rejects.toMatchObject({ code: "RUN_DIFFERS" });
    });

    test("that is started many times at once begins once", async () => {
      const { boot, watch } = await world();
      const runtime = await boot([counter]);
      const runs = await Promise.all(
        Array.from({ length: 20 }, () => runtime.start(counter, { id: "a", input: 1 })),
      );
      await Promise.all(runs.map((run) => run.send("add", 1)));
      expect((await runs[0]?.state())?.context.n).toBe(21);
      expect(await runs[0]?.head()).toMatchObject({ seq: 21 });
      expect(watch).toBeDefined();
    });

    test("whose start throws does not begin, and can be started when that is mended", async () => {
      const { boot, stored } = await world();
      let broken = true;
      const machine = counterWith({
        start: () => {
          if (broken) throw new Error("no luck");
          return { n: 0, log: [] };
        },
      });
      const runtime = await boot([machine]);
      await expect(runtime.start(machine, { id: "a" })).rejects.toThrow("no luck");
      expect((await stored("a")).head).toBeUndefined();
      broken = false;
      expect(await (await runtime.start(machine, { id: "a" })).head()).toMatchObject({ seq: 1 });
    });

    test("belongs to its tenant: another tenant's run of the same id is another run", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      const one = await runtime.start(counter, { id: "a", tenant: "one", input: 1 });
      const two = await runtime.start(counter, { id: "a", tenant: "two", input: 2 });
      await one.send("add", 10);
      expect([(await one.state()).context.n, (await two.state()).context.n]).toEqual([11, 2]);
      await expect(runtime.run("a")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    });

    test("is waited for in a state, and waiting ends when the run ends without it", async () => {
      const { boot, clock } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const asleep = run.waitFor("asleep");
      await run.send("nap");
      expect((await asleep).configuration).toEqual(["asleep"]);
      const again = run.waitFor("asleep");
      expect((await again).configuration).toEqual(["asleep"]);
      const open = run.waitFor("open");
      await clock.advance("2m");
      expect((await open).configuration).toEqual(["open"]);
      const never = run.waitFor("asleep");
      await run.send("end");
      await expect(never).rejects.toMatchObject({ code: "RUN_ENDED" });
      await expect(run.waitFor("asleep")).rejects.toMatchObject({ code: "RUN_ENDED" });
      expect((await run.waitFor("closed")).output).toBe(0);
    });

    test("is cancelled once, however often it is asked for", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      await Promise.all([run.cancel(), run.cancel()]);
      await run.cancel();
      expect(await run.finished()).toMatchObject({ status: "cancelled", output: undefined });
      expect((await run.head()).seq).toBe(2);
    });

    test("logs and emits once it is durable, and whoever listens cannot hurt it", async () => {
      const machine = defineMachine<{ n: number }>({
        id: "loud",
        start: { n: 0 },
        initial: "here",
        states: {
          here: {
            on: {
              say: {
                update: (draft) => void draft.n++,
                actions: [
                  { log: ({ context }) => context.n, label: "n" },
                  { emit: { type: "said", data: 5 } },
                ],
              },
            },
          },
        },
      });
      const { boot } = await world();
      const heard: unknown[] = [];
      const problems: unknown[] = [];
      const runtime = await boot([machine], {
        onLog: ({ run, label, data }) => {
          heard.push([run, label, data]);
          throw new Error("deaf");
        },
        onEmit: ({ run, event }) => {
          heard.push([run, event.type, event.data]);
          throw new Error("deaf");
        },
        onProblem: ({ run, error }) => {
          problems.push([run, (error as Error).message]);
          throw new Error("deaf too");
        },
      });
      const run = await runtime.start(machine, { id: "a" });
      expect(await (await run.send("say")).handled()).toMatchObject({ outcome: "taken" });
      await run.send("say");
      expect(heard).toEqual([
        ["a", "n", 1],
        ["a", "said", 5],
        ["a", "n", 2],
        ["a", "said", 5],
      ]);
      expect(problems).toEqual(Array.from({ length: 4 }, () => ["a", "deaf"]));
    });
  });
});
