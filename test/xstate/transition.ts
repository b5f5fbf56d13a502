/** Scenarios of eventless transitions and of re-entry. */
import { and, assign, type Given, machineOf, not, raise, type Scenario, stateIn } from "./scenario.ts";

const noted = (key: string) => ({ entry: `+${key}`, exit: `-${key}` });
const increment = assign({ n: ({ context }: Given) => context.n + 1 });
const atLeast =
  (least: number) =>
  ({ context }: Given) =>
    (context.n as number) >= least;

export const always: readonly Scenario[] = [
  {
    name: "right at the start",
    machine: machineOf({ initial: "a", states: { a: { ...noted("a"), always: "b" }, b: noted("b") } }),
    moves: [],
  },
  {
    name: "a chain",
    machine: machineOf({
      initial: "z",
      states: {
        z: { on: { go: "a" } },
        a: { ...noted("a"), always: { target: "b", actions: "ab" } },
        b: { ...noted("b"), always: { target: "c", actions: "bc" } },
        c: noted("c"),
      },
    }),
    moves: ["go"],
  },
  {
    name: "with guards on context",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          on: { inc: { actions: increment } },
          always: [
            { guard: atLeast(3), target: "c" },
            { guard: atLeast(2), target: "b" },
          ],
        },
        b: { on: { inc: { actions: increment } }, always: { guard: atLeast(3), target: "c" } },
        c: {},
      },
    }),
    moves: ["inc", "inc", "inc"],
  },
  {
    name: "on an ancestor",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: {
            b: { on: { inc: { target: "c", actions: increment } } },
            c: { on: { inc: { target: "b", actions: increment } } },
          },
          always: { guard: atLeast(2), target: "z" },
        },
        z: {},
      },
    }),
    moves: ["inc", "inc"],
  },
  {
    name: "on the machine",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      states: { a: { on: { inc: { actions: increment } } }, z: {} },
      always: { guard: and([atLeast(1), not(stateIn("z"))]), target: ".z" },
    }),
    moves: ["inc"],
  },
  {
    name: "counts up to its guard",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      states: { a: { always: [{ guard: not(atLeast(5)), actions: increment }, { target: "b" }] }, b: {} },
    }),
    moves: [],
  },
  {
    name: "comes before what was raised",
    machine: machineOf({
      initial: "a",
      states: {
        a: { on: { go: { target: "b", actions: raise({ type: "inside" }) } } },
        b: { always: "c", on: { inside: "never" } },
        c: { on: { inside: "d" } },
        d: {},
        never: {},
      },
    }),
    moves: ["go"],
  },
  {
    name: "in two regions at once",
    machine: machineOf({
      context: { n: 0 },
      type: "parallel",
      states: {
        one: {
          initial: "a",
          states: {
            a: { always: { guard: atLeast(1), target: "b" }, on: { inc: { actions: increment } } },
            b: noted("b"),
          },
        },
        two: { initial: "c", states: { c: { always: { guard: atLeast(1), target: "d" } }, d: noted("d") } },
      },
    }),
    moves: ["inc"],
  },
  {
    name: "of a region beside its ancestor's",
    machine: machineOf({
      context: { n: 0 },
      initial: "p",
      states: {
        p: {
          type: "parallel",
          always: { guard: atLeast(2), target: "z" },
          states: {
            one: {
              initial: "a",
              states: {
                a: { always: { guard: atLeast(1), target: "b" }, on: { inc: { actions: increment } } },
                b: { on: { inc: { actions: increment } } },
              },
            },
            two: {},
          },
        },
        z: {},
      },
    }),
    moves: ["inc", "inc"],
  },
  {
    name: "waits for another region",
    machine: machineOf({
      type: "parallel",
      states: {
        one: { initial: "a", states: { a: { on: { go: "b" } }, b: {} } },
        two: { initial: "c", states: { c: { always: { guard: stateIn("one.b"), target: "d" } }, d: {} } },
      },
    }),
    moves: ["go"],
  },
  {
    name: "is looked at on an event that nothing takes",
    machine: machineOf({
      initial: "a",
      states: { a: { always: { guard: ({ event }: Given) => event.type === "peek", target: "b" } }, b: {} },
    }),
    moves: ["other", "peek"],
  },
  {
    name: "without a target, while nothing changes",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { go: "b" } }, b: { always: { actions: "again" } } },
    }),
    moves: ["go"],
    differs: { topic: "still-always", in: ["status", "configuration", "actions"] },
  },
];

