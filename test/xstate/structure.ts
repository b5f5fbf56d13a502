/** Scenarios of structure: nesting, targets, initial states, tags and ids. */
import { assign, type Given, machineOf, type Scenario } from "./scenario.ts";

const noted = (key: string) => ({ entry: `+${key}`, exit: `-${key}` });

export const structure: readonly Scenario[] = [
  {
    name: "two states and back",
    machine: machineOf({ id: "m", initial: "a", states: { a: { on: { go: "b" } }, b: { on: { go: "a" } } } }),
    moves: ["go", "go", "go"],
  },
  {
    name: "an event that nothing handles",
    machine: machineOf({ initial: "a", states: { a: { on: { go: "b" } }, b: {} } }),
    moves: ["nope", "go", "go"],
  },
  {
    name: "a machine without an id",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { go: { target: "b", actions: "act" } } }, b: {} },
    }),
    moves: ["go"],
  },
  {
    name: "entry and exit along a nested path",
    machine: machineOf({
      ...noted("root"),
      initial: "a",
      states: {
        a: {
          ...noted("a"),
          initial: "b",
          states: { b: { ...noted("b"), on: { out: "c" } }, c: noted("c") },
          on: { leave: "d" },
        },
        d: { ...noted("d"), on: { back: "a" } },
      },
    }),
    moves: ["out", "leave", "back"],
  },
  {
    name: "the inner handler comes first",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: { b: { on: { go: { actions: "inner" } } }, c: {} },
          on: { go: { target: "x", actions: "outer" }, c: ".c" },
        },
        x: {},
      },
    }),
    moves: ["go", "c", "go"],
  },
  {
    name: "targets by id from the depth",
    machine: machineOf({
      id: "m",
      initial: "a",
      states: {
        a: { initial: "b", states: { b: { initial: "c", states: { c: { on: { go: "#end" } } } } } },
        end: { id: "end", on: { deep: "#c2" } },
        z: { initial: "y", states: { y: {}, c2: { id: "c2" } } },
      },
    }),
    moves: ["go", "deep"],
  },
  {
    name: "targets by the machine's id and a path",
    machine: machineOf({
      id: "m",
      initial: "a",
      states: {
        a: { initial: "b", states: { b: { on: { go: "#m.z.y" } } } },
        z: { initial: "w", states: { w: {}, y: { on: { go: "#m.a" } } } },
      },
    }),
    moves: ["go", "go"],
  },
  {
    name: "an absolute path that a nearer state of that name would catch",
    machine: machineOf({
      id: "m",
      initial: "a",
      states: {
        a: {
          initial: "b",
          states: { b: { on: { go: "#m.a.c" } }, a: { initial: "c", states: { c: {} } }, c: {} },
        },
      },
    }),
    moves: ["go"],
  },
  {
    name: "an id with a path behind it",
    machine: machineOf({
      initial: "a",
      states: {
        a: { on: { go: "#there.deep.down" } },
        b: {
          id: "there",
          initial: "x",
          states: { x: {}, deep: { initial: "up", states: { up: {}, down: {} } } },
        },
      },
    }),
    moves: ["go"],
  },
  {
    name: "child targets with a leading dot",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          ...noted("a"),
          initial: "b",
          states: { b: noted("b"), c: { ...noted("c"), initial: "d", states: { d: {}, e: noted("e") } } },
          on: { c: ".c", e: ".c.e" },
        },
      },
    }),
    moves: ["c", "e", "e"],
  },
  {
    name: "the machine's own handlers with child targets",
    machine: machineOf({
      initial: "a",
      states: { a: noted("a"), b: noted("b") },
      on: { b: ".b", a: { target: ".a", actions: "root" } },
    }),
    moves: ["b", "a", "a"],
  },
  {
    name: "a sibling's child by path",
    machine: machineOf({
      initial: "a",
      states: { a: { on: { go: "b.y" } }, b: { initial: "x", states: { x: {}, y: {} } } },
    }),
    moves: ["go"],
  },
  {
    name: "an ancestor as target",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          id: "a",
          ...noted("a"),
          initial: "b",
          states: { b: { on: { next: "c" } }, c: { ...noted("c"), on: { again: "#a" } } },
        },
      },
    }),
    moves: ["next", "again"],
  },
  {
    name: "five levels down and out",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          ...noted("a"),
          initial: "b",
          states: {
            b: {
              ...noted("b"),
              initial: "c",
              states: {
                c: {
                  ...noted("c"),
                  initial: "d",
                  states: { d: { ...noted("d"), initial: "e", states: { e: noted("e") } } },
                },
              },
            },
          },
          on: { out: "z" },
        },
        z: { on: { in: "a.b.c.d.e" } },
      },
    }),
    moves: ["out", "in", "out"],
  },
  {
    name: "an initial transition with actions",
    machine: machineOf({
      initial: "z",
      states: {
        z: { on: { in: "a" } },
        a: {
          ...noted("a"),
          initial: { target: "b", actions: "initial" },
          states: { b: noted("b"), c: {} },
          on: { out: "z" },
        },
      },
    }),
    moves: ["in", "out", "in"],
  },
  {
    name: "the machine's initial transition with actions",
    machine: machineOf({
      context: { n: 0 },
      ...noted("root"),
      initial: { target: "b", actions: ["first", assign({ n: 5 })] },
      states: { b: noted("b") },
    }),
    moves: [],
  },
  {
    name: "initial actions are left out when the target lies deeper",
    machine: machineOf({
      initial: "z",
      states: {
        z: { on: { in: "a.c" } },
        a: { initial: { target: "b", actions: "initial" }, states: { b: {}, c: {} } },
      },
    }),
    moves: ["in"],
  },
  {
    name: "initial actions of a state that restarts itself",
    machine: machineOf({
      initial: "a",
      states: {
        a: {
          initial: { target: "b", actions: "initial" },
          states: { b: { on: { next: "c" } }, c: {} },
          on: { again: "a" },
        },
      },
    }),
    moves: ["next", "again"],
    differs: { topic: "initial-actions", in: ["actions"] },
  },
  {
    name: "initial actions of a region that is entered alongside",
    machine: machineOf({
      initial: "z",
      states: {
        z: { on: { in: "p.one.b" } },
        p: {
          type: "parallel",
          states: {
            one: { initial: "a", states: { a: {}, b: {} } },
            two: { initial: { target: "c", actions: "initial" }, states: { c: {} } },
          },
        },
      },
    }),
    moves: ["in"],
    differs: { topic: "initial-actions", in: ["actions"] },
  },
  {
    name: "initial actions below a remembered state",
    machine: machineOf({
      initial: "w",
      states: {
        w: {
          initial: "a",
          states: {
            a: { initial: { target: "b", actions: "initial" }, states: { b: {} } },
            h: { type: "history" },
          },
          on: { out: "z" },
        },
        z: { on: { back: "w.h" } },
      },
    }),
    moves: ["out", "back"],
    differs: { topic: "initial-actions", in: ["actions"] },
  },
  {
    name: "tags come from every active state",
    machine: machineOf({
      tags: "root",
      initial: "a",
      states: {
        a: { tags: ["slow", "busy"], on: { go: "b" } },
        b: { tags: "busy", initial: "c", states: { c: { tags: ["inner"] } } },
      },
    }),
    moves: ["go"],
  },
  {
    name: "meta, description and version carry over",
    machine: machineOf({
      version: "3",
      description: "a machine",
      initial: "a",
      states: {
        a: {
          meta: { n: 1 },
          description: "the first",
          on: { go: { target: "b", description: "onwards", meta: { x: true } } },
        },
        b: {},
      },
    }),
    moves: ["go"],
  },
  {
    name: "a machine without states",
    machine: machineOf({
      context: { n: 0 },
      on: { inc: { actions: assign({ n: ({ context }: Given) => context.n + 1 }) } },
    }),
    moves: ["inc", "inc"],
    differs: { topic: "stateless", in: ["configuration"] },
  },
  {
    name: "keys that look like numbers",
    machine: machineOf({
      initial: "2",
      states: { 2: { ...noted("2"), on: { go: "1" } }, 1: { ...noted("1"), on: { go: "2" } } },
    }),
    moves: ["go", "go"],
  },
  {
    name: "keys with spaces and other letters",
    machine: machineOf({
      initial: "der Anfang",
      states: {
        "der Anfang": { on: { "weiter geht's": "☃" } },
        "☃": { ...noted("☃"), on: { go: "der Anfang" } },
      },
    }),
    moves: ["weiter geht's", "go"],
  },
  {
    name: "a state that can be routed to from anywhere",
    machine: machineOf({
      initial: "a",
      states: {
        a: {},
        b: { id: "b", route: {}, ...noted("b") },
        c: {
          id: "c",
          route: { guard: ({ event }: Given) => event.ok === true, actions: "routed" },
        },
      },
    }),
    moves: [
      { type: "xstate.route", to: "#b" },
      { type: "xstate.route", to: "#c" },
      { type: "xstate.route", to: "#c", ok: true },
    ],
  },
  {
    name: "the machine itself as a target of its own handler",
    machine: machineOf({
      id: "m",
      initial: "a",
      states: { a: { on: { go: "b" } }, b: noted("b") },
      on: { reset: ".a" },
    }),
    moves: ["go", "reset"],
  },
];
