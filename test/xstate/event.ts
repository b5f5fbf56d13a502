/** Scenarios of events and wildcards, forbidden events, and guards. */
import { and, assign, type Given, machineOf, not, or, raise, type Scenario, stateIn } from "./scenario.ts";

const noted = (key: string) => ({ entry: `+${key}`, exit: `-${key}` });
const increment = assign({ n: ({ context }: Given) => context.n + 1 });
const atLeast =
  (least: number) =>
  ({ context }: Given) =>
    (context.n as number) >= least;

export const events: readonly Scenario[] = [
  {
    name: "exact keys do not match longer events",
    machine: machineOf({ initial: "a", states: { a: { on: { foo: "b", "foo.bar": "c" } }, b: {}, c: {} } }),
    moves: ["foo.baz", "foo.bar"],
  },
  {
    name: "a partial wildcard",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { "mouse.*": { actions: "mouse" }, "mouse.click.*": { actions: "click" } } } },
    }),
    moves: ["mouse.move", "mouse.click", "mouse.click.left", "mouse", "mousetrap"],
  },
  {
    name: "the whole wildcard comes last",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { "*": { actions: "any" }, "x.*": { actions: "x" }, "x.y": { actions: "xy" } } } },
    }),
    moves: ["x.y", "x.z", "q"],
  },
  {
    name: "a wildcard is tried when the exact one's guard fails",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          on: {
            go: { guard: () => false, actions: "exact" },
            "g.*": { actions: "partial" },
            "*": { actions: "any" },
          },
        },
      },
    }),
    moves: ["go", "g.o"],
  },
  {
    name: "a wildcard inside hides an exact key outside",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: { b: { on: { "*": { actions: "inner" } } } },
          on: { go: { actions: "outer" } },
        },
      },
    }),
    moves: ["go"],
  },
  {
    name: "a wildcard sees raised events",
    machine: machineOf({
      initial: "a",
      states: {
        a: { on: { go: { actions: raise({ type: "inside" }) }, "*": { target: "b", actions: "any" } } },
        b: {},
      },
    }),
    moves: ["go"],
  },
  {
    name: "a forbidden event stops at the inner state",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: { b: { on: { go: undefined, next: "c" } }, c: {} },
          on: { go: { actions: "outer" } },
        },
      },
    }),
    moves: ["go", "next", "go"],
  },
  {
    name: "an empty handler stops it too",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: { b: { on: { go: {}, next: "c" } }, c: {} },
          on: { go: { actions: "outer" } },
        },
      },
    }),
    moves: ["go", "next", "go"],
  },
  {
    name: "a forbidden event beside a wildcard",
    machine: machineOf({ initial: "a", states: { a: { on: { go: undefined, "*": { actions: "any" } } } } }),
    moves: ["go", "other"],
  },
  {
    name: "a targetless handler with an action leaves nothing",
    machine: machineOf({
      initial: "a",
      states: { a: { ...noted("a"), on: { go: { actions: ["one", "two"] } } } },
    }),
    moves: ["go"],
  },
  {
    name: "fields of the event reach guards and actions",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          on: {
            add: {
              guard: ({ event }: Given) => (event.by ?? 0) > 1,
              actions: assign({ n: ({ context, event }: Given) => context.n + (event.by ?? 0) }),
            },
          },
        },
      },
    }),
    moves: [{ type: "add", by: 1 }, { type: "add", by: 5 }, "add"],
  },
  {
    name: "an event whose payload is called data",
    machine: machineOf({
      context: { got: null },
      initial: "a",
      states: { a: { on: { set: { actions: assign({ got: ({ event }: Given) => event.data }) } } } },
    }),
    moves: [
      { type: "set", data: 5 },
      { type: "set", data: [1] },
    ],
  },
  {
    name: "the event that entry and exit actions see",
    machine: machineOf({
      context: { saw: "" },
      initial: "a",
      states: {
        a: { exit: { type: "left", params: ({ event }: Given) => ({ on: event.type }) }, on: { go: "b" } },
        b: { entry: { type: "came", params: ({ event }: Given) => ({ on: event.type }) } },
      },
    }),
    moves: ["go"],
  },
  {
    name: "the event that start-up sees",
    machine: machineOf({
      initial: "a",
      states: { a: { entry: { type: "came", params: ({ event }: Given) => ({ on: event.type }) } } },
    }),
    moves: [],
  },
  {
    name: "names with a dot at the end or none at all",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { "a.": { actions: "dot" }, "1": { actions: "one" } } } },
    }),
    moves: ["a.", "1", "a"],
  },
];

