/** `map`: what it expands to, how its workers go through a list, and what can be wrong with it. */
import { describe, expect, test } from "vitest";
import {
  type DataModel,
  defineMachine,
  expand,
  HoldfastError,
  type Json,
  type JsonObject,
  limits,
  type MachineDefinition,
  restore,
  type Simulation,
  type StateDefinition,
  simulate,
  start,
  validate,
} from "../../index.ts";
import { plainModel } from "../plain-model.ts";

type MapParts = Exclude<StateDefinition["map"], undefined>;
const ends = { done: {}, failed: {} };
const parts: MapParts = {
  over: ({ context }) => context.list as Json[],
  activity: "call",
  onDone: "done",
  onError: "failed",
};
const define = (
  map: Partial<MapParts>,
  list: Json = ["a", "b", "c", "d"],
  state: StateDefinition = {},
): MachineDefinition => ({
  id: "m",
  start: { list, kept: null },
  initial: "going",
  states: { going: { ...state, map: { ...parts, ...map } }, ...ends },
});
const lines = (map: unknown, state: object = {}) =>
  validate({ id: "m", initial: "a", states: { a: { ...state, map }, done: {}, failed: {} } }).map(
    ({ path, problem, fix }) => `${path} ${problem}${fix === undefined ? "" : `; ${fix}`}`,
  );

/** Starts a map; `settle(n)` ends what worker n is at. */
function begin(definition: MachineDefinition): {
  run: Simulation;
  settle: (worker: number, result: { output?: Json } | { error: Json }) => void;
} {
  const run = simulate(defineMachine(definition), { restore: true });
  return { run, settle: (worker, result) => void run.settle(`going.worker${worker}.working`, result) };
}
const inputs = (definition: MachineDefinition) =>
  start(defineMachine(definition), undefined, { at: 0 }).effects.flatMap((effect) =>
    effect.type === "activity" ? [effect.input] : [],
  );

