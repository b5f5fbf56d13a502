/** Every kind of problem that `validate` tells, each with its exact words. What machine.test.ts tells of is not repeated. */
import { describe, expect, test } from "vitest";
import {
  type DataModel,
  defineMachine,
  HoldfastError,
  limits,
  type MachineDefinition,
  validate,
} from "../index.ts";
import { plainModel } from "./plain-model.ts";

const lines = (definition: unknown): string[] =>
  validate(definition).map(
    ({ path, problem, fix }) => `${path} ${problem}${fix === undefined ? "" : `; ${fix}`}`,
  );
const ofMachine = (parts: object) => lines({ id: "m", initial: "a", states: { a: {} }, ...parts });
const ofState = (a: unknown, parts: object = {}) =>
  lines({ id: "m", initial: "a", states: { a, b: {} }, ...parts });

describe("validate", () => {
  test("gives nothing for a definition that defineMachine takes", () => {
    expect(validate({ id: "m", initial: "a", states: { a: {} } })).toEqual([]);
  });

  test("gives what defineMachine throws, with its place, what is wrong and what would be right", () => {
    const definition = { id: "m", initial: "aa", states: { a: { on: { go: "bookin" } }, booking: {} } };
    const problems = validate(definition);
    expect(problems).toEqual([
      { path: "initial", problem: 'names no state inside: "aa"', fix: "there are a, booking" },
      {
        path: "states.a.on.go",
        problem: 'names no state: "bookin"',
        fix: 'did you mean "booking"? from here there are a, booking, .child and #id',
      },
    ]);
    let thrown: unknown;
    try {
      defineMachine(definition);
    } catch (error) {
      thrown = error;
    }
    expect((thrown as HoldfastError).details).toEqual({ problems });
  });

  test("never throws, whatever it is given", () => {
    for (const given of [undefined, null, 5, "text", [], () => 1, Symbol("s"), 5n])
      expect(lines(given)).toHaveLength(1);
    expect(lines(undefined)).toEqual([
      "definition is undefined; a machine is defined by an object with an id and states",
    ]);
    expect(lines(5n)).toEqual(["definition is a bigint; a definition is JSON, and functions"]);
  });
});