export const guards: readonly Scenario[] = [
  {
    name: "the first candidate whose guard holds",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          on: {
            go: [
              { guard: atLeast(2), target: "b" },
              { guard: atLeast(1), actions: ["one", increment] },
              { actions: ["none", increment] },
            ],
          },
        },
        b: {},
      },
    }),
    moves: ["go", "go", "go"],
  },
  {
    name: "by name",
    machine: machineOf(
      {
        context: { n: 0 },
        initial: "a",
        states: { a: { on: { inc: { actions: increment }, go: { guard: "enough", target: "b" } } }, b: {} },
      },
      { guards: { enough: atLeast(1) } },
    ),
    moves: ["go", "inc", "go"],
  },
  {
    name: "by name with params",
    machine: machineOf(
      {
        context: { n: 3 },
        initial: "a",
        states: {
          a: {
            on: {
              go: [
                { guard: { type: "atLeast", params: { least: 5 } }, target: "b" },
                { guard: { type: "atLeast", params: { least: 2 } }, target: "c" },
              ],
            },
          },
          b: {},
          c: {},
        },
      },
      { guards: { atLeast: ({ context }: Given, params: { least: number }) => context.n >= params.least } },
    ),
    moves: ["go"],
  },
  {
    name: "by name with params that are computed",
    machine: machineOf(
      {
        context: { n: 3 },
        initial: "a",
        states: {
          a: {
            on: {
              go: {
                guard: { type: "atLeast", params: ({ event }: Given) => ({ least: event.by }) },
                target: "b",
              },
            },
          },
          b: {},
        },
      },
      { guards: { atLeast: ({ context }: Given, params: { least: number }) => context.n >= params.least } },
    ),
    moves: [
      { type: "go", by: 4 },
      { type: "go", by: 3 },
    ],
  },
  {
    name: "and",
    machine: machineOf(
      {
        context: { n: 1 },
        initial: "a",
        states: { a: { on: { go: { guard: and([atLeast(1), "ok"]), target: "b" } } }, b: {} },
      },
      { guards: { ok: ({ event }: Given) => event.ok === true } },
    ),
    moves: ["go", { type: "go", ok: true }],
  },
  {
    name: "or",
    machine: machineOf(
      {
        context: { n: 0 },
        initial: "a",
        states: { a: { on: { go: { guard: or([atLeast(1), "ok"]), target: "b" } } }, b: {} },
      },
      { guards: { ok: ({ event }: Given) => event.ok === true } },
    ),
    moves: ["go", { type: "go", ok: true }],
  },
  {
    name: "not",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      states: { a: { on: { inc: { actions: increment }, go: { guard: not(atLeast(1)), actions: "few" } } } },
    }),
    moves: ["go", "inc", "go"],
  },
  {
    name: "and, or and not inside each other",
    machine: machineOf(
      {
        context: { n: 0 },
        initial: "a",
        states: {
          a: {
            on: {
              inc: { actions: increment },
              go: { guard: and([or(["ok", atLeast(2)]), not(and([atLeast(3), "ok"]))]), actions: "yes" },
            },
          },
        },
      },
      { guards: { ok: ({ event }: Given) => event.ok === true } },
    ),
    moves: ["go", { type: "go", ok: true }, "inc", "inc", "go", "inc", { type: "go", ok: true }, "go"],
  },
  {
    name: "a name that stands for a made guard",
    machine: machineOf(
      {
        context: { n: 0 },
        initial: "a",
        states: { a: { on: { inc: { actions: increment }, go: { guard: "both", actions: "yes" } } } },
      },
      { guards: { both: and(["one", not("two")]), one: atLeast(1), two: atLeast(2) } },
    ),
    moves: ["go", "inc", "go", "inc", "go"],
  },
  {
    name: "a name of another name",
    machine: machineOf(
      {
        context: { n: 1 },
        initial: "a",
        states: { a: { on: { go: { guard: "alias", target: "b" } } }, b: {} },
      },
      { guards: { alias: { type: "real" }, real: atLeast(1) } },
    ),
    moves: ["go"],
  },
  {
    name: "stateIn with a path",
    machine: machineOf({
      type: "parallel",
      states: {
        one: { initial: "a", states: { a: { on: { go: "b" } }, b: {} } },
        two: {
          initial: "c",
          states: { c: { on: { try: { guard: stateIn("one.b"), target: "d" } } }, d: {} },
        },
      },
    }),
    moves: ["try", "go", "try"],
  },
  {
    name: "stateIn with an id",
    machine: machineOf({
      type: "parallel",
      states: {
        one: { initial: "a", states: { a: { on: { go: "b" } }, b: { id: "bee" } } },
        two: { initial: "c", states: { c: { on: { try: { guard: stateIn("#bee"), target: "d" } } }, d: {} } },
      },
    }),
    moves: ["try", "go", "try"],
  },
  {
    name: "stateIn with XState's own id",
    machine: machineOf({
      id: "m",
      type: "parallel",
      states: {
        one: { initial: "a", states: { a: { on: { go: "b" } }, b: {} } },
        two: {
          initial: "c",
          states: { c: { on: { try: { guard: stateIn("#m.one.b"), target: "d" } } }, d: {} },
        },
      },
    }),
    moves: ["try", "go", "try"],
  },
  {
    name: "stateIn with a value",
    machine: machineOf({
      type: "parallel",
      states: {
        one: { initial: "a", states: { a: { on: { go: "b" } }, b: {} } },
        two: {
          initial: "c",
          states: { c: { on: { try: { guard: stateIn({ one: "b", two: "c" }), target: "d" } } }, d: {} },
        },
      },
    }),
    moves: ["try", "go", "try"],
  },
  {
    name: "stateIn of a compound state",
    machine: machineOf({
      initial: "a",
      states: { a: { initial: "b", states: { b: { on: { go: "c" } }, c: {} } }, z: {} },
      on: { try: { guard: stateIn("a"), actions: "in a" }, none: { guard: stateIn("z"), actions: "in z" } },
    }),
    moves: ["try", "none"],
  },
  {
    name: "not stateIn",
    machine: machineOf({
      type: "parallel",
      states: {
        one: { initial: "a", states: { a: { on: { go: "b" } }, b: {} } },
        two: { on: { try: { guard: not(stateIn("one.b")), actions: "not there" } } },
      },
    }),
    moves: ["try", "go", "try"],
  },
  {
    name: "guards of ancestors are asked when the inner one fails",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: { b: { on: { go: { guard: () => false, actions: "inner" } } } },
          on: { go: { guard: () => true, actions: "outer" } },
        },
      },
    }),
    moves: ["go"],
  },
  {
    name: "a guard that throws",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          on: {
            go: [
              {
                guard: () => {
                  throw new Error("no");
                },
                target: "b",
              },
              { target: "c" },
            ],
          },
        },
        b: {},
        c: {},
      },
    }),
    moves: ["go"],
    differs: { topic: "throws", in: ["status", "configuration"] },
  },
];
