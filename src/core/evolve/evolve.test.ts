/** Evolution: a run goes from one definition to another with everything it waits for, or stays and says why. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { at, begin, count, go, machine, moved, refusal } from "../../../test/evolution/versions.ts";
import { cancel, defineMachine, restore, type State, start, step } from "../../index.ts";
import { plainModel } from "../plain-model.ts";
import { evolve } from "./evolve.ts";
import { defineMigration } from "./migration.ts";

describe("an upgrade", () => {
  const states = { a: { on: { go: "b" } }, b: {} };

  test("is a step of the new version that leaves everything as it was", () => {
    const from = machine(1, { start: { n: 1 }, states });
    const to = machine(2, { start: { n: 1 }, states: { ...states, c: {} } });
    const state = begin(from, { type: "go" });
    const { step: made, report } = moved(go(from, to, state));
    expect(made.state).toEqual({ ...state, version: 2, seq: state.seq + 1 });
    expect(made.state.context).toBe(state.context);
    expect([made.outcome, made.effects]).toEqual(["taken", []]);
    expect(report).toEqual({
      machine: "m",
      ...{
        from: 1,
        to: 2,
        moved: [],
        survived: [],
        changed: [],
        dropped: [],
        ended: [],
        begun: [],
        refused: [],
      },
    });
    expect(restore(to, JSON.parse(JSON.stringify(made.state)))).toEqual(made.state);
  });

  test("is refused where the new version has no such state, with the nearest name", () => {
    const from = machine(1, { initial: "searching", states: { searching: {} } });
    const to = machine(2, { initial: "serching", states: { serching: {} } });
    expect(refusal(go(from, to, begin(from)))).toEqual([
      'configuration[0] | is "searching", which version 2 does not have | did you mean "serching"? map it in `states`: { "searching": … }; there are serching',
    ]);
  });

  test("is refused for a run that has ended", () => {
    const from = machine(1, { initial: "a", states: { a: { type: "final" } } });
    expect(refusal(go(from, machine(2, { states: { a: { type: "final" } } }), begin(from)))).toEqual([
      "status | is done | a run that has ended stays what it was",
    ]);
    const going = machine(1, { states });
    const cancelled = cancel(going, begin(going), { at }).state;
    expect(refusal(go(going, machine(2, { states }), cancelled))).toEqual([
      "status | is cancelled | a run that has ended stays what it was",
    ]);
  });

  test("throws for a state of another version and for another machine", () => {
    const from = machine(1, { states });
    const to = machine(2, { states });
    expect(() => evolve(to, from, begin(from), { at })).toThrow(
      "A state of m@1 was given to the machine m@2",
    );
    const other = defineMachine({ id: "other", initial: "a", states: { a: {} } });
    expect(() => evolve(from, other, begin(from), { at })).toThrow("it keeps its machine");
  });
});

describe("the configuration", () => {
  test("a state takes what lies inside it along, and a leaf may become one in several regions", () => {
    const inner = { initial: "x", states: { x: {}, y: {} } };
    const from = machine(1, { states: { a: inner } });
    const renamed = machine(2, { initial: "b", states: { b: inner } });
    const { step: made, report } = moved(go(from, renamed, begin(from), { states: { a: "b" } }));
    expect(made.state.configuration).toEqual(["b.x"]);
    expect(report.moved).toEqual([{ from: "a.x", to: ["b.x"] }]);

    const regions = machine(2, {
      initial: "p",
      states: { p: { type: "parallel", states: { one: inner, two: inner } } },
    });
    const both = moved(go(from, regions, begin(from), { states: { "a.x": ["p.two.y", "p.one.x"] } }));
    expect(both.step.state.configuration).toEqual(["p.one.x", "p.two.y"]);
    const back = go(regions, from, both.step.state, { states: { p: "a.x" } });
    expect(moved(back).step.state.configuration).toEqual(["a.x"]);
  });

  test("what is not one way to be in the new chart is refused, with what would be", () => {
    const inner = { initial: "x", states: { x: {}, y: {}, h: { type: "history", target: "x" } } } as const;
    const parallel = { type: "parallel", states: { one: inner, two: {} } } as const;
    const from = machine(1, { states: { a: { type: "parallel", states: { one: inner } } } });
    const state = begin(from);
    expect(refusal(go(from, machine(2, { states: { a: parallel } }), state))).toEqual([
      'configuration | would have no state in the region "a.two" | map a state to a list that has one of a.two',
    ]);
    const more = machine(2, { states: { a: { type: "parallel", states: { one: inner, two: inner } } } });
    expect(refusal(go(from, more, state))).toEqual([
      'configuration | would have no state in the region "a.two" | map a state to a list that has one of a.two.x, a.two.y',
    ]);
    expect(
      refusal(go(from, more, state, { states: { "a.one.x": ["a.one.x", "a.one.y", "a.two.x"] } })),
    ).toEqual([
      'configuration | would have "a.one.x" and "a.one.y" at once, which exclude each other | map them to states that can be active together',
    ]);
    const deeper = machine(2, {
      states: { a: { type: "parallel", states: { one: { initial: "x", states: { x: inner } } } } },
    });
    expect(refusal(go(from, deeper, state))).toEqual([
      'configuration[0] | is "a.one.x", which has states inside in version 2 | map it in `states`: { "a.one.x": … }, to a.one.x.x, a.one.x.y',
    ]);
    const remembers = machine(2, {
      states: {
        a: {
          type: "parallel",
          states: { one: { initial: "z", states: { z: {}, x: { type: "history", target: "z" } } } },
        },
      },
    });
    expect(refusal(go(from, remembers, state))[0]).toContain('is "a.one.x", which is a history in version 2');
    const flat = machine(2, { initial: "b", states: { b: { initial: "z", states: { z: {} } } } });
    expect(refusal(go(from, flat, state, { states: { a: "b" } }))[0]).toContain(
      'is "a.one.x", mapped to "b.one.x", which',
    );
  });

  test("a run that is put into a final state ends, and one inside another is announced", () => {
    const from = machine(1, { start: { n: 0 }, states: { a: {} } });
    const over = machine(2, { states: { a: {}, b: { type: "final", output: "gone" } } });
    const { step: made } = moved(go(from, over, begin(from), { states: { a: "b" } }));
    expect([made.state.status, made.state.output, made.state.version]).toEqual(["done", "gone", 2]);
    const busy = machine(2, { invoke: { activity: "tool" }, states: { a: {}, b: { type: "final" } } });
    const ended = moved(go(from, busy, begin(from), { states: { a: "b" } }));
    expect([ended.step.effects, ended.report.begun], "nothing begins in it").toEqual([[], []]);

    const region = { initial: "x", states: { x: {}, end: { type: "final" } } } as const;
    const inside = machine(2, {
      start: { n: 0 },
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: { one: region, two: region },
          onDone: { target: "q", update: count },
        },
        q: { on: { "done.state.p": { update: count } } },
      },
    });
    const both = go(from, inside, begin(from), { states: { a: ["p.one.end", "p.two.end"] } });
    expect(moved(both).step.state).toMatchObject({ configuration: ["q"], context: { n: 1 } });
    const last = machine(3, { ...(inside.definition as object), version: 3 });
    const waiting = moved(go(from, inside, begin(from), { states: { a: ["p.one.end", "p.two.x"] } })).step
      .state;
    expect(moved(go(inside, last, waiting)).step.state.configuration).toEqual(["p.one.end", "p.two.x"]);
    const ending = { ...region, states: { ...region.states, x: { on: { go: "end" } } } } as const;
    const told = (version: number) =>
      machine(version, {
        start: { n: 0 },
        initial: "p",
        states: {
          p: { type: "parallel", states: { one: { ...ending, onDone: { update: count } }, two: region } },
        },
      });
    const once = begin(told(1), { type: "go" });
    expect(once.context).toEqual({ n: 1 });
    expect(moved(go(told(1), told(2), once)).step.state.context, "what was announced is not again").toEqual({
      n: 1,
    });
  });
});

describe("histories", () => {
  const from = machine(1, {
    initial: "w",
    states: {
      w: {
        initial: "x",
        states: { x: {}, y: {}, deep: { type: "history", history: "deep", target: "x" } },
        on: { next: ".y", out: "out" },
      },
      out: { on: { back: "w.deep" } },
    },
  });
  const state = begin(from, { type: "next" }, { type: "out" });

  test("remember the states by their new names", () => {
    const to = machine(2, {
      initial: "v",
      states: {
        v: {
          initial: "x",
          states: { x: {}, z: {}, deep: { type: "history", history: "deep", target: "x" } },
        },
        out: { on: { back: "v.deep" } },
      },
    });
    expect(state.history).toEqual({ "w.deep": ["w.y"] });
    const { step: made, report } = moved(go(from, to, state, { states: { w: "v", "w.y": "v.z" } }));
    expect(made.state.history).toEqual({ "v.deep": ["v.z"] });
    expect(report.changed).toEqual([
      { before: { kind: "history", name: "w.deep" }, after: { kind: "history", name: "v.deep" } },
    ]);
    expect(step(to, made.state, { type: "back" }, { at }).state.configuration).toEqual(["v.z"]);
    const same = machine(2, { ...(from.definition as object), version: 2 });
    const unchanged = moved(go(from, same, state));
    expect(unchanged.step.state.history).toBe(state.history);
    expect(unchanged.report.survived).toEqual([{ kind: "history", name: "w.deep" }]);
  });

  test("what is no longer possible is let go, and told", () => {
    const gone = machine(2, { initial: "out", states: { out: {} } });
    const other = machine(2, {
      initial: "w",
      states: {
        w: { initial: "x", states: { x: {}, deep: { type: "history", history: "deep", target: "x" } } },
        out: {},
      },
    });
    const kinds = machine(2, {
      initial: "w",
      states: {
        w: {
          initial: "x",
          states: {
            x: {},
            y: { initial: "i", states: { i: {} } },
            deep: { type: "history", history: "deep", target: "x" },
          },
        },
        out: {},
      },
    });
    for (const to of [gone, other, kinds]) {
      const { step: made, report } = moved(go(from, to, state));
      expect([made.state.history, report.dropped]).toEqual([{}, [{ kind: "history", name: "w.deep" }]]);
    }
  });
});

describe("the context", () => {
  const context = z.object({ name: z.string() });
  const from = defineMachine({
    id: "m",
    version: 1,
    context,
    start: { name: "Ada Lovelace" },
    initial: "a",
    states: { a: {} },
  });
  const state = start(from, undefined, { at: 0 }).state as unknown as State;

  test("is made by the migration and what its schema wants", () => {
    const to = defineMachine({
      id: "m",
      version: 2,
      context: z.object({ first: z.string(), tries: z.number().default(0) }),
      initial: "a",
      states: { a: {} },
    });
    const migration = defineMigration(from, to, {
      context: ({ name }) => ({ first: name.split(" ")[0] ?? "", tries: 1 }),
    });
    expect(moved(evolve(from, to, state, { at, migration })).step.state.context).toEqual({
      first: "Ada",
      tries: 1,
    });
    const bare = defineMigration(from, to, { context: () => ({ first: "Eve" }) as never });
    expect(moved(evolve(from, to, state, { at, migration: bare })).step.state.context).toEqual({
      first: "Eve",
      tries: 0,
    });
    expect(refusal(evolve(from, to, state, { at }))).toEqual([
      expect.stringContaining("context.first | Invalid input: expected string, received undefined | let the"),
    ]);
  });

  test("must be an object of JSON, and whoever makes it may fail", () => {
    const to = machine(2, {});
    const make = (value: () => unknown) => refusal(go(from as never, to, state, { context: value }))[0];
    expect(make(() => 7)).toContain("context | would be 7");
    expect(make(() => ({ when: new Date(0) }))).toContain("context.when is an instance of Date");
    expect(
      make(() => {
        throw new Error("no idea");
      }),
    ).toContain("cannot be made: no idea");
  });

  test("a step that would break an invariant or the schema is refused", () => {
    const strict = machine(2, { invariants: { short: ({ context: { name } }) => String(name).length < 5 } });
    expect(refusal(go(from as never, strict, state))).toEqual([
      expect.stringContaining(
        'step | The step on "migrate" was refused: it would break the invariant "short"',
      ),
    ]);
    const grows = machine(2, {
      context: z.object({ name: z.string().max(20) }),
      states: {
        a: {
          always: {
            target: "b",
            update: (draft) => Object.assign(draft, { name: "x".repeat(30) }),
          },
        },
        b: {},
      },
    });
    expect(refusal(go(from as never, grows, state))[0]).toContain("context.name | Too big");
  });

  test("of another data model must be made anew", () => {
    const to = machine(2, { model: { ...plainModel, name: "other" } });
    expect(refusal(go(from as never, to, state))).toEqual([
      'context | is of the data model "plain", and the new one is "other" | give the migration a `context`',
    ]);
    expect(moved(go(from as never, to, state, { context: () => ({}) })).step.state.context).toEqual({});
  });

  test("an error that is nobody's but the data model's own gets out", () => {
    const open = () => {
      throw new TypeError("broken");
    };
    const to = machine(2, { model: { ...plainModel, open, save: ({ context: held }) => held } });
    expect(() => go(from as never, to, state)).toThrow("broken");
  });
});
