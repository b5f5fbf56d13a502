/** The story of a run: what differs, who changed it, and the same steps taken once more. */
import { describe, expect, test } from "vitest";
import { callerWith, counter, counterWith } from "../../../test/runtime/machines.ts";
import { onEveryStore } from "../../../test/runtime/world.ts";
import { defineMachine, type Json, type MachineDefinition } from "../../index.ts";
import { stateHash } from "./replay.ts";

onEveryStore((world) => {
  /** A run that added 1 to 4, and a fork of it at its third checkpoint. */
  const begin = async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    const run = await runtime.start(counter, { id: "a" });
    for (const n of [1, 2, 3, 4]) await run.send("add", n);
    return { ...here, runtime, run };
  };

  describe("the difference", () => {
    test("B7: of two checkpoints is what turns one state into the other", async () => {
      const { run } = await begin();
      const patches = await run.diff(2, 4);
      expect(patches).toContainEqual({ op: "set", path: ["context", "n"], value: 6 });
      expect(await run.diff(5)).toEqual([]);
      expect(await run.diff(1)).toEqual(await run.diff(1, 5));
      await expect(run.diff(1, 9)).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
    });

    test("B7: of a run and its fork begins where they do not do the same any more", async () => {
      const { run, runtime } = await begin();
      const twin = await run.fork({ at: 3, id: "b" });
      await twin.send("add", 3);
      expect(await runtime.diff(run, twin)).toMatchObject({
        common: 4,
        first: [{ run: "a", entry: { seq: 5, event: { data: 4 } } }, undefined],
        patches: expect.arrayContaining([{ op: "set", path: ["context", "n"], value: 6 }]),
      });
      await twin.send("add", 7);
      expect((await runtime.diff(run, twin)).first).toMatchObject([
        { run: "a", entry: { event: { data: 4 } } },
        { run: "b", entry: { event: { data: 7 } } },
      ]);
    });

    test("B7: of two forks, and of a fork that was edited", async () => {
      const { run, runtime } = await begin();
      const edit = (draft: unknown) => {
        (draft as { n: number }).n = 50;
      };
      const [one, other] = [await run.fork({ at: 3, id: "b" }), await run.fork({ at: 3, id: "c", edit })];
      expect(await runtime.diff(one, other)).toMatchObject({
        common: 3,
        first: [undefined, { run: "c", entry: { seq: 1, event: { type: "fork" } } }],
      });
      const third = await other.fork({ id: "d" });
      await third.send("add", 1);
      expect(await runtime.diff(third, run)).toMatchObject({
        common: 3,
        first: [
          { run: "c", entry: { seq: 1 } },
          { run: "a", entry: { seq: 4 } },
        ],
      });
      expect((await runtime.diff(third, third)).first).toEqual([undefined, undefined]);
    });

    test("of forks from different checkpoints counts what the later one took over from their source", async () => {
      const { run, runtime } = await begin();
      const [early, late] = [await run.fork({ at: 2, id: "b" }), await run.fork({ at: 4, id: "c" })];
      for (const n of [2, 3, 9]) await early.send("add", n);
      await late.send("add", 8);
      expect(await runtime.diff(early, late)).toMatchObject({
        common: 4,
        first: [
          { run: "b", entry: { event: { data: 9 } } },
          { run: "c", entry: { event: { data: 8 } } },
        ],
      });
    });

    test("B7: of runs that have nothing to do with each other is found step by step", async () => {
      const { runtime, run } = await begin();
      const other = await runtime.start(counter, { id: "z" });
      for (const n of [1, 2]) await other.send("add", n);
      await other.send("note", "x");
      expect(await runtime.diff(run, other)).toMatchObject({
        common: 3,
        first: [{ entry: { event: { type: "add" } } }, { entry: { event: { type: "note" } } }],
      });
    });
  });

  describe("a step", () => {
    interface Marked {
      readonly mark: number;
    }
    const machineWith = (id: string, on: NonNullable<MachineDefinition<Marked>["on"]>) =>
      defineMachine<Marked>({
        ...{ id, start: { mark: 0 }, initial: "here", on: { fork: {}, ...on } },
        states: { here: {}, there: {}, end: { type: "final", output: ({ context }) => context.mark } },
      });
    const marking = (mark: number) => (draft: { mark: number }) => {
      draft.mark = mark;
    };
    const poked = { poke: {}, prod: {} };

    test.each([
      ["another event", poked, poked, ["poke", 1], ["prod", 1]],
      ["other data", poked, poked, ["poke", 1], ["poke", 2]],
      ["another outcome", poked, {}, ["poke", 1], ["poke", 1]],
      ["another state", { poke: ".here" }, { poke: ".there" }, ["poke", 1], ["poke", 1]],
      [
        "another context",
        { poke: { update: marking(1) } },
        { poke: { update: marking(2) } },
        ["poke"],
        ["poke"],
      ],
    ] as const)("with %s is not alike", async (_, one, other, mine, its) => {
      const here = await world();
      const machines = [machineWith("one", one), machineWith("other", other)] as const;
      const runtime = await here.boot([...machines]);
      const runs = [await runtime.start(machines[0]), await runtime.start(machines[1])] as const;
      // One that is called as the platform's own is an event as any other.
      for (const run of runs) await run.send("fork");
      await runs[0].send(...(mine as [string, Json]));
      await runs[1].send(...(its as [string, Json]));
      expect(await runtime.diff(runs[0] as never, runs[1] as never)).toMatchObject({
        common: 2,
        first: [
          { run: runs[0].id, entry: { seq: 3, event: { type: mine[0] } } },
          { run: runs[1].id, entry: { seq: 3, event: { type: its[0] } } },
        ],
      });
    });
  });

  describe("who last changed a part of the context", () => {
    test("B7: is the step, found by its path", async () => {
      const { run } = await begin();
      for (const note of [{ deep: { price: 1 } }, "two"]) await run.send("note", note);
      await run.send("add", 0);
      expect(await run.lastChange("$.n")).toMatchObject({ run: "a", entry: { seq: 5 } });
      expect(await run.lastChange("$.log")).toMatchObject({ entry: { seq: 7 } });
      expect(await run.lastChange("$.log[0].deep.price")).toMatchObject({ entry: { seq: 6 } });
      expect(await run.lastChange('$["log"][1]')).toMatchObject({ entry: { seq: 7 } });
      expect(await run.lastChange("$")).toMatchObject({ entry: { seq: 7 } });
      expect(await run.lastChange('$.log["0"]')).toMatchObject({ entry: { seq: 6 } });
      for (const path of ["$.nothing.at.all", "$.toString", "$.log.length.toFixed"])
        expect(await run.lastChange(path), path).toBeUndefined();
    });

    test("B7: is found however many steps ago it was", async () => {
      const { run } = await begin();
      await run.send("note", "long ago");
      // As many as are read at a time: it is the first of those that come next.
      const receipts = await run.sendAll(Array.from({ length: 100 }, () => ({ type: "add", data: 1 })));
      for (const { handled } of receipts) await handled();
      expect(await run.lastChange("$.log")).toMatchObject({ entry: { seq: 6 } });
    });

    test("B7: is a step of the source, where a fork has changed nothing there", async () => {
      const { run } = await begin();
      await run.send("note", 1);
      const twin = await run.fork({ id: "b" });
      await twin.send("add", 1);
      expect(await twin.lastChange("$.log")).toMatchObject({ run: "a", entry: { seq: 6 } });
      expect(await twin.lastChange("$.n")).toMatchObject({ run: "b", entry: { seq: 2 } });
      await run.rollback({ to: 1 });
      expect(await run.lastChange("$.log")).toMatchObject({ entry: { event: { type: "rollback" } } });
    });

    test("B7: a path that is none is refused", async () => {
      const { run } = await begin();
      for (const path of ["", "n", "$n", "$.", "$[x]", "$..a", "$.a b"])
        await expect(run.lastChange(path), path).rejects.toMatchObject({ code: "PATH_INVALID" });
    });
  });

  describe("a replay", () => {
    test("B7: comes to the same state, and calls no activity", async () => {
      const here = await world();
      let calls = 0;
      const machine = callerWith();
      const entry = { machine, activities: { tool: () => ++calls } };
      const runtime = await here.boot([entry]);
      const run = await runtime.start(machine, { id: "a" });
      await run.waitFor("done");
      for (let n = 0; n < 3; n++) {
        await run.send("again");
        await run.waitFor("done");
      }
      await run.send("unheard of");
      const before = calls;
      const replay = await run.replay();
      expect(replay.replayed).toBe(replay.recorded);
      expect(replay).toMatchObject({ steps: (await run.head()).seq, divergence: undefined });
      expect(calls).toBe(before);
    });

    test("B7: goes over forks, ways back, timers and parking", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      await run.send("nap");
      await run.send("add", 1);
      await here.clock.advance("3m");
      await run.rollback({ to: 2 });
      await here.clock.advance("1s");
      await run.pause();
      await run.retry();
      const twin = await run.fork({ at: 3, id: "b" });
      await here.clock.advance("3m");
      await twin.send("add", 2);
      for (const one of [run, twin]) {
        const { recorded, replayed, divergence } = await one.replay();
        expect([replayed, divergence]).toEqual([recorded, undefined]);
      }
    });

    test("takes a user's event again that is called as one of the platform's own", async () => {
      const here = await world();
      const rolling = (by: number) =>
        counterWith({
          on: {
            rollback: {
              update: (draft) => {
                draft.n += by;
              },
            },
          },
        });
      const run = await (await here.boot([rolling(1)])).start(rolling(1), { id: "a" });
      await run.send("rollback");
      const { divergence } = await run.replay({ machine: rolling(2) });
      expect(divergence).toMatchObject({ entry: { seq: 2 }, state: { context: { n: 2 } } });
      expect(stateHash({ a: { b: 1, c: 2 }, d: [1, 2] })).toBe(stateHash({ d: [1, 2], a: { c: 2, b: 1 } }));
      expect(stateHash({ d: [1, 2] })).not.toBe(stateHash({ d: [2, 1] }));
    });

    test("B7: with another machine shows the first step that would go another way", async () => {
      const { run } = await begin();
      await run.send("note", "x");
      const other = counterWith({ version: 2 });
      const same = await run.replay({ machine: other });
      expect(same.divergence).toBeUndefined();
      const wrong = defineMachine<{ n: number; log: Json[] }>({
        id: "counter",
        version: 3,
        start: { n: 0, log: [] },
        initial: "open",
        states: {
          open: {
            on: {
              add: {
                update: (draft, { event }) => {
                  draft.n += Math.min(event.data as number, 2);
                },
              },
            },
          },
        },
      });
      const { divergence, recorded, replayed } = await run.replay({ machine: wrong });
      expect(divergence).toMatchObject({ entry: { seq: 4 }, state: { context: { n: 5 } } });
      expect(replayed).not.toBe(recorded);
    });
  });
});
