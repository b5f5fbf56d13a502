import { describe, expect, test } from "vitest";
import { cancel, defineMachine, type Json, limits, restore, type State, start, step } from "../index.ts";
import { revive } from "./restore.ts";

const at = { at: 0 };
const region = { initial: "x", states: { x: { on: { next: "y" } }, y: {} } };
const machine = defineMachine({
  id: "m",
  version: 3,
  start: { n: 1 },
  initial: "a",
  states: {
    a: {
      after: { 10: "b" },
      invoke: [{ activity: "job" }, { machine: "child" }],
      defer: ["later"],
      on: { go: "b", spawn: { actions: { spawn: { machine: "kid", id: "k" } } } },
    },
    b: {
      initial: "one",
      on: { away: "a" },
      states: {
        one: { on: { p: "p" } },
        p: {
          type: "parallel",
          states: { left: region, right: region, all: { type: "history", target: ["left", "right"] } },
        },
        shallow: { type: "history", target: "one" },
        deep: { type: "history", history: "deep", target: "one" },
      },
    },
    end: { type: "final" },
  },
});

/** A state with something of everything in it. */
function rich(): State<{ n: number }> {
  let { state } = start(machine, undefined, at);
  for (const type of ["go", "p", "next", "away", "spawn", "later"])
    state = step(machine, state, { type }, at).state;
  return state;
}
const stored = (change: object = {}): unknown => ({ ...JSON.parse(JSON.stringify(rich())), ...change });