export const reenter: readonly Scenario[] = [
  {
    name: "an atomic state as its own target stays",
    machine: machineOf({
      initial: "a",
      states: { a: { ...noted("a"), on: { go: { target: "a", actions: "act" } } } },
    }),
    moves: ["go"],
  },
  {
    name: "an atomic state that is entered again",
    machine: machineOf({
      initial: "a",
      states: { a: { ...noted("a"), on: { go: { target: "a", reenter: true, actions: "act" } } } },
    }),
    moves: ["go", "go"],
  },
  {
    name: "a compound state as its own target starts inside again",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          ...noted("a"),
          initial: "b",
          states: { b: { ...noted("b"), on: { next: "c" } }, c: noted("c") },
          on: { again: "a" },
        },
      },
    }),
    moves: ["next", "again"],
  },
  {
    name: "a compound state that is entered again",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          ...noted("a"),
          initial: "b",
          states: { b: { ...noted("b"), on: { next: "c" } }, c: noted("c") },
          on: { again: { target: "a", reenter: true } },
        },
      },
    }),
    moves: ["next", "again"],
  },
  {
    name: "a child target without re-entry",
    machine: machineOf({
      initial: "a",
      states: {
        a: { ...noted("a"), initial: "b", states: { b: noted("b"), c: noted("c") }, on: { go: ".c" } },
      },
    }),
    moves: ["go", "go"],
  },
  {
    name: "a child target with re-entry",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          ...noted("a"),
          initial: "b",
          states: { b: noted("b"), c: noted("c") },
          on: { go: { target: ".c", reenter: true } },
        },
      },
    }),
    moves: ["go", "go"],
  },
  {
    name: "re-entry by id from inside",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          id: "a",
          ...noted("a"),
          initial: "b",
          states: { b: { on: { up: { target: "#a", reenter: true } } } },
        },
      },
    }),
    moves: ["up"],
  },
  {
    name: "re-entry restarts a timer",
    machine: machineOf({
      initial: "a",
      states: { a: { after: { 100: "b" }, on: { again: { target: "a", reenter: true }, stay: "a" } }, b: {} },
    }),
    moves: [60, "again", 60, 50],
  },
  {
    name: "staying keeps a timer",
    machine: machineOf({
      initial: "a",
      states: { a: { after: { 100: "b" }, on: { stay: { target: "a", actions: "stayed" } } }, b: {} },
    }),
    moves: [60, "stay", 50],
  },
  {
    name: "re-entry without a target means nothing",
    machine: machineOf({
      initial: "a",
      states: { a: { ...noted("a"), on: { go: { reenter: true, actions: "act" } } } },
    }),
    moves: ["go"],
  },
  {
    name: "a parallel state that is entered again",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          ...noted("p"),
          type: "parallel",
          states: {
            one: { ...noted("one"), initial: "a", states: { a: { on: { x: "b" } }, b: {} } },
            two: noted("two"),
          },
          on: { again: { target: "p", reenter: true } },
        },
      },
    }),
    moves: ["x", "again"],
  },
  {
    name: "a parallel state as its own target",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          ...noted("p"),
          type: "parallel",
          states: {
            one: { ...noted("one"), initial: "a", states: { a: { on: { x: "b" } }, b: {} } },
            two: noted("two"),
          },
          on: { again: "p" },
        },
      },
    }),
    moves: ["x", "again"],
  },
  {
    name: "the machine re-enters a child",
    machine: machineOf({
      ...noted("root"),
      initial: "a",
      states: { a: noted("a"), b: noted("b") },
      on: { b: { target: ".b", reenter: true } },
    }),
    moves: ["b"],
    differs: { topic: "root-reenter", in: ["actions"] },
  },
  {
    name: "the machine re-enters a child and is silent itself",
    machine: machineOf({
      initial: "a",
      states: { a: noted("a"), b: noted("b") },
      on: { b: { target: ".b", reenter: true } },
    }),
    moves: ["b", "b"],
  },
];
