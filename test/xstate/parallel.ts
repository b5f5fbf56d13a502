/** Scenarios of parallel states and of history. */
import { assign, type Given, machineOf, type Scenario } from "./scenario.ts";

const noted = (key: string) => ({ entry: `+${key}`, exit: `-${key}` });
const add = (word: string) => assign({ seen: ({ context }: Given) => [...context.seen, word] });

export const parallel: readonly Scenario[] = [
  {
    name: "regions take the same event together",
    machine: machineOf({
      type: "parallel",
      states: {
        one: {
          initial: "a",
          states: { a: { ...noted("a"), on: { go: { target: "b", actions: "one" } } }, b: noted("b") },
        },
        two: {
          initial: "c",
          states: { c: { ...noted("c"), on: { go: { target: "d", actions: "two" } } }, d: noted("d") },
        },
      },
    }),
    moves: ["go"],
  },
  {
    name: "regions move on their own",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          ...noted("p"),
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: { on: { x: "b" } }, b: {} } },
            two: { initial: "c", states: { c: { on: { y: "d" } }, d: {} } },
          },
          on: { out: "q" },
        },
        q: { on: { in: "p" } },
      },
    }),
    moves: ["x", "y", "out", "in"],
  },
  {
    name: "the last write of the regions stands",
    machine: machineOf({
      context: { seen: [], winner: "" },
      type: "parallel",
      states: {
        one: { on: { go: { actions: [add("one"), assign({ winner: "one" })] } } },
        two: { on: { go: { actions: [add("two"), assign({ winner: "two" })] } } },
      },
    }),
    moves: ["go"],
  },
  {
    name: "leaving a parallel state leaves its regions in reverse",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          ...noted("p"),
          type: "parallel",
          states: {
            one: { ...noted("one"), initial: "a", states: { a: noted("a") } },
            two: { ...noted("two"), initial: "b", states: { b: noted("b") } },
          },
          on: { out: { target: "q", actions: "act" } },
        },
        q: noted("q"),
      },
    }),
    moves: ["out"],
  },
  {
    name: "one region leaves for all of them",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          ...noted("p"),
          type: "parallel",
          states: { one: { initial: "a", states: { a: { on: { out: "#q" } } } }, two: { ...noted("two") } },
        },
        q: { id: "q", ...noted("q") },
      },
    }),
    moves: ["out"],
  },
  {
    name: "a transition into one region enters the others by default",
    machine: machineOf({
      initial: "q",
      states: {
        q: { on: { in: "p.one.b" } },
        p: {
          ...noted("p"),
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: noted("a"), b: noted("b") } },
            two: { initial: "c", states: { c: noted("c") } },
          },
        },
      },
    }),
    moves: ["in"],
  },
  {
    name: "several targets in different regions",
    machine: machineOf({
      initial: "q",
      states: {
        q: { on: { in: { target: ["p.one.b", "p.two.d"] } } },
        p: {
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: {}, b: noted("b") } },
            two: { initial: "c", states: { c: {}, d: noted("d") } },
            three: { initial: "e", states: { e: noted("e") } },
          },
        },
      },
    }),
    moves: ["in"],
  },
  {
    name: "several targets inside the source",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          ...noted("p"),
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: noted("a"), b: noted("b") } },
            two: { initial: "c", states: { c: noted("c"), d: noted("d") } },
          },
          on: { both: { target: [".one.b", ".two.d"] } },
        },
      },
    }),
    moves: ["both", "both"],
  },
  {
    name: "a region that names its own child from outside restarts the others",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: {}, b: {} }, on: { b: ".b" } },
            two: { initial: "c", states: { c: { on: { d: "d" } }, d: {} } },
          },
          on: { one: ".one.a" },
        },
      },
    }),
    moves: ["b", "d", "one"],
  },
  {
    name: "from one region into another, where the parallel state is silent",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            one: { ...noted("one"), initial: "a", states: { a: { on: { cross: "#d" } } } },
            two: { ...noted("two"), initial: "c", states: { c: noted("c"), d: { id: "d", ...noted("d") } } },
          },
        },
      },
    }),
    moves: ["cross"],
  },
  {
    name: "from one region into another, where the parallel state has entry and exit",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          ...noted("p"),
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: { on: { cross: "#d" } } } },
            two: { initial: "c", states: { c: {}, d: { id: "d" } } },
          },
        },
      },
    }),
    moves: ["cross"],
    differs: { topic: "parallel-domain", in: ["actions"] },
  },
  {
    name: "from one region into another inside a region of a third",
    machine: machineOf({
      initial: "o",
      states: {
        o: {
          type: "parallel",
          states: {
            p: {
              type: "parallel",
              states: {
                one: { initial: "a", states: { a: { on: { cross: "#d" } } } },
                two: { initial: "c", states: { c: {}, d: { id: "d" } } },
              },
            },
            side: { initial: "e", states: { e: { on: { f: "f" } }, f: {} } },
          },
        },
      },
    }),
    moves: ["f", "cross"],
    differs: { topic: "parallel-domain", in: ["configuration"] },
  },
  {
    name: "a region that is entered again where the parallel state has a timer",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          after: { 100: "late" },
          states: {
            one: {
              initial: "a",
              states: { a: { on: { go: "b" } }, b: {} },
              on: { again: { target: "one", reenter: true } },
            },
            two: {},
          },
        },
        late: {},
      },
    }),
    moves: ["go", 50, "again", 60],
    differs: { topic: "parallel-domain", in: ["configuration"] },
  },
  {
    name: "a region that is entered again at the top of a parallel machine",
    machine: machineOf({
      type: "parallel",
      states: {
        one: {
          ...noted("one"),
          initial: "a",
          states: { a: { on: { go: "b" } }, b: {} },
          on: { again: { target: "one", reenter: true } },
        },
        two: noted("two"),
      },
    }),
    moves: ["go", "again"],
  },
  {
    name: "an ancestor's handler with a target while a region has one too",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: { one: { initial: "a", states: { a: { on: { go: "b" } }, b: {} } }, two: {} },
          on: { go: "q" },
        },
        q: {},
      },
    }),
    moves: ["go", "go"],
  },
  {
    name: "an ancestor's handler without a target while a region takes the event",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: { one: { initial: "a", states: { a: { on: { go: "b" } }, b: {} } }, two: {} },
          on: { go: { actions: "outer" } },
        },
      },
    }),
    moves: ["go", "go"],
    differs: { topic: "ancestor-too", in: ["actions"] },
  },
  {
    name: "an ancestor's handler that leaves while a region only acts",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: { one: { on: { go: { actions: "inner" } } }, two: {} },
          on: { go: "q" },
        },
        q: {},
      },
    }),
    moves: ["go"],
    differs: { topic: "ancestor-too", in: ["configuration"] },
  },
  {
    name: "a region that forbids what its ancestor handles",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: { one: { on: { go: undefined } }, two: {} },
          on: { go: { actions: "outer" }, other: { actions: "other" } },
        },
      },
    }),
    moves: ["other", "go"],
    differs: { topic: "ancestor-too", in: ["actions"] },
  },
  {
    name: "the machine's handler while all regions take the event",
    machine: machineOf({
      type: "parallel",
      states: {
        one: { initial: "a", states: { a: { on: { go: "b" } }, b: {} } },
        two: { initial: "c", states: { c: { on: { go: "d" } }, d: {} } },
      },
      on: { go: { actions: "outer" } },
    }),
    moves: ["go", "go"],
  },
  {
    name: "parallel inside parallel inside compound",
    machine: machineOf({
      initial: "x",
      states: {
        x: {
          type: "parallel",
          states: {
            y: {
              type: "parallel",
              states: {
                a: { initial: "1", states: { 1: { on: { go: "2" } }, 2: {} } },
                b: { initial: "3", states: { 3: {}, 4: {} } },
              },
            },
            z: { initial: "5", states: { 5: { on: { go: "6" } }, 6: {} } },
          },
          on: { deep: "x.y.b.4" },
        },
      },
    }),
    moves: ["go", "deep", "go"],
  },
  {
    name: "compound regions of different depth",
    machine: machineOf({
      type: "parallel",
      states: {
        one: {
          initial: "a",
          states: {
            a: { initial: "b", states: { b: { on: { go: "c" } }, c: { on: { go: "#top" } } } },
            top: { id: "top" },
          },
        },
        two: { initial: "d", states: { d: { on: { go: "e" } }, e: { on: { go: "d" } } } },
      },
    }),
    moves: ["go", "go", "go"],
  },
];

