/** `attempt`: what it expands to, what it does, and what can be wrong with it. */
import { describe, expect, test } from "vitest";
import {
  defineMachine,
  expand,
  type Json,
  type MachineDefinition,
  type StateDefinition,
  simulate,
  validate,
} from "../../index.ts";

const ends = { done: {}, failed: {}, waiting: {}, late: {} };
const define = (a: StateDefinition): MachineDefinition => ({ id: "m", initial: "a", states: { a, ...ends } });
const expanded = (a: StateDefinition) => expand(define(a)).states?.a;
const lines = (a: unknown) =>
  validate({ id: "m", initial: "a", states: { a, ...ends } }).map(
    ({ path, problem, fix }) => `${path} ${problem}${fix === undefined ? "" : `; ${fix}`}`,
  );
const invoke = { activity: "call", onDone: "done" } as const;

describe("attempt", () => {
  test("expands to an invocation, a timer and an exit action", () => {
    const a: StateDefinition = {
      attempt: {
        invoke: { ...invoke, retry: { attempts: 3 } },
        catch: [
          { errors: ["RateLimited", 429], target: "waiting" },
          { guard: "calm", errors: ["Odd"], target: "late" },
          "failed",
        ],
        timeout: "5 min",
        onTimeout: "late",
        finally: { log: "over" },
      },
      on: { stop: "failed" },
    };
    expect(expanded(a)).toEqual({
      invoke: {
        ...{ activity: "call", onDone: "done", retry: { attempts: 3 } },
        onError: [
          { guard: { error: ["RateLimited", 429] }, target: "waiting" },
          { guard: { and: [{ error: ["Odd"] }, "calm"] }, target: "late" },
          "failed",
        ],
      },
      after: { "5 min": "late" },
      exit: { log: "over" },
      on: { stop: "failed" },
    });
  });

  test("gives an error to the first catcher that names it or its code, and the rest to the last", () => {
    const run = (error: Json) => {
      const machine = defineMachine(
        define({
          attempt: {
            invoke,
            catch: [
              { errors: ["RateLimited", 429], target: "waiting" },
              { errors: ["Slow"], target: "late" },
              "failed",
            ],
          },
        }),
      );
      const simulation = simulate(machine);
      simulation.settle("a", { error });
      return simulation.state.configuration;
    };
    expect(run({ name: "RateLimited" })).toEqual(["waiting"]);
    expect(run({ name: "HttpError", code: 429 })).toEqual(["waiting"]);
    expect(run({ name: "Slow" })).toEqual(["late"]);
    expect(run({ name: "Other" })).toEqual(["failed"]);
    expect(run("a text")).toEqual(["failed"]);
  });

  test("bounds all attempts together, with a constant or an expression, and runs `finally` on any way out", () => {
    for (const timeout of ["5 min", 300_000, () => "5 min"]) {
      const machine = defineMachine(
        define({
          attempt: { invoke, catch: "failed", timeout, onTimeout: "late", finally: [{ log: "over" }] },
        }),
      );
      const simulation = simulate(machine);
      simulation.advance("5 min");
      expect(simulation.state.configuration).toEqual(["late"]);
      expect(simulation.state.activities).toEqual([]);
      expect(simulation.logs.map(({ data }) => data)).toEqual(["over"]);
    }
  });

  test("is added to what the state has of its own", () => {
    const attempt = {
      invoke,
      catch: "failed",
      timeout: "1s",
      onTimeout: ["late"],
      finally: { log: "over" },
    } as const;
    expect(expanded({ attempt, after: { "1s": "waiting" }, exit: { log: "own" } })).toMatchObject({
      after: { "1s": ["waiting", "late"] },
      exit: [[{ log: "own" }], [{ log: "over" }]],
    });
    expect(
      expanded({ attempt, after: { "1s": ["waiting"], 5: "done" }, exit: [{ log: "own" }] }),
    ).toMatchObject({
      after: { "1s": ["waiting", "late"], 5: "done" },
      exit: [[{ log: "own" }], [{ log: "over" }]],
    });
    expect(
      expanded({
        attempt: { ...attempt, finally: [{ log: "over" }] },
        after: [{ delay: 5, target: "waiting" }],
        exit: [[{ log: 1 }], []],
      }),
    ).toMatchObject({
      after: [
        { delay: 5, target: "waiting" },
        { delay: "1s", target: "late" },
      ],
      exit: [[{ log: 1 }], [], [{ log: "over" }]],
    });
    const timeout = () => 5;
    expect(
      expanded({ attempt: { ...attempt, timeout, onTimeout: { target: "late", reenter: true } } }),
    ).toMatchObject({
      after: [{ delay: timeout, target: "late", reenter: true }],
    });
  });

  test("may stand in any state, and inside others", () => {
    const inner = {
      initial: "x",
      states: { x: { attempt: { invoke: { activity: "y" }, catch: "#top" } } },
    } as const;
    const machine = expand({
      id: "m",
      initial: "a",
      states: { a: { id: "top", ...inner, attempt: { invoke, catch: "b" } }, b: {} },
    });
    expect(machine.states?.a).toMatchObject({
      invoke: { activity: "call", onError: "b" },
      states: { x: { invoke: { activity: "y", onError: "#top" } } },
    });
  });
});

