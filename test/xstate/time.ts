/** Scenarios of time: delayed transitions with constant, named and computed delays. */
import { assign, type Given, machineOf, raise, type Scenario } from "./scenario.ts";

const big = ({ context }: Given) => context.n > 0;

export const after: readonly Scenario[] = [
  {
    name: "a delay",
    machine: machineOf({ initial: "a", states: { a: { after: { 100: "b" } }, b: {} } }),
    moves: [90, 10, 100],
  },
  {
    name: "two delays",
    machine: machineOf({
      initial: "a",
      states: { a: { after: { 50: { actions: "half" }, 100: { target: "b", actions: "full" } } }, b: {} },
    }),
    moves: [40, 20, 50],
  },
  {
    name: "leaving cancels it",
    machine: machineOf({
      initial: "a",
      states: { a: { after: { 100: "late" }, on: { go: "b" } }, b: {}, late: {} },
    }),
    moves: [50, "go", 100],
  },
  {
    name: "a chain of delays",
    machine: machineOf({
      initial: "a",
      states: { a: { after: { 30: "b" } }, b: { after: { 30: "c" } }, c: { after: { 30: "a" } } },
    }),
    moves: [30, 30, 30, 100],
  },
  {
    name: "with guards",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          after: { 100: [{ guard: big, target: "b" }, { target: "c" }] },
          on: { inc: { actions: assign({ n: 1 }) } },
        },
        b: { after: { 100: "a" } },
        c: { after: { 100: "a" }, on: { inc: { actions: assign({ n: 1 }) } } },
      },
    }),
    moves: [100, "inc", 100, 100],
  },
  {
    name: "a guard that fails loses it",
    machine: machineOf({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          after: { 50: { guard: big, target: "b" } },
          on: { inc: { actions: [assign({ n: 1 }), "inc"] } },
        },
        b: {},
      },
    }),
    moves: [60, "inc", 60],
  },
  {
    name: "a named delay",
    machine: machineOf(
      { initial: "a", states: { a: { after: { short: "b" } }, b: {} } },
      { delays: { short: 70 } },
    ),
    moves: [60, 10],
  },
  {
    name: "a named delay that is computed",
    machine: machineOf(
      { context: { n: 4 }, initial: "a", states: { a: { after: { wait: "b" } }, b: {} } },
      { delays: { wait: ({ context }: Given) => context.n * 10 } },
    ),
    moves: [30, 10],
  },
  {
    name: "a delay computed from the event",
    machine: machineOf(
      { initial: "a", states: { a: { on: { go: "b" } }, b: { after: { wait: "c" } }, c: {} } },
      { delays: { wait: ({ event }: Given) => event.by } },
    ),
    moves: [{ type: "go", by: 50 }, 40, 10],
  },
  {
    name: "named and constant side by side",
    machine: machineOf(
      {
        initial: "a",
        states: {
          a: { after: { wait: { target: "b", actions: "wait" }, 30: { actions: "thirty" } } },
          b: {},
        },
      },
      { delays: { wait: () => 60 } },
    ),
    moves: [30, 30],
  },
  {
    name: "candidates under a computed delay",
    machine: machineOf(
      {
        context: { n: 0 },
        initial: "a",
        states: { a: { after: { wait: [{ guard: big, target: "b" }, { target: "c" }] } }, b: {}, c: {} },
      },
      { delays: { wait: () => 60 } },
    ),
    moves: [60],
  },
  {
    name: "candidates under a computed delay, the first one",
    machine: machineOf(
      {
        context: { n: 1 },
        initial: "a",
        states: {
          a: { after: { wait: [{ guard: big, actions: "first" }, { actions: "second" }] } },
          b: {},
          c: {},
        },
      },
      { delays: { wait: () => 60 } },
    ),
    moves: [60],
  },
  {
    name: "on a compound state while its inside moves",
    machine: machineOf({
      initial: "a",
      states: {
        a: { initial: "b", states: { b: { on: { next: "c" } }, c: {} }, after: { 100: "z" } },
        z: {},
      },
    }),
    moves: [50, "next", 50],
  },
  {
    name: "inside and outside together",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: { b: { after: { 50: "c" } }, c: { after: { 30: "d" } }, d: {} },
          after: { 100: "z" },
        },
        z: {},
      },
    }),
    moves: [50, 30, 20],
  },
  {
    name: "in two regions",
    machine: machineOf({
      type: "parallel",
      states: {
        one: { initial: "a", states: { a: { after: { 50: "b" } }, b: {} } },
        two: { initial: "c", states: { c: { after: { 80: "d" } }, d: {} } },
      },
    }),
    moves: [50, 30],
  },
  {
    name: "on the machine itself",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { go: "b" } }, b: {}, z: {} },
      after: { 100: ".z" },
    }),
    moves: ["go", 100],
  },
  {
    name: "the event it comes as",
    machine: machineOf({
      id: "m",
      initial: "a",
      states: {
        a: {
          after: {
            100: {
              target: "b",
              actions: { type: "saw", params: ({ event }: Given) => ({ type: event.type }) },
            },
          },
        },
        b: {},
      },
    }),
    moves: [100],
  },
  {
    name: "a wildcard does not take its event away",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { "*": { actions: "any" } }, after: { 50: "b" } }, b: {} },
    }),
    moves: ["x", 50],
  },
  {
    name: "an outer wildcard is for others",
    machine: machineOf({
      initial: "a",
      states: { a: { after: { 50: "b" } }, b: {} },
      on: { "*": { actions: "any" } },
    }),
    moves: ["x", 50],
  },
  {
    name: "a poll that goes on until it is told",
    machine: machineOf({
      context: { n: 0 },
      initial: "poll",
      states: {
        poll: {
          after: {
            20: {
              target: "poll",
              reenter: true,
              actions: assign({ n: ({ context }: Given) => (context.n as number) + 1 }),
            },
          },
          on: { stop: "end" },
        },
        end: {},
      },
    }),
    moves: [50, 50, "stop", 100],
  },
  {
    name: "a delay of zero",
    machine: machineOf({ initial: "a", states: { a: { after: { 0: "b" } }, b: {} } }),
    moves: [0],
  },
  {
    name: "an event and a timer at once",
    machine: machineOf({
      initial: "a",
      states: {
        a: { entry: raise({ type: "tick" }, { delay: 50 }), after: { 50: "late" }, on: { tick: "early" } },
        early: {},
        late: {},
      },
    }),
    moves: [50],
  },
];
