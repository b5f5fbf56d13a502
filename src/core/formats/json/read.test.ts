/** Machines as data are loaded, refused with every problem, and written as they were read. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drawDataMachine } from "../../../../test/generate/data-machine.ts";
import { refund } from "../../../../test/refund.ts";
import { celModel, loadMachine, readDefinition, writeJson, writeYaml } from "../../../data/index.ts";
import { limits } from "../../../limits.ts";
import type { Event } from "../../event.ts";
import type { JsonObject } from "../../json.ts";
import { defineMachine } from "../../machine.ts";
import { start, step } from "../../step.ts";
import { dataOf } from "./write.ts";

const at = 1_000;
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

test("E7: whatever is drawn loads, and is the same as JSON and as YAML", { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const data = drawDataMachine(seed);
      const machine = loadMachine(data);
      expect(dataOf(machine)).toEqual(data);
      expect(dataOf(loadMachine(writeJson(machine)))).toEqual(data);
      expect(dataOf(loadMachine(writeYaml(machine)))).toEqual(data);
    }),
    { numRuns: 100 },
  );
});

test("E7: any JSON at all comes back from YAML and JSON as it was", () => {
  const meta = fc.jsonValue({ maxDepth: 4 });
  const machine = (value: unknown) =>
    ({ id: "m", initial: "a", states: { a: { meta: value } } }) as JsonObject;
  fc.assert(
    fc.property(meta, (value) => {
      // Minus zero is no JSON.
      const data = JSON.parse(JSON.stringify(machine(value))) as JsonObject;
      if (JSON.stringify(data).includes("__proto__")) return;
      expect(dataOf(loadMachine(writeYaml(loadMachine(data))))).toEqual(data);
      expect(dataOf(loadMachine(writeJson(loadMachine(data))))).toEqual(data);
    }),
  );
});

test("E7: a key that YAML gives a meaning comes back as a key", () => {
  const machine = (meta: JsonObject): JsonObject => ({ id: "m", initial: "a", states: { a: { meta } } });
  for (const key of ["<<", "=", "~", "null", "true", "1", "-", "? a", "*a", "&a", "!a", "a: b", "# a", ""]) {
    const data = machine({ [key]: { [key]: key } });
    expect(dataOf(loadMachine(writeYaml(loadMachine(data)))), key).toEqual(data);
  }
});

test("A5: the refund machine runs as it is written", () => {
  const machine = loadMachine(refund);
  const { state } = start(machine, undefined, { at });
  const decide = (amount: number) => step(machine, state, { type: "decide", data: { amount } }, { at }).state;
  expect(decide(50)).toMatchObject({ configuration: ["approved"], context: { limit: 100, amount: 50 } });
  expect(decide(500)).toMatchObject({ configuration: ["escalated"], context: { limit: 100 } });
  expect(decide(500).timers).toMatchObject([{ due: at + 86_400_000 }]);
});

describe("every problem is listed with its path", () => {
  const problemsOf = (source: unknown) => readDefinition(source).problems.map(({ path }) => path);

  test("A5: of shape, names, schemas and types alike", () => {
    const broken = refund
      .replace("initial: reviewing", "initial: reviewin\nstats: 1")
      .replace("type: number } } }\n", "type: nummer } } }\n")
      .replace("event.data.amount <=", "event.data.amout <=")
      .replace("target: escalated", "target: escalatd")
      .replace("delay: 1 day", "delay: { cel: 'context.limit > 1' }")
      .replace('cel: "event.data.amount" }', 'cel: "string(event.data.amount)" }, x: 1');
    expect(problemsOf(broken).sort()).toEqual([
      "context.properties.amount.type",
      "initial",
      "states.escalated.after[0].delay",
      "states.reviewing.on.decide[0].guard",
      "states.reviewing.on.decide[0].update.x",
      "states.reviewing.on.decide[1].target",
      "stats",
    ]);
    expect(() => loadMachine(broken)).toThrow(expect.objectContaining({ code: "MACHINE_INVALID" }));
  });

  const base = {
    id: "m",
    context: {
      type: "object",
      required: ["n"],
      properties: {
        n: { type: "integer" },
        s: { type: "string" },
        o: { type: "object", properties: { a: { type: "integer" } } },
      },
    },
    start: { n: 0 },
    input: { type: "object", properties: { from: { type: "integer" } } },
    events: { go: { type: "object", required: ["by"], properties: { by: { type: "integer" } } } },
    activities: {
      work: {
        input: { type: "object", required: ["n"], properties: { n: { type: "integer" } } },
        output: { type: "string" },
      },
    },
    initial: "a",
    states: { a: {} },
  };
  const inState = (state: object) => ({ ...base, states: { a: state, b: {} } });
  const cel = (text: string) => ({ cel: text });

  test.each<[string, object, string]>([
    ["a guard that is a number", inState({ on: { go: { guard: cel("1 + 1") } } }), "states.a.on.go.guard"],
    [
      "a guard inside others",
      inState({ always: [{ guard: { and: [{ not: cel("context.x") }] }, target: "b" }] }),
      "states.a.always[0].guard.and[0].not",
    ],
    [
      "a field of the event",
      inState({ on: { go: { update: { n: cel("event.data.bye") } } } }),
      "states.a.on.go.update.n",
    ],
    [
      "a field of an event in a list",
      inState({ on: [{ event: "go", guard: cel("event.data.bye > 1") }] }),
      "states.a.on[0].guard",
    ],
    [
      "a value of another type",
      inState({ on: { go: { update: { n: cel("context.s") } } } }),
      "states.a.on.go.update.n",
    ],
    [
      "a constant of another type",
      inState({ on: { go: { update: { n: "one" } } } }),
      "states.a.on.go.update.n",
    ],
    [
      "a way into what has no fields",
      inState({ on: { go: { update: { "n.a": 1 } } } }),
      'states.a.on.go.update["n.a"]',
    ],
    [
      "a way to an unknown field",
      inState({ on: { go: { update: { "o.b": 1 } } } }),
      'states.a.on.go.update["o.b"]',
    ],
    [
      "a way that is none",
      inState({ on: { go: { update: { "o..b": 1 } } } }),
      'states.a.on.go.update["o..b"]',
    ],
    [
      "an update that is an expression",
      inState({ on: { go: { update: cel("context") } } }),
      "states.a.on.go.update",
    ],
    [
      "an activity's output",
      inState({ invoke: { activity: "work", onDone: { guard: cel("event.data > 1") } } }),
      "states.a.invoke.onDone.guard",
    ],
    [
      "an activity's input",
      inState({ invoke: { activity: "work", input: { n: "x" } } }),
      "states.a.invoke.input.n",
    ],
    [
      "an activity's input that lacks a field",
      inState({ invoke: { activity: "work", input: {} } }),
      "states.a.invoke.input.n",
    ],
    [
      "an activity's input with another field",
      inState({
        invoke: [
          { activity: "work", input: { n: 1, m: 2 } },
          { activity: "work", id: "y", input: { n: 1 } },
        ],
      }),
      "states.a.invoke[0].input.m",
    ],
    [
      "what undoes it",
      inState({
        invoke: { activity: "work", compensate: { activity: "work", input: { n: cel("event.data") } } },
      }),
      "states.a.invoke.compensate.input.n",
    ],
    [
      "data of an event to raise",
      inState({ entry: [{ raise: { type: "go", data: { by: "x" } } }] }),
      "states.a.entry[0].raise.data.by",
    ],
    [
      "a delay",
      inState({ entry: { send: { type: "go", delay: cel("context.o") } } }),
      "states.a.entry.send.delay",
    ],
    [
      "a branch",
      inState({ exit: [[{ choose: [{ guard: cel("context.n"), actions: [] }] }]] }),
      "states.a.exit[0][0].choose[0].guard",
    ],
    [
      "a spawn",
      inState({ entry: { spawn: { machine: "x", input: cel("context.q") } } }),
      "states.a.entry.spawn.input",
    ],
    ["an invariant", { ...base, invariants: { positive: cel("context.m > 0") } }, "invariants.positive"],
    ["an ensure", inState({ ensure: { grows: cel("context.n > old.m") } }), "states.a.ensure.grows"],
    [
      "old outside of ensure",
      inState({ require: { grows: cel("context.n > old.n") } }),
      "states.a.require.grows",
    ],
    ["an output", inState({ on: { go: "c" } }), "states.a.on.go"],
    ["the start, by its input", { ...base, start: { n: cel("input.to") } }, "start.n"],
    ["the start, by its context", { ...base, start: {} }, "start.n"],
    ["a named guard", { ...base, guards: { big: cel("context.n > 'a'") } }, "guards.big"],
    ["a named update", { ...base, updates: { more: { m: 1 } } }, "updates.more.m"],
    [
      "an initial transition",
      inState({ initial: { target: "c", update: { m: 1 } }, states: { c: {} } }),
      "states.a.initial.update.m",
    ],
    ["an event's schema", { ...base, events: { go: { typ: "object" } } }, "events.go.typ"],
    [
      "a reference to elsewhere",
      { ...base, context: { $ref: "https://example.org/a.json" } },
      "context.$ref",
    ],
    [
      "an activity's schema",
      { ...base, activities: { work: { input: { type: "x" } } } },
      "activities.work.input.type",
    ],
    ["a key nobody knows", inState({ entri: [] }), "states.a.entri"],
    ["a target that is a number", inState({ on: { go: { target: 3 } } }), "states.a.on.go.target"],
  ])("A5: %s", (_what, definition, path) => {
    const paths = problemsOf(definition);
    expect(paths).toContain(path);
    expect(paths).toHaveLength(1);
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["a number", 3],
    ["nothing but a name", { id: "m" }],
    ["states that are none", { id: "m", type: "parallel", states: 3 }],
    ["a list", []],
    ["no JSON and no YAML", "{ a: [ }"],
    ["no JSON", '{ "a": }}'],
    ["a function", { id: "m", states: () => 1 }],
    ["a field twice in JSON", '{ "id": "m", "id": "m", "states": { "a": {} } }'],
    ["a field twice in YAML", "id: m\nid: m\nstates: { a: {} }"],
    ["an alias", "id: m\nstates: { a: &a {}, b: *a }"],
    ["a bomb of aliases", "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]"],
    ["a tag", "id: !!js/function 'x'"],
    ["a tag of one's own", "id: !mine x"],
    ["a merge key", "id: m\nstates: { a: { <<: { on: {} } } }"],
    ["a key that is a list", "? [a, b]\n: 1"],
    ["two documents", "id: m\n---\nid: m"],
    ["deep YAML", "[".repeat(100_000)],
    ["deep YAML in blocks", `a: ${"- ".repeat(5_000)}`],
    ["deep JSON", `{"a":${"[".repeat(300)}${"]".repeat(300)}}`],
    ["long YAML", `id: ${"a".repeat(limits.yamlLengthMax)}`],
    ["long JSON", `{"a":"${"a".repeat(limits.definitionLengthMax)}"}`],
    ["infinity", "id: m\nversion: .inf"],
    ["a prototype", '{ "id": "m", "states": { "a": { "__proto__": {} } } }'],
    ["a prototype as a state", '{ "id": "m", "states": { "__proto__": {} } }'],
    [
      "a cycle",
      (() => {
        const one: Record<string, unknown> = { id: "m" };
        one.states = one;
        return one;
      })(),
    ],
  ])("A5: %s is no machine", (_what, source) => {
    const { definition, problems } = readDefinition(source);
    expect(definition).toBeUndefined();
    expect(problems.length).toBeGreaterThan(0);
    expect(() => loadMachine(source)).toThrow(expect.objectContaining({ code: "MACHINE_INVALID" }));
  });

  test("there are never more than can be read", () => {
    const states = Object.fromEntries(
      Array.from({ length: limits.problemsMax }, (_, index) => [`s${index}`, { wrong: 1 }]),
    );
    expect(problemsOf({ ...base, states })).toHaveLength(limits.problemsMax);
  });

  test("A7: shorthand is data as well, typed where it stands, and comes back written out", () => {
    const shorthand = (over: string) => ({
      ...{
        id: "m",
        initial: "a",
        start: { items: [1, 2] },
        activities: { work: { input: { type: "number" } } },
      },
      context: { type: "object", properties: { items: { type: "array" }, results: { type: "array" } } },
      states: {
        a: {
          map: {
            over: cel(over),
            activity: "work",
            concurrency: 2,
            collect: "results",
            onDone: "b",
            onError: "b",
          },
        },
        b: { approval: { timeout: "2 days", onApproved: "c", onRejected: "c", onTimeout: "c" } },
        c: { type: "final" },
      },
    });
    const machine = loadMachine(shorthand("context.items"));
    expect(loadMachine(writeYaml(machine)).definition.states).toEqual(machine.definition.states);
    expect(problemsOf(shorthand("context.itms"))).not.toEqual([]);
  });

  test("the limit of a text's length is the last that is let through", () => {
    const yaml = (length: number) => `id: m\nstates: { a: {} }\ninitial: a #${" ".repeat(length - 36)}`;
    expect(yaml(limits.yamlLengthMax)).toHaveLength(limits.yamlLengthMax);
    expect(problemsOf(yaml(limits.yamlLengthMax))).toEqual([]);
    const json = `{"id":"m","initial":"a","states":{"a":{}}}`;
    expect(problemsOf(json.padEnd(limits.definitionLengthMax))).toEqual([]);
  });
});

describe("what is not data cannot be written", () => {
  const machine = (state: object, more: object = {}) => ({
    id: "m",
    initial: "a",
    states: { a: state },
    ...more,
  });

  test.each<[string, object, string]>([
    ["a function", machine({ always: { guard: () => true } }), "states.a.always.guard"],
    ["another data model", machine({}, { model: { name: "ecmascript" } }), "model"],
    [
      "a machine inside",
      machine({ invoke: { machine: defineMachine(machine({})) } }),
      "states.a.invoke.machine",
    ],
    ["a library's schema", machine({}, { events: { go: { "~standard": {} } } }), "events.go"],
    ["a date", machine({ meta: new Map() }), "states.a.meta"],
    ["a symbol", machine({ meta: [Symbol("x")] }), "states.a.meta[0]"],
  ])("%s", (_what, definition, path) => {
    let problems: unknown;
    try {
      writeJson(definition);
    } catch (error) {
      problems = (error as { details: { problems: unknown } }).details.problems;
    }
    expect(problems).toMatchObject([{ path }]);
  });

  test("what is absent is left out", () => {
    expect(JSON.parse(writeJson(machine({ meta: undefined })))).toEqual(machine({}));
  });
});

describe("CEL in a step", () => {
  const run = (states: object, events: Event[] = [], more: object = {}) => {
    const machine = loadMachine({ id: "m", initial: "a", states, ...more });
    let { state, effects } = start(machine, { n: 4 }, { at });
    for (const event of events) ({ state, effects } = step(machine, state, event, { at }));
    return { state, effects, machine };
  };

  test("the first context comes from the input", () => {
    const { state } = run({ a: {} }, [], { start: { n: { cel: "input.n * 2" }, at: { cel: "at" } } });
    expect(state.context).toEqual({ n: 8, at });
  });

  test("updates see the context as it was, set ways inside it, and take out what is absent", () => {
    const on = {
      go: {
        update: {
          x: { cel: "context.y" },
          y: { cel: "context.x" },
          "in.deep.er": [1],
          gone: { cel: "event.?data.?no" },
        },
      },
    };
    const { state } = run({ a: { on } }, [{ type: "go" }], { start: { x: 1, y: 2, gone: 3 } });
    expect(state.context).toEqual({ x: 2, y: 1, in: { deep: { er: [1] } } });
  });

  test("an update that changes nothing leaves the very same context", () => {
    const on = { go: { update: { x: { cel: "context.x" }, none: { cel: "context.?none" } } } };
    const { state, machine } = run({ a: { on } }, [], { start: { x: { y: 1 } } });
    expect(step(machine, state, { type: "go" }, { at }).state.context).toBe(state.context);
  });

  test("an expression that fails is an error.execution, and a guard that fails is false", () => {
    const states = {
      a: {
        on: {
          go: { update: { x: { cel: "context.none + 1" } } },
          ask: { guard: { cel: "context.none" }, target: "b" },
          "error.execution": { update: { error: { cel: "event.data.message" } } },
        },
      },
      b: {},
    };
    expect(run(states, [{ type: "go" }]).state.context).toEqual({ error: 'there is no field "none"' });
    expect(run(states, [{ type: "ask" }]).state).toMatchObject({
      configuration: ["a"],
      context: { error: expect.any(String) },
    });
  });

  test("an update into what is no object, a deep value and a costly one are errors as well", () => {
    const failing = (update: object, code: string) => {
      const on = { go: { update }, "error.execution": { update: { code: { cel: "event.data.code" } } } };
      expect(run({ a: { on } }, [{ type: "go" }], { start: { x: 1 } }).state.context).toEqual({ x: 1, code });
    };
    failing({ "x.y": 1 }, "EXPRESSION_FAILED");
    // As deep as it takes, in rounds: no expression is written that deep.
    const round = `map(a, ${"[".repeat(50)}a${"]".repeat(50)})`;
    failing({ x: { cel: `[1].${Array.from({ length: 5 }, () => round).join(".")}` } }, "NOT_JSON");
    const list = "[0,1,2,3,4,5,6,7,8,9]";
    const cube = `${list}.map(a, ${list}.map(b, ${list}.map(c, ${list}.map(d, ${list}.map(e, a + b + c + d + e)))))`;
    failing({ y: { cel: cube } }, "EXPRESSION_TOO_COSTLY");
  });

  test("conditions may ask whether a state is active, and what was before", () => {
    const states = {
      a: {
        on: {
          go: {
            guard: { cel: "inState('a') && !inState('b')" },
            update: { n: { cel: "context.n + 1" } },
            ensure: { grows: { cel: "context.n > old.n" } },
          },
        },
      },
      b: {},
    };
    expect(run(states, [{ type: "go" }], { start: { n: 1 } }).state.context).toEqual({ n: 2 });
  });

  test("named guards and updates may be expressions or functions", () => {
    const machine = loadMachine({
      id: "m",
      initial: "a",
      start: { n: 1 },
      guards: { small: { cel: "context.n < 2" }, allowed: { cel: "false" } },
      updates: { more: { n: { cel: "context.n + 1" } }, mark: {} },
      states: {
        a: {
          on: { go: { guard: { and: ["small", "allowed"] }, update: "more", actions: [{ update: "mark" }] } },
        },
      },
    });
    const bound = machine.implement({
      guards: { allowed: () => true },
      updates: { mark: (draft) => Object.assign(draft, { marked: true }) },
    });
    const { state } = start(bound, undefined, { at });
    expect(step(bound, state, { type: "go" }, { at }).state.context).toEqual({ n: 2, marked: true });
  });

  test("in TypeScript the model takes CEL and functions side by side, and refuses what is neither", () => {
    const definition = (more: object) =>
      ({
        id: "m",
        model: celModel(),
        initial: "a",
        start: () => ({ n: 1 }),
        states: { a: more, b: {} },
      }) as never;
    const machine = defineMachine(
      definition({
        entry: { log: () => 7 },
        always: {
          guard: { cel: "context.n == 1" },
          target: "b",
          update: (draft: { n: number }) => void draft.n++,
        },
      }),
    );
    expect(start(machine, undefined, { at }).state).toMatchObject({
      configuration: ["b"],
      context: { n: 2 },
    });
    for (const bad of [
      { always: { guard: { sql: "1" } } },
      { always: { guard: { cel: "1 +" } } },
      { data: {} },
      { entry: { model: {} } },
      { invoke: { activity: "x", idLocation: {} } },
      { always: { update: { x: { cel: "y" } } } },
    ])
      expect(() => defineMachine(definition(bad))).toThrow(
        expect.objectContaining({ code: "MACHINE_INVALID" }),
      );
  });

  test("a start that gives no object is refused when it runs", () => {
    const machine = loadMachine({ id: "m", initial: "a", start: { cel: "dyn(1)" }, states: { a: {} } });
    expect(() => start(machine, undefined, { at })).toThrow("must give an object");
  });

  test("what is absent is left out of what is made, and of a place that is not there", () => {
    const machine = loadMachine({
      id: "m",
      context: {
        type: "object",
        properties: { a: { type: "number" }, plan: {}, free: { type: "object", additionalProperties: true } },
      },
      start: {},
      initial: "x",
      states: {
        x: {
          on: {
            go: {
              update: { "plan.steps": { cel: "context.?a" }, "free.deep.er": 1 },
              actions: {
                emit: { type: "told", data: { a: { cel: "context.?a" }, all: [{ cel: "context.?a" }, 1] } },
              },
            },
          },
        },
      },
    });
    const { state } = start(machine, undefined, { at });
    const made = step(machine, state, { type: "go" }, { at });
    expect(made.state.context).toEqual({ free: { deep: { er: 1 } } });
    expect(made.effects).toMatchObject([{ type: "emit", event: { type: "told", data: { all: [1] } } }]);
  });

  test("a long expression is shown in part, and one line of YAML may begin with a brace", () => {
    const long = `context.x${" + 1".repeat(60)}`;
    const flow = `{ id: m, context: { type: object }, initial: a, states: { a: { always: { guard: { cel: "${long}" } } } } }`;
    const { problems } = readDefinition(flow);
    expect(problems).toMatchObject([{ path: "states.a.always.guard" }]);
    expect(problems[0]?.problem).toMatch(/, in "context\.x .*…"$/);
    expect(readDefinition("{ id: m,").problems).toMatchObject([{ path: "definition" }]);
  });
});
