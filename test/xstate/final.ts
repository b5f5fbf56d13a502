/** Scenarios of final states: done events, output, the end of a machine. */
import { assign, type Given, machineOf, type Scenario } from "./scenario.ts";

const noted = (key: string) => ({ entry: `+${key}`, exit: `-${key}` });
const keep = assign({ got: ({ event }: Given) => event.output });

export const final: readonly Scenario[] = [
  {
    name: "the machine ends",
    machine: machineOf({
      ...noted("root"),
      initial: "a",
      states: { a: { ...noted("a"), on: { go: "f" } }, f: { type: "final", ...noted("f") } },
    }),
    moves: ["go", "go"],
  },
  {
    name: "with an output",
    machine: machineOf({
      context: { n: 3 },
      initial: "a",
      states: { a: { on: { go: "f" } }, f: { type: "final" } },
      output: ({ context }: Given) => ({ n: context.n }),
    }),
    moves: ["go"],
  },
  {
    name: "with a constant output",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { go: "f" } }, f: { type: "final" } },
      output: { all: "well" },
    }),
    moves: ["go"],
  },
  {
    name: "with the final state's output inside the machine's",
    machine: machineOf({
      context: { n: 3 },
      initial: "a",
      states: {
        a: { on: { go: "f", stop: "g" } },
        f: { type: "final", output: ({ context }: Given) => context.n * 2 },
        g: { type: "final", output: "stopped" },
      },
      output: ({ event }: Given) => ({ was: event.output, on: event.type }),
    }),
    moves: ["go"],
  },
  {
    name: "with another final state's output",
    machine: machineOf({
      id: "m",
      context: { n: 3 },
      initial: "a",
      states: {
        a: { on: { go: "f", stop: "g" } },
        f: { type: "final" },
        g: { type: "final", output: "stopped" },
      },
      output: ({ event }: Given) => ({ was: event.output, on: event.type }),
    }),
    moves: ["stop"],
  },
  {
    name: "a final state's output that the machine does not ask for",
    machine: machineOf({ initial: "a", states: { a: { on: { go: "f" } }, f: { type: "final", output: 5 } } }),
    moves: ["go"],
  },
  {
    name: "at the start",
    machine: machineOf({ initial: "f", states: { f: { type: "final" } }, output: 1 }),
    moves: [],
  },
  {
    name: "an output that exit actions change",
    machine: machineOf({
      context: { n: 1 },
      initial: "a",
      states: { a: { on: { go: "f" } }, f: { type: "final", exit: assign({ n: 2 }) } },
      output: ({ context }: Given) => context.n,
    }),
    moves: ["go"],
    differs: { topic: "output-last", in: ["output"] },
  },
  {
    name: "onDone of a compound state",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          ...noted("a"),
          initial: "b",
          states: { b: { on: { go: "f" } }, f: { type: "final", ...noted("f") } },
          onDone: { target: "z", actions: "done" },
        },
        z: noted("z"),
      },
    }),
    moves: ["go"],
  },
  {
    name: "onDone with the final state's output",
    machine: machineOf({
      context: { got: null, n: 4 },
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: {
            b: { on: { go: "f" } },
            f: { type: "final", output: ({ context }: Given) => ({ n: context.n }) },
          },
          onDone: { target: "z", actions: keep },
        },
        z: {},
      },
    }),
    moves: ["go"],
  },
  {
    name: "onDone with guards on the output",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: {
            b: { on: { good: "f", bad: "g" } },
            f: { type: "final", output: true },
            g: { type: "final", output: false },
          },
          onDone: [{ guard: ({ event }: Given) => event.output === true, target: "y" }, { target: "z" }],
        },
        y: {},
        z: {},
      },
    }),
    moves: ["bad"],
  },
  {
    name: "onDone without a target",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: { b: { on: { go: "f" } }, f: { type: "final" } },
          onDone: { actions: "done" },
        },
      },
    }),
    moves: ["go"],
  },
  {
    name: "onDone of the outer state is not the inner one's",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: {
            b: { initial: "c", states: { c: { on: { go: "f" } }, f: { type: "final" } }, onDone: "d" },
            d: { on: { go: "e" } },
            e: { type: "final" },
          },
          onDone: "z",
        },
        z: {},
      },
    }),
    moves: ["go", "go"],
  },
  {
    name: "a state that ends in its parent's end",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: {
            b: { initial: "c", states: { c: { on: { go: "f" } }, f: { type: "final" } }, onDone: "e" },
            e: { type: "final" },
          },
          onDone: "z",
        },
        z: { type: "final" },
      },
    }),
    moves: ["go"],
  },
  {
    name: "onDone of a parallel state, when all regions are done",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: { on: { x: "f" } }, f: { type: "final" } } },
            two: { initial: "b", states: { b: { on: { y: "g" } }, g: { type: "final" } } },
          },
          onDone: { target: "z", actions: "joined" },
        },
        z: {},
      },
    }),
    moves: ["x", "y"],
  },
  {
    name: "onDone of regions and of the parallel state",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            one: {
              initial: "a",
              states: { a: { on: { x: "f" } }, f: { type: "final" } },
              onDone: { actions: "one" },
            },
            two: {
              initial: "b",
              states: { b: { on: { x: "g" } }, g: { type: "final" } },
              onDone: { actions: "two" },
            },
          },
          onDone: { target: "z", actions: "joined" },
        },
        z: {},
      },
    }),
    moves: ["x"],
  },
  {
    name: "a parallel machine ends with its regions",
    machine: machineOf({
      type: "parallel",
      states: {
        one: { initial: "a", states: { a: { on: { x: "f" } }, f: { type: "final" } } },
        two: { initial: "b", states: { b: { on: { y: "g" } }, g: { type: "final" } } },
      },
      output: ({ event }: Given) => event.type,
    }),
    moves: ["x", "y"],
  },
  {
    name: "a parallel state inside another, where the inner one is last",
    machine: machineOf({
      initial: "o",
      states: {
        o: {
          type: "parallel",
          states: {
            p: {
              type: "parallel",
              states: {
                one: { initial: "a", states: { a: { on: { x: "f" } }, f: { type: "final" } } },
                two: { initial: "b", states: { b: { on: { x: "g" } }, g: { type: "final" } } },
              },
            },
            side: { initial: "c", states: { c: { on: { y: "h" } }, h: { type: "final" } } },
          },
          onDone: "z",
        },
        z: {},
      },
    }),
    moves: ["y", "x"],
    differs: { topic: "done-upwards", in: ["configuration"] },
  },
  {
    name: "a parallel state inside another, where the inner one is first",
    machine: machineOf({
      initial: "o",
      states: {
        o: {
          type: "parallel",
          states: {
            p: {
              type: "parallel",
              states: {
                one: { initial: "a", states: { a: { on: { x: "f" } }, f: { type: "final" } } },
                two: { initial: "b", states: { b: { on: { x: "g" } }, g: { type: "final" } } },
              },
            },
            side: { initial: "c", states: { c: { on: { y: "h" } }, h: { type: "final" } } },
          },
          onDone: "z",
        },
        z: {},
      },
    }),
    moves: ["x", "y"],
  },
  {
    name: "a final state that is a region by itself",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: { on: { x: "f" } }, f: { type: "final" } } },
            two: { type: "final" },
          },
          onDone: "z",
        },
        z: {},
      },
    }),
    moves: ["x"],
    differs: { topic: "final-region", in: ["configuration"] },
  },
  {
    name: "listening to a state's end by its name",
    machine: machineOf({
      id: "m",
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: { b: { on: { go: "f" } }, f: { type: "final" } },
          on: { "xstate.done.state.m.a": "z" },
        },
        z: {},
      },
    }),
    moves: ["go"],
  },
  {
    name: "listening to any state's end",
    machine: machineOf({
      id: "m",
      initial: "a",
      states: { a: { initial: "b", states: { b: { on: { go: "f" } }, f: { type: "final" } } }, z: {} },
      on: { "xstate.done.state.*": ".z" },
    }),
    moves: ["go"],
  },
  {
    name: "the end comes before what was raised",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { go: { target: "f", actions: "act" } } }, f: { type: "final", entry: "+f" } },
      on: { "*": { actions: "any" } },
    }),
    moves: ["go"],
  },
];