describe("map", () => {
  test("expands to a parallel state with a region for each that may be under way at once", () => {
    const map = {
      ...parts,
      as: "letter",
      input: { fixed: true },
      retry: { attempts: 2 },
      concurrency: 2,
      tolerate: "50%",
      collect: "kept",
    };
    const going = expand(define(map, [], { entry: { log: "in" }, on: { stop: "done" } })).states?.going;
    expect(going).toMatchObject({
      type: "parallel",
      entry: [
        [{ log: "in" }],
        [{ map: { begin: "going", over: parts.over, workers: 2, tolerate: "50%", collect: "kept" } }],
      ],
      exit: { map: { end: "going" } },
      on: { stop: "done", "done.map.going": "done", "error.map.going": "failed" },
    });
    const settled = { target: "taking", actions: { map: { settle: "going", worker: 2 } } };
    expect(Object.keys(going?.states ?? {})).toEqual(["worker1", "worker2"]);
    expect(going?.states?.worker2).toEqual({
      initial: "taking",
      states: {
        taking: { always: [{ guard: { item: { of: "going", worker: 2 } }, target: "working" }, "finished"] },
        working: {
          invoke: {
            ...{ activity: "call", input: { fixed: true }, retry: { attempts: 2 } },
            item: { of: "going", worker: 2, as: "letter" },
            ...{ onDone: settled, onError: settled },
          },
        },
        finished: { type: "final" },
      },
    });
  });

  test("gives each worker an item, by name and index, and the next one when it is done with it", () => {
    expect(inputs(define({ concurrency: 3 }))).toEqual(["a", "b", "c"]);
    expect(inputs(define({ concurrency: 3 }, ["a"]))).toEqual(["a"]);
    const input = ({ event }: { event: { data?: unknown } }) => event.data as Json;
    expect(inputs(define({ concurrency: 2, as: "letter", input }))).toEqual([
      { letter: "a", index: 0 },
      { letter: "b", index: 1 },
    ]);
    expect(inputs(define({ input }))).toEqual([{ item: "a", index: 0 }]);
    expect(inputs(define({ as: "letter" }))).toEqual(["a"]);
  });

  test("keeps results in the order of the items, whoever was first, and leaves nothing behind", () => {
    const { run, settle } = begin(define({ concurrency: 2, collect: "kept" }));
    settle(2, { output: "B" });
    expect(run.state.maps?.going).toMatchObject({
      next: 3,
      taken: { 1: 0, 2: 2 },
      results: [null, "B", null, null],
    });
    settle(2, { output: "C" });
    settle(2, { output: "D" });
    expect(run.state.configuration).toEqual(["going.worker1.working", "going.worker2.finished"]);
    settle(1, {});
    expect(run.state.configuration).toEqual(["done"]);
    expect(run.state.context).toMatchObject({ kept: [null, "B", "C", "D"] });
    expect(run.state).not.toHaveProperty("maps");
  });

  test("gives results and failures to onDone, and tolerates as many failures as it is told", () => {
    const onDone = {
      target: "done",
      update: (draft: JsonObject, { event }: { event: { data?: unknown } }) =>
        Object.assign(draft, { got: event.data }),
    };
    const failing = (tolerate: number | string) => {
      const { run, settle } = begin(
        define({ concurrency: 2, tolerate, onDone, collect: { failures: "bad" } }),
      );
      settle(2, { error: "no b" });
      if (run.state.configuration[0]?.startsWith("going")) settle(1, { error: "no a" });
      if (run.state.configuration[0]?.startsWith("going")) {
        settle(1, { output: "D" });
        settle(2, { output: "C" });
      }
      return run.state;
    };
    for (const tolerate of [2, 3, "50%", "62.5%", "100%"]) {
      const failures = [
        { index: 0, item: "a", error: "no a" },
        { index: 1, item: "b", error: "no b" },
      ];
      const results = [null, null, "D", "C"];
      expect(failing(tolerate).context).toMatchObject({
        got: { results: expect.any(Array), failures },
        bad: failures,
      });
      expect((failing(tolerate).context as { got: { results: Json[] } }).got.results.toSorted()).toEqual(
        results.toSorted(),
      );
    }
    for (const tolerate of [0, 1, "49%", "0%"]) {
      const state = failing(tolerate);
      expect(state.configuration).toEqual(["failed"]);
      expect(state.activities).toEqual([]);
      expect(state).not.toHaveProperty("maps");
    }
  });

  test("of nothing is done at once, and of no list fails", () => {
    expect(begin(define({ collect: "kept" }, [])).run.state).toMatchObject({
      configuration: ["done"],
      context: { kept: [] },
    });
    const onError = {
      target: "failed",
      update: (draft: JsonObject, { event }: { event: { data?: unknown } }) =>
        Object.assign(draft, { got: event.data }),
    };
    expect(begin(define({ onError }, "text")).run.state).toMatchObject({
      configuration: ["failed"],
      context: {
        got: {
          results: [],
          failures: [],
          error: { name: "TypeError", message: 'There is no list to map over, but "text"' },
        },
      },
    });
    const over = () => {
      throw new Error("gone");
    };
    expect(begin(define({ over, onError })).run.state.context).toMatchObject({
      got: { error: { message: "gone" } },
    });
  });

  test("goes over a field of the context by its name", () => {
    expect(inputs(define({ over: "list", concurrency: 2 }))).toEqual(["a", "b"]);
    for (const over of ["absent", "toString", "kept"])
      expect(begin(define({ over })).run.state.configuration).toEqual(["failed"]);
  });

  test("that is left cancels what is under way; entered again it begins anew", () => {
    const definition = define({ concurrency: 2 }, ["a", "b"], { on: { stop: "done" } });
    const { run, settle } = begin({
      ...definition,
      states: { ...definition.states, done: { on: { again: "going" } } },
    });
    settle(1, { output: 1 });
    run.send("stop");
    expect(run.state).toMatchObject({ configuration: ["done"], activities: [] });
    expect(run.state).not.toHaveProperty("maps");
    run.send("again");
    expect(run.state.maps?.going).toMatchObject({ next: 2, taken: { 1: 0, 2: 1 } });
  });

  test("may be over child machines, may run each item at most once, and may be several at a time", () => {
    const once = expand(define({ once: true })).states?.going?.states?.worker1?.states?.working?.invoke;
    expect(once).toMatchObject({ once: true, onUnknown: { target: "taking" } });
    const child = defineMachine({
      id: "child",
      initial: "a",
      states: { a: { type: "final", output: "out" } },
    });
    const { activity: _, ...machines } = { ...parts, machine: child, collect: "kept", concurrency: 2 };
    const run = simulate(
      defineMachine({
        id: "m",
        start: { list: [1, 2, 3] },
        initial: "a",
        states: { a: { map: machines }, ...ends },
      }),
    );
    expect(run.state).toMatchObject({ configuration: ["done"], context: { kept: ["out", "out", "out"] } });
    const both = simulate(
      defineMachine({
        id: "m",
        type: "parallel",
        states: Object.fromEntries(
          ["x", "y"].map((key) => [
            key,
            { initial: "going", states: { going: { map: { ...parts, over: [1, 2] } }, ...ends } },
          ]),
        ),
      }),
    );
    expect(Object.keys(both.state.maps ?? {})).toEqual(["x.going", "y.going"]);
    both.settle("x.going.worker1.working", {});
    both.settle("x.going.worker1.working", {});
    expect(Object.keys(both.state.maps ?? {})).toEqual(["y.going"]);
  });

  test("is ended by what its workers say, and by nobody else", () => {
    const { run } = begin(define({}));
    expect(run.send({ type: "done.map.going", data: {} }).outcome).toBe("ignored");
    expect(run.state.configuration).toEqual(["going.worker1.working"]);
  });

  test("parts of a map that belong to no list do nothing, or are errors of their step", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          entry: [{ map: { settle: "x", worker: 1 } }, { map: { end: "x" } }],
          invoke: { activity: "y", item: { of: "x", worker: 1 } },
        },
      },
    });
    const { state, errors } = start(machine, undefined, { at: 0 });
    expect(state.activities).toEqual([]);
    expect(errors).toMatchObject([{ data: { message: "Worker 1 of x has no item" } }]);
  });

  test("is restored only as a step could have left it", () => {
    const machine = defineMachine(define({}));
    const { state } = start(machine, undefined, { at: 0 });
    expect(restore(machine, JSON.parse(JSON.stringify(state)))).toEqual(state);
    const going = state.maps?.going;
    for (const maps of [
      5,
      { going: 5 },
      { going: { ...going, items: 5 } },
      { going: { ...going, taken: null } },
      { going: { ...going, next: "1" } },
    ])
      expect(() => restore(machine, { ...state, maps })).toThrow("it has a malformed map");
  });
});

