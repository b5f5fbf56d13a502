/** Activities and children under way when their definition changes, and what is kept of those that are done. */
import { describe, expect, test } from "vitest";
import { begin, go, machine, moved, refusal } from "../../../test/evolution/versions.ts";
import { defineMachine, type State, settledEvent, step } from "../../index.ts";
import type { Machine } from "../machine.ts";

const at = 50;
const invoking = (version: number, invoke: object | readonly object[], more: object = {}): Machine =>
  machine(version, { states: { a: { invoke }, b: {} }, ...more } as never);
const shown = ({ activities }: State) =>
  activities.map(({ key, id, activity, index }) => [key, id, activity, index]);

describe("activities", () => {
  test("are found by their ids, and without one by what they do", () => {
    const from = invoking(1, [
      { activity: "read", id: "first" },
      { activity: "read", id: "second" },
      { activity: "write" },
    ]);
    const to = invoking(2, [
      { activity: "write" },
      { activity: "read", id: "second" },
      { activity: "read", id: "first" },
    ]);
    const { step: made, report } = moved(go(from, to, begin(from)));
    expect(shown(made.state)).toEqual([
      ["1.0", "first", "read", 2],
      ["1.1", "second", "read", 1],
      ["1.2", "a:0", "write", 0],
    ]);
    expect([report.changed.length, report.begun, made.effects]).toEqual([2, [], []]);
    const same = moved(go(from, invoking(2, from.definition.states?.a?.invoke as object), begin(from)));
    expect(same.report.survived.map(({ key }) => key)).toEqual(["1.0", "1.1", "1.2"]);
  });

  test("may have another name or id now, if the migration says so", () => {
    const from = invoking(1, { activity: "read", id: "first" });
    const to = invoking(2, { activity: "fetch", id: "only" });
    expect(refusal(go(from, to, begin(from)))).toEqual([
      'activities[0] | is no invocation of "a" any more | if it is "only" now, say so in `invocations` and `activities`, or let go of it with `activities`: { "read": null }',
    ]);
    const way = { activities: { read: "fetch" }, invocations: { first: "only" } };
    const { state } = moved(go(from, to, begin(from), way)).step;
    expect(shown(state)).toEqual([["1.0", "only", "fetch", 0]]);
    expect(go(from, to, begin(from), { activities: { read: "fetch" } }).outcome).toBe("refused");
    expect(go(from, to, begin(from), { invocations: { first: "only" } }).outcome).toBe("refused");
  });

  test("those not wanted any more are cancelled, and begin anew where the new version has them", () => {
    const from = invoking(1, { activity: "read", id: "first" });
    const none = moved(go(from, invoking(2, []), begin(from), { activities: { read: null } }));
    expect(none.step.effects).toEqual([{ type: "cancel", of: "activity", key: "1.0", id: "first" }]);
    for (const way of [{ activities: { read: null } }, { invocations: { first: null } }]) {
      const again = moved(go(from, invoking(2, { activity: "read", id: "first" }), begin(from), way));
      expect(shown(again.step.state)).toEqual([["2.0", "first", "read", 0]]);
      expect(again.report.dropped.map(({ key }) => key)).toEqual(["1.0"]);
    }
    expect(refusal(go(from, invoking(2, []), begin(from)))).toEqual([
      'activities[0] | is no invocation of "a" any more | let go of it with `activities`: { "read": null }',
    ]);
  });

  test("one that has ended is not begun again", () => {
    const from = invoking(1, { activity: "read", onDone: { actions: { log: "read" } } });
    const state = step(from, begin(from), settledEvent({ id: "a", key: "1.0" }, {}), { at: 1 }).state;
    expect(state.activities).toEqual([]);
    const to = invoking(2, [{ activity: "read" }, { activity: "count" }]);
    const { step: made, report } = moved(go(from, to, state));
    expect(shown(made.state)).toEqual([["3.0", "a:1", "count", 1]]);
    expect(report.begun.map(({ name }) => name)).toEqual(["count"]);
  });

  test("one of the machine itself, which has no id of its own, ends under the id it has now", () => {
    const read = { activity: "read" };
    const from = machine(1, { invoke: read } as never);
    const to = machine(2, {
      invoke: [{ activity: "count" }, { ...read, onDone: ".b" }],
      states: { a: {}, b: {} },
    } as never);
    const { state } = moved(go(from, to, begin(from))).step;
    expect(shown(state)[0]).toEqual(["1.0", ":1", "read", 1]);
    const ended = step(to, state, settledEvent({ id: "", key: "1.0" }, {}), { at }).state;
    expect([ended.configuration, shown(ended)]).toEqual([["b"], [["2.0", ":0", "count", 0]]]);
  });

  test("what is computed can be anything", () => {
    const from = invoking(1, { activity: () => "read", id: () => "x" });
    const constant = invoking(2, { activity: "read", id: () => "y" });
    expect(shown(moved(go(from, constant, begin(from))).step.state)).toEqual([["1.0", "x", "read", 0]]);
    expect(refusal(go(from, invoking(2, { activity: "write", id: () => "y" }), begin(from)))).toEqual([
      'activities[0] | is no invocation of "a" any more | let go of it with `activities`: { "read": null }',
    ]);
    const computed = moved(
      go(constant, invoking(3, { activity: () => "z", id: () => "y" }), begin(constant)),
    );
    expect(computed.report.survived).toHaveLength(1);
  });

  test("what cannot begin stands in the way", () => {
    const from = invoking(1, []);
    const to = invoking(2, {
      activity: "read",
      input: ({ event }: { event: { data: { n: { m: number } } } }) => event.data.n.m,
    });
    expect(refusal(go(from, to, begin(from)))).toEqual([
      expect.stringContaining("a.invoke[0] | cannot begin: Cannot read properties of undefined"),
    ]);
  });

  test("of a state that would not be active stand in the way", () => {
    const from = machine(1, {
      states: { a: { initial: "x", invoke: { activity: "read" }, states: { x: {} } } },
    });
    const to = machine(2, { initial: "b", states: { b: {} } });
    expect(refusal(go(from, to, begin(from), { states: { "a.x": "b" } }))).toEqual([
      'activities[0] | is of the state "a", which would not be active | map that state in `states`, or let go of it with `activities`: { "read": null }',
    ]);
  });

  test("are no children, whatever those are called; and of two that are alike each has its own place", () => {
    const job = defineMachine({ id: "job", initial: "a", states: { a: {} } });
    const from = invoking(1, { activity: "job", id: "j" });
    expect(refusal(go(from, invoking(2, { machine: job, id: "j" }), begin(from)))).toHaveLength(1);
    const before = invoking(1, [{ activity: "read" }, { activity: "read" }]);
    const to = invoking(2, [{ activity: "write" }, { activity: "read" }, { activity: "read" }]);
    const { state } = moved(go(before, to, begin(before))).step;
    const placed = state.activities.map(({ key, activity, index }) => [key, activity, index]);
    expect(placed.slice(0, 2), "the second stays where it was").toEqual([
      ["1.0", "read", 2],
      ["1.1", "read", 1],
    ]);
  });

  test("two that have become one cannot both go along", () => {
    const region = { initial: "x", states: { x: { invoke: { activity: "read" } } } };
    const from = machine(1, {
      initial: "p",
      states: { p: { type: "parallel", states: { one: region, two: region } } },
    });
    const to = machine(2, { initial: "x", states: { x: { invoke: { activity: "read" } } } });
    const way = { states: { "p.one.x": "x", "p.two.x": "x" } };
    expect(refusal(go(from, to, begin(from), way))).toHaveLength(1);
    expect(shown(moved(go(from, to, begin(from), way, { drop: true })).step.state)).toEqual([
      ["1.0", "x", "read", 0],
    ]);
  });
});

