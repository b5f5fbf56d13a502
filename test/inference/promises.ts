/**
 * What the compiler knows of a machine that declares schemas. Each promise has a line that compiles and a line that must
 * not: `tsc` reports an expected error that does not come. Nothing here runs.
 */
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { asState, createRuntime, defineMachine, type Machine } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { booking } from "./booking.ts";

export type Equal<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
export const is = <_ extends true>(): void => {};

const declared = {
  context: z.object({ n: z.number(), list: z.array(z.string()) }),
  events: { go: z.object({ to: z.string() }), ping: z.undefined() },
};
const a = {};

// The data of events, by handler.
defineMachine({
  ...declared,
  id: "data",
  activities: { work: { input: z.object({ n: z.number() }), output: z.object({ sum: z.number() }) } },
  initial: "a",
  states: {
    a: {
      entry: { log: ({ event }) => (event.type === "go" ? event.data.to : null) },
      on: {
        go: {
          update: (draft, { event, context }) => {
            is<Equal<typeof event.data, { to: string }>>();
            is<Equal<typeof event.type, "go">>();
            is<Equal<typeof context, { n: number; list: string[] }>>();
            is<Equal<typeof draft, { n: number; list: string[] }>>();
            // @ts-expect-error there is no such field
            draft.m = 1;
          },
        },
        ping: { guard: ({ event }) => event.data === undefined },
        "done.*": { guard: ({ event }) => event.type !== "go" },
      },
      after: { "1 s": { guard: ({ event }) => event.data === undefined, target: "b" } },
      invoke: {
        activity: "work",
        input: ({ context }) => ({ n: context.n }),
        onDone: {
          update: (draft, { event }) => {
            is<Equal<typeof event.data, { sum: number }>>();
            draft.n = event.data.sum;
          },
        },
        onError: {
          update: (draft, { event }) => {
            is<Equal<typeof event.data.message, string>>();
            draft.list.push(event.data.message);
          },
        },
      },
    },
    b: { always: { guard: ({ context }) => context.n > 0, target: "c" } },
    c: { type: "final", output: ({ context }) => context.list },
  },
});

// Events of a name that is not declared.
defineMachine({
  ...declared,
  id: "events",
  initial: "a",
  states: {
    a: {
      on: {
        go: "a",
        // @ts-expect-error misspelt
        goo: "a",
      },
    },
  },
});

// Targets: siblings, ancestors' siblings, children, ids, and ways down from each.
defineMachine({
  ...declared,
  id: "targets",
  initial: "a",
  states: {
    a: {
      initial: "one",
      states: {
        one: { on: { go: "two", ping: "b" } },
        two: { id: "second", on: { go: "b.inner", ping: "#second" } },
      },
      on: { go: ".two", ping: [{ target: "b" }, "a.one"] },
    },
    b: { initial: "inner", states: { inner: { after: { "1 s": "#second" } } } },
  },
  on: { go: "a", ping: ".b.inner" },
});
defineMachine({
  ...declared,
  id: "targets",
  // @ts-expect-error no such state
  initial: "c",
  states: {
    a: {
      // @ts-expect-error no such child
      initial: "three",
      states: {
        one: {
          on: {
            // @ts-expect-error no sibling and no ancestor's
            go: "three",
            // @ts-expect-error no such id
            ping: "#first",
          },
        },
        two: { id: "second" },
      },
      on: {
        // @ts-expect-error no such child
        go: ".three",
        ping: [
          {
            // @ts-expect-error no such way down
            target: "b.outer",
          },
        ],
      },
    },
    b: {
      initial: "inner",
      states: { inner: {} },
      after: {
        // @ts-expect-error no such state
        "1 s": "c",
      },
      always: {
        // @ts-expect-error no such state
        target: "c",
      },
    },
  },
  // @ts-expect-error no such state
  on: { go: "c" },
});

