/** Scenarios of actions: assign, raise, send, emit, log, cancel, and errors. */
import {
  assign,
  cancel,
  emit,
  type Given,
  log,
  machineOf,
  raise,
  type Scenario,
  sendTo,
} from "./scenario.ts";

const n = ({ context }: Given) => context.n as number;
const increment = assign({ n: (given: Given) => n(given) + 1 });
const fails = (): never => {
  throw new Error("no such luck");
};
/** A machine of one state that does these actions on `go`. */
const doing = (actions: unknown, implementations = {}, context: object = { n: 0 }) =>
  machineOf({ context, initial: "a", states: { a: { on: { go: { actions } } } } }, implementations);

export const assigning: readonly Scenario[] = [
  { name: "values", machine: doing(assign({ n: 5, name: "x" })), moves: ["go"] },
  { name: "functions by field", machine: doing(increment), moves: ["go", "go"] },
  {
    name: "a function of everything",
    machine: doing(assign(({ context, event }) => ({ n: context.n + (event.by ?? 1), last: event.type }))),
    moves: ["go", { type: "go", by: 4 }],
  },
  {
    name: "fields see the context as it was before",
    machine: doing(assign({ n: (given: Given) => n(given) + 1, copy: (given: Given) => n(given) })),
    moves: ["go", "go"],
  },
  {
    name: "one after the other sees the one before",
    machine: doing([increment, assign({ copy: (given: Given) => n(given) }), increment]),
    moves: ["go"],
  },
  {
    name: "nested data",
    machine: doing(
      assign({
        tree: ({ context }: Given) => ({ ...context.tree, leaf: [...(context.tree.leaf as number[]), 1] }),
      }),
      {},
      { tree: { leaf: [0], other: null } },
    ),
    moves: ["go", "go"],
  },
  {
    name: "a field that becomes undefined",
    machine: doing(assign({ gone: undefined }), {}, { gone: 1, n: 0 }),
    moves: ["go"],
  },
  { name: "by name", machine: doing(["inc", "inc"], { actions: { inc: increment } }), moves: ["go"] },
  {
    name: "by name with params",
    machine: doing(
      { type: "add", params: { by: 7 } },
      {
        actions: {
          add: assign(({ context }: Given, params: { by: number }) => ({ n: context.n + params.by })),
        },
      },
    ),
    moves: ["go"],
  },
  {
    name: "by name with params that are computed",
    machine: doing(
      { type: "add", params: ({ event }: Given) => ({ by: event.by }) },
      {
        actions: {
          add: assign({ n: ({ context }: Given, params: { by: number }) => context.n + params.by }),
        },
      },
    ),
    moves: [{ type: "go", by: 3 }],
  },
  {
    name: "in entry, exit and transition, in order",
    machine: machineOf({
      context: { n: 1 },
      initial: "a",
      states: {
        a: {
          exit: assign({ n: (given: Given) => n(given) * 10 }),
          on: { go: { target: "b", actions: increment } },
        },
        b: { entry: assign({ n: (given: Given) => n(given) * 2 }) },
      },
    }),
    moves: ["go"],
  },
  {
    name: "context from input",
    machine: machineOf({
      context: ({ input }: { input: { start: number } }) => ({ n: input.start }),
      initial: "a",
      states: { a: { on: { go: { actions: increment } } } },
    }),
    moves: ["go"],
    input: { start: 41 },
  },
  {
    name: "input in the first event",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      entry: assign({ n: ({ event }: Given) => event.input }),
      states: { a: {} },
    }),
    moves: [],
    input: 7,
  },
  {
    name: "no context at all",
    machine: machineOf({ initial: "a", states: { a: { on: { go: { actions: assign({ n: 1 }) } } } } }),
    moves: ["go"],
  },
  {
    name: "a value that JSON cannot hold",
    machine: doing(assign({ when: () => new Map([[1, 2]]) })),
    moves: ["go"],
    differs: { topic: "json", in: ["context"] },
  },
  {
    name: "that throws",
    machine: doing([increment, assign({ n: fails }), increment]),
    moves: ["go"],
    differs: { topic: "throws", in: ["status", "context"] },
  },
];