describe("names that are nearly right", () => {
  test("of targets: beside, above, inside, by id, by path, and elsewhere", () => {
    const states = {
      outer: {
        initial: "inner",
        states: {
          inner: { on: { go: "innner", up: "outr", down: ".leef", id: "#targett", path: "outer.inne" } },
        },
      },
      other: { initial: "hidden", states: { hidden: { id: "target" }, leaf: {} }, on: { in: ".leef" } },
      third: { on: { go: "hidden" } },
    };
    const fixes = validate({ id: "m", initial: "outer", states }).map(
      ({ path, fix }) => `${path}: ${fix?.split("?")[0]}`,
    );
    expect(fixes).toEqual([
      'states.outer.states.inner.on.go: did you mean "inner"',
      'states.outer.states.inner.on.up: did you mean "outer"',
      "states.outer.states.inner.on.down: from here there are inner, .child and #id",
      'states.outer.states.inner.on.id: did you mean "#target"',
      'states.outer.states.inner.on.path: did you mean "outer.inner"',
      'states.other.on.in: did you mean ".leaf"',
      'states.third.on.go: the state of that key is "other.hidden"; from here there are outer, other, third, .child and #id',
    ]);
  });

  test("of keys, at every level", () => {
    expect(ofMachine({ versoin: 1 })[0]).toContain(
      'versoin is no key of a machine; did you mean "version"? ',
    );
    expect(ofState({ onn: {} })[0]).toContain('states.a.onn is no key of a state; did you mean "on"? ');
    expect(ofState({ on: { go: { targt: "b" } } })[0]).toContain(
      'states.a.on.go.targt is no key of a transition; did you mean "target"? ',
    );
    expect(ofState({ on: [{ event: "go", gaurd: 1 }] })[0]).toContain(
      'on[0].gaurd is no key of a handler; did you mean "guard"?',
    );
    expect(ofState({ after: [{ delay: 1, dleay: 1 }] })[0]).toContain(
      'after[0].dleay is no key of a delayed transition; did you mean "delay"?',
    );
    expect(ofState({ initial: { target: "x", udpate: 1 }, states: { x: {} } })).toEqual([
      'states.a.initial.udpate is no key of an initial; did you mean "update"? there are target, update, actions',
    ]);
    expect(ofState({ invoke: { activty: "x", activity: "x" } })[0]).toContain(
      'states.a.invoke.activty is no key of an invocation; did you mean "activity"?',
    );
    expect(ofState({ invoke: { activity: "x", retry: { atempts: 3 } } })).toEqual([
      'states.a.invoke.retry.atempts is no key of a retry; did you mean "attempts"? there are attempts, first, factor, max, never',
    ]);
    expect(ofState({ invoke: { activity: "x", compensate: { activity: "y", imput: 1 } } })).toEqual([
      'states.a.invoke.compensate.imput is no key of a compensation; did you mean "input"? there are activity, input',
    ]);
    expect(ofState({ entry: { raise: { type: "x", dta: 1 } } })).toEqual([
      'states.a.entry.raise.dta is no key of an event; did you mean "data"? there are type, data',
    ]);
    expect(ofState({ entry: { send: { type: "x", dealy: 1 } } })[0]).toContain(
      'no key of a send; did you mean "delay"?',
    );
    expect(ofState({ entry: { spawn: { machine: "x", inpt: 1 } } })[0]).toContain(
      'no key of a spawn; did you mean "input"?',
    );
    expect(ofState({ entry: { choose: [{ gard: 1 }] } })).toEqual([
      'states.a.entry.choose[0].gard is no key of a branch; did you mean "guard"? there are guard, actions',
    ]);
    expect(ofState({ entry: { log: 1, lable: "x" } })).toEqual([
      'states.a.entry.lable is no key of this action; did you mean "label"? there are log, label',
    ]);
    expect(ofState({ entry: { rase: "x" } })[0]).toContain(
      'states.a.entry is not an action; did you mean "raise"? write',
    );
    expect(ofMachine({ unhandled: { knwon: "defer" } })).toEqual([
      'unhandled.knwon is no key of an unhandled; did you mean "known"? there are known, unknown',
    ]);
  });

  test("of guards, updates, machines, activities and events, where the definition lists them", () => {
    const child = defineMachine({ id: "child", initial: "a", states: { a: {} } });
    const listed = {
      guards: { ready: () => true },
      updates: { add: () => {} },
      machines: { child },
      activities: { search: {}, undo: {} },
      events: { choose: {} },
    };
    const a = {
      on: { chose: { guard: "redy", update: "adds" }, "order.*": {}, "error.execution": {}, own: {} },
      defer: ["chooses"],
      entry: [{ spawn: "childs" }, { raise: "own" }],
      invoke: { activity: "serch", compensate: "udno", once: true, reconcile: "look" },
    };
    expect(ofState(a, { ...listed, priorities: { choose: 1 } })).toEqual([
      'states.a.on.chose.guard names no guard: "redy"; did you mean "ready"? there are ready',
      'states.a.on.chose.update names no update: "adds"; did you mean "add"? there are add',
      'states.a.invoke.activity names no activity: "serch"; did you mean "search"? there are search, undo',
      'states.a.invoke.reconcile names no activity: "look"; there are search, undo',
      'states.a.invoke.compensate names no activity: "udno"; did you mean "undo"? there are search, undo',
      'states.a.entry[0].spawn names no machine: "childs"; did you mean "child"? there are child',
      'states.a.on.chose is for an event the machine does not declare: "chose"; did you mean "choose"? there are choose, own',
      'states.a.defer is for an event the machine does not declare: "chooses"; did you mean "choose"? there are choose, own',
    ]);
    expect(ofState(a)).toEqual([]);
    expect(ofState(a, { ...listed, matching: "scxml" })).toHaveLength(6);
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { go: { guard: "one", update: "two" } } } },
    });
    const part = machine.implement({ guards: { other: () => true } });
    expect(part.missing).toEqual(['guard "one"', 'update "two"']);
  });

  test("are looked for up to a bound", () => {
    const many = Object.fromEntries(
      Array.from({ length: limits.comparedNamesMax / 10 }, (_, index) => [`state${index}`, {}]),
    );
    const far = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`far${index}`, "zzzzzzz"]));
    const fixOf = (on: object) => validate({ id: "m", initial: "state0", on, states: many }).at(-1)?.fix;
    expect(fixOf({ near: "stat0" })).toContain('did you mean "state0"?');
    expect(fixOf({ near: "stat0" })).toContain(
      `and ${limits.comparedNamesMax / 10 - limits.namesShownMax} more`,
    );
    expect(fixOf({ ...far, near: "stat0" })).not.toContain("did you mean");
    expect(
      lines({ id: "m", initial: "x".repeat(limits.comparedLengthMax + 1), states: { a: {} } })[0],
    ).not.toContain("mean");
  });
});

