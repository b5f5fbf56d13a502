/** Scenarios of actors: promises, child machines, and what goes between them. */
import { endless, promised } from "./compare.ts";
import {
  assign,
  emit,
  enqueueActions,
  forwardTo,
  type Given,
  machineOf,
  type Scenario,
  sendParent,
  sendTo,
  spawnChild,
  stopChild,
} from "./scenario.ts";

const keep = assign({ got: ({ event }: Given) => event.output });
const double = promised((input: number) => input * 2);
const failing = promised(() => {
  throw new Error("no such luck");
});
const one = (invoke: object, rest: object = {}, implementations = {}) =>
  machineOf(
    { context: { n: 21, got: null }, initial: "a", states: { a: { invoke, ...rest }, done: {}, failed: {} } },
    implementations,
  );

/** Takes two steps, tells its parent of each, and ends. */
const child = machineOf({
  id: "child",
  context: ({ input }: { input?: { start: number } }) => ({ n: input?.start ?? 0 }),
  initial: "x",
  states: {
    x: { on: { next: { target: "y", actions: sendParent({ type: "half", by: 1 }) } } },
    y: { entry: assign({ n: ({ context }: Given) => context.n + 1 }), on: { next: "end" } },
    end: { type: "final" },
  },
  output: ({ context }: Given) => ({ n: context.n }),
});
const parent = (invoke: object, on: object = {}, actors: object = {}) =>
  machineOf(
    {
      context: { got: null, halves: 0 },
      initial: "a",
      states: {
        a: {
          invoke: { id: "kid", ...invoke },
          on: { next: { actions: sendTo("kid", { type: "next" }) }, out: "z", ...on },
        },
        z: {},
        done: {},
      },
      on: { half: { actions: assign({ halves: ({ context }: Given) => (context.halves as number) + 1 }) } },
    },
    { actors: actors },
  );

export const promises: readonly Scenario[] = [
  {
    name: "done",
    machine: one({ src: double, input: 4, onDone: { target: "done", actions: keep } }),
    moves: [],
  },
  {
    name: "input from context",
    machine: one({
      src: double,
      input: ({ context }: Given) => context.n,
      onDone: { target: "done", actions: keep },
    }),
    moves: [],
  },
  {
    name: "by name",
    machine: one(
      { src: "double", input: 3, onDone: { target: "done", actions: keep } },
      {},
      { actors: { double } },
    ),
    moves: [],
  },
  {
    name: "with an id",
    machine: one({
      id: "work",
      src: double,
      input: 3,
      onDone: {
        target: "done",
        actions: { type: "saw", params: ({ event }: Given) => ({ type: event.type }) },
      },
    }),
    moves: [],
  },
  {
    name: "without an id, by the name of its event",
    machine: machineOf({
      id: "m",
      initial: "a",
      states: {
        a: {
          invoke: {
            src: double,
            input: 1,
            onDone: {
              target: "done",
              actions: { type: "saw", params: ({ event }: Given) => ({ type: event.type }) },
            },
          },
        },
        done: {},
      },
    }),
    moves: [],
  },
  { name: "failed", machine: one({ src: failing, onDone: "done", onError: "failed" }), moves: [] },
  {
    name: "the error's message",
    machine: one({
      src: failing,
      onError: {
        target: "failed",
        actions: assign({ got: ({ event }: Given) => (event.error as Error).message }),
      },
    }),
    moves: [],
  },
  {
    name: "the error as a whole",
    machine: one({
      src: failing,
      onError: {
        target: "failed",
        actions: assign({ got: ({ event }: Given) => event.error instanceof Error }),
      },
    }),
    moves: [],
    differs: { topic: "error-data", in: ["context"] },
  },
  {
    name: "failed without a handler",
    machine: one({ src: failing, onDone: "done" }),
    moves: [],
    differs: { topic: "unhandled-error", in: ["status"] },
  },
  {
    name: "still under way",
    machine: one({ id: "work", src: endless, onDone: "done" }, { on: { out: "done" } }),
    moves: ["out"],
  },
  {
    name: "started again on re-entry",
    machine: one(
      { id: "work", src: endless },
      { on: { again: { target: "a", reenter: true, actions: "again" } } },
    ),
    moves: ["again"],
  },
  {
    name: "two of them",
    machine: one([
      { id: "x", src: double, input: 1, onDone: { actions: keep } },
      {
        id: "y",
        src: double,
        input: 2,
        onDone: { target: "done", actions: assign({ n: ({ event }: Given) => event.output }) },
      },
    ]),
    moves: [],
  },
  {
    name: "guards on the result",
    machine: one({
      src: double,
      input: 1,
      onDone: [
        { guard: ({ event }: Given) => (event.output as number) > 5, target: "failed" },
        { target: "done" },
      ],
    }),
    moves: [],
  },
  {
    name: "left before it began",
    machine: machineOf({
      initial: "a",
      states: { a: { invoke: { src: double, input: 1, onDone: "done" }, always: "b" }, b: {}, done: {} },
    }),
    moves: [],
  },
  {
    name: "in a region",
    machine: machineOf({
      context: { got: null },
      type: "parallel",
      states: {
        one: {
          initial: "a",
          states: { a: { invoke: { src: double, input: 5, onDone: { target: "b", actions: keep } } }, b: {} },
        },
        two: {},
      },
    }),
    moves: [],
  },
  {
    name: "on the machine itself",
    machine: machineOf({
      context: { got: null },
      invoke: { id: "all", src: double, input: 8, onDone: { target: ".b", actions: keep } },
      initial: "a",
      states: { a: {}, b: {} },
    }),
    moves: [],
  },
  {
    name: "one after the other",
    machine: machineOf({
      context: { n: 1 },
      initial: "a",
      states: {
        a: {
          invoke: {
            src: double,
            input: ({ context }: Given) => context.n,
            onDone: { target: "b", actions: assign({ n: ({ event }: Given) => event.output }) },
          },
        },
        b: {
          invoke: {
            src: double,
            input: ({ context }: Given) => context.n,
            onDone: { target: "c", actions: assign({ n: ({ event }: Given) => event.output }) },
          },
        },
        c: { type: "final" },
      },
      output: ({ context }: Given) => context.n,
    }),
    moves: [],
  },
  {
    name: "listening to its end by name, from outside",
    machine: machineOf({
      initial: "a",
      states: { a: { invoke: { id: "work", src: double, input: 1 } }, z: {} },
      on: { "xstate.done.actor.work": ".z" },
    }),
    moves: [],
  },
  {
    name: "a result of nothing",
    machine: one({ src: promised(() => undefined), onDone: { target: "done", actions: keep } }),
    moves: [],
  },
];

