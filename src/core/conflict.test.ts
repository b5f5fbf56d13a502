/** Which transitions are taken together and which exclude each other: selection over several regions. */
import { describe, expect, test } from "vitest";
import { defineMachine, type Json, type StateDefinition, simulate } from "../index.ts";

const says = (run: { logs: readonly { data?: Json }[] }) => run.logs.map(({ data }) => data);
const act = (name: string) => ({ actions: { log: name } });

function taken(states: Record<string, StateDefinition>, type = "go", initial = "p") {
  const run = simulate(defineMachine({ id: "m", initial, states }));
  run.send(type);
  return { configuration: run.state.configuration, said: says(run) };
}

test("each region takes the event for itself", () => {
  const region = { initial: "x", states: { x: { on: { go: "y" } }, y: {} } };
  const idle = { initial: "x", states: { x: {} } };
  expect(taken({ p: { type: "parallel", states: { a: region, b: idle, c: region } } }).configuration).toEqual(
    ["p.a.y", "p.b.x", "p.c.y"],
  );
});

test("a region without a handler takes its ancestor's, beside another region's own", () => {
  const states = {
    p: {
      type: "parallel",
      on: { go: act("ancestor") },
      states: {
        a: { initial: "x", states: { x: { on: { go: { target: "y", ...act("own") } } }, y: {} } },
        b: { initial: "x", states: { x: {} } },
      },
    },
  } as const;
  expect(taken(states)).toEqual({ configuration: ["p.a.y", "p.b.x"], said: ["own", "ancestor"] });
});

test("an ancestor's transition that several regions choose is taken once, and its guard asked once", () => {
  let asked = 0;
  const states: Record<string, StateDefinition> = {
    p: {
      type: "parallel",
      on: {
        go: {
          guard: () => {
            asked++;
            return true;
          },
          ...act("ancestor"),
        },
      },
      states: { a: { initial: "x", states: { x: {} } }, b: { initial: "x", states: { x: {} } } },
    },
  };
  expect(taken(states).said).toEqual(["ancestor"]);
  expect(asked).toBe(1);
});

test("a transition inside a region beats its ancestor's that would leave it", () => {
  const states: Record<string, StateDefinition> = {
    p: {
      type: "parallel",
      on: { go: { target: "out", ...act("out") } },
      states: {
        a: { initial: "x", states: { x: { on: { go: { target: "y", ...act("inside") } } }, y: {} } },
        b: { initial: "x", states: { x: {} } },
      },
    },
    out: {},
  };
  expect(taken(states)).toEqual({ configuration: ["p.a.y", "p.b.x"], said: ["inside"] });
});

test("an ancestor's comes first in the document and still yields to the region's own", () => {
  const states: Record<string, StateDefinition> = {
    p: {
      type: "parallel",
      on: { go: { target: "out", ...act("out") } },
      states: {
        a: { initial: "x", states: { x: {} } },
        b: { initial: "x", states: { x: { on: { go: { target: "y", ...act("inside") } } }, y: {} } },
      },
    },
    out: {},
  };
  expect(taken(states)).toEqual({ configuration: ["p.a.x", "p.b.y"], said: ["inside"] });
});

test("of two regions that both leave the parallel state, the first in the document does", () => {
  const leaving = (target: string) => ({ initial: "x", states: { x: { on: { go: target } } } });
  const states = {
    p: { type: "parallel", states: { a: leaving("one"), b: leaving("two") } },
    one: {},
    two: {},
  } as const;
  expect(taken(states).configuration).toEqual(["one"]);
});

test("one region that leaves the parallel state excludes the others' own transitions", () => {
  const states: Record<string, StateDefinition> = {
    p: {
      type: "parallel",
      states: {
        a: { initial: "x", states: { x: { on: { go: "out" } } } },
        b: { initial: "x", states: { x: { on: { go: { target: "y", ...act("lost") } } }, y: {} } },
      },
    },
    out: {},
  };
  expect(taken(states)).toEqual({ configuration: ["out"], said: [] });
});

test("targetless transitions never exclude anything", () => {
  const states: Record<string, StateDefinition> = {
    p: {
      type: "parallel",
      states: {
        a: { initial: "x", states: { x: { on: { go: act("quiet") } } } },
        b: { initial: "x", states: { x: { on: { go: "out" } } } },
      },
    },
    out: {},
  };
  expect(taken(states)).toEqual({ configuration: ["out"], said: ["quiet"] });
});

test("guards decide in each region, with the same answer for all that share them", () => {
  const states: Record<string, StateDefinition> = {
    p: {
      type: "parallel",
      on: { go: { guard: () => false, target: "out" } },
      states: {
        a: { initial: "x", states: { x: { on: { go: { guard: { in: "p.b.x" }, target: "y" } } }, y: {} } },
        b: { initial: "x", states: { x: { on: { go: { guard: { in: "p.a.y" }, target: "y" } } }, y: {} } },
      },
    },
    out: {},
  };
  expect(taken(states).configuration).toEqual(["p.a.y", "p.b.x"]);
});

describe("transitions from region to region", () => {
  const region = (name: string, x: StateDefinition = {}) => ({
    entry: { log: `+${name}` },
    exit: { log: `-${name}` },
    initial: "x",
    states: { x, y: {} },
  });

  test("leave and enter the whole parallel state, since none of its regions can be left alone", () => {
    const states: Record<string, StateDefinition> = {
      p: {
        type: "parallel",
        entry: { log: "+p" },
        exit: { log: "-p" },
        states: { a: region("a", { on: { go: "p.b.y" } }), b: region("b") },
      },
    };
    expect(taken(states)).toEqual({
      configuration: ["p.a.x", "p.b.y"],
      said: ["+p", "+a", "+b", "-b", "-a", "-p", "+p", "+a", "+b"],
    });
  });

  test("of a parallel machine leave and enter all its regions", () => {
    const machine = defineMachine({
      id: "m",
      type: "parallel",
      states: { a: region("a", { on: { go: "b.y" } }), b: region("b"), c: region("c") },
    });
    const run = simulate(machine);
    run.send("go");
    expect(run.state.configuration).toEqual(["a.x", "b.y", "c.x"]);
    expect(says(run).slice(3)).toEqual(["-c", "-b", "-a", "+a", "+b", "+c"]);
  });

  test("that re-enter a region of a parallel machine re-enter the others with it", () => {
    const machine = defineMachine({
      id: "m",
      type: "parallel",
      states: { a: { ...region("a"), on: { go: { target: "a", reenter: true } } }, b: region("b") },
    });
    const run = simulate(machine);
    run.send("go");
    expect(run.state.configuration).toEqual(["a.x", "b.x"]);
  });

  test("in a parallel state within a region stay in that region", () => {
    const states: Record<string, StateDefinition> = {
      p: {
        type: "parallel",
        states: {
          a: {
            initial: "q",
            states: {
              q: { type: "parallel", states: { c: region("c", { on: { go: "q.d.y" } }), d: region("d") } },
            },
          },
          b: region("b", { on: { go: "y" } }),
        },
      },
    };
    expect(taken(states).configuration).toEqual(["p.a.q.c.x", "p.a.q.d.y", "p.b.y"]);
  });
});
