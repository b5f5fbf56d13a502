/** What an invocation declares of flow control: what is refused, and what goes to the runtime with the activity. */
import { describe, expect, test } from "vitest";
import { loadMachine } from "../data/index.ts";
import { defineMachine, type HoldfastError, type MachineDefinition, start, step } from "../index.ts";
import { limits } from "../limits.ts";
import type { ActivityEffect, Effect } from "./effect.ts";

const withInvoke = (invoke: object) =>
  ({ id: "m", initial: "a", states: { a: { invoke } } }) as MachineDefinition;
const call = (options: object) => withInvoke({ activity: "tool", ...options });

function problemsOf(definition: MachineDefinition): string[] {
  try {
    defineMachine(definition);
  } catch (error) {
    expect(error).toMatchObject({ code: "MACHINE_INVALID" });
    return (error as HoldfastError).message.split("\n  ").slice(1);
  }
  return [];
}

const optionsIn = (effects: readonly Effect[]) =>
  effects
    .filter((effect): effect is ActivityEffect => effect.type === "activity")
    .map(({ options }) => options);

describe("limits and priorities", () => {
  test("go to the runtime as they are, beside the other options", () => {
    const machine = defineMachine(
      call({
        timeout: "1s",
        concurrency: { limit: 2, scope: "tenant" },
        rate: { limit: 10, per: "1 min", key: "api", scope: "all" },
        priority: -1.5,
      }),
    );
    expect(optionsIn(start(machine, undefined, { at: 0 }).effects)).toEqual([
      {
        timeout: "1s",
        concurrency: { limit: 2 },
        rate: { limit: 10, per: "1 min", key: "api", scope: "all" },
        priority: -1.5,
      },
    ]);
  });

  test("have keys and priorities made of the context and the event when the activity begins", () => {
    const machine = defineMachine<{ customer: string }>({
      id: "m",
      start: { customer: "ada" },
      initial: "idle",
      states: {
        idle: { on: { go: "calling" } },
        calling: {
          invoke: {
            activity: "tool",
            concurrency: { limit: 1, key: ({ context }) => `customer ${context.customer}` },
            priority: ({ event }) => event.data as number,
          },
        },
      },
    });
    const { state } = start(machine, undefined, { at: 0 });
    const { effects } = step(machine, state, { type: "go", data: 7 }, { at: 0 });
    expect(optionsIn(effects)).toEqual([{ concurrency: { limit: 1, key: "customer ada" }, priority: 7 }]);
  });

  test("are made of each item in a map, which has a number of its own for how many at a time", () => {
    const machine = defineMachine({
      id: "m",
      initial: "reading",
      states: {
        reading: {
          map: {
            over: [{ host: "a" }, { host: "b" }],
            as: "page",
            activity: "read",
            concurrency: 2,
            rate: { limit: 1, per: "1s", key: ({ event }) => (event.data as never as Page).page.host },
            priority: ({ event }) => (event.data as never as Page).index,
            onDone: "done",
            onError: "done",
          },
        },
        done: {},
      },
    });
    expect(optionsIn(start(machine, undefined, { at: 0 }).effects)).toEqual([
      { rate: { limit: 1, per: "1s", key: "a" }, priority: 0 },
      { rate: { limit: 1, per: "1s", key: "b" }, priority: 1 },
    ]);
  });

  test("can be expressions of a machine that is data", () => {
    const machine = loadMachine({
      id: "m",
      context: {
        type: "object",
        properties: { who: { type: "string" }, n: { type: "integer" } },
        required: ["who", "n"],
      },
      start: { who: "ada", n: 4 },
      initial: "a",
      states: {
        a: {
          invoke: {
            activity: "tool",
            concurrency: { limit: 3, key: { cel: "'user ' + context.who" } },
            rate: { limit: 5, per: "1s", scope: "all" },
            priority: { cel: "context.n" },
          },
        },
      },
    });
    expect(optionsIn(start(machine, undefined, { at: 0 }).effects)).toEqual([
      {
        concurrency: { limit: 3, key: "user ada" },
        rate: { limit: 5, per: "1s", scope: "all" },
        priority: 4,
      },
    ]);
  });

  test("of a machine that is data are typed when it is loaded", () => {
    const loading = () =>
      loadMachine({
        id: "m",
        context: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
        start: { n: 4 },
        initial: "a",
        states: {
          a: {
            invoke: {
              activity: "tool",
              concurrency: { limit: 3, key: { cel: "context.n" } },
              rate: { limit: 5, per: "1s", key: { cel: "context.who" } },
              priority: { cel: "string(context.n)" },
            },
          },
        },
      });
    const places = [/concurrency\.key/, /rate\.key/, /invoke\.priority/];
    for (const place of places) expect(loading).toThrow(place);
  });
});