export const machines: readonly Scenario[] = [
  {
    name: "a child runs to its end",
    machine: parent({ src: child, onDone: { target: "done", actions: keep } }),
    moves: ["next", "next"],
  },
  {
    name: "a child by name, with input",
    machine: parent(
      { src: "child", input: { start: 5 }, onDone: { target: "done", actions: keep } },
      {},
      { child },
    ),
    moves: ["next", "next"],
  },
  {
    name: "a child is stopped with its state",
    machine: parent({ src: child, onDone: "done" }),
    moves: ["next", "out"],
  },
  {
    name: "a child of a child",
    machine: parent({
      src: machineOf({
        initial: "w",
        states: {
          w: {
            invoke: { id: "inner", src: child, onDone: "end" },
            on: { next: { actions: sendTo("inner", { type: "next" }) } },
          },
          end: { type: "final" },
        },
      }),
      onDone: "done",
    }),
    moves: ["next", "next"],
  },
  {
    name: "a child that works with a promise",
    machine: parent({
      src: machineOf({
        context: { got: null },
        initial: "w",
        states: {
          w: { invoke: { src: double, input: 4, onDone: { target: "end", actions: keep } } },
          end: { type: "final" },
        },
        output: ({ context }: Given) => context.got,
      }),
      onDone: { target: "done", actions: keep },
    }),
    moves: [],
  },
  {
    name: "a child that sends fields",
    machine: parent({ src: child }, { half: { actions: assign({ got: ({ event }: Given) => event.by }) } }),
    moves: ["next"],
  },
  {
    name: "events are forwarded",
    machine: parent({ src: child, onDone: "done" }, { next: { actions: forwardTo("kid") } }),
    moves: ["next", "next"],
  },
  {
    name: "send to a child by a function",
    machine: parent(
      { src: child, onDone: "done" },
      {
        next: {
          actions: sendTo(
            () => "kid",
            ({ event }) => event,
          ),
        },
      },
    ),
    moves: ["next"],
  },
  {
    name: "send to a child with a delay",
    machine: parent(
      { src: child, onDone: "done" },
      { slow: { actions: sendTo("kid", { type: "next" }, { delay: 50 }) } },
    ),
    moves: ["slow", 40, 20],
  },
  {
    name: "a child that waits",
    machine: parent({
      src: machineOf({ initial: "w", states: { w: { after: { 50: "end" } }, end: { type: "final" } } }),
      onDone: "done",
    }),
    moves: [40, 20],
  },
  {
    name: "a child that ends at once",
    machine: parent({
      src: machineOf({ initial: "end", states: { end: { type: "final" } }, output: 5 }),
      onDone: { target: "done", actions: keep },
    }),
    moves: [],
  },
  {
    name: "send to a child from the state's own entry",
    machine: machineOf({
      initial: "a",
      states: {
        a: { invoke: { id: "kid", src: child, onDone: "z" }, entry: sendTo("kid", { type: "next" }) },
        z: {},
      },
    }),
    moves: [],
    differs: { topic: "early-send", in: ["children"] },
  },
  {
    name: "a child in each of two regions",
    machine: machineOf({
      type: "parallel",
      states: {
        one: { invoke: { id: "k1", src: child }, on: { x: { actions: sendTo("k1", { type: "next" }) } } },
        two: { invoke: { id: "k2", src: child }, on: { y: { actions: sendTo("k2", { type: "next" }) } } },
      },
    }),
    moves: ["x", "y", "y"],
  },
  {
    name: "spawnChild and stopChild",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          on: {
            start: { actions: spawnChild(child, { id: "kid" }) },
            next: { actions: sendTo("kid", { type: "next" }) },
            stop: { actions: stopChild("kid") },
          },
        },
      },
    }),
    moves: ["start", "next", "stop"],
  },
  {
    name: "a spawned child outlives its state",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          on: {
            go: {
              target: "b",
              actions: spawnChild(child, { id: "kid", input: { start: 1 } }),
            },
          },
        },
        b: { on: { next: { actions: sendTo("kid", { type: "next" }) } } },
      },
    }),
    moves: ["go", "next"],
  },
  {
    name: "a spawned child's end",
    machine: machineOf(
      {
        context: { got: null },
        initial: "a",
        states: {
          a: {
            on: {
              start: { actions: spawnChild("child", { id: "kid" }) },
              next: { actions: sendTo("kid", { type: "next" }) },
              "xstate.done.actor.kid": { target: "b", actions: keep },
            },
          },
          b: {},
        },
      },
      { actors: { child } },
    ),
    moves: ["start", "next", "next"],
  },
  {
    name: "a spawned promise",
    machine: machineOf({
      context: { got: null },
      initial: "a",
      states: {
        a: {
          on: {
            start: { actions: spawnChild(double, { id: "work", input: 4 }) },
            "xstate.done.actor.work": { target: "b", actions: keep },
          },
        },
        b: {},
      },
    }),
    moves: ["start"],
  },
  {
    name: "children from a computed list",
    machine: machineOf(
      {
        initial: "a",
        states: {
          a: {
            on: {
              start: {
                actions: enqueueActions(({ enqueue }) => {
                  for (const id of ["k1", "k2"]) enqueue.spawnChild("child", { id });
                }),
              },
              next: {
                actions: enqueueActions(({ enqueue }) => {
                  enqueue.sendTo("k1", { type: "next" });
                  enqueue.stopChild("k2");
                }),
              },
            },
          },
        },
      },
      { actors: { child } },
    ),
    moves: ["start", "next"],
  },
  {
    name: "stopChild by a function",
    machine: machineOf({
      context: { id: "kid" },
      initial: "a",
      states: {
        a: {
          entry: spawnChild(child, { id: "kid" }),
          on: { stop: { actions: stopChild(({ context }) => context.id) } },
        },
      },
    }),
    moves: ["stop"],
  },
  {
    name: "what a child emits is its own",
    machine: parent({
      src: machineOf({ initial: "w", states: { w: { entry: emit({ type: "news" }) } } }),
    }),
    moves: ["out"],
  },
  {
    name: "input for a child from the event",
    machine: machineOf({
      initial: "z",
      states: {
        z: { on: { go: "a" } },
        a: {
          invoke: {
            id: "kid",
            src: machineOf({
              context: ({ input }: { input: { by: number } }) => ({ by: input.by }),
              initial: "w",
              states: {
                w: {
                  always: {
                    guard: ({ context }: Given) => context.by > 3,
                    target: "end",
                  },
                },
                end: { type: "final" },
              },
            }),
            input: ({ event }: Given) => ({ by: event.by }),
            onDone: "z",
          },
        },
      },
    }),
    moves: [{ type: "go", by: 1 }, "x"],
  },
];