describe("values of the wrong kind", () => {
  test("in a machine", () => {
    expect(ofMachine({ guards: [], updates: 5, events: "x", priorities: [1] })).toEqual([
      "guards is []; write an object: a name for each key",
      "updates is 5; write an object: a name for each key",
      'events is "x"; write an object: a name for each key',
      "priorities is [1]; write an object: a name for each key",
    ]);
    expect(ofMachine({ guards: { odd: 5 }, updates: { odd: "x" }, machines: { odd: {} } })).toEqual([
      "machines.odd is {}; give what defineMachine made",
      "guards.odd is not a guard; write a function, a name, or { in }, { and }, { or }, { not }, { error }",
      "updates.odd is not an update; write a function (draft, { event }) => { … } or the name of one",
    ]);
    expect(ofMachine({ activities: { search: "fast" }, events: { go: 5 } })).toEqual([
      'activities.search is "fast"; write a schema, or {} for anything',
      "events.go is 5; write a schema, or {} for anything",
    ]);
    expect(ofMachine({ checkpoint: 5, unhandled: 5, states: { a: {}, b: 5 } })).toEqual([
      "checkpoint is 5; write step, manual, { every: a whole number above zero } or { when: a function }",
      "states.b is 5; a state is an object, and may be an empty one",
      "unhandled.known is 5; write ignore, defer or reject",
      "unhandled.unknown is 5; write ignore, defer or reject",
    ]);
    expect(lines({ id: "m", initial: "a", states: ["a"] })).toEqual([
      'states is ["a"]; write an object: a name for each key',
      'initial names no state inside: "a"; there are ',
    ]);
  });

  test("in a state", () => {
    expect(ofState({ description: 5, on: 5, after: "1s", invariants: [], history: "deepest" })).toEqual([
      "states.a.description is 5; write text",
      "states.a.history cannot be on an atomic state; it is for history states",
      'states.a.history is "deepest"; write shallow or deep',
      "states.a.on is 5; write an object: a name for each key",
      'states.a.after is "1s"; write an object: a name for each key',
      "states.a.invariants is []; write an object: a name for each key",
    ]);
    expect(ofState({ invoke: 5 })[0]).toContain(
      "states.a.invoke is 5; write an invocation: an object with id, input",
    );
    expect(ofState({ after: [5, { delay: true, target: "b" }] })).toEqual([
      expect.stringContaining("states.a.after[0] is 5; write a delayed transition: an object with target"),
      "states.a.after[1].delay true is not a delay: write milliseconds, or a number with ms, s, min, h, days or weeks",
    ]);
    expect(ofState({ on: [5, { event: 5 }, { event: ["go", " "] }] })).toEqual([
      expect.stringContaining("states.a.on[0] is 5; write a handler: an object with target"),
      "states.a.on[1].event is 5; write a name, or a list of names",
    ]);
    expect(ofState({ on: { "": "b" } })).toEqual([
      'states.a.on[""] needs an event; without one, write it under `always`',
    ]);
  });

  test("are shown as far as it takes to recognise them", () => {
    const shown = (matching: unknown) => ofMachine({ matching })[0];
    expect(shown([[[[1]]]])).toBe("matching is [[[…]]]; write exact or scxml");
    expect(shown("x".repeat(500))).toBe(
      `matching is "${"x".repeat(limits.valueShownMax - 1)}…; write exact or scxml`,
    );
    expect(shown({ f: () => 1, n: null })).toBe(
      'matching is {"f":a function,"n":null}; write exact or scxml',
    );
  });

  test("in a transition", () => {
    expect(ofState({ on: { go: 5 } })[0]).toContain(
      "states.a.on.go is 5; write a transition: an object with target",
    );
    expect(ofState({ on: { go: { target: "b", reenter: "yes", description: 5, require: [] } } })).toEqual([
      'states.a.on.go.reenter is "yes"; write true or false',
      "states.a.on.go.description is 5; write text",
      "states.a.on.go.require is []; write an object: a name for each key",
    ]);
    expect(ofState({ on: { go: { guard: { in: 5 } } } })).toEqual([
      "states.a.on.go.guard.in names no state: 5; write a path such as a.b, or #id",
    ]);
    expect(ofState({ on: { go: { guard: { error: [true] } } } })).toEqual([
      "states.a.on.go.guard.error[0] is true; write the name or the code of an error",
    ]);
  });

  test("in an action or an invocation", () => {
    expect(
      ofState({ entry: [{ cancel: 5 }, { log: 1, label: 5 }, { send: { type: "x", to: "nowhere" } }] }),
    ).toEqual([
      "states.a.entry[0].cancel is 5; write a name, or how to compute it",
      "states.a.entry[1].label is 5; write text",
      'states.a.entry[2].send.to is "nowhere"; write "self", "internal", "parent", { child }, { run } or { url }',
    ]);
    expect(ofState({ entry: { send: { type: "x", data: { when: () => 1 } } } })).toEqual([
      "states.a.entry.send.data cannot be used: it.when is a function, and state holds JSON only: use plain data instead",
    ]);
    expect(ofState({ invoke: { activity: "x", id: "", input: Number.NaN } })).toEqual([
      'states.a.invoke.id is ""; write a name, or how to compute it',
      "states.a.invoke.input cannot be used: it is the number NaN, and state holds JSON only: use plain data instead",
    ]);
    expect(ofState({ invoke: { machine: 5 } })).toEqual([
      "states.a.invoke.machine is 5; write a name, or how to compute it",
    ]);
    expect(ofState({ invoke: { activity: "x", timeout: () => 1 } })[0]).toContain(
      "states.a.invoke.timeout cannot be used: timeout is a function",
    );
    expect(ofState({ invoke: { activity: "x", autoforward: true } })).toEqual([
      "states.a.invoke.autoforward is for child machines, and this is an activity",
    ]);
    expect(ofState({ invoke: { machine: "x", retry: {}, once: true, onUnknown: "b" } })).toEqual([
      "states.a.invoke.retry is for activities, and this is a child machine",
      "states.a.invoke.once is for activities, and this is a child machine",
    ]);
  });

  test("in a retry", () => {
    expect(
      ofState({ invoke: { activity: "x", retry: { attempts: 0, factor: 0.5, first: "soon", never: "X" } } }),
    ).toEqual([
      "states.a.invoke.retry.attempts is 0; write a whole number above zero",
      "states.a.invoke.retry.factor is 0.5; write a number of at least 1",
      'states.a.invoke.retry.first "soon" is not a delay: write milliseconds, or a number with ms, s, min, h, days or weeks',
      "states.a.invoke.retry.never must be a list of names",
    ]);
  });
});