describe("what is wrong with an attempt is told where it was written", () => {
  test("its own parts", () => {
    expect(lines({ attempt: 5 })[0]).toContain(
      "states.a.attempt is 5; write an attempt: an object with invoke, catch",
    );
    expect(lines({ attempt: { invoke: 5, catch: "failed", finaly: 1 } })).toEqual([
      'states.a.attempt.finaly is no key of an attempt; did you mean "finally"? there are invoke, catch, timeout, onTimeout, finally',
      "states.a.attempt.invoke is 5; write one invocation",
    ]);
    expect(lines({ attempt: { invoke: { activity: "x", onError: "failed" }, catch: "failed" } })).toEqual([
      "states.a.attempt.invoke.onError is what `catch` is for; write it there",
    ]);
    expect(lines({ attempt: { invoke, catch: "failed", timeout: "soon", onTimeout: "late" } })).toEqual([
      'states.a.attempt.timeout "soon" is not a delay: write milliseconds, or a number with ms, s, min, h, days or weeks',
    ]);
    expect(lines({ attempt: { invoke, catch: "failed", timeout: 5 } })).toEqual([
      "states.a.attempt.onTimeout is missing; say where the timeout leads",
    ]);
    expect(lines({ attempt: { invoke, catch: "failed", onTimeout: "late" } })).toEqual([
      "states.a.attempt.timeout is missing; say when onTimeout is taken",
    ]);
  });

  test("its catchers", () => {
    expect(lines({ attempt: { invoke } })).toEqual([
      "states.a.attempt.catch is missing; say where an error leads",
    ]);
    expect(lines({ attempt: { invoke, catch: { errors: ["X"], target: "late" } } })).toEqual([
      "states.a.attempt.catch leaves other errors without a way out; add a last one without errors",
    ]);
    expect(
      lines({ attempt: { invoke, catch: ["failed", { guard: () => true, target: "late" }, "late"] } }),
    ).toEqual(["states.a.attempt.catch[0] takes every error, and those after it none; put it last"]);
    expect(
      lines({
        attempt: {
          invoke,
          catch: [
            { errors: [{}], target: "lat" },
            { errors: ["X"], guard: 5 },
            { errors: [[]], guard: { in: "late" } },
            "faild",
          ],
        },
      }),
    ).toEqual([
      'states.a.attempt.catch[0].target names no state: "lat"; did you mean "late"? from here there are a, done, failed, waiting, late, .child and #id',
      "states.a.attempt.catch[0].errors[0] is {}; write the name or the code of an error",
      "states.a.attempt.catch[1].guard is not a guard; write a function, a name, or { in }, { and }, { or }, { not }, { error }",
      "states.a.attempt.catch[2].errors[0] is []; write the name or the code of an error",
      'states.a.attempt.catch[3] names no state: "faild"; did you mean "failed"? from here there are a, done, failed, waiting, late, .child and #id',
    ]);
  });

  test("what its parts lead to, and what the state has besides", () => {
    const attempt = {
      invoke: { activity: "x", retry: 5 },
      catch: "failed",
      timeout: "1s",
      onTimeout: "nowhere",
      finally: {},
    };
    const places = (a: unknown) => lines(a).map((line) => line.split(" ")[0]);
    expect(places({ attempt })).toEqual([
      ...["states.a.attempt.invoke.retry", "states.a.attempt.onTimeout", "states.a.attempt.finally"],
    ]);
    expect(places({ attempt, after: { "1s": "nobody" }, exit: 5 })).toEqual([
      ...["states.a.attempt.invoke.retry", "states.a.after.1s", "states.a.attempt.onTimeout"],
      ...["states.a.exit", "states.a.attempt.finally"],
    ]);
    const listed = { ...attempt, onTimeout: ["late", "nowhere"], finally: [{}] };
    expect(places({ attempt: listed, after: [{ delay: 1, target: "nobody" }], exit: [{}] })).toEqual([
      ...[
        "states.a.attempt.invoke.retry",
        "states.a.after[0].target",
        "states.a.attempt.onTimeout[1].target",
      ],
      ...["states.a.exit[0]", "states.a.attempt.finally[0]"],
    ]);
    expect(places({ attempt: listed, after: { "1s": ["nobody"] }, exit: [[{}]] })).toEqual([
      ...["states.a.attempt.invoke.retry", "states.a.after.1s[0]", "states.a.attempt.onTimeout[1]"],
      ...["states.a.exit[0][0]", "states.a.attempt.finally[0]"],
    ]);
    const computed = { ...attempt, timeout: () => 5, finally: undefined };
    expect(places({ attempt: computed, after: { "1s": "late" } })).toEqual([
      ...["states.a.after", "states.a.attempt.invoke.retry"],
    ]);
    expect(
      places({ attempt: { invoke, catch: "failed", timeout: { odd: () => 1 }, onTimeout: "late" } }),
    ).toEqual(["states.a.attempt.timeout"]);
    expect(places({ attempt: { invoke, catch: "failed", timeout: 5, onTimeout: "late" }, after: 5 })).toEqual(
      ["states.a.after"],
    );
  });

  test("what cannot stand beside it", () => {
    expect(
      lines({
        attempt: { invoke, catch: "failed" },
        invoke,
        approval: { onApproved: "done", onRejected: "failed" },
      }),
    ).toEqual([
      "states.a.approval cannot be together with attempt; put one into a state of its own",
      "states.a.invoke cannot be together with attempt; put one into a state of its own",
    ]);
    expect(validate({ ...define({}), attempt: { invoke, catch: "failed" } })).toEqual([
      { path: "attempt", problem: "cannot be on a machine", fix: "put it into a state" },
    ]);
    expect(() => expand(define({ attempt: 5 as never }))).toThrow('The machine "m" has a problem:');
    expect(() => expand(5 as never)).toThrow(
      "definition is 5; a machine is defined by an object with an id and states",
    );
  });
});
