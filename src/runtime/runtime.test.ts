/** The façade on both stores: what a run promises, across restarts, in virtual time. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { defineMachine, type Json, limits } from "../index.ts";
import { memory } from "../store/memory/store.ts";
import { sqlite } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import type { Activity, ActivityScope } from "./attempt.ts";
import { createRuntime, type Runtime } from "./runtime.ts";

const counter = defineMachine<{ n: number; log: Json[] }>({
  id: "counter",
  start: ({ input }) => ({ n: (input as number | undefined) ?? 0, log: [] }),
  unhandled: "reject",
  initial: "open",
  states: {
    open: {
      on: {
        add: {
          update: (draft, { event }) => {
            draft.n += event.data as number;
          },
        },
        note: { update: (draft, { event }) => void draft.log.push(event.data as Json) },
        echo: { actions: { send: { type: "note", data: ({ event }) => event.data as Json } } },
        tell: {
          actions: {
            send: ({ event }) => ({ type: "note", data: "hello", to: { run: event.data as string } }),
          },
        },
        nap: "asleep",
        end: "closed",
      },
    },
    asleep: { after: { "2m": "open" } },
    closed: { type: "final", output: ({ context }) => context.n },
  },
});

const keep = (draft: { got: Json }, { event }: { event: { data: Json } }) => {
  draft.got = event.data;
};

const caller = (options: object = {}) =>
  defineMachine<{ got: Json }>({
    id: "caller",
    start: { got: null },
    initial: "calling",
    states: {
      calling: {
        invoke: {
          activity: "tool",
          input: "in",
          onDone: { target: "done", update: keep },
          onError: { target: "failed", update: keep },
          onUnknown: "unknown",
          ...options,
        },
        on: { stop: "stopped" },
      },
      done: {},
      failed: {},
      unknown: {},
      stopped: {},
    },
  });

let open: Runtime[] = [];
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close();
});

function makeWorld(openStore: () => Store) {
  const clock = new VirtualClock(1_000);
  return {
    clock,
    boot: async (machine: ReturnType<typeof caller> | typeof counter = counter, tool?: Activity) => {
      const activities = tool === undefined ? {} : { tool };
      const runtime = await createRuntime({
        store: openStore(),
        clock,
        machines: [{ machine: machine as never, activities }],
      });
      open.push(runtime);
      return runtime;
    },
    /** As a crash would: what was in memory is gone, what was committed stays. */
    crash: async (runtime: Runtime) => {
      open = open.filter((one) => one !== runtime);
      await runtime.close();
    },
  };
}