describe("what makes no sense together", () => {
  test("an activity that runs at most once, and nobody says what happens when that is not known", () => {
    expect(ofState({ invoke: { activity: "x", once: true } })).toEqual([
      "states.a.invoke.once leaves it open what happens when nobody can know whether it ran; give onUnknown, or an activity to reconcile with",
    ]);
    expect(ofState({ invoke: { activity: "x", once: true, onUnknown: "b" } })).toEqual([]);
    expect(ofState({ invoke: { activity: "x", once: true, reconcile: "y" } })).toEqual([]);
    expect(ofState({ invoke: { activity: "x", once: "yes" } })).toEqual([
      'states.a.invoke.once is "yes"; write true or false',
    ]);
  });

  test("parts of one kind of state on another", () => {
    expect(
      ofState({ output: 1, target: "b", update: () => {}, actions: { log: 1 }, writes: "last" }),
    ).toEqual([
      "states.a.output cannot be on an atomic state; it is for final states",
      "states.a.target cannot be on an atomic state; it is for history states",
      "states.a.update cannot be on an atomic state; it is for history states",
      "states.a.actions cannot be on an atomic state; it is for history states",
      "states.a.writes cannot be on an atomic state; it is for parallel states",
    ]);
    expect(ofMachine({ output: 1 })).toEqual([]);
    expect(ofMachine({ target: "a" })).toEqual(["target cannot be on a machine; it is for history states"]);
    expect(ofState({ onDone: "b" })).toEqual([
      "states.a.onDone never happens: there is no state inside that could be done",
    ]);
  });

  test("a guard that leads back to itself, and one that grows without end", () => {
    const on = { go: { guard: "a", target: "b" } };
    expect(ofState({ on }, { guards: { a: { not: "b" }, b: { and: ["a"] } } })).toEqual([
      'guards.b.and[0] names a guard that leads back to itself: "a"',
    ]);
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`g${index}`, { and: [`g${index + 1}`, `g${index + 1}`] }]),
    );
    const guards = { ...doubling, g40: () => true };
    expect(ofState({ on: { go: { guard: "g0", target: "b" } } }, { guards })[0]).toMatch(
      /^states\.a\.on\.go\.guard comes to \d+ conditions; a guard has at most 1000$/,
    );
    const wide = (count: number) => ({
      on: { go: { guard: { or: Array(count).fill({ in: "b" }) }, target: "b" } },
    });
    expect(ofState(wide(limits.conditionsMax - 1))).toEqual([]);
    expect(ofState(wide(limits.conditionsMax))).toHaveLength(1);
  });

  test("too many targets, and histories that lead through too many others", () => {
    const regions = Object.fromEntries(
      Array.from({ length: limits.targetsMax + 1 }, (_, index) => [`r${index}`, {}]),
    );
    const all = Object.keys(regions).map((key) => `p.${key}`);
    const jump = (target: string[]) =>
      lines({
        id: "m",
        initial: "a",
        states: { a: { on: { go: { target } } }, p: { type: "parallel", states: regions } },
      });
    expect(jump(all.slice(1))).toEqual([]);
    expect(jump(all)).toEqual(["states.a.on.go.target has 101 targets; there are at most 100"]);
    const chain = (length: number) => {
      const histories = Array.from({ length }, (_, index) => [
        `h${index}`,
        { type: "history", target: index === length - 1 ? "x" : `h${index + 1}` },
      ]);
      return ofState({ initial: "x", states: { x: {}, ...Object.fromEntries(histories) } });
    };
    expect(chain(limits.historiesMax)).toEqual([]);
    expect(chain(limits.historiesMax + 1)).toEqual([
      "states.a.states.h0.target leads back to itself; a default needs a state",
    ]);
  });
});

