import { describe, expect, test } from "vitest";
import { defineMachine, HoldfastError, type MachineDefinition, type Problem, start, step } from "../index.ts";

const at = { at: 0 };

/** The problems of a definition whose state `a` is given, each as one line. */
function problemsOf(definition: unknown): string[] {
  try {
    defineMachine(definition as MachineDefinition);
  } catch (error) {
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toMatchObject({ code: "MACHINE_INVALID", retry: "after-fix" });
    const { problems } = (error as HoldfastError).details as { problems: Problem[] };
    return problems.map(
      ({ path, problem, fix }) => `${path} ${problem}${fix === undefined ? "" : `; ${fix}`}`,
    );
  }
  return [];
}
const problemsOfState = (a: unknown, others: object = {}) =>
  problemsOf({ id: "m", initial: "a", states: { a, b: {}, ...others } });

describe("a definition's problems", () => {
  test("are all listed, each with its place, in one error", () => {
    const define = () =>
      defineMachine({
        id: "",
        version: 1.5,
        initial: "nowhere",
        states: { a: { on: { go: "gone" }, type: "strange" as never }, "b.c": {} },
      });
    expect(define).toThrow(
      [
        'The machine "" has 6 problems:',
        "  id is missing; a machine needs a name",
        "  version must be a whole number",
        '  states.a.type is "strange"; write parallel, final or history, or leave it out',
        '  states["b.c"] has a bad key: state keys are not empty and have no dot or # in them',
        '  initial names no state inside: "nowhere"; there are a, b.c',
        '  states.a.on.go names no state: "gone"; from here there are a, b.c, .child and #id',
      ].join("\n"),
    );
    expect(() => defineMachine({ id: "m", initial: "x", states: { a: {} } })).toThrow(
      'The machine "m" has a problem:',
    );
  });

  test("a machine needs to be an object, with a name and a state", () => {
    for (const given of [null, undefined, "m", 5]) {
      expect(() => defineMachine(given as never)).toThrow(
        "a machine is defined by an object with an id and states",
      );
    }
    expect(problemsOf({ id: 5, initial: "a", states: { a: {} } })).toEqual([
      "id is missing; a machine needs a name",
    ]);
    expect(problemsOf({ id: "m", initial: "a", states: {} })).toContain(
      "states is empty; a machine needs a state",
    );
    expect(problemsOf({ id: "m" })).toContain("states is empty; a machine needs a state");
  });

  test("a machine itself is compound or parallel", () => {
    expect(problemsOf({ id: "m", type: "final", initial: "a", states: { a: {} } })).toEqual([
      "type is final; a machine itself is parallel, or has no type",
    ]);
    expect(problemsOf({ id: "m", type: "history", initial: "a", states: { a: {} } })).toHaveLength(1);
    expect(problemsOf({ id: "m", initial: "a", onDone: {}, states: { a: {} } })).toEqual([
      "onDone never happens: a machine that is done takes no more events",
    ]);
  });

  test("keys of states", () => {
    for (const key of ["", "a.b", "#a"]) {
      expect(problemsOf({ id: "m", initial: "ok", states: { ok: {}, [key]: {} } })[0]).toContain(
        "has a bad key",
      );
    }
    const proto = JSON.parse('{"ok": {}, "__proto__": {}}') as object;
    expect(problemsOf({ id: "m", initial: "ok", states: proto })).toEqual([
      "states.__proto__ is no key anybody may use; leave it out",
    ]);
  });

  test("ids that are no names, or used twice", () => {
    expect(problemsOfState({ id: "" })).toEqual(["states.a.id must be a name"]);
    expect(problemsOfState({ id: 5 })).toEqual(["states.a.id must be a name"]);
    expect(problemsOfState({ id: "x" }, { c: { id: "x" } })).toEqual(['states.c.id is used twice: "x"']);
  });

  test("states inside final and history states, and transitions or invocations of them", () => {
    expect(problemsOfState({ type: "final", states: { x: {} } })).toEqual([
      "states.a.states cannot be inside a final state",
    ]);
    for (const part of [{ on: {} }, { always: "b" }, { after: {} }, { invoke: [] }, { onDone: "b" }]) {
      expect(problemsOfState({ type: "final", ...part })).toEqual([
        "states.a is a final state and cannot have transitions or invocations",
      ]);
    }
    expect(
      problemsOfState({ initial: "x", states: { x: {}, h: { type: "history", target: "x", on: {} } } }),
    ).toEqual(["states.a.states.h is a history state and cannot have transitions or invocations"]);
  });

  test("parallel states without regions, or with a final one", () => {
    expect(problemsOf({ id: "m", type: "parallel" })).toContain(
      "definition is parallel and needs regions: states inside it",
    );
    expect(problemsOfState({ type: "parallel" })).toEqual([
      "states.a is parallel and needs regions: states inside it",
    ]);
    expect(problemsOfState({ type: "parallel", states: { h: { type: "history", target: "h" } } })).toContain(
      "states.a is parallel and needs regions: states inside it",
    );
    expect(problemsOfState({ type: "parallel", states: { x: {}, end: { type: "final" } } })).toEqual([
      "states.a.states.end is final, and a parallel state has regions only: put it inside a region",
    ]);
  });

  test("invocations of one name that can be under way together; those that cannot may share it", () => {
    const calls = (id: string) => ({ invoke: { activity: "w", id } });
    const twice = (states: object, type?: "parallel") =>
      problemsOf({ id: "m", initial: type === undefined ? "a" : undefined, type, states });
    expect(twice({ a: calls("x"), b: calls("x") })).toEqual([]);
    expect(twice({ a: calls("x"), b: calls("x") }, "parallel")).toEqual([
      'states.b.invoke.id is used twice at once: "x"',
    ]);
    expect(twice({ a: { ...calls("x"), initial: "b", states: { b: calls("x") } } })).toEqual([
      'states.a.states.b.invoke.id is used twice at once: "x"',
    ]);
    const both = { invoke: [calls("x").invoke, calls("x").invoke] };
    expect(twice({ a: both })).toEqual(['states.a.invoke[1].id is used twice at once: "x"']);
  });

  test("a guard's name that leads to another name", () => {
    const guards = { one: "two" as never };
    const states = { a: { on: { go: { guard: "one", target: "a" } } } };
    expect(problemsOf({ id: "m", initial: "a", guards, states })).toEqual([
      'states.a.on.go.guard names a guard that is a name itself: "one"',
    ]);
  });

  test("initials that are missing, wrong, or where they cannot be", () => {
    expect(problemsOfState({ states: { x: {}, y: {} } })).toEqual([
      "states.a.initial is missing; name one of x, y",
    ]);
    expect(problemsOfState({ initial: [], states: { x: {} } })).toEqual([
      "states.a.initial is missing; name one of x",
    ]);
    expect(problemsOfState({ initial: "b", states: { x: {} } })).toEqual([
      'states.a.initial names no state inside: "b"; there are x',
    ]);
    expect(problemsOfState({ initial: "#bee", states: { x: {} } }, { c: { id: "bee" } })[0]).toContain(
      'names no state inside: "#bee"',
    );
    expect(problemsOfState({ initial: null, states: { x: {} } })[0]).toContain("names no state inside: null");
    expect(problemsOfState({ initial: 5, states: { x: {} } })[0]).toContain("names no state inside: 5");
    expect(problemsOfState({ initial: "x" })).toEqual([
      "states.a.initial cannot be on an atomic state; it is for states with states inside, and not parallel",
    ]);
    expect(problemsOfState({ type: "parallel", initial: "x", states: { x: {} } })).toEqual([
      "states.a.initial cannot be on a parallel state; it is for states with states inside, and not parallel",
    ]);
    expect(problemsOfState({ initial: ["x", "y"], states: { x: {}, y: {} } })).toEqual([
      'states.a.initial cannot lead to "a.x" and "a.y" at once',
    ]);
  });

  test("histories without a default, with one elsewhere, or one that leads back to itself", () => {
    const history = (parts: object, others: object = {}) =>
      problemsOfState({ initial: "x", states: { x: {}, h: { type: "history", ...parts }, ...others } });
    expect(history({})).toEqual(["states.a.states.h.target is missing; a history state needs a default"]);
    expect(history({ target: 5n })).toEqual([
      "states.a.states.h.target is a bigint; a definition is JSON, and functions",
    ]);
    expect(history({ target: "b" })).toEqual(['states.a.states.h.target must lie inside "a"']);
    expect(history({ target: "h" })).toEqual([
      "states.a.states.h.target leads back to itself; a default needs a state",
    ]);
    expect(history({ target: "i" }, { i: { type: "history", target: "h" } })).toHaveLength(2);
    expect(history({ target: "i" }, { i: { type: "history", target: "x" } })).toEqual([]);
    expect(
      history({ target: "y" }, { y: { type: "history", target: "z" }, z: { type: "history", target: "y" } }),
    ).toEqual([
      "states.a.states.y.target leads back to itself; a default needs a state",
      "states.a.states.z.target leads back to itself; a default needs a state",
    ]);
  });

  test("targets that name no state, in any kind of transition", () => {
    const lines = (a: object) => problemsOfState(a).map((line) => line.split(" names ")[0]);
    expect(lines({ on: { go: "x", come: [{ target: "x" }, { target: ["b", 5] }] } })).toEqual([
      "states.a.on.go",
      "states.a.on.come[0].target",
      "states.a.on.come[1].target[1]",
    ]);
    expect(lines({ always: "x" })).toEqual(["states.a.always"]);
    expect(lines({ after: { 5: "x" } })).toEqual(["states.a.after.5"]);
    expect(lines({ after: [{ delay: 5, target: "x" }] })).toEqual(["states.a.after[0].target"]);
    expect(lines({ initial: "y", states: { y: {} }, onDone: "x" })).toEqual(["states.a.onDone"]);
    expect(lines({ invoke: { activity: "w", onDone: "x", onError: "x", onUnknown: "x" } })).toEqual([
      "states.a.invoke.onDone",
      "states.a.invoke.onError",
      "states.a.invoke.onUnknown",
    ]);
    expect(lines({ on: [{ event: "go", target: "x" }] })).toEqual(["states.a.on[0].target"]);
    expect(problemsOf({ id: "m", on: { go: "x" }, initial: "a", states: { a: {} } })).toEqual([
      'on.go names no state: "x"; from here there are a, .child and #id',
    ]);
  });

  test("a handler in a list without an event", () => {
    expect(problemsOfState({ on: [{ target: "b" }] })).toEqual([
      "states.a.on[0] needs an event; without one, write it under `always`",
    ]);
  });

  test("actions that are none, or two in one", () => {
    const wanted =
      "is not an action; write an object with one of update, raise, emit, send, cancel, stop, log, spawn, reply, compensate, choose, map, model";
    for (const action of [
      "text",
      5,
      null,
      {},
      { nothing: 1 },
      { raise: "x", log: "y" },
      { constructor: 1 },
    ]) {
      expect(problemsOfState({ entry: action })).toEqual([`states.a.entry ${wanted}`]);
    }
    expect(problemsOfState({ entry: [[{ log: 1 }], [{}]] })).toEqual([`states.a.entry[1][0] ${wanted}`]);
    expect(problemsOfState({ exit: {} })).toEqual([`states.a.exit ${wanted}`]);
    expect(problemsOfState({ on: { go: { actions: [{ log: 1 }, {}] } } })).toEqual([
      `states.a.on.go.actions[1] ${wanted}`,
    ]);
    expect(problemsOfState({ entry: { choose: [{ actions: [{}] }] } })).toEqual([
      `states.a.entry.choose[0].actions[0] ${wanted}`,
    ]);
    expect(problemsOfState({ invoke: { activity: "w", finalize: {} } })).toEqual([
      `states.a.invoke.finalize ${wanted}`,
    ]);
  });

  test("updates, guards, events and delays that are none", () => {
    expect(problemsOfState({ entry: { update: { a: 1 } } })).toEqual([
      "states.a.entry.update is not an update; write a function (draft, { event }) => { … } or the name of one",
    ]);
    const guard = "is not a guard; write a function, a name, or { in }, { and }, { or }, { not }, { error }";
    expect(problemsOfState({ on: { go: { guard: { like: "x" } } } })).toEqual([
      `states.a.on.go.guard ${guard}`,
    ]);
    expect(problemsOfState({ on: { go: { guard: { and: [null] } } } })).toEqual([
      `states.a.on.go.guard.and[0] ${guard}`,
    ]);
    expect(problemsOfState({ on: { go: { guard: { or: { not: 5 } } } } })).toEqual([
      `states.a.on.go.guard.or.not ${guard}`,
    ]);
    expect(problemsOfState({ invariants: { odd: 5 } })).toEqual([`states.a.invariants.odd ${guard}`]);
    expect(problemsOfState({ on: { go: { guard: { in: "x" } } } })).toEqual([
      'states.a.on.go.guard.in names no state: "x"; write a path such as a.b, or #id',
    ]);
    for (const event of [{ data: 1 }, { type: "" }, "", null]) {
      expect(problemsOfState({ entry: { raise: event } })).toEqual([
        "states.a.entry.raise needs an event type",
      ]);
      expect(problemsOfState({ entry: { send: event } })).toEqual([
        "states.a.entry.send needs an event type",
      ]);
    }
    expect(problemsOfState({ after: { soon: "b" } })[0]).toContain(
      'states.a.after.soon "soon" is not a delay',
    );
    expect(problemsOfState({ entry: { send: { type: "x", delay: "soon" } } })[0]).toContain(
      'states.a.entry.send.delay "soon" is not a delay',
    );
  });

  test("a guard by a name that stands for another name", () => {
    expect(
      problemsOf({
        id: "m",
        guards: { one: "two" },
        initial: "a",
        states: { a: { on: { go: { guard: "one" } } } },
      }),
    ).toEqual(['states.a.on.go.guard names a guard that is a name itself: "one"']);
  });

  test("invocations of nothing, of two things, or with handlers for an id that is not known", () => {
    expect(problemsOfState({ invoke: {} })).toEqual([
      "states.a.invoke needs either an activity or a machine",
    ]);
    expect(problemsOfState({ invoke: [{ activity: "w" }, { activity: "w", machine: "m" }] })).toEqual([
      "states.a.invoke[1] needs either an activity or a machine",
    ]);
    expect(problemsOfState({ invoke: { activity: "w", id: () => "x", onDone: "b" } })).toEqual([
      "states.a.invoke.onDone needs an invocation whose id is a constant",
    ]);
  });

  test("policies that are none", () => {
    expect(problemsOfState({ type: "parallel", writes: "best", states: { x: {} } })).toEqual([
      'states.a.writes has the policy "best"; write reject, last or first',
    ]);
    expect(problemsOfState({ type: "parallel", writes: { n: "best" }, states: { x: {} } })).toHaveLength(1);
    const machine = (parts: object) => problemsOf({ id: "m", initial: "a", states: { a: {} }, ...parts });
    expect(machine({ unhandled: "panic" })).toEqual([
      'unhandled.known is "panic"; write ignore, defer or reject',
      'unhandled.unknown is "panic"; write ignore, defer or reject',
    ]);
    expect(machine({ unhandled: { known: "panic" } })).toHaveLength(1);
    expect(machine({ matching: "fuzzy" })).toEqual(['matching is "fuzzy"; write exact or scxml']);
    expect(machine({ priorities: { go: "high" } })).toEqual(["priorities.go must be a number"]);
  });

  test("a first context that is not JSON, or not an object", () => {
    expect(
      problemsOf({ id: "m", start: { when: new Date(0) }, initial: "a", states: { a: {} } })[0],
    ).toContain("start.when is an instance of Date");
    expect(problemsOf({ id: "m", start: [], initial: "a", states: { a: {} } })[0]).toContain(
      "start cannot be used: The first context must be an object",
    );
  });

  test("what belongs to another data model", () => {
    for (const parts of [
      { entry: { model: {} } },
      { data: {} },
      { invoke: { activity: "w", idLocation: {} } },
      { entry: { send: { type: "x", idLocation: {} } } },
    ]) {
      expect(problemsOfState(parts)[0]).toContain(
        "is of another data model; give the definition that `model`",
      );
    }
  });

  test("lists of names that are none", () => {
    expect(problemsOfState({ defer: "go", tags: [5] })).toEqual([
      "states.a.defer must be a list of names",
      "states.a.tags must be a list of names",
    ]);
  });

  test("whatever cannot even be read, and never another error", () => {
    const junk = [null, 5, 5n, "text", true, [], {}, [null], [5], { x: null }, { x: 5 }, () => 1];
    const fields = [
      "id type initial states on always after entry exit invoke onDone defer output history target update actions",
      "writes invariants require ensure tags data",
    ].flatMap((line) => line.split(" "));
    for (const field of fields) {
      for (const value of junk) {
        expect(problemsOfState({ [field]: value })).toBeInstanceOf(Array);
        expect(problemsOfState({ initial: "x", states: { x: {} }, [field]: value })).toBeInstanceOf(Array);
      }
    }
    for (const field of ["priorities", "events", "guards", "updates", "machines", "unhandled", "version"]) {
      for (const value of junk) {
        expect(problemsOf({ id: "m", initial: "a", states: { a: {} }, [field]: value })).toBeInstanceOf(
          Array,
        );
      }
    }
    expect(problemsOfState(null)).toEqual([
      "states.a is null; a state is an object, and may be an empty one",
      'initial names no state inside: "a"; there are b',
    ]);
    expect(problemsOfState({ invoke: { activity: "w", retry: () => 1 } })[0]).toContain(
      "retry is a function",
    );
  });
});

