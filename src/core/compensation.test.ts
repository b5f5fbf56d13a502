/** Compensation: undoing what was done, the last thing first. */
import { describe, expect, test } from "vitest";
import {
  type Activity,
  cancel,
  compensationMachine,
  defineMachine,
  type HoldfastError,
  type Json,
  limits,
  type MachineDefinition,
  restore,
  type SpawnEffect,
  type State,
  settledEvent,
  simulate,
  start,
  step,
} from "../index.ts";

const at = { at: 0 };

/** Books a flight, then a hotel, then a car; each can be undone. */
const trip = defineMachine<{ seen: string[]; city: string; result?: Json }>({
  id: "trip",
  start: { seen: [], city: "Oslo" },
  initial: "flight",
  on: {
    "done.invoke.compensation": {
      target: ".over",
      update: (draft, { event }) => {
        draft.result = event.data as never;
      },
    },
  },
  states: {
    flight: {
      invoke: {
        activity: "bookFlight",
        compensate: "cancelFlight",
        finalize: { update: (draft) => void draft.seen.push("finalized") },
        onDone: "hotel",
        onError: "failing",
        onUnknown: "failing",
      },
    },
    hotel: {
      invoke: {
        activity: "bookHotel",
        compensate: {
          activity: "cancelHotel",
          input: ({ context, event }) => ({
            city: context.city,
            room: event.data.room,
            seen: context.seen.length,
          }),
        },
        onDone: { target: "car", guard: ({ event }) => event.data.room > 0 },
        onError: "failing",
      },
      on: { away: "idle" },
    },
    car: {
      invoke: { activity: "bookCar", compensate: "cancelCar", onDone: "packing", onError: "failing" },
      on: { home: "home" },
    },
    packing: { on: { fail: "failing", home: "home" } },
    failing: { entry: { compensate: true }, on: { again: { actions: { compensate: true } }, home: "home" } },
    idle: {},
    over: {},
    home: { type: "final", output: "home" },
  },
});
const begun = start(trip, undefined, at).state;

/** The state after the activity under way has ended so. */
function settled(state: State<never> | typeof begun, result: Parameters<typeof settledEvent>[1]) {
  const [activity] = state.activities as readonly [Activity];
  return step(trip, state as typeof begun, settledEvent(activity, result), at);
}
const withFlight = settled(begun, { output: { seat: "4A" } }).state;
const withHotel = settled(withFlight, { output: { room: 7 } }).state;
const withCar = settled(withHotel, {}).state;

describe("an activity that is done", () => {
  test("leaves what undoes it in the state, with its output as input", () => {
    expect(begun.compensations).toBeUndefined();
    expect(Object.keys(begun)).not.toContain("compensations");
    expect(withFlight.compensations).toEqual([
      { key: "1.0", activity: "cancelFlight", input: { seat: "4A" } },
    ]);
    expect(withFlight.configuration).toEqual(["hotel"]);
    expect(Object.isFrozen(withFlight.compensations) && Object.isFrozen(withFlight.compensations?.[0])).toBe(
      true,
    );
  });

  test("or with an input computed from its event, before any handler has seen that", () => {
    const once = withFlight.context.seen.length;
    expect(withHotel.compensations?.[1]).toEqual({
      key: "2.0",
      activity: "cancelHotel",
      input: { city: "Oslo", room: 7, seen: once },
    });
    const finalizing = defineMachine<{ n: number }>({
      id: "m",
      start: { n: 0 },
      initial: "a",
      states: {
        a: {
          invoke: {
            activity: "x",
            compensate: { activity: "y", input: ({ context }) => context.n },
            finalize: { update: (draft) => void draft.n++ },
            onDone: { target: "b", update: (draft) => void draft.n++ },
          },
        },
        b: {},
      },
    });
    const run = simulate(finalizing, { activities: { x: () => 1 } });
    expect(run.state).toMatchObject({ context: { n: 2 }, compensations: [{ activity: "y", input: 0 }] });
  });

  test("or without input, if it gave none", () => {
    expect(withCar.compensations?.[2]).toEqual({ key: "3.0", activity: "cancelCar" });
  });

  test("is recorded whether or not a transition takes its event", () => {
    const nothing = settled(withFlight, { output: { room: 0 } });
    expect(nothing.outcome).toBe("ignored");
    expect(nothing.state).toMatchObject({ configuration: ["hotel"], activities: [] });
    expect(nothing.state.compensations).toHaveLength(2);
  });

  test("is not recorded if it failed, if nobody knows, or if it was no longer wanted", () => {
    for (const result of [{ error: "full" }, { unknown: {} }]) {
      const { state } = settled(begun, result);
      expect(state.compensations).toBeUndefined();
    }
    const [activity] = withFlight.activities as readonly [Activity];
    const left = step(trip, withFlight, { type: "away" }, at).state;
    expect(step(trip, left, settledEvent(activity, { output: { room: 7 } }), at).state).toBe(left);
    expect(left.compensations).toEqual(withFlight.compensations);
  });

  test("stays recorded through steps that have nothing to do with it", () => {
    expect(step(trip, withFlight, { type: "away" }, at).state.compensations).toBe(withFlight.compensations);
  });

  test("whose undoing has an input that cannot be computed is not recorded, and that is an error", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          invoke: {
            activity: "x",
            compensate: { activity: "y", input: ({ event }) => event.data.no.such },
            onDone: "b",
          },
        },
        b: { on: { "error.execution": "c" } },
        c: {},
      },
    });
    const run = simulate(machine, { activities: { x: () => 1 } });
    expect(run.state).toMatchObject({ configuration: ["c"] });
    expect(run.state.compensations).toBeUndefined();
  });
});