/** The stores, each as a way to open the same one again and again. */
const stores: Readonly<Record<string, () => () => Store>> = {
  memory: () => {
    const store = memory();
    return () => store;
  },
  SQLite: () => {
    const path = join(folder, `${files++}.db`);
    return () => sqlite(path);
  },
};
const folder = mkdtempSync(join(tmpdir(), "holdfast-runtime-"));
let files = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(Object.keys(stores))("on %s", (kind) => {
  const world = () => makeWorld((stores[kind] as () => () => Store)());

  describe("a run", () => {
    test("takes events, and a receipt tells what became of each", async () => {
      const { boot } = world();
      const run = await (await boot()).start(counter, { id: "a", input: 1 });
      const taken = await (await run.send("add", 2)).handled();
      expect([taken.seq, taken.outcome]).toEqual([2, "taken"]);
      const refused = await (await run.send("fly")).handled();
      expect([refused.seq, refused.outcome, refused.error?.code]).toEqual([3, "refused", "EVENT_UNKNOWN"]);
      expect((await run.state()).context.n).toBe(3);
    });

    test("goes on after a restart where it was, with every step in its journal", async () => {
      const { boot, crash } = world();
      const first = await boot();
      const run = await first.start(counter, { id: "a" });
      for (const n of [1, 2, 3]) await run.send("add", n);
      const before = await run.state();
      await crash(first);
      const again = await (await boot()).run("a");
      expect(await again.state()).toEqual(before);
      await again.send("end");
      expect(await again.finished()).toEqual({ status: "done", state: "closed", output: 6 });
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

    test("is attached to when the same id, machine and input come again, and refused when they differ", async () => {
      const { boot } = world();
      const runtime = await boot();
      await (await runtime.start(counter, { id: "a", input: 5 })).send("add", 1);
      const same = await runtime.start(counter, { id: "a", input: 5 });
      expect((await same.state()).context.n).toBe(6);
      await expect(runtime.start(counter, { id: "a", input: 6 })).rejects.toMatchObject({
        code: "RUN_DIFFERS",
      });
      await expect(runtime.run("b")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    });

    test("needs names that stores can keep", async () => {
      const { boot } = world();
      const runtime = await boot();
      const run = await runtime.start(counter, { id: "x".repeat(limits.nameLengthMax) });
      for (const id of ["", "a\0b", "\ud800", "x".repeat(limits.nameLengthMax + 1), 5 as never]) {
        await expect(runtime.start(counter, { id })).rejects.toMatchObject({ code: "NAME_INVALID" });
        await expect(runtime.start(counter, { id: "a", tenant: id })).rejects.toMatchObject({
          code: "NAME_INVALID",
        });
        await expect(runtime.start(counter, { id: "a", subject: id })).rejects.toMatchObject({
          code: "NAME_INVALID",
        });
        await expect(run.send("add", 1, { key: id })).rejects.toMatchObject({ code: "NAME_INVALID" });
      }
      await expect(runtime.run("a")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    });

    test("belongs to its tenant: another tenant's run of the same id is another run", async () => {
      const { boot } = world();
      const runtime = await boot();
      const one = await runtime.start(counter, { id: "a", tenant: "one", input: 1 });
      const two = await runtime.start(counter, { id: "a", tenant: "two", input: 2 });
      await one.send("add", 10);
      expect([(await one.state()).context.n, (await two.state()).context.n]).toEqual([11, 2]);
    });

    test("takes an event of a repeated key once, also after a restart", async () => {
      const { boot, crash } = world();
      const first = await boot();
      const run = await first.start(counter, { id: "a" });
      await Promise.all([run.send("add", 1, { key: "k" }), run.send("add", 1, { key: "k" })]);
      await crash(first);
      const again = await (await boot()).run("a");
      expect(await (await again.send("add", 1, { key: "k" })).handled()).toMatchObject({
        seq: 2,
        outcome: "taken",
      });
      expect((await again.state()).context.n).toBe(1);
    });

    test("takes what it sends to itself, and others take what it sends to them, once", async () => {
      const { boot, clock } = world();
      const runtime = await boot();
      const one = await runtime.start(counter, { id: "one" });
      const two = await runtime.start(counter, { id: "two" });
      await one.send("echo", "mine");
      await one.send("tell", "two");
      await clock.advance(0);
      expect((await one.state()).context.log).toEqual(["mine"]);
      expect((await two.state()).context.log).toEqual(["hello"]);
    });
  });

  describe("a timer", () => {
    test("fires when it is due and not before, through a restart", async () => {
      const { boot, crash, clock } = world();
      const first = await boot();
      await (await first.start(counter, { id: "a" })).send("nap");
      await clock.advance("1m");
      await crash(first);
      const again = await (await boot()).run("a");
      await clock.advance("59s");
      expect((await again.state()).configuration).toEqual(["asleep"]);
      await clock.advance("1s");
      expect((await again.state()).configuration).toEqual(["open"]);
    });

    test("that came due while nobody was there fires at the next start", async () => {
      const { boot, crash, clock } = world();
      const first = await boot();
      await (await first.start(counter, { id: "a" })).send("nap");
      await crash(first);
      await clock.advance("9m");
      const again = await (await boot()).run("a");
      await clock.advance(0);
      expect((await again.state()).configuration).toEqual(["open"]);
    });
  });

  describe("an activity", () => {
    test("gives its result to the run that invoked it", async () => {
      const { boot } = world();
      const machine = caller();
      const runtime = await boot(machine, (input: never) => `${input} → out`);
      const run = await runtime.start(machine, { id: "a" });
      await run.waitFor("done");
      expect((await run.state()).context.got).toBe("in → out");
    });

    test("is tried again after a growing while, with the same key, until it works or its attempts are used up", async () => {
      const { boot, clock } = world();
      const machine = caller({ retry: { attempts: 3, first: "10s" } });
      const seen: [number, string, number][] = [];
      const runtime = await boot(machine, (_, { attempt, key }: ActivityScope) => {
        seen.push([attempt, key, clock.now()]);
        throw new Error("busy");
      });
      const run = await runtime.start(machine, { id: "a" });
      await clock.advance("1m");
      expect((await run.state()).configuration).toEqual(["failed"]);
      expect((await run.state()).context.got).toEqual({ name: "Error", message: "busy", attempts: 3 });
      expect(seen.map(([attempt, key]) => [attempt, key])).toEqual(
        [1, 2, 3].map((attempt) => [attempt, "a:1.0"]),
      );
      const waits = seen.slice(1).map(([, , at], index) => at - (seen[index]?.[2] ?? 0));
      expect(waits[0]).toBeGreaterThanOrEqual(5_000);
      expect(waits[1]).toBeGreaterThanOrEqual(10_000);
    });

    test("that takes too long fails, and its signal tells it so", async () => {
      const { boot, clock } = world();
      const machine = caller({ timeout: "30s" });
      let aborted = false;
      const runtime = await boot(machine, (_, { signal }: ActivityScope) => {
        signal.addEventListener("abort", () => {
          aborted = true;
        });
        return new Promise(() => {});
      });
      const run = await runtime.start(machine, { id: "a" });
      await clock.advance("29s");
      expect((await run.state()).configuration).toEqual(["calling"]);
      await clock.advance("1s");
      expect([(await run.state()).configuration, aborted]).toEqual([["failed"], true]);
    });

    test("is run again after a crash, with its key, and gets its progress back", async () => {
      const { boot, crash, clock } = world();
      const machine = caller();
      const first = await boot(machine, async (_, { checkpoint }: ActivityScope) => {
        await checkpoint({ page: 7 });
        return new Promise(() => {});
      });
      await first.start(machine, { id: "a" });
      await clock.advance(0);
      await crash(first);
      const second = await boot(machine, (_, { progress, key }: ActivityScope) => ({ progress, key }));
      const run = await second.run("a");
      await run.waitFor("done");
      expect((await run.state()).context.got).toEqual({ progress: { page: 7 }, key: "a:1.0" });
    });

    test("that may happen once only is never begun twice: after a crash its outcome is unknown", async () => {
      const { boot, crash, clock } = world();
      const machine = caller({ once: true });
      let begun = 0;
      const tool: Activity = () => {
        begun++;
        return new Promise(() => {});
      };
      const first = await boot(machine, tool);
      await first.start(machine, { id: "a" });
      await clock.advance(0);
      await crash(first);
      const run = await (await boot(machine, tool)).run("a");
      await run.waitFor("unknown");
      expect(begun).toBe(1);
    });

    test("is aborted when its state is left, and what it gives then is ignored", async () => {
      const { boot, clock } = world();
      const machine = caller();
      let finish: (value: unknown) => void = () => {};
      let aborted = false;
      const runtime = await boot(machine, (_, { signal }: ActivityScope) => {
        signal.addEventListener("abort", () => {
          aborted = true;
        });
        return new Promise((resolve) => {
          finish = resolve;
        });
      });
      const run = await runtime.start(machine, { id: "a" });
      await clock.advance(0);
      await run.send("stop");
      finish("late");
      await clock.advance("1m");
      expect([(await run.state()).configuration, aborted]).toEqual([["stopped"], true]);
    });
  });

  describe("a child run", () => {
    const child = defineMachine<{ n: number }>({
      id: "child",
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
    });
    const parent = defineMachine<{ heard: number; got: Json }>({
      id: "parent",
      start: { heard: 0, got: null },
      initial: "waiting",
      states: {
        waiting: {
          invoke: {
            machine: child,
            id: "kid",
            input: 5,
            onDone: {
              target: "over",
              update: (draft, { event }) => {
                draft.got = event.data;
              },
            },
          },
          on: {
            counted: { update: (draft) => void draft.heard++ },
            tell: {
              actions: { send: ({ event }) => ({ type: event.data as string, to: { child: "kid" } }) },
            },
            leave: "left",
          },
        },
        over: {},
        left: {},
      },
    });

    test("begins with its parent's step, hears it, answers it, and gives it its output, across a restart", async () => {
      const { boot, crash, clock } = world();
      const first = await boot(parent as never);
      const run = await first.start(parent, { id: "p" });
      const kid = await first.run("p/1.0");
      expect((await kid.head()).parent).toEqual({ run: "p", key: "1.0", id: "kid" });
      await run.send("tell", "more");
      await clock.advance(0);
      expect((await run.state()).context.heard).toBe(1);
      await crash(first);
      const second = await boot(parent as never);
      const again = await second.run("p");
      await again.send("tell", "enough");
      await again.waitFor("over");
      expect((await again.state()).context).toEqual({ heard: 1, got: 6 });
      expect((await again.state()).children).toEqual([]);
      expect((await (await second.run("p/1.0")).head()).status).toBe("done");
    });

    test("is cancelled when its parent leaves the state that invoked it", async () => {
      const { boot, clock } = world();
      const runtime = await boot(parent as never);
      const run = await runtime.start(parent, { id: "p" });
      await run.send("leave");
      await clock.advance(0);
      expect((await (await runtime.run("p/1.0")).head()).status).toBe("cancelled");
    });

    test("that cannot begin is an error its parent hears of", async () => {
      const { boot } = world();
      const broken = defineMachine<{ got: Json }>({
        id: "broken",
        start: { got: null },
        initial: "trying",
        states: {
          trying: {
            invoke: {
              machine: "nowhere",
              onError: {
                target: "failed",
                update: (draft, { event }) => {
                  draft.got = event.data.code;
                },
              },
            },
          },
          failed: {},
        },
      });
      const run = await (await boot(broken as never)).start(broken, { id: "b" });
      await run.waitFor("failed");
      expect((await run.state()).context.got).toBe("MACHINE_UNKNOWN");
    });
  });
});