export const sending: readonly Scenario[] = [
  {
    name: "raise goes before the next event",
    machine: machineOf({
      initial: "a",
      states: {
        a: { on: { go: { target: "b", actions: raise({ type: "next" }) } } },
        b: { on: { next: "c" } },
        c: {},
      },
    }),
    moves: ["go"],
  },
  {
    name: "raise with fields",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          on: {
            go: { actions: raise({ type: "add", by: 3 }) },
            add: { actions: assign({ n: ({ context, event }: Given) => context.n + (event.by ?? 0) }) },
          },
        },
      },
    }),
    moves: ["go", "go"],
  },
  {
    name: "raise of a computed event",
    machine: machineOf({
      context: { n: 2 },
      initial: "a",
      states: {
        a: {
          on: {
            go: { actions: raise(({ context }) => ({ type: "add", by: context.n })) },
            add: { actions: assign({ n: ({ context, event }: Given) => context.n + (event.by ?? 0) }) },
          },
        },
      },
    }),
    moves: ["go", "go"],
  },
  {
    name: "raised events wait in line",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          on: {
            go: { actions: [raise({ type: "one" }), raise({ type: "two" })] },
            one: { actions: ["one", raise({ type: "three" })] },
            two: { actions: "two" },
            three: { actions: "three" },
          },
        },
      },
    }),
    moves: ["go"],
  },
  {
    name: "raise in entry at the start",
    machine: machineOf({
      initial: "a",
      states: { a: { entry: raise({ type: "go" }), on: { go: "b" } }, b: {} },
    }),
    moves: [],
  },
  {
    name: "raise in exit",
    machine: machineOf({
      initial: "a",
      states: { a: { exit: raise({ type: "left" }), on: { go: "b" } }, b: { on: { left: "c" } }, c: {} },
    }),
    moves: ["go"],
  },
  {
    name: "raise that nobody takes",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { go: { target: "b", actions: raise({ type: "lost" }) } } }, b: {} },
    }),
    moves: ["go"],
  },
  {
    name: "raise with a delay",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { go: { actions: raise({ type: "later" }, { delay: 100 }) }, later: "b" } }, b: {} },
    }),
    moves: ["go", 90, 20],
  },
  {
    name: "raise with a delay that is cancelled",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          on: {
            go: { actions: raise({ type: "later" }, { delay: 100, id: "x" }) },
            stop: { actions: [cancel("x"), "stopped"] },
            later: "b",
          },
        },
        b: {},
      },
    }),
    moves: ["go", 50, "stop", 100, "go", 110],
  },
  {
    name: "cancel by a computed id",
    machine: machineOf({
      context: { id: "x" },
      initial: "a",
      states: {
        a: {
          on: {
            go: { actions: raise({ type: "later" }, { delay: 100, id: "x" }) },
            stop: { actions: [cancel(({ context }) => context.id), "stopped"] },
            later: "b",
          },
        },
        b: {},
      },
    }),
    moves: ["go", "stop", 110],
  },
  { name: "cancel of what is not there", machine: doing([cancel("nothing"), "on"]), moves: ["go"] },
  {
    name: "raise with a named delay",
    machine: machineOf(
      {
        initial: "a",
        states: {
          a: { on: { go: { actions: raise({ type: "later" }, { delay: "short" }) }, later: "b" } },
          b: {},
        },
      },
      { delays: { short: 50 } },
    ),
    moves: ["go", 40, 20],
  },
  {
    name: "raise with a computed delay",
    machine: machineOf({
      context: { n: 60 },
      initial: "a",
      states: {
        a: {
          on: {
            go: { actions: raise({ type: "later" }, { delay: ({ context }: Given) => context.n }) },
            later: "b",
          },
        },
        b: {},
      },
    }),
    moves: ["go", 50, 20],
  },
  {
    name: "a delayed event outlives its state",
    machine: machineOf({
      initial: "a",
      states: {
        a: { on: { go: { target: "b", actions: raise({ type: "later" }, { delay: 100 }) } } },
        b: { on: { later: "c" } },
        c: {},
      },
    }),
    moves: ["go", 110],
  },
  {
    name: "two sends under one id, and one cancel",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          on: {
            go: { actions: raise({ type: "later" }, { delay: 100, id: "x" }) },
            stop: { actions: cancel("x") },
            later: { actions: "later" },
          },
        },
      },
    }),
    moves: ["go", 50, "go", "stop", 200],
    differs: { topic: "same-send-id", in: ["actions"] },
  },
  {
    name: "a delay of nothing",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { go: { actions: raise({ type: "later" }, { delay: 0 }) }, later: "b" } }, b: {} },
    }),
    moves: ["go", 0],
    differs: { topic: "zero-delay", in: ["configuration"] },
  },
  {
    name: "send to itself",
    machine: machineOf({
      initial: "a",
      states: {
        a: { on: { go: { target: "b", actions: sendTo(({ self }) => self, { type: "next" }) } } },
        b: { on: { next: "c" } },
        c: {},
      },
    }),
    moves: ["go"],
  },
  {
    name: "send to itself comes after what was raised",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          on: {
            go: { actions: [sendTo(({ self }) => self, { type: "sent" }), raise({ type: "raised" })] },
            sent: { actions: "sent" },
            raised: { actions: "raised" },
          },
        },
      },
    }),
    moves: ["go"],
  },
  {
    name: "send to itself with a delay",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          on: {
            go: { actions: sendTo(({ self }) => self, { type: "next" }, { delay: 50, id: "s" }) },
            next: "b",
          },
        },
        b: {},
      },
    }),
    moves: ["go", 40, 20],
  },
  {
    name: "send to nobody",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { go: { actions: sendTo("nobody", { type: "hello" }), target: "b" } } }, b: {} },
    }),
    moves: ["go"],
    differs: { topic: "nobody", in: ["status", "configuration"] },
  },
];

