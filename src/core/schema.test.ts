import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { isHoldfastError } from "../errors.ts";
import type { MachineDefinition } from "./definition.ts";
import { settledEvent } from "./event.ts";
import type { Json } from "./json.ts";
import { defineMachine } from "./machine.ts";
import { can } from "./query.ts";
import { isSchema, type Schema } from "./schema.ts";
import { simulate } from "./simulate.ts";
import { start, step } from "./step.ts";

const at = 0;

/** What a call throws. */
function thrown(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return isHoldfastError(error) ? { code: error.code, message: error.message } : error;
  }
}

/** The same machine in three libraries: it keeps flights, by their id and their legs. */
const libraries: Readonly<Record<string, { context: Schema; choose: Schema; input: Schema }>> = {
  zod: {
    context: z.object({
      flight: z.object({ id: z.string(), legs: z.array(z.object({ to: z.string() })) }).optional(),
    }),
    choose: z.object({ id: z.string(), legs: z.array(z.object({ to: z.string() })) }),
    input: z.object({ goal: z.string() }),
  },
  valibot: {
    context: v.object({
      flight: v.optional(v.object({ id: v.string(), legs: v.array(v.object({ to: v.string() })) })),
    }),
    choose: v.object({ id: v.string(), legs: v.array(v.object({ to: v.string() })) }),
    input: v.object({ goal: v.string() }),
  },
  arktype: {
    context: type({ "flight?": { id: "string", legs: type({ to: "string" }).array() } }),
    choose: type({ id: "string", legs: type({ to: "string" }).array() }),
    input: type({ goal: "string" }),
  },
};

