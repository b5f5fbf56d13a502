import { describe, expect, test } from "vitest";
import { defineMachine, type Json, simulate, start, step } from "../index.ts";

const says = (run: { logs: readonly { data?: Json }[] }) => run.logs.map(({ data }) => data);
const fail = (message = "boom") => ({
  log: (): Json => {
    throw new Error(message);
  },
});

describe("an error in an action", () => {
  test("is the event error.execution, with what is known of it as data, and the machine lives on", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { on: { go: { target: "b", actions: fail() } } },
        b: {
          on: { "error.execution": { target: "c", actions: { log: ({ event }) => event.data as Json } } },
        },
        c: {},
      },
    });
    const run = simulate(machine);
    const taken = run.send("go");
    expect(run.state.configuration).toEqual(["c"]);
    expect(says(run)).toEqual([{ name: "Error", message: "boom" }]);
    expect(taken.errors).toEqual([
      { type: "error.execution", kind: "platform", data: { name: "Error", message: "boom" } },
    ]);
  });

  test("stops the rest of its block, and no other block", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          entry: [[{ log: "1" }, fail(), { log: "lost" }], [{ log: "2" }]],
          exit: [[fail(), { log: "lost" }], [{ log: "3" }]],
          on: { go: { target: "b", actions: [fail(), { log: "lost" }] } },
        },
        b: { entry: { log: "4" } },
      },
    });
    const run = simulate(machine);
    expect(run.last.errors).toHaveLength(1);
    expect(run.send("go").errors).toHaveLength(2);
    expect(says(run)).toEqual(["1", "2", "3", "4"]);
  });

  test("an update that fails half-way changes nothing at all", () => {
    const machine = defineMachine({
      id: "m",
      start: { n: 0, list: [1] },
      initial: "a",
      states: {
        a: {
          on: {
            go: {
              update: (draft) => {
                draft.n = 1;
                draft.list.push(2);
                throw new Error("half-way");
              },
              target: "b",
            },
          },
        },
        b: {},
      },
    });
    const run = simulate(machine);
    run.send("go");
    expect(run.state).toMatchObject({ configuration: ["b"], context: { n: 0, list: [1] } });
  });

  test("is reported whether anything handles it or not", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { go: { actions: fail() } } } },
    });
    expect(simulate(machine).send("go")).toMatchObject({
      outcome: "taken",
      error: undefined,
      errors: [{ type: "error.execution" }],
    });
  });
});

describe("an error in a guard", () => {
  const guard = () => {
    throw new Error("unsure");
  };

  test("makes it false and is an event like any other", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { go: { guard, target: "b" }, "error.execution": "c" } }, b: {}, c: {} },
    });
    const taken = simulate(machine).send("go");
    expect(taken).toMatchObject({ outcome: "taken", errors: [{ data: { message: "unsure" } }] });
    expect(taken.state.configuration).toEqual(["c"]);
  });

  test("is reported even if nothing else comes of the event", () => {
    const machine = defineMachine({ id: "m", initial: "a", states: { a: { on: { go: { guard } } } } });
    expect(simulate(machine).send("go")).toMatchObject({
      outcome: "ignored",
      errors: [{ type: "error.execution", data: { message: "unsure" } }],
    });
  });

  test("is reported even if the event is rejected", () => {
    const machine = defineMachine({
      id: "m",
      unhandled: "reject",
      initial: "a",
      states: { a: { on: { go: { guard } } } },
    });
    expect(simulate(machine).send("go")).toMatchObject({
      outcome: "refused",
      error: { code: "EVENT_UNHANDLED" },
      errors: [{ data: { message: "unsure" } }],
    });
  });
});