describe("children", () => {
  const child = defineMachine({ id: "child", initial: "a", states: { a: {} } });
  const invoked = { invoke: { machine: child, autoforward: true } };

  test("keep their runs; whether events are passed on is as the new version says", () => {
    const from = machine(1, {
      states: { a: { ...invoked, entry: { spawn: { machine: child, id: "free" } } } },
    });
    const state = begin(from);
    const same = moved(go(from, machine(2, { states: { a: invoked } }), state));
    expect(same.step.state.children).toBe(state.children);
    const quiet = moved(go(from, machine(2, { states: { a: { invoke: { machine: "child" } } } }), state));
    expect(quiet.step.state.children).toEqual([
      { key: "1.0", id: "free", machine: "child" },
      { key: "1.1", id: "a", state: "a", index: 0, machine: "child" },
    ]);
    const gone = moved(go(from, machine(2, {}), state, { children: { child: null } }));
    expect(gone.step.effects.map(({ type }) => type)).toEqual(["cancel", "cancel"]);
    const free = moved(go(from, machine(2, {}), state, { invocations: { a: null } }));
    expect(free.step.state.children).toEqual([{ key: "1.0", id: "free", machine: "child" }]);
    expect(refusal(go(from, machine(2, {}), state))[0]).toContain(
      'children[1] | is no invocation of "a" any more',
    );
  });

  test("tell of their end by the id they began with", () => {
    const from = machine(1, { states: { a: { invoke: { machine: child } } } });
    const to = machine(2, {
      initial: "b",
      states: {
        b: { invoke: { machine: child, onDone: "c" }, on: { news: { actions: { reply: "x", to: "y" } } } },
        c: {},
      },
    });
    const { state } = moved(go(from, to, begin(from), { states: { a: "b" } })).step;
    expect(step(to, state, settledEvent({ id: "a", key: "1.0" }, {}), { at }).state.configuration).toEqual([
      "c",
    ]);
    const news = { type: "news", invokeId: "a", invocation: "1.0" };
    expect(step(to, state, news, { at }).effects).toHaveLength(1);
    expect(step(to, state, { type: "news", invocation: "1.0" }, { at }).outcome).toBe("taken");
    expect(step(to, state, settledEvent({ id: "a", key: "0.9" }, {}), { at }).outcome).toBe("ignored");
  });
});

