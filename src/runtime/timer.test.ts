/** Timers of runs: absolute deadlines, never early and never twice, and what outages do to them by their policy. */
import { describe, expect, test } from "vitest";
import { onEveryStore } from "../../test/runtime/world.ts";
import type { ResumePolicy } from "../index.ts";
import { defineMachine } from "../index.ts";
import type { Store } from "../store/store.ts";

interface Bell {
  readonly rung: readonly number[];
}

/** Rings ten seconds after it is wound; a result that it refuses parks it. */
const bellWith = (resume: ResumePolicy, isGood = () => true) =>
  defineMachine<Bell>({
    id: "bell",
    start: { rung: [] },
    initial: "still",
    states: {
      still: { on: { wind: "wound" } },
      wound: {
        after: { "10s": { target: "still", resume, update: (draft, { at }) => void draft.rung.push(at) } },
        on: { stop: "still", poke: {}, check: "checking" },
      },
      checking: {
        after: { "10s": { target: "still", resume, update: (draft, { at }) => void draft.rung.push(at) } },
        invoke: { activity: "tool", onDone: { require: { good: isGood } } },
      },
    },
  });

const secondMs = 1_000;

onEveryStore((world) => {
  describe("a timer", () => {
    test("B11: fires when it is due and not before, once", async () => {
      const { boot, clock } = await world();
      const bell = bellWith("deadline");
      const run = await (await boot([bell])).start(bell, { id: "a" });
      await run.send("wind");
      const due = clock.now() + 10 * secondMs;
      await clock.advance(10 * secondMs - 1);
      expect((await run.state()).context.rung).toEqual([]);
      await clock.advance(1);
      expect((await run.state()).context.rung).toEqual([due]);
      await clock.advance("1m");
      expect((await run.head()).seq).toBe(3);
    });

    test("B11: that does not run on while nobody is there runs until its process was closed", async () => {
      const { boot, close, clock } = await world();
      const bell = bellWith("remaining");
      const first = await boot([bell]);
      await (await first.start(bell, { id: "a" })).send("wind");
      await clock.advance(2 * secondMs);
      await close(first);
      clock.jump(60 * secondMs);
      const run = await (await boot([bell])).run("a");
      await clock.advance(8 * secondMs - 1);
      expect((await run.state()).context.rung).toEqual([]);
      await clock.advance(1);
      expect((await run.state()).context.rung).toEqual([clock.now()]);
    });

    test("B11: of a state that was left makes its run due no more", async () => {
      const { boot } = await world();
      const bell = bellWith("deadline");
      const run = await (await boot([bell])).start(bell, { id: "a" });
      await run.send("wind");
      expect(await run.head()).toHaveProperty("wakeAt");
      await run.send("stop");
      expect(await run.head()).not.toHaveProperty("wakeAt");
    });

    test("B11: does not fire once its state was left, nor for the one before when it is set again", async () => {
      const { boot, clock } = await world();
      const bell = bellWith("deadline");
      const run = await (await boot([bell])).start(bell, { id: "a" });
      await run.send("wind");
      await clock.advance(9 * secondMs);
      await run.send("stop");
      await run.send("wind");
      const due = clock.now() + 10 * secondMs;
      await clock.advance(9 * secondMs);
      expect((await run.state()).context.rung).toEqual([]);
      await clock.advance(secondMs);
      expect((await run.state()).context.rung).toEqual([due]);
    });

    test("B11: stays when it was through a crash, and fires late if that has passed", async () => {
      const { boot, crash, clock } = await world();
      const bell = bellWith("deadline");
      const first = await boot([bell]);
      await (await first.start(bell, { id: "a" })).send("wind");
      const due = clock.now() + 10 * secondMs;
      await clock.advance(3 * secondMs);
      await crash(first);
      await clock.advance(3 * secondMs);
      const second = await boot([bell]);
      await clock.advance(4 * secondMs - 1);
      const run = await second.run("a");
      expect((await run.state()).context.rung).toEqual([]);
      await clock.advance(1);
      expect((await run.state()).context.rung).toEqual([due]);
      await run.send("wind");
      await crash(second);
      await clock.advance("2 days");
      const again = await (await boot([bell])).run("a");
      await clock.advance(0);
      expect((await again.state()).context.rung).toEqual([due, clock.now()]);
    });

    test("B11: with `remaining` waits as long after a crash as was left before it", async () => {
      const { boot, crash, clock } = await world();
      const bell = bellWith("remaining");
      const first = await boot([bell]);
      const wound = await first.start(bell, { id: "a" });
      await wound.send("wind");
      await clock.advance(4 * secondMs);
      await first.close();
      await clock.advance("1 day");
      const second = await boot([bell]);
      await clock.advance(3 * secondMs);
      await crash(second);
      await clock.advance("1m");
      const run = await (await boot([bell])).run("a");
      await clock.advance(3 * secondMs - 1);
      expect((await run.state()).context).toEqual({ rung: [] });
      // A crash leaves no word of when it came: the last sign of life counts.
      await clock.advance(4 * secondMs);
      expect((await run.state()).context).toEqual({ rung: [expect.any(Number)] });
      await clock.advance("1m");
      expect((await run.state()).context).toEqual({ rung: [expect.any(Number)] });
    });

    test("B11: hears of the outage before it fires when its run was held meanwhile and goes back", async () => {
      const { boot, clock, place } = await world();
      const bell = bellWith("remaining");
      const first = await boot([bell]);
      const wound = await first.start(bell, { id: "a" });
      await wound.send("wind");
      await wound.pause();
      await first.close();
      await clock.advance("1m");
      let lateMs = 0;
      const store = place.connect();
      const load: Store["load"] = async (name) => {
        if (lateMs > 0) await new Promise<void>((resolve) => void clock.after(lateMs, resolve));
        return store.load(name);
      };
      const of = (verb: string | symbol) => store[verb as keyof Store] as (...given: never[]) => unknown;
      const slow = new Proxy(store, {
        get: (_, verb) => (verb === "load" ? load : of(verb).bind(store)),
      });
      const run = await (await boot([bell], { store: slow })).run("a");
      lateMs = 2 * secondMs;
      await run.rollback({ to: 2 });
      await clock.advance(9 * secondMs);
      expect((await run.state()).context).toEqual({ rung: [] });
      await clock.advance(secondMs);
      expect((await run.state()).context).toEqual({ rung: [clock.now()] });
    });

    test("B11: with `restart` waits its whole time again after a crash", async () => {
      const { boot, crash, clock } = await world();
      const bell = bellWith("restart");
      const first = await boot([bell]);
      await (await first.start(bell, { id: "a" })).send("wind");
      await clock.advance(9 * secondMs);
      await crash(first);
      await clock.advance("1m");
      const run = await (await boot([bell])).run("a");
      const due = clock.now() + 10 * secondMs;
      await clock.advance(10 * secondMs - 1);
      expect((await run.state()).context.rung).toEqual([]);
      await clock.advance(1);
      expect((await run.state()).context.rung).toEqual([due]);
    });

    test("B11: that was due before the crash simply fires, whatever its policy", async () => {
      for (const policy of ["deadline", "remaining", "restart"] as const) {
        const { boot, crash, clock, watch } = await world();
        const bell = bellWith(policy);
        const first = await boot([bell]);
        await (await first.start(bell, { id: "a" })).send("wind");
        watch.fault = ({ verb }) => (verb === "commit" ? "before" : undefined);
        await clock.advance(15 * secondMs);
        await crash(first);
        watch.comeBack();
        await clock.advance("1m");
        const run = await (await boot([bell])).run("a");
        await clock.advance(0);
        expect([policy, (await run.state()).context.rung]).toEqual([policy, [clock.now()]]);
      }
    });

    test.each(["deadline", "remaining", "restart"] as const)(
      "B11: with the policy %s counts the time its run was parked as an outage",
      async (policy) => {
        const { boot, clock } = await world();
        let good = false;
        const bell = bellWith(policy, () => good);
        const tool = () => new Promise((resolve) => clock.after(4 * secondMs, () => resolve("out")));
        const run = await (await boot([{ machine: bell, activities: { tool } }])).start(bell, { id: "a" });
        await run.send("wind");
        await run.send("check");
        await clock.advance(4 * secondMs);
        expect((await run.head()).status).toBe("parked");
        await clock.advance("1m");
        expect((await run.state()).context.rung).toEqual([]);
        good = true;
        await run.retry();
        await clock.advance(0);
        const left = { deadline: 0, remaining: 6 * secondMs, restart: 10 * secondMs }[policy];
        if (left > 0) await clock.advance(left - 1);
        expect((await run.state()).context.rung.length).toBe(policy === "deadline" ? 1 : 0);
        const due = clock.now() + 1;
        await clock.advance(1);
        expect((await run.state()).context.rung).toEqual([policy === "deadline" ? due - 1 : due]);
      },
    );

    test("B11: fires while steps of its run wait for a checkpoint", async () => {
      const { boot, clock, rest } = await world();
      const patient = defineMachine<Bell>({
        id: "patient",
        checkpoint: "manual",
        start: { rung: [] },
        initial: "wound",
        states: {
          wound: {
            after: { "10s": { update: (draft, { at }) => void draft.rung.push(at) } },
            on: { poke: { update: () => {} } },
          },
        },
      });
      const poker = defineMachine({
        id: "poker",
        initial: "here",
        states: { here: { on: { go: { actions: { send: { type: "poke", to: { run: "a" } } } } } } },
      });
      const runtime = await boot([patient, poker]);
      const run = await runtime.start(patient, { id: "a" });
      await clock.advance(9 * secondMs);
      await (await runtime.start(poker, { id: "b" })).send("go");
      await rest();
      expect((await run.head()).seq).toBe(1);
      await clock.advance(3_000);
      expect((await run.state()).context.rung.length).toBe(1);
    });

    test("B11: many at once fire in order of their time", async () => {
      const { boot, crash, clock } = await world();
      const many = defineMachine<{ log: number[] }>({
        id: "many",
        start: { log: [] },
        initial: "here",
        states: {
          here: {
            entry: [5, 1, 4, 2, 3].map((n) => ({ send: { type: "ring", data: n, delay: `${n}s` } })),
            on: { ring: { update: (draft, { event }) => void draft.log.push(event.data as number) } },
          },
        },
      });
      const first = await boot([many]);
      await first.start(many, { id: "a" });
      await clock.advance("1.5s");
      await crash(first);
      await clock.advance("1m");
      const run = await (await boot([many])).run("a");
      await clock.advance(0);
      expect((await run.state()).context.log).toEqual([1, 2, 3, 4, 5]);
      expect((await run.head()).seq).toBe(6);
    });
  });
});