// Activities by name, their input, and what at most once demands.
const activities = {
  pay: { input: z.object({ sum: z.number() }), output: z.object({ id: z.string() }) },
  look: {},
};
defineMachine({
  ...declared,
  id: "activities",
  activities,
  initial: "a",
  states: {
    a: { invoke: { activity: "pay", input: { sum: 1 }, once: true, onUnknown: "b" } },
    b: {
      invoke: [
        { id: "x", activity: "pay", input: ({ context }) => ({ sum: context.n }) },
        { activity: "look" },
      ],
    },
    c: { invoke: { activity: "pay", input: { sum: 1 }, once: true, reconcile: "look" } },
  },
});
defineMachine({
  ...declared,
  id: "activities",
  activities,
  initial: "a",
  states: {
    a: {
      invoke: {
        // @ts-expect-error misspelt
        activity: "pya",
        input: { sum: 1 },
      },
    },
  },
});
defineMachine({
  ...declared,
  id: "activities",
  activities,
  initial: "a",
  states: {
    // @ts-expect-error the outcome may be unknown, and nobody says what to do
    a: { invoke: { activity: "pay", input: { sum: 1 }, once: true } },
    // @ts-expect-error it needs an input
    b: { invoke: { activity: "pay" } },
    // @ts-expect-error it needs another input
    c: { invoke: { activity: "pay", input: { sum: "1" } } },
  },
});
defineMachine({
  ...declared,
  id: "activities",
  activities,
  initial: "a",
  states: {
    a: {
      invoke: {
        activity: "pay",
        // @ts-expect-error it needs another input
        input: ({ context }) => ({ sum: String(context.n) }),
        onDone: {
          // @ts-expect-error that is not in its output
          update: (draft, { event }) => void draft.list.push(event.data.name),
        },
      },
    },
  },
});

// Named guards and updates, with and without parameters.
const named = {
  ...declared,
  id: "named",
  initial: "a",
} as const;
defineMachine({
  ...named,
  guards: {
    atMost: ({ context }, { max }: { max: number }) => context.n <= max,
    some: ({ context }) => context.list.length > 0,
  },
  updates: {
    add: (draft, _scope, { by }: { by: number }) => {
      draft.n += by;
    },
    clear: (draft) => {
      draft.list = [];
    },
  },
  states: {
    a: {
      on: {
        go: [
          { guard: { type: "atMost", params: { max: 3 } }, update: { type: "add", params: { by: 1 } } },
          {
            guard: { type: "atMost", params: ({ event }) => ({ max: event.data.to.length }) },
            update: "clear",
          },
          { guard: { and: ["some", { not: { type: "atMost", params: { max: 1 } } }] } },
        ],
      },
    },
  },
});
defineMachine({
  ...named,
  guards: { atMost: ({ context }, { max }: { max: number }) => context.n <= max },
  updates: {
    add: (draft, _scope, { by }: { by: number }) => {
      draft.n += by;
    },
  },
  states: {
    a: {
      on: {
        go: [
          // @ts-expect-error misspelt
          { guard: { type: "atMots", params: { max: 3 } } },
          // @ts-expect-error it needs parameters
          { guard: "atMost" },
          // @ts-expect-error it needs another parameter
          { guard: { type: "atMost", params: { max: "3" } } },
          // @ts-expect-error misspelt
          { update: "ad" },
          // @ts-expect-error it needs another parameter
          { update: { type: "add", params: { to: 3 } } },
        ],
      },
    },
  },
});