describe("compensations", () => {
  const book = { activity: "book", compensate: "unbook", onDone: { target: "b" } };
  const declared = (version: number, names: readonly string[], invoke: object) =>
    machine(version, {
      activities: Object.fromEntries(names.map((name) => [name, {}])),
      states: { a: { invoke }, b: { on: { undo: { actions: { compensate: true } } } } },
    } as never);
  const from = declared(1, ["book", "unbook"], book);
  const state = step(from, begin(from), settledEvent({ id: "a", key: "1.0" }, { output: 7 }), {
    at: 1,
  }).state;

  test("go along, under another name if need be", () => {
    expect(state.compensations).toEqual([{ key: "1.0", activity: "unbook", input: 7 }]);
    const same = moved(go(from, declared(2, ["book", "unbook"], book), state));
    expect(same.step.state.compensations).toBe(state.compensations);
    const renamed = declared(2, ["book", "cancel"], { ...book, compensate: "cancel" });
    const { step: made, report } = moved(go(from, renamed, state, { activities: { unbook: "cancel" } }));
    expect(made.state.compensations).toEqual([{ key: "1.0", activity: "cancel", input: 7 }]);
    expect(report.changed).toHaveLength(1);
    expect(step(renamed, made.state, { type: "undo" }, { at }).effects).toMatchObject([{ type: "spawn" }]);
    expect(refusal(go(from, renamed, state))).toEqual([
      'compensations[0] | needs the activity "unbook", which is not declared any more | rename it, or let go of it with `activities`: { "unbook": null }',
    ]);
  });

  test("stand in the way of a version that undoes nothing, or are let go", () => {
    const plain = declared(2, ["book"], { activity: "book" });
    expect(refusal(go(from, plain, state))[0]).toContain("compensations[0] | could not be carried out");
    for (const way of [
      go(from, plain, state, {}, { drop: true }),
      go(from, plain, state, { activities: { unbook: null } }),
    ]) {
      const { step: made, report } = moved(way);
      expect([made.state.compensations, report.dropped]).toEqual([
        undefined,
        [{ kind: "compensation", name: "unbook", key: "1.0" }],
      ]);
    }
  });

  test("of a run that ends on the way are over with it", () => {
    const over = machine(2, {
      states: { a: { invoke: book }, b: { always: "c" }, c: { type: "final" } },
    });
    const { step: made, report } = moved(go(from, over, state));
    expect([made.state.status, report.ended]).toEqual([
      "done",
      [{ kind: "compensation", name: "unbook", key: "1.0" }],
    ]);
  });
});