const worker = (history: object) => ({
  initial: "w",
  states: {
    w: {
      ...noted("w"),
      initial: "a",
      states: {
        a: { ...noted("a"), on: { next: "b" } },
        b: { ...noted("b"), initial: "c", states: { c: { on: { next: "d" } }, d: noted("d") } },
        h: history,
      },
      on: { out: "z" },
    },
    z: { on: { back: "w.h" } },
  },
});

export const history: readonly Scenario[] = [
  {
    name: "shallow, with its parent's initial as default",
    machine: machineOf(worker({ type: "history" })),
    moves: ["out", "back", "next", "next", "out", "back"],
  },
  {
    name: "shallow, by the word",
    machine: machineOf(worker({ type: "history", history: "shallow" })),
    moves: ["next", "out", "back"],
  },
  {
    name: "deep",
    machine: machineOf(worker({ type: "history", history: "deep" })),
    moves: ["next", "next", "out", "back"],
  },
  {
    name: "deep, with a default of its own",
    machine: machineOf({ ...worker({ type: "history", history: "deep", target: "b.d" }), initial: "z" }),
    moves: ["back", "out", "back"],
  },
  {
    name: "shallow, with a default of its own",
    machine: machineOf({ ...worker({ type: "history", target: "b" }), initial: "z" }),
    moves: ["back", "next", "out", "back"],
  },
  {
    name: "told by its history alone",
    machine: machineOf(worker({ history: true })),
    moves: ["next", "out", "back"],
  },
  {
    name: "told deep by its history alone",
    machine: machineOf(worker({ history: "deep" })),
    moves: ["next", "next", "out", "back"],
  },
  {
    name: "a default that runs its parent's initial actions",
    machine: machineOf({
      initial: "z",
      states: {
        w: {
          initial: { target: "a", actions: "initial" },
          states: { a: {}, b: {}, h: { type: "history" } },
          on: { out: "z", b: ".b" },
        },
        z: { on: { back: "w.h", plain: "w" } },
      },
    }),
    moves: ["back", "b", "out", "back", "out", "plain"],
  },
  {
    name: "of a parallel state, deep",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: { on: { x: "b" } }, b: noted("b") } },
            two: { initial: "c", states: { c: { on: { y: "d" } }, d: noted("d") } },
            h: { type: "history", history: "deep" },
          },
          on: { out: "z" },
        },
        z: { on: { back: "p.h" } },
      },
    }),
    moves: ["x", "y", "out", "back"],
  },
  {
    name: "of a parallel state, shallow: its regions begin again",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: { on: { x: "b" } }, b: {} } },
            two: {},
            h: { type: "history" },
          },
          on: { out: "z" },
        },
        z: { on: { back: "p.h" } },
      },
    }),
    moves: ["x", "out", "back"],
  },
  {
    name: "of a parallel state, before it was ever left",
    machine: machineOf({
      initial: "z",
      states: {
        p: {
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: noted("a"), b: {} } },
            two: noted("two"),
            h: { type: "history" },
          },
        },
        z: { on: { back: "p.h" } },
      },
    }),
    moves: ["back"],
  },
  {
    name: "of one region among several targets",
    machine: machineOf({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: { on: { x: "b" } }, b: {}, h: { type: "history" } } },
            two: { initial: "c", states: { c: {}, d: {} } },
          },
          on: { out: "z" },
        },
        z: { on: { back: { target: ["p.one.h", "p.two.d"] } } },
      },
    }),
    moves: ["x", "out", "back"],
  },
  {
    name: "nested: the inner one remembers on its own",
    machine: machineOf({
      initial: "w",
      states: {
        w: {
          initial: "u",
          states: {
            u: {
              initial: "a",
              states: { a: { on: { next: "b" } }, b: {}, h: { type: "history" } },
              on: { side: "v" },
            },
            v: { on: { inner: "u.h" } },
          },
          on: { out: "z" },
        },
        z: { on: { back: "w.u.h" } },
      },
    }),
    moves: ["next", "side", "inner", "out", "back"],
  },
  {
    name: "targeted from inside its own parent",
    machine: machineOf({
      initial: "w",
      states: {
        w: {
          initial: "a",
          states: { a: { on: { next: "b" } }, b: noted("b"), h: { type: "history" } },
          on: { out: "z", stay: ".h" },
        },
        z: { on: { back: "w" } },
      },
    }),
    moves: ["next", "out", "back", "stay"],
  },
  {
    name: "by id, at the machine's own level",
    machine: machineOf({
      initial: "w",
      states: {
        w: {
          initial: "a",
          states: { a: { on: { next: "b" } }, b: {}, last: { id: "last", type: "history" } },
          on: { out: "z" },
        },
        z: { on: { back: "#last" } },
      },
    }),
    moves: ["next", "out", "back"],
  },
];