describe("what cannot be meant", () => {
  test("is listed with its place", () => {
    expect(problemsOf(call({ concurrency: { limit: 0, key: "", scope: "run", per: 1 } }))).toEqual([
      "states.a.invoke.concurrency.per is no key of a concurrency; there are limit, key, scope",
      "states.a.invoke.concurrency.limit is 0; write a whole number above zero",
      'states.a.invoke.concurrency.scope is "run"; write tenant or all',
      'states.a.invoke.concurrency.key is ""; write a name, or how to compute it',
    ]);
    expect(problemsOf(call({ rate: { limit: limits.rateLimitMax + 1, per: 0 } }))).toEqual([
      `states.a.invoke.rate.limit is 100001; write a whole number from 1 to ${limits.rateLimitMax}`,
      "states.a.invoke.rate.per is no time at all; write a period such as 1 min",
    ]);
    expect(problemsOf(call({ rate: { limit: limits.rateLimitMax, per: "soon" } }))).toEqual([
      'states.a.invoke.rate.per "soon" is not a delay: write milliseconds, or a number with ms, s, min, h, days or weeks',
    ]);
    expect(problemsOf(call({ concurrency: 5, priority: "high" }))).toEqual([
      "states.a.invoke.concurrency is 5; write a concurrency: an object with limit, key, scope",
      "states.a.invoke.concurrency.limit is undefined; write a whole number above zero",
      'states.a.invoke.priority is "high"; write a number, or how to compute it',
    ]);
    for (const priority of [Number.NaN, null, true])
      expect(problemsOf(call({ priority }))).toEqual([
        `states.a.invoke.priority is ${priority}; write a number, or how to compute it`,
      ]);
  });

  test("is said of child machines, which pass no queue", () => {
    const child = { machine: "other", concurrency: { limit: 1 }, rate: { limit: 1, per: "1s" }, priority: 1 };
    const machines = { other: defineMachine({ id: "other", initial: "a", states: { a: {} } }) };
    expect(problemsOf({ ...withInvoke(child), machines })).toEqual(
      ["concurrency", "rate", "priority"].map(
        (key) => `states.a.invoke.${key} is for activities, and this is a child machine`,
      ),
    );
  });

  test.each<[string, object, string]>([
    ["a key that is not text", { concurrency: { limit: 1, key: () => 5 } }, "must be text, and is 5"],
    ["an empty key", { concurrency: { limit: 1, key: () => "" } }, "must be text of 1 to 512 characters"],
    [
      "a key that is too long",
      { rate: { limit: 1, per: 1, key: "x".repeat(513) } },
      "must be text of 1 to 512",
    ],
    ["half a character", { rate: { limit: 1, per: 1, key: () => "\ud800" } }, "that stores can keep"],
    ["an end of text", { rate: { limit: 1, per: 1, key: () => "\0" } }, "that stores can keep"],
    ["a priority that is none", { priority: () => Number.NaN }, "must be a number, and is NaN"],
    ["a priority that is text", { priority: () => "1" }, 'must be a number, and is "1"'],
  ])("is an error of the step that begins the activity: %s", (_, options, message) => {
    const machine = defineMachine({
      ...call(options),
      on: { "error.execution": { actions: { log: ({ event }) => event.data as never } } },
    });
    const { effects } = start(machine, undefined, { at: 0 });
    expect(optionsIn(effects)).toEqual([]);
    expect(effects).toMatchObject([{ type: "log", data: { message: expect.stringContaining(message) } }]);
  });
});

interface Page {
  readonly page: { readonly host: string };
  readonly index: number;
}