describe("maps", () => {
  const reading = (concurrency: number) => ({
    map: { over: [1, 2, 3, 4], activity: "read", concurrency, onDone: "b", onError: "b" },
  });
  const from = machine(1, { states: { a: reading(2), b: {} } });

  test("go on where they were, under the name of their state", () => {
    const to = machine(2, { initial: "c", states: { c: reading(2), b: {} } });
    const { step: made, report } = moved(go(from, to, begin(from), { states: { a: "c" } }));
    expect(made.state.maps).toMatchObject({ c: { next: 2, taken: { 1: 0, 2: 1 } } });
    expect(report.changed.map(({ after }) => after.name)).toEqual(["read", "read", "c"]);
    const [{ key, id }] = made.state.activities as unknown as [{ key: string; id: string }];
    const went = step(to, made.state, settledEvent({ id, key }, { output: 10 }), { at }).state;
    expect(went.maps).toMatchObject({ c: { next: 3, results: [10, null, null, null] } });
    const same = moved(go(from, machine(2, { states: { a: reading(2), b: {} } }), begin(from)));
    expect(same.step.state.maps).toEqual(begin(from).maps);
    expect(same.report.survived).toHaveLength(3);
  });

  test("stand in the way where nobody goes through them any more, or fewer do", () => {
    const to = machine(2, { initial: "b", states: { b: {} } });
    expect(refusal(go(from, to, begin(from), { states: { a: "b" } }))).toEqual([
      expect.stringContaining("activities[0]"),
      expect.stringContaining("activities[1]"),
      "maps.a | has no state any more that goes through it | map its states, or drop what cannot survive",
    ]);
    const { step: made, report } = moved(go(from, to, begin(from), { states: { a: "b" } }, { drop: true }));
    expect([made.state.maps, report.dropped.length]).toEqual([undefined, 3]);
    const fewer = machine(2, { states: { a: reading(1), b: {} } });
    const way = { states: { "a.worker2": "a.worker1" } };
    expect(refusal(go(from, fewer, begin(from), way))).toContain(
      "maps.a | has fewer workers than items under way | map its states, or drop what cannot survive",
    );
  });

  test("of a state that the machine leaves on the way are over with it", () => {
    const to = machine(2, { states: { a: { ...reading(2), always: "b" }, b: {} } });
    const { step: made, report } = moved(go(from, to, begin(from)));
    expect([made.state.configuration, made.state.maps]).toEqual([["b"], undefined]);
    expect(report.ended.map(({ kind }) => kind)).toEqual(["activity", "activity", "map"]);
  });

  test("of several, those that can go along do", () => {
    const two = { type: "parallel", states: { x: reading(1), y: reading(1) } };
    const both = machine(1, { initial: "p", states: { p: two, b: {} } } as never);
    const one = machine(2, {
      initial: "p",
      states: { p: { type: "parallel", states: { x: reading(1), y: {} } }, b: {} },
    } as never);
    const { state } = moved(go(both, one, begin(both), { states: { "p.y": "p.y" } }, { drop: true })).step;
    expect(Object.keys(state.maps ?? {})).toEqual(["p.x"]);
  });
});