test("an output is recorded up to the depth that the undoing child can hold, and refused one past it", () => {
  const nested = (levels: number): Json => (levels === 1 ? [] : [nested(levels - 1)]);
  const deepest = settled(begun, { output: nested(limits.jsonDepthMax - 3) }).state;
  const { effects } = cancel(trip, deepest, at);
  const { input } = effects.at(-1) as SpawnEffect;
  expect(start(compensationMachine(trip), input, at).state.activities).toHaveLength(1);
  const deeper = settled(begun, { output: nested(limits.jsonDepthMax - 2) });
  expect(deeper.errors).toMatchObject([{ type: "error.execution", data: { code: "NOT_JSON" } }]);
  expect(deeper.state.compensations).toBeUndefined();
});

describe("the action compensate", () => {
  const failing = step(trip, withCar, { type: "fail" }, at);

  test("starts a child with all that is recorded, the last first, and clears it", () => {
    const steps = [
      { key: "3.0", activity: "cancelCar" },
      { key: "2.0", activity: "cancelHotel", input: { city: "Oslo", room: 7, seen: 1 } },
      { key: "1.0", activity: "cancelFlight", input: { seat: "4A" } },
    ];
    const child = { key: "5.0", id: "compensation", machine: "trip/compensation" };
    expect(failing.effects).toEqual([{ type: "spawn", ...child, input: { steps } }]);
    expect(failing.state.children).toEqual([child]);
    expect(Object.keys(failing.state)).not.toContain("compensations");
    expect(withCar.compensations).toHaveLength(3);
  });

  test("announces the end inside the step if there is nothing to undo", () => {
    const { state, effects } = settled(begun, { error: "full" });
    expect(state.configuration).toEqual(["over"]);
    expect(state.context.result).toEqual({ undone: [], failed: [] });
    expect([effects, state.children]).toEqual([[], []]);
  });

  test("leaves it to the child to announce the end while one is at it", () => {
    const again = step(trip, failing.state, { type: "again" }, at);
    expect(again).toMatchObject({ outcome: "taken", effects: [], state: { configuration: ["failing"] } });
    expect(again.state.children).toEqual(failing.state.children);
  });

  test("brings the child's output back as the event done.invoke.compensation", () => {
    const [child] = failing.state.children as readonly [(typeof failing.state.children)[number]];
    const output = { undone: ["3.0", "2.0", "1.0"], failed: [] };
    const { state } = step(trip, failing.state, settledEvent(child, { output }), at);
    expect(state).toMatchObject({ configuration: ["over"], context: { result: output }, children: [] });
  });

  test("is carried out by a simulation without being told how", () => {
    const undone: string[] = [];
    const undo = (name: string) => (input: Json | undefined) => {
      undone.push(`${name} ${JSON.stringify(input)}`);
      return null;
    };
    const run = simulate(trip, {
      activities: {
        bookFlight: () => ({ seat: "4A" }),
        bookHotel: () => ({ room: 7 }),
        bookCar: () => undefined,
        cancelCar: undo("car"),
        cancelHotel: undo("hotel"),
        cancelFlight: undo("flight"),
      },
      restore: true,
    });
    run.send("fail");
    expect(undone).toEqual([
      "car undefined",
      'hotel {"city":"Oslo","room":7,"seen":1}',
      'flight {"seat":"4A"}',
    ]);
    expect(run.state).toMatchObject({
      configuration: ["over"],
      context: { result: { undone: ["3.0", "2.0", "1.0"], failed: [] } },
    });
  });
});