describe("a machine", () => {
  test("has an id, a version that is 1 unless given, and its definition", () => {
    const definition: MachineDefinition = { id: "m", initial: "a", states: { a: {} } };
    const machine = defineMachine(definition);
    expect(machine).toMatchObject({ id: "m", version: 1, missing: [], machines: {} });
    expect(machine.definition).toEqual(definition);
    expect(Object.isFrozen(machine)).toBe(true);
    expect(defineMachine({ ...definition, version: 7 }).version).toBe(7);
  });

  test("knows the machines it refers to, by their name", () => {
    const child = defineMachine({ id: "child", initial: "a", states: { a: {} } });
    const other = defineMachine({ id: "other", initial: "a", states: { a: {} } });
    const machine = defineMachine({
      id: "m",
      machines: { other },
      initial: "a",
      states: { a: { invoke: { machine: child } } },
    });
    expect(machine.machines).toEqual({ other, child });
  });

  test("with names that nothing is bound to cannot run until they are, and says which", () => {
    const machine = defineMachine<{ n: number }>({
      id: "m",
      start: { n: 0 },
      initial: "a",
      states: { a: { on: { go: { guard: { and: ["ready", { not: "busy" }] }, update: "add" } } } },
    });
    expect(machine.missing).toEqual(['guard "ready"', 'guard "busy"', 'update "add"']);
    expect(() => start(machine, undefined, at)).toThrow(
      'The machine "m" has no guard "ready", no guard "busy", no update "add": bind what is missing with machine.implement',
    );
    const part = machine.implement({ guards: { ready: () => true, busy: () => false } });
    expect(part.missing).toEqual(['update "add"']);
    const whole = part.implement({
      updates: {
        add: (draft) => {
          draft.n++;
        },
      },
    });
    const { state } = start(whole, undefined, at);
    expect(step(whole, state, { type: "go" }, at).state.context.n).toBe(1);
    expect(machine.missing).toHaveLength(3);
  });

  test("is bound to other implementations without changing", () => {
    const child = (id: string) => defineMachine({ id, initial: "a", states: { a: {} } });
    const machine = defineMachine({
      id: "m",
      guards: { yes: () => false },
      initial: "a",
      states: { a: { on: { go: { guard: "yes", target: "b" } } }, b: {} },
    });
    const bound = machine.implement({ guards: { yes: () => true }, machines: { kid: child("kid") } });
    const go = (one: typeof machine) =>
      step(one, start(one, undefined, at).state, { type: "go" }, at).state.configuration;
    expect([go(machine), go(bound)]).toEqual([["a"], ["b"]]);
    expect(Object.keys(bound.machines)).toEqual(["kid"]);
  });

  test("does not take a guard or an update for one that merely has such a property", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { go: { guard: "constructor" } } } },
    });
    expect(machine.missing).toEqual(['guard "constructor"']);
  });
});