describe("a data model's own problems", () => {
  const failing = (failure: () => never): DataModel => ({
    ...plainModel,
    name: "picky",
    value: failure,
    condition: failure,
  });
  const with_ = (model: unknown) =>
    ofState(
      { on: { go: { guard: { cel: "1 +" }, target: "b" } }, invoke: { activity: "x", input: { cel: "?" } } },
      { model },
    );

  test("are told at the place of the expression", () => {
    const model = failing(() => {
      throw new Error("unexpected end");
    });
    expect(with_(model)).toEqual([
      "states.a.on.go.guard cannot be used: unexpected end",
      "states.a.invoke.input cannot be used: unexpected end",
    ]);
  });

  test("may be several, each with its place", () => {
    const problems = [{ path: "here", problem: "is odd", fix: "make it even" }];
    const model = failing(() => {
      throw new HoldfastError("MACHINE_INVALID", "odd", { details: { problems } });
    });
    expect(with_(model)).toEqual(["here is odd; make it even"]);
  });

  test("whatever is thrown", () => {
    const hostile = {
      get message() {
        throw new Error("no");
      },
    };
    const thrown = (value: unknown) =>
      with_(
        failing(() => {
          throw value;
        }),
      )[0];
    expect(thrown(hostile)).toContain("something was thrown that cannot be shown");
    expect(thrown("text")).toContain("something was thrown that is no error");
  });

  test("a model that is none", () => {
    expect(ofMachine({ model: { name: "half" } })).toEqual([
      'model is {"name":"half"}; give a data model, or leave it out',
    ]);
    const trap = Object.defineProperty({}, "name", {
      get() {
        throw new Error("no");
      },
    });
    expect(ofMachine({ model: trap })).toEqual(["model cannot be read: no"]);
  });
});

test("problems beyond a bound are counted, not listed", () => {
  const on = Object.fromEntries(
    Array.from({ length: limits.problemsMax + 5 }, (_, index) => [`e${index}`, "nowhere"]),
  );
  const problems = validate({ id: "m", initial: "a", on, states: { a: {} } } as unknown as MachineDefinition);
  expect(problems).toHaveLength(limits.problemsMax + 1);
  expect(problems.at(-1)).toEqual({
    path: "definition",
    problem: "has 5 more problems than are listed here",
  });
});