describe("a run that ends", () => {
  const reason = { limit: "steps" };

  test("from outside, cancelled or failed, undoes what it has done, after all that it cancels", () => {
    for (const options of [at, { at: 0, reason }]) {
      const { effects, state } = cancel(trip, withHotel, options);
      expect(effects).toMatchObject([
        { type: "cancel", of: "activity" },
        {
          type: "spawn",
          key: "4.0",
          id: "compensation",
          machine: "trip/compensation",
          input: { steps: [{ activity: "cancelHotel" }, { activity: "cancelFlight" }] },
        },
      ]);
      expect(state.children).toEqual([]);
      expect(Object.keys(state)).not.toContain("compensations");
    }
    expect(cancel(trip, begun, at).effects).toMatchObject([{ type: "cancel", of: "activity" }]);
  });

  test("by itself undoes nothing", () => {
    const { state, effects } = step(trip, withCar, { type: "home" }, at);
    expect(state).toMatchObject({ status: "done", output: "home" });
    expect(Object.keys(state)).not.toContain("compensations");
    expect(effects).toEqual([]);
  });

  test("lets a child that is undoing go on to the end", () => {
    const { state } = step(trip, withCar, { type: "fail" }, at);
    for (const { state: ended, effects } of [
      cancel(trip, state, at),
      cancel(trip, state, { at: 0, reason }),
      step(trip, state, { type: "home" }, at),
    ]) {
      expect(ended.status).not.toBe("active");
      expect([ended.children, effects]).toEqual([[], []]);
    }
  });

  test("hears no more of it in a simulation", () => {
    const activities = {
      bookFlight: () => ({ seat: "4A" }),
      bookHotel: () => ({ room: 7 }),
      bookCar: () => null,
    };
    const run = simulate(trip, { activities });
    for (const type of ["fail", "home"]) run.send(type);
    const { last } = run;
    const child = "trip/compensation:5.0";
    for (let state = run.run(child); state !== undefined; state = run.run(child)) {
      const [activity] = state.activities as readonly [Activity];
      run.deliver(settledEvent(activity, {}), child);
      while (run.turn() !== undefined);
    }
    expect(run.state.status).toBe("done");
    expect(run.last).toBe(last);
  });

  test("as a child of another is undone all the same", () => {
    const undone: string[] = [];
    const parent = defineMachine({
      id: "parent",
      initial: "a",
      machines: { trip },
      states: { a: { invoke: { machine: "trip" }, on: { stop: "b" } }, b: {} },
    });
    const run = simulate(parent, {
      activities: {
        bookFlight: () => ({ seat: "4A" }),
        cancelFlight: () => void undone.push("flight") as undefined,
      },
    });
    run.send("stop");
    expect(undone).toEqual(["flight"]);
    expect(run.state).toMatchObject({ configuration: ["b"], status: "active" });
    expect(run.turn()).toBeUndefined();
  });
});