describe.each(Object.entries(libraries))("A2: with %s", (_, { context, choose, input }) => {
  const machine = defineMachine<{ flight?: Json; extra?: Json }>({
    id: "m",
    context,
    input,
    events: { choose, spoil: {}, spoilDeep: {} },
    initial: "a",
    states: {
      a: {
        on: {
          choose: {
            update: (draft, { event }) => {
              draft.flight = event.data as Json;
            },
          },
          spoil: {
            update: (draft) => {
              draft.extra = 1;
            },
          },
          spoilDeep: {
            update: (draft) => {
              draft.flight = { id: "DL1", legs: [{ to: "NYC" }, { to: "LAX", seat: 1 }] };
            },
          },
        },
      },
    },
  } as MachineDefinition<{ flight?: Json; extra?: Json }>);
  const { state } = start(machine, { goal: "NYC" }, { at });
  const flight = { id: "DL1", legs: [{ to: "NYC" }] };

  test("what fits is taken as it is, the same references", () => {
    const data = Object.freeze(flight);
    const taken = step(machine, state, { type: "choose", data }, { at });
    expect(taken).toMatchObject({ outcome: "taken", state: { context: { flight } } });
    expect(taken.state.context.flight).toBe(data);
  });

  test("what does not fit is refused before anything changes, with its path", () => {
    const refused = step(machine, state, { type: "choose", data: { id: "DL1", legs: [{ to: 1 }] } }, { at });
    expect(refused).toMatchObject({ outcome: "refused", error: { code: "EVENT_INVALID" } });
    expect(refused.error?.message).toContain('The event "choose" does not fit its schema: data.legs[0].to: ');
    expect(refused.state).toBe(state);
    expect(step(machine, state, { type: "choose" }, { at }).error?.code).toBe("EVENT_INVALID");
    expect(thrown(() => can(machine, state, { type: "choose", data: {} }))).toMatchObject({
      code: "EVENT_INVALID",
    });
  });

  test("unknown fields are refused by their path, however deep", () => {
    const data = { id: "DL1", legs: [{ to: "NYC", seat: 1 }], extra: 1 };
    const { error } = step(machine, state, { type: "choose", data }, { at });
    expect(error?.code).toBe("EVENT_INVALID");
    expect(error?.message).toContain("data.extra: ");
    expect(error?.message).toContain("data.legs[0].seat: ");
  });

  test("a step that breaks the context's schema is refused", () => {
    const refused = step(machine, state, { type: "spoil" }, { at });
    expect(refused).toMatchObject({ outcome: "refused", error: { code: "CONTEXT_INVALID" } });
    expect(refused.error?.message).toContain("context.extra: ");
    expect(refused.state).toBe(state);
    const deep = step(machine, state, { type: "spoilDeep" }, { at });
    expect(deep.error?.message).toContain("context.flight.legs[1].seat: ");
  });

  test("an input that does not fit starts nothing", () => {
    expect(thrown(() => start(machine, { goal: 1 }, { at }))).toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("input.goal: "),
    });
    expect(thrown(() => start(machine, undefined, { at }))).toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("what a schema makes of a value", () => {
  test("defaults and coercions take effect, and what they leave alone stays the same reference", () => {
    const machine = defineMachine({
      id: "m",
      input: z.object({ tags: z.array(z.string()).default(["new"]) }),
      context: z.object({
        tags: z.array(z.string()),
        sum: z.number().default(7),
        log: z.array(z.object({ n: z.coerce.number() })),
      }),
      events: { add: z.object({ n: z.coerce.number(), note: z.object({ text: z.string() }) }) },
      start: ({ input }) => ({ ...input, log: [] }),
      initial: "a",
      states: {
        a: {
          on: {
            add: {
              update: (draft, { event }) => {
                draft.log.push({ n: event.data.n });
                draft.tags.push(event.data.note.text);
              },
            },
          },
        },
      },
    });
    const { state } = start(machine, {}, { at });
    expect(state.context).toEqual({ tags: ["new"], sum: 7, log: [] });
    const one = step(machine, state, { type: "add", data: { n: "3", note: { text: "x" } } as never }, { at });
    expect(one.state.context).toEqual({ tags: ["new", "x"], sum: 7, log: [{ n: 3 }] });
    const two = step(machine, one.state, { type: "add", data: { n: 4, note: { text: "y" } } }, { at });
    expect(two.state.context.log[0]).toBe(one.state.context.log[0]);
  });

  test("lists may grow, and whole values may become others", () => {
    const padded = z.array(z.number()).transform((list) => [...list, 0]);
    const machine = defineMachine({
      id: "m",
      events: {
        a: padded,
        b: z.object({ n: z.number() }).transform(() => "text"),
        c: z.null().transform(() => undefined),
        d: z.number().default(5),
      },
      start: { got: [] as Json[] },
      initial: "x",
      states: {
        x: {
          on: {
            "*": { update: (draft, { event }) => void draft.got.push((event.data ?? "nothing") as Json) },
          },
        },
      },
    });
    let { state } = start(machine, undefined, { at });
    for (const event of [
      { type: "a", data: [1] },
      { type: "b", data: { n: 1 } },
      { type: "c", data: null },
      { type: "d" },
    ])
      state = step(machine, state, event, { at }).state;
    expect(state.context.got).toEqual([[1, 0], "text", "nothing", 5]);
  });

  test("what is not JSON is refused, and so is what it drops from a list", () => {
    const machine = defineMachine({
      id: "m",
      events: {
        date: z.string().transform((text) => new Date(text)),
        first: z.array(z.number()).transform((list) => list.slice(0, 1)),
      },
      initial: "a",
      states: { a: { on: { date: {}, first: {} } } },
    });
    const { state } = start(machine, undefined, { at });
    const date = step(machine, state, { type: "date", data: "2026-01-01" }, { at });
    expect(date).toMatchObject({ outcome: "refused", error: { code: "NOT_JSON" } });
    const first = step(machine, state, { type: "first", data: [1, 2] }, { at });
    expect(first.error?.message).toBe('The event "first" does not fit its schema: data[1]: is unknown');
  });

  test("a hostile key is a field like any other", () => {
    const machine = defineMachine({
      id: "m",
      events: { set: z.record(z.string(), z.number().default(1)), strict: z.object({}) },
      initial: "a",
      states: { a: { on: { set: {}, strict: {} } } },
    });
    const { state } = start(machine, undefined, { at });
    const data = JSON.parse('{ "__proto__": 1 }') as Json;
    expect(step(machine, state, { type: "strict", data }, { at }).error?.message).toContain(
      "data.__proto__: is unknown",
    );
    expect(Object.prototype).not.toHaveProperty("polluted");
  });
});

describe("a schema that cannot be asked", () => {
  const refusing = (schema: Schema) => {
    const machine = defineMachine({
      id: "m",
      events: { go: schema },
      initial: "a",
      states: { a: { on: { go: {} } } },
    });
    return step(machine, start(machine, undefined, { at }).state, { type: "go", data: 1 }, { at }).error;
  };

  test("because it is asynchronous, is said to be so", () => {
    const later = z.number().refine(async (n) => n > 0);
    expect(refusing(later)).toMatchObject({
      code: "SCHEMA_UNUSABLE",
      message:
        'The event "go" cannot be checked: its schema is asynchronous, and a step does not wait; do what takes time in an activity',
    });
    expect(refusing(standard(() => Promise.reject(new Error("no"))))?.code).toBe("SCHEMA_UNUSABLE");
  });

  test("because it throws, is said to do so", () => {
    const broken = standard(() => {
      throw new Error("broken");
    });
    expect(refusing(broken)).toMatchObject({ code: "SCHEMA_UNUSABLE", cause: { message: "broken" } });
  });

  test("is found when the machine is defined, where it cannot even be read", () => {
    const broken = Object.assign(
      standard(() => ({ value: 1 })),
      {
        onDeepUndeclaredKey: () => {
          throw new Error("no such key");
        },
      },
    );
    const define = () => defineMachine({ id: "m", events: { go: broken }, initial: "a", states: { a: {} } });
    expect(thrown(define)).toMatchObject({
      code: "MACHINE_INVALID",
      message: expect.stringContaining("has schemas that cannot be read: no such key"),
    });
  });

  test("is told from what is none", () => {
    expect([z.string(), type("string"), v.string()].map(isSchema)).toEqual([true, true, true]);
    expect([null, 1, {}, { "~standard": 1 }, { "~standard": {} }].map(isSchema)).toEqual(
      Array(5).fill(false),
    );
  });

  test("says where in its own way: keys, and objects with keys, and symbols", () => {
    const message = "wrong";
    const path = [{ key: "list" }, 0, Symbol("mark")];
    const error = refusing(standard(() => ({ issues: [{ message, path }, { message }] })));
    expect(error?.message).toContain('data.list[0]["Symbol(mark)"]: wrong; data: wrong');
    expect(error?.details.issues).toEqual([
      { path: 'data.list[0]["Symbol(mark)"]', message },
      { path: "data", message },
    ]);
  });
});

/** A schema by hand. */
function standard(validate: Schema["~standard"]["validate"]): Schema {
  return { "~standard": { version: 1, vendor: "hand", validate } };
}

describe("A2: activities", () => {
  const machine = defineMachine({
    id: "m",
    context: z.object({ n: z.unknown(), got: z.unknown() }),
    activities: {
      work: {
        input: z.object({ n: z.number(), unit: z.string().default("m") }),
        output: z.object({ sum: z.number(), note: z.string().default("none") }),
      },
      loose: {},
      silent: { output: z.undefined() },
      loud: { output: z.string().transform(() => undefined) },
    },
    start: { n: 1, got: null },
    initial: "work",
    on: {},
    states: {
      work: {
        invoke: {
          activity: "work",
          input: ({ context }) => ({ n: context.n as number }),
          onDone: {
            target: "loose",
            update: (draft, { event }) => {
              draft.got = event.data;
            },
          },
          onError: {
            target: "failed",
            update: (draft, { event }) => {
              draft.got = event.data;
            },
          },
        },
      },
      loose: { invoke: { activity: "loose", onDone: "silent" } },
      silent: { invoke: { activity: "silent", onDone: "loud" } },
      loud: { invoke: { activity: "loud", onDone: "done" } },
      failed: {},
      done: { type: "final" },
    },
  });

  test("are given and give what their schemas make of it", () => {
    const run = simulate(machine);
    expect(run.last.effects).toMatchObject([{ activity: "work", input: { n: 1, unit: "m" } }]);
    run.settle("work", { output: { sum: 2 } });
    expect(run.state.context.got).toEqual({ sum: 2, note: "none" });
    run.settle("loose", { output: { any: "thing" } });
    run.settle("silent", {});
    run.settle("loud", { output: "text" });
    expect(run.state.status).toBe("done");
  });

  test("that give what does not fit have failed", () => {
    const run = simulate(machine);
    run.settle("work", { output: { sum: "2" } });
    expect(run.state).toMatchObject({ configuration: ["failed"], activities: [] });
    expect(run.state.context.got).toMatchObject({
      code: "ACTIVITY_INVALID",
      message: expect.stringContaining(
        'The output of the activity "work" does not fit its schema: output.sum: ',
      ),
    });
  });

  test("whose own error comes back is not asked for an output", () => {
    const run = simulate(machine);
    run.settle("work", { error: { message: "no net" } });
    expect(run.state.context.got).toEqual({ message: "no net" });
  });

  test("that would be given what does not fit fail before they begin", () => {
    const bad = machine.implement({});
    const first = simulate(
      defineMachine({ ...bad.definition, start: { n: "1", got: null } } as unknown as MachineDefinition),
    );
    expect(first.state.configuration).toEqual(["failed"]);
    expect(first.last.effects).toEqual([]);
    expect(first.state.context.got).toMatchObject({
      code: "ACTIVITY_INVALID",
      message: expect.stringContaining('The input of the activity "work" does not fit its schema: input.n: '),
    });
  });

  test("that are no longer wanted are not asked", () => {
    const { state } = start(machine, undefined, { at });
    const stale = settledEvent({ id: "work", key: "9.9" }, { output: { sum: "2" } });
    expect(step(machine, state, stale, { at }).outcome).toBe("ignored");
  });
});

describe("A2: inside a step", () => {
  const machine = defineMachine({
    id: "m",
    context: z.object({ got: z.array(z.unknown()) }),
    events: { note: z.object({ text: z.string() }), go: z.undefined(), later: z.undefined() },
    output: z.object({ count: z.number(), unit: z.string().default("notes") }),
    start: { got: [] },
    initial: "a",
    states: {
      a: {
        on: {
          note: { update: (draft, { event }) => void draft.got.push(event.data.text) },
          go: { actions: [{ raise: { type: "note", data: () => ({ text: 1 }) as never } }] },
          later: { actions: [{ send: { type: "note", data: () => ({ text: 2 }) as never, delay: 5 } }] },
          "error.*": {
            update: (draft, { event }) => void draft.got.push((event.data as { code: string }).code),
          },
          "end.*": [
            { guard: ({ event }) => (event.type as string) === "end.well", target: "well" },
            { guard: ({ event }) => (event.type as string) === "end.late", target: "late" },
            { target: "badly" },
          ],
        },
      },
      well: { type: "final", output: ({ context }) => ({ count: context.got.length }) },
      badly: { type: "final" },
      late: {
        type: "final",
        output: { count: 1 },
        exit: { update: (draft) => void Object.assign(draft, { more: 1 }) },
      },
    },
  });

  test("an event that is raised with what does not fit is an error of the step, like any other", () => {
    const { state, outcome } = simulate(machine).send("go");
    expect(outcome).toBe("taken");
    expect(state.context.got).toEqual(["EVENT_INVALID"]);
  });

  test("a delayed one is refused when it comes, and its timer is spent", () => {
    const run = simulate(machine);
    run.send("later");
    run.advance(5);
    expect(run.last).toMatchObject({ outcome: "refused", error: { code: "EVENT_INVALID" } });
    expect(run.state.timers).toEqual([]);
  });

  test("the output is what its schema makes of it, and a step that ends with another is refused", () => {
    expect(simulate(machine).send("end.well").state.output).toEqual({ count: 0, unit: "notes" });
    const refused = simulate(machine).send("end.badly");
    expect(refused).toMatchObject({ outcome: "refused", error: { code: "OUTPUT_INVALID" } });
    const late = simulate(machine).send("end.late");
    expect(late).toMatchObject({ outcome: "refused", error: { code: "CONTEXT_INVALID" } });
  });

  test("a context that did not change is not looked at", () => {
    let looks = 0;
    const context = standard((value) => {
      looks++;
      return { value };
    });
    const still = defineMachine({
      id: "m",
      context,
      initial: "a",
      states: { a: { on: { go: "b" } }, b: {} },
    } as MachineDefinition);
    const { state } = start(still, undefined, { at });
    expect(looks).toBe(1);
    step(still, state, { type: "go" }, { at });
    expect(looks).toBe(1);
  });
});

describe("implementations", () => {
  const machine = defineMachine({
    id: "m",
    context: z.object({ n: z.number() }),
    events: { add: z.object({ by: z.number() }), check: z.undefined() },
    activities: { work: {} },
    start: { n: 0 },
    guards: { atMost: ({ context }, { max }: { max: number }) => context.n <= max },
    updates: {
      add: (draft, _scope, { by }: { by: number }) => {
        draft.n += by;
      },
    },
    initial: "a",
    states: {
      a: {
        on: {
          add: { update: { type: "add", params: ({ event }) => ({ by: event.data.by }) } },
          check: [{ guard: { type: "atMost", params: { max: 3 } }, target: "few" }, "many"],
        },
      },
      few: {},
      many: {},
    },
  });

  test("named guards and updates take parameters, constant or computed", () => {
    const run = simulate(machine);
    run.send({ type: "add", data: { by: 2 } });
    expect(run.state.context.n).toBe(2);
    expect(run.send("check").state.configuration).toEqual(["few"]);
    const other = simulate(machine);
    other.send({ type: "add", data: { by: 4 } });
    expect(other.send("check").state.configuration).toEqual(["many"]);
  });

  test("those that are missing, and parameters for what is no function, are found", () => {
    const states = { a: { on: { x: { guard: { type: "g", params: {} }, update: { type: "u" } } } } };
    expect(defineMachine({ id: "m", initial: "a", states }).missing).toEqual(['guard "g"', 'update "u"']);
    const guards = { g: { not: "h" } } as never;
    expect(thrown(() => defineMachine({ id: "m", initial: "a", states, guards }))).toMatchObject({
      code: "MACHINE_INVALID",
      message: expect.stringContaining('gives parameters to "g", which is not a function'),
    });
  });

  test("the code of activities is bound by name, and checked to be code of an activity", () => {
    const work = () => 1;
    expect(machine.activities).toEqual({});
    const bound = machine.implement({ work });
    expect(bound.activities).toEqual({ work });
    expect(bound.implement({}).activities).toEqual({ work });
    expect(thrown(() => machine.implement({ wrok: work } as never))).toMatchObject({
      message: 'The machine "m" is given "wrok", which is none of its activities: work',
    });
    expect(thrown(() => machine.implement({ work: 1 } as never))).toMatchObject({
      message: 'The machine "m" is given "work", which is not a function',
    });
    const plain = defineMachine({ id: "p", initial: "a", states: { a: {} } });
    expect(plain.implement({ any: work } as never).activities).toEqual({ any: work });
  });
});
