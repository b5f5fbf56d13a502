/** Activities in the queue: what waits, what starts, and what a crash, a retry and a cancellation do to it. */
import { describe, expect, test } from "vitest";
import { callerWith } from "../../../test/runtime/machines.ts";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import { createRuntime, defineMachine, type Runtime } from "../../index.ts";
import { memory } from "../../store/memory/store.ts";
import type { ActivityScope } from "../activity/attempt.ts";

/** A tool that says who has begun it, and ends when it is told. */
class Bench {
  /** By run, in the order they began. */
  readonly begun: string[] = [];
  readonly at: number[] = [];
  readonly #ends = new Map<string, (given: unknown) => void>();
  readonly #clock: World["clock"];

  constructor({ clock }: World) {
    this.#clock = clock;
  }

  readonly tool = (_: never, { run }: ActivityScope): Promise<unknown> => {
    this.begun.push(run);
    this.at.push(this.#clock.now());
    return new Promise((end) => this.#ends.set(run, end));
  };

  end(run: string, how: unknown = "done"): void {
    this.#ends.get(run)?.(how);
    this.#ends.delete(run);
  }

  endAll(): void {
    for (const run of [...this.#ends.keys()]) this.end(run);
  }

  get under(): number {
    return this.#ends.size;
  }

  /** Nobody is left of those who were under way. */
  clear(): void {
    this.#ends.clear();
  }
}

onEveryStore((world) => {
  const open = async (options: object, slots?: number) => {
    const here = await world();
    const bench = new Bench(here);
    const machine = callerWith(options);
    const boot = () =>
      here.boot(
        [{ machine, activities: { tool: bench.tool } }],
        slots === undefined ? {} : { flow: { slots } },
      );
    const runtime = await boot();
    const start = async (given: Runtime, ids: readonly string[], tenant = "default") => {
      await Promise.all(ids.map((id) => given.start(machine, { id, tenant })));
      await here.rest();
    };
    return { ...here, here, bench, machine, runtime, boot, start };
  };
  const names = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}`);

  describe("an activity in the queue", () => {
    test("B12: does not begin if a step may have ended it whose answer was lost", async () => {
      const { bench, runtime, start, here, watch, clock } = await open({}, 1);
      await start(runtime, ["a", "b"]);
      expect(bench.begun).toEqual(["a"]);
      watch.failNext("commit", "after");
      await expect((await runtime.run("b")).cancel()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      // Before anybody can look, its turn comes.
      watch.breakDown();
      bench.end("a");
      await here.rest();
      await clock.advance("1s");
      expect(bench.begun).toEqual(["a"]);
      watch.comeBack();
      await clock.advance("10s");
      expect(await (await runtime.run("b")).head()).toMatchObject({ status: "cancelled" });
      expect(bench.begun).toEqual(["a"]);
    });

    test("begins where its run was put out of memory and back, and steps on without being read", async () => {
      const { bench, runtime, start, here, watch } = await open({}, 1);
      await start(runtime, ["a", "b"]);
      const run = await runtime.run("b");
      await run.pause();
      const [reading, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      watch.alter = ({ verb }, answer) => {
        if (verb !== "readJournal") return answer;
        reading.resolve();
        return read.promise.then(() => answer);
      };
      // It has the run in hand while that is put out, since nobody knows what became of a step.
      const retried = run.retry();
      await reading.promise;
      watch.failNext("commit", "before");
      await expect(run.breakpoints([])).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      read.resolve();
      await retried;
      bench.end("a");
      await here.clock.advance("10s");
      expect(bench.begun).toEqual(["a", "b"]);
    });

    test("waits while all slots are used, and begins when one is free", async () => {
      const { bench, runtime, start, here } = await open({}, 2);
      await start(runtime, ["a", "b", "c"]);
      expect(bench.begun).toEqual(["a", "b"]);
      bench.end("a");
      await here.rest();
      expect(bench.begun).toEqual(["a", "b", "c"]);
      expect((await (await runtime.run("a")).state()).configuration).toEqual(["done"]);
    });

    test("has keys of its own tenant, unless they are for all", async () => {
      const per = await open({ concurrency: { limit: 1, key: "k" } });
      await per.start(per.runtime, ["a", "b"], "one");
      await per.start(per.runtime, ["c", "d"], "two");
      expect(per.bench.begun).toEqual(["a", "c"]);
      const all = await open({ concurrency: { limit: 1, key: "k", scope: "all" } });
      await all.start(all.runtime, ["a", "b"], "one");
      await all.start(all.runtime, ["c", "d"], "two");
      expect(all.bench.begun).toEqual(["a"]);
      all.bench.end("a");
      await all.here.rest();
      expect(all.bench.begun).toEqual(["a", "c"]);
    });

    test("without a key shares its limit with those of its machine, and with no other", async () => {
      const here = await world();
      const bench = new Bench(here);
      const [one, other] = ["one", "other"].map((id) => callerWith({ concurrency: { limit: 1 } }, { id }));
      const activities = { tool: bench.tool };
      const runtime = await here.boot([one, other].map((machine) => ({ machine, activities })) as never);
      for (const id of ["a", "b"]) await runtime.start(one as never, { id });
      await runtime.start(other as never, { id: "c" });
      await here.rest();
      expect(bench.begun).toEqual(["a", "c"]);
    });

    test("begins no oftener than its rate says, whoever asks", async () => {
      const { bench, runtime, start, clock } = await open({ rate: { limit: 3, per: "1 min", key: "api" } });
      await start(runtime, names("r", 10));
      expect(bench.begun).toHaveLength(3);
      await clock.advance("59s");
      expect(bench.begun).toHaveLength(3);
      await clock.advance("1s");
      expect(bench.begun).toHaveLength(6);
      await clock.advance("5 min");
      expect(bench.begun).toHaveLength(10);
    });

    test("goes before others of its tenant by its priority", async () => {
      const here = await world();
      const bench = new Bench(here);
      const machine = defineMachine<{ urgent: number }>({
        id: "caller",
        start: ({ input }) => ({ urgent: input as number }),
        initial: "calling",
        states: {
          calling: {
            invoke: { activity: "tool", priority: ({ context }) => context.urgent, onDone: "done" },
          },
          done: {},
        },
      });
      const runtime = await here.boot([{ machine, activities: { tool: bench.tool } }], {
        flow: { slots: 1 },
      });
      for (const [id, input] of Object.entries({ now: 0, low: 1, high: 9, middle: 5 }))
        await runtime.start(machine, { id, input });
      for (let turn = 0; turn < 4; turn++) {
        await here.rest();
        bench.end(bench.begun.at(-1) as string);
      }
      await here.rest();
      expect(bench.begun).toEqual(["now", "high", "middle", "low"]);
    });

    test("that is cancelled leaves the queue, and gives back what it had", async () => {
      const { bench, runtime, start, here } = await open({}, 1);
      await start(runtime, ["a", "b", "c"]);
      await (await runtime.run("b")).send("stop");
      // Its code does not heed its signal, and nobody waits for that.
      await (await runtime.run("a")).send("stop");
      await here.rest();
      expect(bench.begun).toEqual(["a", "c"]);
      bench.end("a");
      await start(runtime, ["d"]);
      expect(bench.begun).toEqual(["a", "c"]);
    });

    test("that is cancelled with the one before it does not begin", async () => {
      const here = await world();
      const bench = new Bench(here);
      const invoke = { activity: "tool" } as const;
      const machine = defineMachine({
        id: "pair",
        type: "parallel",
        states: {
          // Whichever is cancelled first.
          late: { initial: "idle", states: { idle: { on: { go: "busy" } }, busy: { invoke } } },
          first: { invoke },
          last: { initial: "idle", states: { idle: { on: { go: "busy" } }, busy: { invoke } } },
        },
      });
      const runtime = await here.boot([{ machine, activities: { tool: bench.tool } }], {
        flow: { slots: 1 },
      });
      const run = await runtime.start(machine, { id: "a" });
      await run.send("go");
      await here.rest();
      await run.cancel();
      await here.rest();
      expect(bench.begun).toEqual(["a"]);
      const next = await runtime.start(machine, { id: "b" });
      await here.rest();
      expect(bench.begun).toEqual(["a", "b"]);
      await next.cancel();
    });

    test("holds no slot between attempts, and enters again", async () => {
      const here = await world();
      const seen: string[] = [];
      const tool = async (_: never, { run, attempt }: ActivityScope) => {
        seen.push(`${run}${attempt}`);
        await new Promise<void>((passed) => void here.clock.after(10, passed));
        if (attempt === 1) throw new Error("busy");
      };
      const machine = callerWith({ retry: { attempts: 2, first: "1s" } });
      const runtime = await here.boot([{ machine, activities: { tool } }], { flow: { slots: 1 } });
      await Promise.all(["a", "b"].map((id) => runtime.start(machine, { id })));
      await here.clock.advance("5s");
      expect(seen.slice(0, 2)).toEqual(["a1", "b1"]);
      expect(seen.toSorted()).toEqual(["a1", "a2", "b1", "b2"]);
    });

    test("gives back its slot when it is given up, whatever its code does", async () => {
      const { bench, runtime, start, clock } = await open({ timeout: "1s" }, 1);
      await start(runtime, ["a", "b"]);
      await clock.advance("1s");
      expect(bench.begun).toEqual(["a", "b"]);
    });

    test("refuses slots that are none", async () => {
      const refused = createRuntime({ store: memory(), machines: [], flow: { slots: 0 } });
      await expect(refused).rejects.toMatchObject({ code: "FLOW_INVALID" });
    });
  });

  describe("after a crash", () => {
    test("what waited enters again, and nothing is lost or begun beyond the limits", async () => {
      const { bench, runtime, boot, start, here } = await open({ concurrency: { limit: 2, key: "k" } });
      await start(runtime, names("r", 7));
      expect(bench.under).toBe(2);
      await here.crash(runtime);
      bench.clear();
      const second = await boot();
      for (let turn = 0; turn < 10; turn++) {
        await here.rest();
        expect(bench.under).toBeLessThanOrEqual(2);
        bench.endAll();
      }
      const heads = await Promise.all(names("r", 7).map(async (id) => (await second.run(id)).state()));
      expect(heads.map(({ configuration }) => configuration)).toEqual(Array(7).fill(["done"]));
    });

    test("one that runs at most once and was still waiting has not begun, and nobody has to be asked", async () => {
      const { bench, runtime, boot, start, here } = await open({ once: true }, 1);
      await start(runtime, ["a", "b"]);
      expect(bench.begun).toEqual(["a"]);
      await here.crash(runtime);
      bench.clear();
      const second = await boot();
      await here.rest();
      expect((await (await second.run("a")).state()).configuration).toEqual(["unknown"]);
      expect(bench.begun).toEqual(["a", "b"]);
      bench.end("b");
      await here.rest();
      expect((await (await second.run("b")).state()).configuration).toEqual(["done"]);
    });

    test("a rate knows what was used, however often that happens: there is no second burst", async () => {
      const rate = { limit: 20, per: "1 min", key: "api" };
      const { bench, runtime, boot, start, here, clock } = await open({ rate });
      await start(runtime, names("r", 90));
      let current = runtime;
      for (const seconds of [1, 7, 20, 3, 40, 1, 30, 60, 60, 60, 60]) {
        await clock.advance(seconds * 1_000);
        // Whoever has begun is done; the others wait through the crash.
        bench.endAll();
        await here.rest();
        await here.crash(current);
        current = await boot();
        await here.rest();
      }
      for (let turn = 0; turn < 8; turn++) {
        await clock.advance("1 min");
        bench.endAll();
      }
      expect(new Set(bench.begun).size).toBe(90);
      for (const from of bench.at) {
        const within = bench.at.filter((at) => at >= from && at < from + 60_000);
        expect(within.length).toBeLessThanOrEqual(20);
      }
    });
  });
});

describe("a crowd", () => {
  test("one tenant has 10,000 activities queued and another 1: the latter starts within two slots", async () => {
    const begun: string[] = [];
    const ends = new Map<string, (given: unknown) => void>();
    const machine = callerWith();
    const tool = (_: never, { tenant, run }: ActivityScope) => {
      begun.push(tenant);
      return new Promise((end) => ends.set(`${tenant} ${run}`, end));
    };
    const runtime = await createRuntime({
      store: memory(),
      machines: [{ machine, activities: { tool } }] as never,
      flow: { slots: 10 },
    });
    const starts = Array.from({ length: 10_010 }, (_, id) =>
      runtime.start(machine, { id: `${id}`, tenant: "big" }),
    );
    await Promise.all(starts);
    expect(begun).toHaveLength(10);
    await runtime.start(machine, { id: "1", tenant: "small" });
    const turn = () => new Promise<void>((passed) => void setImmediate(passed));
    for (const run of ["0", "1"]) {
      ends.get(`big ${run}`)?.(null);
      while (begun.length < 11 + Number(run)) await turn();
    }
    expect(begun.slice(10)).toContain("small");
    await runtime.close();
  }, 60_000);

  test("what a crash left of many is all taken up, fairly, though more were left than are looked for at a time", async () => {
    const store = memory();
    const machine = callerWith();
    const begun: string[] = [];
    const tool = (_: never, { tenant }: ActivityScope) => {
      begun.push(tenant);
      return new Promise(() => {});
    };
    const boot = () =>
      createRuntime({ store, machines: [{ machine, activities: { tool } }] as never, flow: { slots: 4 } });
    const first = await boot();
    const many = Array.from({ length: 2_500 }, (_, id) =>
      first.start(machine, { id: `${id}`, tenant: "big" }),
    );
    await Promise.all(many);
    await first.start(machine, { id: "last", tenant: "small" });
    await first.close();
    begun.length = 0;
    const second = await boot();
    const isTaken = async () => {
      const row = (await store.load({ tenant: "small", run: "last" }))?.activities[0];
      return row !== undefined && (await store.due(Date.now(), 10_000)).length === 0;
    };
    while (!(await isTaken())) await new Promise<void>((passed) => void setTimeout(passed, 20));
    expect(begun).toHaveLength(4);
    await second.close();
  }, 60_000);
});
