/** Child runs: they begin with their parent's step or not at all, talk to it, and their end is heard of once. */
import { describe, expect, test } from "vitest";
import { listOf, onEveryStore } from "../../test/runtime/world.ts";
import { defineMachine, type Json, type MachineDefinition } from "../index.ts";
import { limits } from "../limits.ts";

interface Kid {
  readonly n: number;
}

const kidWith = (parts: Partial<MachineDefinition<Kid>> = {}) =>
  defineMachine<Kid>({
    id: "kid",
    start: ({ input }) => ({ n: input as number }),
    initial: "counting",
    states: {
      counting: {
        on: {
          more: { update: (draft) => void draft.n++, actions: { send: { type: "counted", to: "parent" } } },
          enough: "done",
        },
      },
      done: { type: "final", output: ({ context }) => context.n },
    },
    ...parts,
  });

interface Parent {
  readonly heard: number;
  readonly got: Json;
}

const keep = (draft: { got: Json }, { event }: { event: { data?: Json } }) => {
  draft.got = event.data ?? null;
};

const parentOf = (kid: ReturnType<typeof kidWith>) =>
  defineMachine<Parent>({
    id: "parent",
    start: { heard: 0, got: null },
    initial: "waiting",
    states: {
      waiting: {
        invoke: {
          ...{ machine: kid, id: "kid", input: 5 },
          onDone: { target: "over", update: keep },
          onError: { target: "failed", update: keep },
        },
        on: {
          counted: { update: (draft) => void draft.heard++ },
          tell: { actions: { send: ({ event }) => ({ type: event.data as string, to: { child: "kid" } }) } },
          leave: "left",
        },
      },
      over: {},
      failed: {},
      left: {},
    },
  });