describe("the machine that undoes", () => {
  const machine = compensationMachine(trip);
  const steps = [
    { key: "3.0", activity: "cancelCar" },
    { key: "2.0", activity: "cancelHotel", input: { room: 7 } },
    { key: "1.0", activity: "cancelFlight" },
  ];

  test("is an ordinary one, named after the machine it works for, of the same version", () => {
    expect([machine.id, machine.version]).toEqual(["trip/compensation", 1]);
    expect(compensationMachine({ id: "x", version: 4 }).version).toBe(4);
  });

  test("calls one activity after the other, in the order given, and tries each for a while", () => {
    const run = simulate(machine, { input: { steps } });
    const seen: unknown[] = [];
    while (run.state.status === "active") {
      seen.push(...run.last.effects);
      run.settle("undo", { output: null });
    }
    const options = { retry: { attempts: 10, first: "1s", max: "5m" } };
    expect(seen).toEqual([
      { type: "activity", key: "1.0", id: "undo", activity: "cancelCar", options },
      { type: "activity", key: "2.0", id: "undo", activity: "cancelHotel", input: { room: 7 }, options },
      { type: "activity", key: "3.0", id: "undo", activity: "cancelFlight", options },
    ]);
    expect(run.state.output).toEqual({ undone: ["3.0", "2.0", "1.0"], failed: [] });
  });

  test("notes what fails for good, or cannot be known, and goes on with the others", () => {
    const run = simulate(machine, { input: { steps } });
    run.settle("undo", { error: { message: "no answer" } });
    const [activity] = run.state.activities as readonly [Activity];
    run.send(settledEvent(activity, { unknown: { tried: 1 } }));
    run.settle("undo", {});
    expect(run.state.output).toEqual({
      undone: ["1.0"],
      failed: [
        { key: "3.0", activity: "cancelCar", error: { message: "no answer" } },
        { key: "2.0", activity: "cancelHotel", error: { tried: 1 } },
      ],
    });
  });

  test("has nothing to do if there is nothing to undo", () => {
    expect(start(machine, { steps: [] }, at).state).toMatchObject({
      status: "done",
      output: { undone: [], failed: [] },
    });
  });
});

describe("a definition's compensations", () => {
  const problemsOf = (invoke: unknown, entry: unknown = []) => {
    try {
      defineMachine({ id: "m", initial: "a", states: { a: { invoke, entry } } } as MachineDefinition);
    } catch (error) {
      return (error as HoldfastError).message
        .split("\n")
        .slice(1)
        .map((line) => line.trim());
    }
    return [];
  };

  test("are there to be asked for, wherever they are", () => {
    expect(trip.chart.compensates).toBe(true);
    expect(machineWithout.chart.compensates).toBe(false);
  });
  const machineWithout = defineMachine({
    id: "m",
    initial: "a",
    states: { a: { invoke: { activity: "x" }, entry: { compensate: true } } },
  });

  test("name an activity, and are for activities", () => {
    const name = "states.a.invoke.compensate needs the name of an activity that undoes this one";
    expect(problemsOf({ activity: "x", compensate: "" })).toEqual([name]);
    expect(problemsOf({ activity: "x", compensate: true })).toEqual([name]);
    expect(problemsOf({ activity: "x", compensate: { input: 1 } })).toEqual([name]);
    expect(problemsOf({ activity: "x", compensate: null })).toEqual([name]);
    expect(problemsOf({ machine: "x", compensate: "y" })).toEqual([
      "states.a.invoke.compensate is for activities, and this is a child machine",
    ]);
  });

  test("are all undone or none: the action takes no list", () => {
    expect(problemsOf(undefined, { compensate: ["x"] })).toEqual([
      'states.a.entry.compensate is ["x"]; write true',
    ]);
  });
});

describe("a stored state", () => {
  test("brings its compensations back, and is refused if they are none", () => {
    expect(restore(trip, JSON.parse(JSON.stringify(withCar)))).toEqual(withCar);
    for (const compensations of [{}, [], [1], [{ key: "1.0" }], [{ activity: "x" }], null])
      expect(() => restore(trip, { ...withCar, compensations })).toThrow(
        expect.objectContaining({
          code: "STATE_INVALID",
          message: expect.stringContaining("it has malformed compensations"),
        }),
      );
  });
});

test("the activity of an invocation may be computed when it begins", () => {
  const machine = defineMachine<{ tool: string }>({
    id: "m",
    start: { tool: "search" },
    initial: "a",
    states: { a: { invoke: { activity: ({ context }) => context.tool } } },
  });
  expect(start(machine, undefined, at).effects).toMatchObject([{ type: "activity", activity: "search" }]);
});