export const telling: readonly Scenario[] = [
  { name: "emit", machine: doing(emit({ type: "news", text: "hello" })), moves: ["go"] },
  {
    name: "emit of a computed event",
    machine: doing(emit(({ context, event }) => ({ type: "news", n: context.n, on: event.type }))),
    moves: ["go"],
  },
  {
    name: "emit in entry and exit",
    machine: machineOf({
      initial: "a",
      states: { a: { exit: emit({ type: "left" }), on: { go: "b" } }, b: { entry: emit({ type: "came" }) } },
    }),
    moves: ["go"],
  },
  { name: "log a value", machine: doing(log("hello")), moves: ["go"] },
  {
    name: "log a computed value with a label",
    machine: doing(log(({ context }: Given) => ({ n: context.n }), "state")),
    moves: ["go"],
  },
  { name: "log everything", machine: doing(log()), moves: ["go"] },
  {
    name: "log between two updates",
    machine: doing([log((given: Given) => n(given)), increment, log((given: Given) => n(given))]),
    moves: ["go"],
  },
  {
    name: "actions of the user's own, in order",
    machine: machineOf({
      initial: "a",
      exit: "-root",
      states: {
        a: { exit: ["-a1", "-a2"], on: { go: { target: "b", actions: ["t1", "t2"] } } },
        b: { entry: ["+b1", { type: "+b2", params: { x: 1 } }] },
      },
    }),
    moves: ["go"],
  },
  {
    name: "params of the user's own actions",
    machine: doing([
      { type: "one", params: { a: 1 } },
      { type: "two", params: ({ context, event }: Given) => ({ n: context.n, on: event.type }) },
    ]),
    moves: ["go"],
  },
  {
    name: "an action of the user's own with code",
    machine: doing(["tell", { type: "tell", params: { x: 1 } }], { actions: { tell: () => undefined } }),
    moves: ["go"],
  },
];