// Raising and sending its own events.
defineMachine({
  ...declared,
  id: "sends",
  initial: "a",
  states: {
    a: {
      entry: [
        { raise: "ping" },
        { raise: { type: "go", data: { to: "b" } } },
        { raise: { type: "go", data: ({ context }) => ({ to: String(context.n) }) } },
        { send: { type: "go", data: { to: "b" }, delay: "1 s", id: "later" } },
        { send: { type: "whatever", data: { any: 1 }, to: "parent" } },
      ],
    },
  },
});
defineMachine({
  ...declared,
  id: "sends",
  initial: "a",
  states: {
    a: {
      entry: [
        // @ts-expect-error misspelt
        { raise: "pign" },
        // @ts-expect-error it needs data
        { raise: "go" },
        // @ts-expect-error it needs other data
        { raise: { type: "go", data: { to: 1 } } },
        // @ts-expect-error misspelt
        { send: { type: "goo", data: { to: "b" } } },
      ],
    },
  },
});

// The first context, and the output.
defineMachine({ ...declared, id: "start", start: { n: 1, list: [] }, initial: "a", states: { a } });
// @ts-expect-error that is not the context
defineMachine({ ...declared, id: "start", start: { n: "1", list: [] }, initial: "a", states: { a } });
// @ts-expect-error nor is that
defineMachine({ ...declared, id: "start", start: () => ({ n: 1 }), initial: "a", states: { a } });
defineMachine({
  ...declared,
  id: "output",
  output: z.object({ sum: z.number() }),
  initial: "a",
  states: {
    a: { on: { go: "b", ping: "c" } },
    b: { type: "final", output: ({ context }) => ({ sum: context.n }) },
    // @ts-expect-error that is not the output
    c: { type: "final", output: ({ context }) => ({ total: context.n }) },
  },
});

// A machine as a child, and as a state.
const child = defineMachine({
  id: "child",
  input: z.object({ of: z.number() }),
  context: z.object({ of: z.number() }),
  start: ({ input }) => input,
  initial: "x",
  states: { x: { always: "y" }, y: { type: "final", output: ({ context }) => ({ half: context.of / 2 }) } },
});
defineMachine({
  ...declared,
  id: "parent",
  machines: { child },
  initial: "a",
  states: {
    a: {
      invoke: {
        machine: "child",
        input: ({ context }) => ({ of: context.n }),
        onDone: {
          update: (draft, { event }) => {
            draft.n = event.data.half;
          },
        },
      },
    },
    // @ts-expect-error it needs another input
    b: { invoke: { machine: "child", input: { of: "n" } } },
    // @ts-expect-error misspelt
    c: { invoke: { machine: "chidl", input: { of: 1 } } },
  },
});
defineMachine({
  ...declared,
  id: "inline",
  initial: "a",
  states: {
    a: { invoke: { machine: child, input: ({ context }) => ({ of: context.n }), onDone: "b" } },
    b: { invoke: { machine: child, input: { of: 1 } } },
  },
});
defineMachine({
  ...declared,
  id: "inline",
  initial: "a",
  states: {
    // @ts-expect-error it needs another input
    a: { invoke: { machine: child, input: { of: "1" } } },
  },
});
const part = defineMachine({
  ...declared,
  id: "part",
  initial: "x",
  states: { x: { on: { go: "y" } }, y: { type: "final" } },
});
defineMachine({
  ...declared,
  id: "whole",
  initial: "a",
  states: { a: { ...asState(part), onDone: "b" }, b: asState(part) },
});
defineMachine({
  ...declared,
  id: "whole",
  initial: "a",
  states: {
    // @ts-expect-error it keeps another context
    a: asState(child),
    b: {
      ...asState(part),
      // @ts-expect-error no such state
      onDone: "c",
    },
  },
});

// Every library that speaks Standard Schema.
const flight = v.object({ id: v.string() });
export const withValibot = defineMachine({
  id: "valibot",
  context: v.object({ flights: v.array(flight) }),
  events: { add: flight },
  start: { flights: [] },
  initial: "a",
  states: { a: { on: { add: { update: (draft, { event }) => void draft.flights.push(event.data) } } } },
});
export const withArkType = defineMachine({
  id: "arktype",
  context: type({ flights: type({ id: "string" }).array() }),
  events: { add: type({ id: "string" }) },
  start: { flights: [] },
  initial: "a",
  states: { a: { on: { add: { update: (draft, { event }) => void draft.flights.push(event.data) } } } },
});
defineMachine({
  id: "arktype",
  context: type({ flights: "string[]" }),
  events: { add: type({ id: "number" }) },
  start: { flights: [] },
  initial: "a",
  // @ts-expect-error a number is no text
  states: { a: { on: { add: { update: (draft, { event }) => void draft.flights.push(event.data.id) } } } },
});