describe("restore", () => {
  test("gives back the state that was stored, frozen, and the run goes on as if nothing had been", () => {
    const live = rich();
    const state = restore(machine, stored());
    expect(state).toEqual(live);
    expect(Object.isFrozen(state.history)).toBe(true);
    expect(state.history).toEqual({
      "b.shallow": ["b.p"],
      "b.deep": ["b.p.left.y", "b.p.right.y"],
      "b.p.all": ["b.p.left", "b.p.right"],
    });
    for (const type of ["go", "later", "spawn"]) {
      expect(step(machine, state, { type }, at)).toEqual(step(machine, live, { type }, at));
    }
  });

  test("gives back runs that have ended, too", () => {
    const ending = defineMachine({ id: "m", initial: "end", states: { end: { type: "final", output: 5 } } });
    const { state } = start(ending, undefined, at);
    expect(restore(ending, JSON.parse(JSON.stringify(state)))).toEqual(state);
    const failed = cancel(machine, rich(), { at: 0, reason: { limit: "time" } }).state;
    expect(restore(machine, JSON.parse(JSON.stringify(failed)))).toEqual(failed);
  });

  test("gives back contexts and events of the greatest depth a step may make", () => {
    const nested = (levels: number): Json => (levels === 1 ? [] : [nested(levels - 1)]);
    const deep = defineMachine({
      id: "m",
      start: () => ({ v: nested(limits.jsonDepthMax - 1) }),
      initial: "a",
      states: {
        a: { entry: { send: { type: "x", delay: 1, data: nested(limits.jsonDepthMax) } }, defer: ["y"] },
      },
    });
    const first = start(deep, undefined, at).state;
    const { state } = step(deep, first, { type: "y", data: nested(limits.jsonDepthMax) }, at);
    expect(state.deferred).toHaveLength(1);
    expect(restore(deep, JSON.parse(JSON.stringify(state)))).toEqual(state);
    expect(() => restore(deep, { ...state, context: { v: nested(limits.jsonDepthMax + 8) } })).toThrow(
      "nested deeper",
    );
  });

  const problems: [string, unknown, string][] = [
    ["what is no object", null, "it is not an object"],
    ["a list", [], "it is not an object"],
    ["an unknown status", stored({ status: "asleep" }), 'its status is "asleep"'],
    ["a failure without a reason", stored({ status: "failed" }), "its reason is undefined, and it is failed"],
    [
      "a failure for a reason that is none",
      stored({ status: "failed", reason: "bad" }),
      'its reason is "bad", and it is failed',
    ],
    ["a reason without a failure", stored({ reason: {} }), "its reason is {}, and it is active"],
    ["a seq that no step makes", stored({ seq: 0 }), "its seq is 0"],
    ["a seq that is no whole number", stored({ seq: 1.5 }), "its seq is 1.5"],
    ["a context that is no object", stored({ context: [] }), "its context is not an object"],
    ["a history that is no object", stored({ history: null }), "its history is not an object"],
    ["a configuration that is no list", stored({ configuration: "a" }), "its configuration is not a list"],
    ["timers that are no list", stored({ timers: {} }), "its timers is not a list"],
    ["missing children", stored({ children: undefined }), "its children is not a list"],
    [
      "a history it does not have",
      stored({ history: { "b.old": ["b.one"] } }),
      'it remembers a history "b.old"',
    ],
    ["a history that is a state", stored({ history: { b: ["b.one"] } }), 'it remembers a history "b"'],
    [
      "a history that is no list",
      stored({ history: { "b.deep": "b.one" } }),
      'the history "b.deep" remembers what',
    ],
    [
      "a memory of no state",
      stored({ history: { "b.deep": ["b.gone"] } }),
      'the history "b.deep" remembers what',
    ],
    [
      "a memory of nothing",
      stored({ history: { "b.shallow": [] } }),
      'the history "b.shallow" remembers what',
    ],
    [
      "a memory of elsewhere",
      stored({ history: { "b.shallow": ["a"] } }),
      'the history "b.shallow" remembers what',
    ],
    [
      "a memory of two at once",
      stored({ history: { "b.shallow": ["b.one", "b.p"] } }),
      "remembers what cannot have been",
    ],
    [
      "a shallow memory that is deep",
      stored({ history: { "b.shallow": ["b.p.left"] } }),
      "remembers what cannot have been",
    ],
    [
      "a deep memory of half a parallel state",
      stored({ history: { "b.deep": ["b.p.left.y"] } }),
      "remembers what cannot have been",
    ],
    [
      "a deep memory that is no leaf",
      stored({ history: { "b.deep": ["b.p"] } }),
      "remembers what cannot have been",
    ],
    [
      "a memory of some regions",
      stored({ history: { "b.p.all": ["b.p.left"] } }),
      "remembers what cannot have been",
    ],
    [
      "a timer without a key",
      stored({ timers: [{ due: 1, event: { type: "x" } }] }),
      "it has a malformed timer",
    ],
    [
      "a timer without a time",
      stored({ timers: [{ key: "1.0", due: "soon", event: { type: "x" } }] }),
      "it has a malformed timer",
    ],
    [
      "a timer without an event",
      stored({ timers: [{ key: "1.0", due: 1, event: {} }] }),
      "it has a malformed timer",
    ],
    ["a timer that is none", stored({ timers: [null] }), "it has a malformed timer"],
    ["an activity without an id", stored({ activities: [{ key: "1.0" }] }), "it has a malformed invocation"],
    ["a child that is none", stored({ children: ["kid"] }), "it has a malformed invocation"],
    [
      "an invocation of another state",
      stored({ activities: [{ key: "1.0", id: "j", state: "b", index: 0 }] }),
      '"b" has no invocation like "j"',
    ],
    [
      "an invocation of no state",
      stored({ children: [{ key: "1.0", id: "j", state: "gone" }] }),
      '"gone" has no invocation like "j"',
    ],
    [
      "an invocation without its index",
      stored({ activities: [{ key: "1.0", id: "j", state: "a" }] }),
      '"a" has no invocation like "j"',
    ],
    [
      "a deferred event that is none",
      stored({ deferred: [{ data: 1 }] }),
      "it has a malformed deferred event",
    ],
  ];
  for (const [name, value, message] of problems) {
    test(`refuses ${name}`, () => {
      expect(() => restore(machine, value)).toThrow(
        expect.objectContaining({
          code: "STATE_INVALID",
          message: expect.stringMatching(/^What was stored is no state of the machine "m": /),
        }),
      );
      expect(() => restore(machine, value)).toThrow(message);
    });
  }

  test("refuses what is not JSON, with its path", () => {
    expect(() => restore(machine, { ...rich(), context: { when: new Date(0) } })).toThrow(
      expect.objectContaining({ code: "NOT_JSON", details: { path: "state.context.when" } }),
    );
  });

  const impossible = [
    [],
    ["gone"],
    ["b"],
    ["a", "a"],
    ["a", "end"],
    ["b.p.left.x"],
    ["b.p.right.x", "b.p.left.x"],
    ["b.deep"],
    [""],
  ];
  for (const configuration of impossible) {
    test(`refuses the configuration ${JSON.stringify(configuration)}, which the machine cannot be in`, () => {
      expect(() => restore(machine, stored({ configuration }))).toThrow(
        expect.objectContaining({
          code: "STATE_INVALID",
          message: `The machine "m" cannot be in ${JSON.stringify(configuration)}: the state is not one it made`,
        }),
      );
    });
  }

  test("refuses a state of another machine or another version, and says to migrate it", () => {
    for (const change of [{ machine: "other" }, { version: 2 }]) {
      const { machine: id, version } = stored(change) as State;
      expect(() => restore(machine, stored(change))).toThrow(
        `A state of ${id}@${version} was given to the machine m@3: migrate it first`,
      );
    }
  });

  test("takes what was parsed as it takes anything, and doubts it as much", () => {
    expect(revive(machine, stored() as Json)).toEqual(rich());
    expect(() => revive(machine, stored({ seq: 0 }) as Json)).toThrow("its seq is 0");
    const odd = JSON.parse('{"n":1e999}') as Json;
    expect(() => revive(machine, stored({ context: odd }) as Json)).toThrow(
      expect.objectContaining({ code: "NOT_JSON", details: { path: "state.context.n" } }),
    );
  });
});