describe("what an error says", () => {
  const thrown = (error: unknown) => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          on: {
            go: {
              actions: {
                log: () => {
                  throw error;
                },
              },
            },
          },
        },
      },
    });
    return step(machine, start(machine, undefined, { at: 0 }).state, { type: "go" }, { at: 0 }).errors[0]
      ?.data;
  };

  test("is its name and message, and its code if it is one of Holdfast's", () => {
    expect(thrown(new RangeError("far"))).toEqual({ name: "RangeError", message: "far" });
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { entry: { log: () => Number.NaN } } },
    });
    expect(start(machine, undefined, { at: 0 }).errors[0]?.data).toEqual({
      name: "HoldfastError",
      code: "NOT_JSON",
      message: "states.a.entry.log is the number NaN, and state holds JSON only: use plain data instead",
    });
  });

  test("is whatever was thrown, as text, if that is no error", () => {
    expect(thrown("just text")).toEqual({ name: "Error", message: "just text" });
    expect(thrown(undefined)).toEqual({ name: "Error", message: "undefined" });
    expect(thrown(Symbol("odd"))).toEqual({ name: "Error", message: "Symbol(odd)" });
  });

  test("includes the data it carries, as far as that is JSON, and leaves the original alone", () => {
    const data = { line: 3, at: { column: 4 } };
    expect(thrown(Object.assign(new Error("here"), { data }))).toEqual({
      name: "Error",
      message: "here",
      line: 3,
      at: { column: 4 },
    });
    expect(Object.isFrozen(data.at)).toBe(false);
    expect(thrown(Object.assign(new Error("here"), { data: { when: new Date(0) } }))).toEqual({
      name: "Error",
      message: "here",
    });
    expect(thrown(Object.assign(new Error("here"), { data: "text" }))).toEqual({
      name: "Error",
      message: "here",
    });
    expect(thrown(Object.assign(new Error("here"), { data: null }))).toEqual({
      name: "Error",
      message: "here",
    });
  });

  test("is never an error itself: nothing a machine's functions throw gets out of a step", () => {
    const unspeakable = { name: "Error", message: "something was thrown that cannot be shown" };
    expect(thrown(Object.create(null))).toEqual(unspeakable);
    const hostile = new Error("x");
    Object.defineProperty(hostile, "message", {
      get() {
        throw new Error("hostile");
      },
    });
    expect(thrown(hostile)).toEqual(unspeakable);
  });
});

describe("errors in the other places where a machine's functions run", () => {
  const boom = (): never => {
    throw new Error("boom");
  };

  test("a delay that cannot be computed is an error event, and the other delays start", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          after: [
            { delay: boom, target: "b" },
            { delay: () => 5, target: "b" },
          ],
        },
        b: {},
      },
    });
    const { errors, state } = start(machine, undefined, { at: 0 });
    expect(errors).toMatchObject([{ data: { message: "boom" } }]);
    expect(state.timers).toMatchObject([{ due: 5 }]);
  });

  test("an invocation whose input or id fails is not started, and the others are", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          invoke: [
            { activity: "one", input: boom },
            { activity: "two", id: () => 5 as never },
            { machine: () => 6 as never },
            { activity: "four" },
          ] as never,
        },
      },
    });
    const { errors, state, effects } = start(machine, undefined, { at: 0 });
    expect(errors).toMatchObject([
      { data: { message: "boom" } },
      { data: { message: "states.a.invoke[1].id must be text, and is 5" } },
      { data: { message: "states.a.invoke[2].machine must be text, and is 6" } },
    ]);
    expect(state.activities).toMatchObject([{ id: "a:3", activity: "four" }]);
    expect(effects).toHaveLength(1);
  });

  test("an error while an invocation starts is handled in the same step", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { invoke: { activity: "one", input: boom }, on: { "error.execution": "b" } }, b: {} },
    });
    expect(start(machine, undefined, { at: 0 }).state.configuration).toEqual(["b"]);
  });

  test("a start that fails throws, since there is no state to be in", () => {
    const machine = defineMachine({ id: "m", start: boom, initial: "a", states: { a: {} } });
    expect(() => start(machine, undefined, { at: 0 })).toThrow("boom");
  });
});