onEveryStore((world) => {
  const begin = async (kid = kidWith(), id = "p") => {
    const here = await world();
    const parent = parentOf(kid);
    const runtime = await here.boot([parent]);
    const run = await runtime.start(parent, { id, subject: "ada" });
    const again = async () => {
      await here.crash(runtime);
      return here.boot([parent]);
    };
    return { ...here, parent, runtime, run, again };
  };

  describe("a child run", () => {
    test("B12: begins with its parent's step, in one commit, for the same tenant and subject", async () => {
      const { runtime, watch, stored } = await begin();
      expect(watch.count("commit")).toBe(1);
      const kid = await runtime.run("p/1.0");
      expect(await kid.head()).toMatchObject({
        ...{ machine: "kid", tenant: "default", subject: "ada" },
        parent: { run: "p", key: "1.0", id: "kid" },
      });
      expect((await kid.state()).context).toEqual({ n: 5 });
      expect((await stored("p/1.0")).journal.length).toBe(1);
    });

    test("of a run with the longest of names has one of its own, by which it is found and heard", async () => {
      const id = "x".repeat(limits.nameLengthMax);
      const { runtime, run, parent, rest } = await begin(kidWith(), id);
      const twin = await runtime.start(parent, { id: `${id.slice(0, -1)}y` });
      const kids = await listOf(runtime.find({ machine: "kid" }));
      expect(new Set(kids.map((kid) => kid.run)).size).toBe(2);
      const mine = kids.find((kid) => kid.parent?.run === id)?.run as string;
      expect(mine.length).toBeLessThanOrEqual(limits.nameLengthMax);
      await (await runtime.run(mine)).send("more");
      await run.send("tell", "enough");
      await run.waitFor("over");
      expect((await run.state()).context).toEqual({ heard: 1, got: 6 });
      await twin.send("leave");
      await rest();
      const others = kids
        .filter((kid) => kid.run !== mine)
        .map(async (kid) => (await runtime.run(kid.run)).head());
      expect(await Promise.all(others)).toMatchObject([{ status: "cancelled" }]);
    });

    test("B12: does not begin when its parent's step cannot be committed", async () => {
      const { boot, watch, stored } = await world();
      const parent = parentOf(kidWith());
      const runtime = await boot([parent]);
      watch.failNext("commit", "before");
      await expect(runtime.start(parent, { id: "p" })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect([(await stored("p")).head, (await stored("p/1.0")).head]).toEqual([undefined, undefined]);
    });

    test("B12: hears its parent, answers it, and gives it its output, through a crash", async () => {
      const { run, rest, again } = await begin();
      await run.send("tell", "more");
      await rest();
      expect((await run.state()).context.heard).toBe(1);
      const second = await again();
      const parent = await second.run("p");
      await parent.send("tell", "enough");
      await parent.waitFor("over");
      expect((await parent.state()).context).toEqual({ heard: 1, got: 6 });
      expect((await parent.state()).children).toEqual([]);
      expect(await (await second.run("p/1.0")).finished()).toMatchObject({ status: "done", output: 6 });
    });

    test("B12: is heard of once when the process dies between its end and its parent's step", async () => {
      const { runtime, watch, stored, again, rest } = await begin();
      const kid = await runtime.run("p/1.0");
      await kid.send("more");
      await rest();
      let commits = 0;
      watch.fault = ({ verb }) => (verb === "commit" && ++commits > 1 ? "before" : undefined);
      await kid.send("enough");
      expect((await stored("p")).inbox.length).toBe(1);
      const second = await again();
      watch.comeBack();
      const run = await second.run("p");
      await run.waitFor("over");
      expect((await run.state()).context).toEqual({ heard: 1, got: 6 });
      expect((await run.head()).seq).toBe(3);
    });

    test("B12: is cancelled when its parent leaves the state that invoked it, and that is not heard of", async () => {
      const { run, runtime, clock } = await begin();
      await run.send("leave");
      await clock.advance(0);
      expect((await (await runtime.run("p/1.0")).finished()).status).toBe("cancelled");
      expect([(await run.state()).configuration, (await run.head()).seq]).toEqual([["left"], 2]);
      await run.cancel();
    });

    test("B12: is cancelled with its parent, all the way down, also through a crash", async () => {
      const grandchild = kidWith({ id: "grandchild" });
      const child = kidWith({
        id: "kid",
        initial: "raising",
        states: { raising: { invoke: { machine: grandchild, input: 1 } } },
      });
      const { run, again, watch, clock, stored } = await begin(child);
      let commits = 0;
      watch.fault = ({ verb }) => (verb === "commit" && ++commits > 1 ? "before" : undefined);
      await run.cancel();
      await again();
      watch.comeBack();
      await clock.advance("2s");
      for (const name of ["p", "p/1.0", "p/1.0/1.0"])
        expect([name, (await stored(name)).head?.status]).toEqual([name, "cancelled"]);
    });

    test("B13: that comes to a limit tells its parent why", async () => {
      const { run } = await begin(kidWith({ limits: { steps: 2 } }));
      await run.send("tell", "more");
      await run.waitFor("failed");
      expect((await run.state()).context.got).toMatchObject({ name: "LimitReached", limit: "steps", max: 2 });
    });

    test("B12: that is cancelled from outside tells its parent so", async () => {
      const { run, runtime } = await begin();
      await (await runtime.run("p/1.0")).cancel();
      await run.waitFor("failed");
      expect((await run.state()).context.got).toEqual({
        ...{ name: "Cancelled", message: "The run p/1.0 was cancelled" },
      });
    });

    test("B12: that cannot begin is an error its parent hears of", async () => {
      const lazy = kidWith({
        start: () => {
          throw new Error("too tired");
        },
      });
      const { run } = await begin(lazy);
      await run.waitFor("failed");
      expect((await run.state()).context.got).toMatchObject({ message: "too tired" });
      const { boot } = await world();
      const orphan = defineMachine<{ got: Json }>({
        id: "orphan",
        start: { got: null },
        initial: "trying",
        states: {
          trying: { invoke: { machine: "nowhere", onError: { target: "failed", update: keep } } },
          failed: {},
        },
      });
      const alone = await (await boot([orphan])).start(orphan, { id: "b" });
      await alone.waitFor("failed");
      expect((await alone.state()).context.got).toMatchObject({ code: "MACHINE_UNKNOWN" });
    });

    test("B12: that ends in its first step is heard of all the same", async () => {
      const { run } = await begin(kidWith({ initial: "done" }));
      await run.waitFor("over");
      expect((await run.state()).context.got).toBe(5);
    });

    test("F5: whose name is taken by another run is told, and nobody waits for ever", async () => {
      const { boot, clock } = await world();
      const kid = kidWith();
      const later = defineMachine({
        id: "later",
        initial: "here",
        states: { here: { on: { go: "there" } }, there: { invoke: { machine: kid, input: 1 } } },
      });
      const timed = defineMachine({
        id: "timed",
        initial: "here",
        states: {
          here: { on: { wait: "waiting" } },
          waiting: { after: { "1s": "there" } },
          there: { invoke: { machine: kid, input: 1 } },
        },
      });
      const parent = parentOf(kid);
      const problems: unknown[] = [];
      const runtime = await boot([later, timed, parent], { onProblem: ({ error }) => problems.push(error) });
      await runtime.start(kid, { id: "p/2.0", input: 1 });
      await runtime.start(kid, { id: "q/1.0", input: 1 });
      const run = await runtime.start(later, { id: "p" });
      await expect(run.send("go")).rejects.toMatchObject({ code: "RUN_DIFFERS" });
      expect((await run.state()).configuration).toEqual(["here"]);
      await expect(runtime.start(parent, { id: "q" })).rejects.toMatchObject({ code: "RUN_DIFFERS" });
      await clock.advance("2s");
      expect(problems).toEqual([]);
      await (await runtime.start(timed, { id: "r" })).send("wait");
      await runtime.start(kid, { id: "r/3.0", input: 1 });
      await clock.advance("1s");
      expect(problems).toMatchObject([{ code: "RUN_DIFFERS" }]);
      expect((await (await runtime.run("r")).head()).status).toBe("parked");
    });

    test.each(["has begun", "is about to begin"])(
      "that %s when somebody starts a run of its name begins once, and goes on",
      async (moment) => {
        const { boot, watch, stored, rest } = await world();
        const kid = defineMachine({
          id: "kid",
          initial: "calling",
          states: { calling: { invoke: { activity: "tool", onDone: "resting" } }, resting: {} },
        });
        const parent = defineMachine({
          id: "parent",
          initial: "idle",
          states: { idle: { on: { hire: "waiting" } }, waiting: { invoke: { machine: kid, id: "kid" } } },
        });
        const busy = defineMachine({
          id: "busy",
          initial: "on",
          states: { on: { invoke: { activity: "wait" } } },
        });
        const [loaded, committed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const free = Promise.withResolvers<void>();
        const activities = { tool: () => "done", wait: () => free.promise };
        const entries = [parent, busy].map((machine) => ({ machine, activities }));
        const runtime = await boot(entries as never, { flow: { slots: 1 } });
        await runtime.start(busy, { id: "b" });
        const run = await runtime.start(parent, { id: "p" });
        watch.alter = async ({ verb, given: [name] }, answer) => {
          if (verb === "load" && (name as { run: string }).run === "p/2.0") await loaded.promise;
          if (verb === "commit") await committed.promise;
          return answer;
        };
        const started = runtime.start(kid, { id: "p/2.0" });
        const hired = run.send("hire");
        const pass = () => new Promise((resolve) => setImmediate(resolve));
        while ((await stored("p/2.0")).head === undefined) await pass();
        for (const answer of moment === "is about to begin" ? [loaded, committed] : [committed, loaded]) {
          answer.resolve();
          await pass();
        }
        await hired;
        const child = await started;
        expect(await child.head()).toMatchObject({ seq: 1, parent: { run: "p" } });
        // Its activity had to wait for its turn, and begins when it has one.
        free.resolve();
        await child.waitFor("resting");
        await rest();
        expect((await stored("p/2.0")).journal.length).toBe(2);
      },
    );

    test("B2: that is read while its beginning is under way goes on once, from where it is", async () => {
      const here = await world();
      const kid = defineMachine({
        id: "kid",
        initial: "calling",
        states: {
          calling: { invoke: { activity: "tool", onDone: "resting" } },
          resting: { on: { call: "calling" } },
        },
      });
      const parent = defineMachine({
        id: "parent",
        initial: "idle",
        states: { idle: { on: { hire: "waiting" } }, waiting: { invoke: { machine: kid, id: "kid" } } },
      });
      let calls = 0;
      const activities = { tool: () => void calls++ };
      const runtime = await here.boot([parent, { machine: kid, activities }] as never);
      const run = await runtime.start(parent, { id: "a" });
      const [committed, loaded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      here.watch.alter = ({ verb, given }, answer) => {
        const isKid = verb === "load" && (given[0] as { run: string }).run !== "a";
        if (verb === "commit" && calls === 0) return committed.promise.then(() => answer);
        return isKid ? loaded.promise.then(() => answer) : answer;
      };
      const hired = run.send("hire");
      const stored = async () =>
        (await (await here.look()).findRuns({ tenant: "default", machine: "kid", limit: 1 }))[0];
      while ((await stored()) === undefined) await new Promise((resolve) => setImmediate(resolve));
      const read = runtime.run((await stored())?.run as string);
      await new Promise((resolve) => setImmediate(resolve));
      committed.resolve();
      await hired;
      while ((await stored())?.seq !== 2) await new Promise((resolve) => setImmediate(resolve));
      loaded.resolve();
      const child = await read;
      await here.rest();
      expect([calls, (await child.state()).configuration]).toEqual([1, ["resting"]]);
      await child.send("call");
      await child.waitFor("resting");
      expect([calls, (await child.head()).seq]).toEqual([2, 4]);
    });
  });
});