describe("what is wrong with a map is told where it was written", () => {
  const well = { over: [], activity: "x", onDone: "done", onError: "failed" };

  test("its parts", () => {
    expect(lines({})).toEqual([
      "states.a.map.over is missing; give the list, or how to compute it",
      "states.a.map.onDone is missing; say where it leads when all is done",
      "states.a.map.onError is missing; say where it leads when more fails than is tolerated",
      "states.a.map needs either an activity or a machine",
    ]);
    for (const concurrency of [0, 1.5, "3", 101])
      expect(lines({ ...well, concurrency })).toEqual([
        `states.a.map.concurrency is ${JSON.stringify(concurrency)}; write a whole number from 1 to 100`,
      ]);
    expect(lines({ ...well, concurrency: 100 })).toEqual([]);
    for (const tolerate of [-1, 1.5, "20", "101%", true])
      expect(lines({ ...well, tolerate })).toEqual([
        `states.a.map.tolerate is ${JSON.stringify(tolerate)}; write how many may fail, or a share such as "20%"`,
      ]);
    for (const collect of [5, "", { results: "__proto__" }, { result: "x" }])
      expect(lines({ ...well, collect })).toEqual([
        `states.a.map.collect is ${JSON.stringify(collect)}; name a field of the context, or { results, failures }`,
      ]);
    for (const as of ["", "index", 5])
      expect(lines({ ...well, as })).toEqual([
        `states.a.map.as is ${JSON.stringify(as)}; write a name, and not index`,
      ]);
    expect(lines({ ...well, activity: 5, retry: { attempts: 0 }, inptu: 1, onDone: ["don"] })).toEqual([
      expect.stringContaining('states.a.map.inptu is no key of a map over a list; did you mean "input"?'),
      'states.a.map.onDone[0] names no state: "don"; did you mean "done"? from here there are a, done, failed, .child and #id',
      "states.a.map.activity is 5; write a name, or how to compute it",
      "states.a.map.retry.attempts is 0; write a whole number above zero",
    ]);
    expect(lines({ ...well, over: { odd: () => 1 } })[0]).toContain("states.a.map.over cannot be used");
    expect(lines({ ...well, over: { odd: () => 1 } }, { entry: { log: 1 } })[0]).toContain(
      "states.a.map.over cannot be used",
    );
    expect(lines(well, { type: "parallel", states: { x: {} }, onDone: "done" })).toEqual([
      "states.a.type cannot be together with map; put one into a state of its own",
      "states.a.states cannot be together with map; put one into a state of its own",
      "states.a.onDone cannot be together with map; put one into a state of its own",
    ]);
  });

  test("a data model that keeps the context to itself", () => {
    const model: DataModel = { ...plainModel, name: "own", save: ({ context }) => context };
    const states = { a: { map: { ...well, collect: "x" } }, done: {}, failed: {} };
    expect(validate({ id: "m", model, initial: "a", states })).toEqual([
      {
        path: "states.a.map.collect",
        problem: 'cannot be used with the data model "own"',
        fix: "use event.data in onDone",
      },
    ]);
  });

  test("a list by name where the data model keeps the context to itself, or the name is none", () => {
    const model: DataModel = { ...plainModel, name: "own", save: ({ context }) => context };
    const states = { a: { map: { ...well, over: "list" } }, done: {}, failed: {} };
    expect(validate({ id: "m", model, initial: "a", states })).toEqual([
      {
        path: "states.a.map.over",
        problem: 'cannot be used with the data model "own"',
        fix: "compute the list",
      },
    ]);
    for (const over of ["", "__proto__"])
      expect(lines({ ...well, over })).toEqual([
        `states.a.map.over is ${JSON.stringify(over)}; name a field of the context`,
      ]);
  });

  test("what it is made of, written by hand", () => {
    const byHand = (entry: unknown, guard?: unknown) =>
      validate({
        id: "m",
        initial: "a",
        states: { a: { entry, always: guard === undefined ? [] : { guard, target: "b" } }, b: {} },
      }).map(({ path, problem }) => `${path} ${problem}`);
    expect(byHand({ map: 5 })).toEqual([
      "states.a.entry.map is 5",
      "states.a.entry.map needs a name to begin, settle or end",
    ]);
    expect(byHand({ map: { begin: "x", over: [], workers: 0 } })).toEqual([
      "states.a.entry.map.workers is 0",
    ]);
    const twice = { map: { begin: "x", over: [], workers: 1 } };
    expect(byHand([twice, twice])).toEqual([
      'states.a.entry[1].map begins a map that another one begins: "x"',
    ]);
    expect(byHand([], { item: { of: 5, worker: "1" } })).toEqual([
      "states.a.always.guard.item.of is 5",
      'states.a.always.guard.item.worker is "1"',
    ]);
  });

  test("more workers than a machine can have states for", () => {
    const maps = (count: number, others: object = {}) =>
      validate({
        id: "m",
        initial: "done",
        states: {
          done: {},
          failed: {},
          ...others,
          ...Object.fromEntries(
            Array.from({ length: count }, (_, index) => [
              `m${index}`,
              { map: { ...well, concurrency: 100 } },
            ]),
          ),
        },
      }).map(({ problem }) => problem);
    expect(maps(49)).toEqual([]);
    const most = `is too much: a machine has at most ${limits.statesMax} states, ${limits.stateDepthMax} deep`;
    expect(maps(50)).toEqual([most]);
    expect(maps(1_000)[0]).toBe(most);
  });

  test("expand throws for it, and lists the same problems", () => {
    expect(() => expand(define({ concurrency: 0 }))).toThrow(HoldfastError);
  });
});
