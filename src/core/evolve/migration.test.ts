/** Migrations: what is wrong with one is told before any run meets it, and those that can be reversed are. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { at, begin, go, machine, moved } from "../../../test/evolution/versions.ts";
import { defineMachine, isHoldfastError, type Machine, step } from "../../index.ts";
import { evolve } from "./evolve.ts";
import { defineMigration } from "./migration.ts";

const child = defineMachine({ id: "child", initial: "a", states: { a: {} } });
const from = machine(1, {
  events: { go: {}, stop: {} },
  activities: { read: {} },
  machines: { child },
  states: {
    a: { on: { go: "b" }, after: { 5: "b" } },
    b: { initial: "x", states: { x: {}, h: { type: "history", target: "x" } } },
  },
});
const to = machine(2, {
  events: { walk: {}, stop: {} },
  activities: { fetch: {} },
  machines: { child },
  states: {
    a: { on: { walk: "c" } },
    c: { initial: "x", states: { x: {}, h: { type: "history", target: "x" } } },
  },
});

function problems(parts: object, one: Machine = from, other: Machine = to): string[] {
  try {
    defineMigration(one, other, parts);
  } catch (error) {
    expect(isHoldfastError(error) && error.code).toBe("MIGRATION_INVALID");
    const listed = (
      error as unknown as { details: { problems: { path: string; problem: string; fix?: string }[] } }
    ).details;
    return listed.problems.map(({ path, problem, fix }) => [path, problem, fix ?? ""].join(" | "));
  }
  return [];
}

describe("a migration", () => {
  test("says everything that is wrong with it at once, with what was meant", () => {
    expect(
      problems({
        contxt: {},
        context: 3,
        states: { d: "a", "b.x": "c", "b.h": "c.x", b: [], a: "cc" },
        events: { goo: "walk", go: "wakl", stop: 3, "after.a.0": "after.a.0", "after.a.1": null },
        activities: { reed: "fetch", read: "fletch" },
        children: { kid: 4, child: "childe" },
        invocations: 5,
        back: { states: { c: "b", back: "a" }, back: {} },
      }),
    ).toEqual([
      'contxt | is no part of a migration | did you mean "context"? there are context, states, events, activities, children, invocations, back',
      "context | is 3 | write a function of the old one",
      'states.d | names no state of version 1: "d" | there are a, b, b.x, b.h',
      'states["b.x"] | is "c", which has states inside | name one of c.x',
      'states["b.h"] | is "c.x", and only one of the two is a history | ',
      "states.b | is empty | name a state",
      'states.a | names no state of version 2: "cc" | there are a, c, c.x, c.h',
      expect.stringMatching(/^events\.goo \| names no event of version 1: "goo" \| .*there are/),
      'events.go | names no event of version 2: "wakl" | did you mean "walk"? there are walk, stop',
      "events.stop | names no event of version 2: 3 | there are walk, stop",
      'events["after.a.0"] | names no event of version 2: "after.a.0" | there are walk, stop',
      expect.stringContaining('events["after.a.1"] | names no event of version 1: "after.a.1"'),
      'activities.reed | names none of the activities of version 1: "reed" | did you mean "read"? there are read',
      'activities.read | names none of the activities of version 2: "fletch" | did you mean "fetch"? there are fetch',
      'children.kid | names none of the machines of version 1: "kid" | there are child',
      "children.kid | is 4 | write a name, or null",
      'children.child | names none of the machines of version 2: "childe" | did you mean "child"? there are child',
      "invocations | is 5 | write an object",
      "back.back | is no part of a migration | there are context, states, events, activities, children, invocations",
      'back.states.back | names no state of version 2: "back" | there are a, c, c.x, c.h',
    ]);
    expect(problems({ back: 7, events: { go: { type: "walk", data: 5 } } })).toEqual([
      "events.go.data | is 5 | write a function of the old data",
      "back | is 7 | write an object",
    ]);
    expect(problems({ states: { "": "a" } })).toHaveLength(1);
  });

  test("takes the names of definitions that list none as they are", () => {
    const [one, other] = [machine(1, {}), machine(2, { states: { a: { on: { "*": "a" } } } })];
    const parts = {
      activities: { x: "y" },
      children: { x: "y" },
      events: { x: "y" },
      invocations: { x: "y", z: null },
    };
    expect(problems(parts, one, other)).toEqual([]);
  });

  test("is between versions of one machine, and used between them", () => {
    expect(problems({}, from, child as never)).toEqual([
      "id | is child, and was m | a run keeps its machine",
    ]);
    const migration = defineMigration(from, to, { states: { b: "c" } });
    const three = machine(3, { states: { a: {} } });
    expect(() => evolve(from, three, begin(from), { at, migration })).toThrow(
      "from m@1 to m@2, and was used from m@1 to m@3",
    );
    const state = begin(to);
    expect(() => evolve(to, from, state, { at, migration })).toThrow("was used from m@2 to m@1");
    expect(() => evolve(to, from, state, { at, migration, reverse: true })).toThrow("it has no `back`");
    expect(() => evolve(from, to, begin(from), { at, migration, reverse: true })).toThrow(
      "to m@2, in reverse",
    );
  });
});

describe("a migration with a way back", () => {
  const one = defineMachine({
    id: "m",
    version: 1,
    context: z.object({ name: z.string() }),
    events: { note: z.object({ text: z.string() }), go: z.object({}) },
    activities: { read: {} },
    start: { name: "Ada" },
    initial: "work",
    states: {
      work: {
        initial: "wait",
        states: {
          wait: { invoke: { activity: "read", id: "r" }, after: { "1h": "done" }, on: { go: "done" } },
          done: {},
          last: { type: "history", history: "deep", target: "wait" },
        },
        on: { go: { target: "work", reenter: true } },
        defer: ["note"],
      },
    },
  });
  const two = defineMachine({
    id: "m",
    version: 2,
    context: z.object({ first: z.string() }),
    events: { remark: z.object({ text: z.string() }), go: z.object({}) },
    activities: { fetch: {} },
    start: { first: "Ada" },
    initial: "job",
    states: {
      job: {
        initial: "idle",
        states: {
          idle: { invoke: { activity: "fetch", id: "f" }, after: { "1h": "done" } },
          done: {},
          last: { type: "history", history: "deep", target: "idle" },
        },
        defer: ["remark"],
      },
    },
  });
  const migration = defineMigration(one, two, {
    context: ({ name }) => ({ first: name }),
    states: { work: "job", "work.wait": "job.idle" },
    events: { note: "remark" },
    activities: { read: "fetch" },
    invocations: { r: "f" },
    back: {
      context: ({ first }) => ({ name: first }),
      states: { job: "work", "job.idle": "work.wait" },
      events: { remark: "note" },
      activities: { fetch: "read" },
      invocations: { f: "r" },
    },
  });

  test("and then it is what it was", () => {
    const first = begin(one as never, { type: "go", data: {} }, { type: "note", data: { text: "hm" } });
    const state = { ...first, history: { "work.last": ["work.done"] } };
    const there = moved(evolve(one, two, state, { at, migration }));
    expect(there.report.changed.map(({ after: { name } }) => name)).toEqual(["job.last", "remark"]);
    const back = moved(evolve(two, one, there.step.state, { at, migration, reverse: true }));
    expect(back.step.state).toEqual({ ...state, seq: state.seq + 2 });
    const waiting = begin(one as never);
    const other = moved(evolve(one, two, waiting, { at, migration }));
    expect(other.report.changed.map(({ after: { name } }) => name)).toEqual(["fetch", "after.job.idle.0"]);
    const again = moved(evolve(two, one, other.step.state, { at, migration, reverse: true })).step.state;
    expect(again).toEqual({ ...waiting, seq: waiting.seq + 2 });
    expect(step(one, again as never, { type: "go", data: {} }, { at }).outcome).toBe("taken");
    expect(go(one as never, two as never, waiting).outcome).toBe("refused");
  });
});