// What users hold.
declare const store: Store;
export async function use(): Promise<void> {
  const runtime = await createRuntime({
    store,
    machines: [
      booking.implement({
        search: async ({ goal }) => [{ id: goal, price: 1 }],
        book: (flight, { key }) => ({ reference: `${flight.id} ${key}` }),
      }),
      child,
    ],
  });
  // @ts-expect-error no such activity
  booking.implement({ serach: () => [] });
  // @ts-expect-error it gives something else
  booking.implement({ search: () => ["DL1"] });
  const run = await runtime.start(booking, { id: "trip-42", input: { goal: "NYC", budget: 500 } });
  // @ts-expect-error it needs an input
  await runtime.start(booking);
  // @ts-expect-error it needs another input
  await runtime.start(booking, { input: { goal: "NYC" } });
  await run.send("choose", { flight: "DL1" }, { key: "click-7" });
  await run.sendAll([{ type: "abandon", data: {} }]);
  // @ts-expect-error misspelt
  await run.send("chose", { flight: "DL1" });
  // @ts-expect-error it needs data
  await run.send("choose");
  // @ts-expect-error it needs other data
  await run.send("choose", { flight: 1 });
  // @ts-expect-error it needs other data
  await run.sendAll([{ type: "choose", data: { flight: 1 } }]);
  const { context } = await run.state();
  is<Equal<typeof context.budget, number>>();
  const end = await run.finished();
  if (end.state === "booked") {
    is<Equal<typeof end.output, { reference: string }>>();
    is<Equal<typeof end.status, "done">>();
  } else if (end.state === "failed") is<Equal<typeof end.output, undefined>>();
  else is<Equal<typeof end.status, "cancelled" | "failed">>();
  if (end.status === "done") is<Equal<typeof end.state, "booked" | "failed">>();
  else is<Equal<typeof end.output, undefined>>();
  // @ts-expect-error no such end, unless it was stopped there
  if (end.status === "done" && end.state === "bokoed") return;
}

// Without schemas nothing is inferred, and nothing refused.
const plain = defineMachine({ id: "plain", initial: "a", states: { a: { on: { any: "nowhere" } } } });
is<Equal<typeof plain, Machine>>();
const explicit = defineMachine<{ n: number }, { type: "go"; data: number }>({
  id: "explicit",
  start: { n: 0 },
  initial: "a",
  states: {
    a: {
      on: {
        go: {
          update: (draft, { event }) => {
            draft.n += event.data;
          },
        },
      },
    },
  },
});
is<Equal<typeof explicit, Machine<{ n: number }, { type: "go"; data: number }>>>();

// Limits, keys and priorities of an activity.
defineMachine({
  ...declared,
  id: "flow",
  activities: { work: {} },
  initial: "a",
  states: {
    a: {
      invoke: {
        activity: "work",
        concurrency: {
          limit: 2,
          scope: "all",
          key: ({ context }) => {
            is<Equal<typeof context, { n: number; list: string[] }>>();
            return context.list.join();
          },
        },
        rate: { limit: 5, per: "1 min" },
        priority: ({ context }) => context.n,
      },
    },
    // @ts-expect-error a rate is per something
    b: { invoke: { activity: "work", rate: { limit: 5 } } },
    // @ts-expect-error a priority is a number
    c: { invoke: { activity: "work", priority: ({ context }) => context.list } },
  },
});
