import { describe, expect, test } from "vitest";
import { defineMachine, type Json, type StateDefinition, simulate } from "../index.ts";

const says = (run: { logs: readonly { data?: Json }[] }) => run.logs.map(({ data }) => data);

/** `a` has two levels; `h` is its history of the given kind; `away` is left by `back`. */
function machineWith(history: StateDefinition, initial = "a") {
  const leaves = { initial: "x", states: { x: { on: { next: "y" } }, y: {} } };
  return defineMachine({
    id: "m",
    initial,
    states: {
      a: {
        initial: "one",
        on: { leave: "away" },
        states: { one: { ...leaves, on: { two: "two" } }, two: leaves, h: history },
      },
      away: { on: { back: "a.h" } },
    },
  });
}

describe("shallow history", () => {
  test("remembers the child that was active, and starts that child afresh", () => {
    const run = simulate(machineWith({ type: "history", target: "one" }));
    for (const type of ["two", "next", "leave"]) run.send(type);
    expect(run.state.history).toEqual({ "a.h": ["a.two"] });
    expect(run.send("back").state.configuration).toEqual(["a.two.x"]);
  });

  test("in a parallel state it remembers all regions, and starts each afresh", () => {
    const region = { initial: "x", states: { x: { on: { next: "y" } }, y: {} } };
    const machine = defineMachine({
      id: "m",
      initial: "p",
      states: {
        p: {
          type: "parallel",
          on: { leave: "away" },
          states: { a: region, b: region, h: { type: "history", target: ["a.y", "b.y"] } },
        },
        away: { on: { back: "p.h" } },
      },
    });
    const run = simulate(machine);
    run.send("next");
    run.send("leave");
    expect(run.state.history).toEqual({ "p.h": ["p.a", "p.b"] });
    expect(run.send("back").state.configuration).toEqual(["p.a.x", "p.b.x"]);
  });
});

describe("deep history", () => {
  test("remembers the very leaves", () => {
    const run = simulate(machineWith({ type: "history", history: "deep", target: "one" }));
    for (const type of ["two", "next", "leave"]) run.send(type);
    expect(run.state.history).toEqual({ "a.h": ["a.two.y"] });
    expect(run.send("back").state.configuration).toEqual(["a.two.y"]);
  });

  test("remembers the leaves of all regions of a parallel state below it", () => {
    const region = (event: string) => ({ initial: "x", states: { x: { on: { [event]: "y" } }, y: {} } });
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          initial: "z",
          on: { leave: "away" },
          states: {
            z: { on: { go: "p" } },
            p: { type: "parallel", states: { one: region("first"), two: region("second") } },
            h: { type: "history", history: "deep", target: "z" },
          },
        },
        away: { on: { back: "a.h" } },
      },
    });
    const run = simulate(machine);
    for (const type of ["go", "second", "leave"]) run.send(type);
    expect(run.state.history).toEqual({ "a.h": ["a.p.one.x", "a.p.two.y"] });
    expect(run.send("back").state.configuration).toEqual(["a.p.one.x", "a.p.two.y"]);
  });

  test("in one region it leaves the others to their own way in", () => {
    const machine = defineMachine({
      id: "m",
      initial: "p",
      states: {
        p: {
          type: "parallel",
          on: { leave: "away" },
          states: {
            a: {
              initial: "x",
              states: {
                x: { on: { next: "y" } },
                y: {},
                h: { type: "history", history: "deep", target: "x" },
              },
            },
            b: { initial: "x", states: { x: { on: { next: "y" } }, y: {} } },
          },
        },
        away: { on: { back: "p.a.h" } },
      },
    });
    const run = simulate(machine);
    run.send("next");
    run.send("leave");
    expect(run.send("back").state.configuration).toEqual(["p.a.y", "p.b.x"]);
  });
});

describe("a history with nothing to remember", () => {
  test("leads to its default, and its content runs after the entry of its parent", () => {
    const machine = defineMachine({
      id: "m",
      start: { came: "" },
      initial: "away",
      states: {
        away: { on: { back: "a.h" } },
        a: {
          initial: { target: "one", actions: { log: "initial" } },
          entry: { log: "a" },
          on: { leave: "away" },
          states: {
            one: { entry: { log: "one" } },
            two: { entry: { log: "two" } },
            h: {
              type: "history",
              target: "two",
              update: (draft) => {
                draft.came = "by default";
              },
              actions: { log: ({ context }) => context.came },
            },
          },
        },
      },
    });
    const run = simulate(machine);
    run.send("back");
    expect(says(run)).toEqual(["a", "by default", "two"]);
    expect(run.state).toMatchObject({
      configuration: ["a.two"],
      history: {},
      context: { came: "by default" },
    });
    run.send("leave");
    run.send("back");
    expect(says(run)).toEqual(["a", "by default", "two", "a", "two"]);
  });

  test("may have a default in several regions at once", () => {
    const region = { initial: "x", states: { x: {}, y: {} } };
    const machine = defineMachine({
      id: "m",
      initial: "away",
      states: {
        away: { on: { back: "p.h" } },
        p: {
          type: "parallel",
          states: { a: region, b: region, h: { type: "history", target: ["a.y", "b.y"] } },
        },
      },
    });
    expect(simulate(machine).send("back").state.configuration).toEqual(["p.a.y", "p.b.y"]);
  });

  test("may have another history as its default", () => {
    const machine = defineMachine({
      id: "m",
      initial: "away",
      states: {
        away: { on: { back: "a.h" } },
        a: {
          initial: "one",
          on: { leave: "away" },
          states: {
            one: {},
            b: {
              initial: "x",
              states: { x: {}, y: {}, inner: { type: "history", target: "y" } },
            },
            h: { type: "history", target: "b.inner" },
          },
        },
      },
    });
    const run = simulate(machine);
    expect(run.send("back").state.configuration).toEqual(["a.b.y"]);
  });

  test("may be an initial state, which then means: where we were, or the default", () => {
    const run = simulate(
      defineMachine({
        id: "m",
        initial: "a",
        states: {
          a: {
            initial: "h",
            on: { leave: "away" },
            states: { one: { on: { two: "two" } }, two: {}, h: { type: "history", target: "one" } },
          },
          away: { on: { back: "a" } },
        },
      }),
    );
    expect(run.state.configuration).toEqual(["a.one"]);
    for (const type of ["two", "leave", "back"]) run.send(type);
    expect(run.state.configuration).toEqual(["a.two"]);
  });
});

describe("when history is written", () => {
  test("it is there before any exit action runs, so that those see the states as they were", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          initial: "one",
          on: { leave: "away" },
          states: {
            one: { on: { two: "two" } },
            two: { exit: { log: (scope) => scope.in("a.two") } },
            h: { type: "history", target: "one" },
          },
        },
        away: { on: { back: "a.h" } },
      },
    });
    const run = simulate(machine);
    for (const type of ["two", "leave"]) run.send(type);
    expect(says(run)).toEqual([true]);
    expect(run.state.history).toEqual({ "a.h": ["a.two"] });
  });

  test("a transition that leaves its source for that source's own history comes back where it was", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          initial: "one",
          exit: { log: "left" },
          on: { again: { target: ".h", reenter: true } },
          states: { one: { on: { two: "two" } }, two: {}, h: { type: "history", target: "one" } },
        },
      },
    });
    const run = simulate(machine);
    run.send("two");
    expect(run.send("again").state.configuration).toEqual(["a.two"]);
    expect(says(run)).toEqual(["left"]);
  });

  test("a transition to a history does not enter again what is active and stays so", () => {
    const machine = defineMachine({
      id: "m",
      initial: "away",
      states: {
        away: { on: { go: "a" } },
        a: {
          initial: "sub",
          on: { leave: "away" },
          states: {
            sub: {
              entry: { log: "+sub" },
              exit: { log: "-sub" },
              initial: "j",
              states: { j: { on: { next: "k", back: "#h" } }, k: {} },
            },
            h: { id: "h", type: "history", history: "deep", target: "sub" },
          },
        },
      },
    });
    const run = simulate(machine);
    for (const type of ["go", "next", "leave", "go"]) run.send(type);
    const before = run.logs.length;
    run.send("back");
    expect(run.state.configuration).toEqual(["a.sub.k"]);
    expect(says(run).slice(before)).toEqual([]);
  });

  test("every leaving writes it anew, and the state that went in keeps its own", () => {
    const run = simulate(machineWith({ type: "history", target: "one" }));
    run.send("leave");
    const first = run.state;
    for (const type of ["back", "two", "leave"]) run.send(type);
    expect(first.history).toEqual({ "a.h": ["a.one"] });
    expect(run.state.history).toEqual({ "a.h": ["a.two"] });
  });

  test("histories of two regions that are left together do not get in each other's way", () => {
    const region = {
      initial: "x",
      states: { x: { on: { next: "y" } }, y: {}, h: { type: "history", target: "x" } },
    } as const;
    const machine = defineMachine({
      id: "m",
      initial: "p",
      states: {
        p: { type: "parallel", on: { leave: "away" }, states: { a: region, b: region } },
        away: { on: { both: { target: ["p.a.h", "p.b.h"] }, one: "p.b.h" } },
      },
    });
    const run = simulate(machine);
    run.send("next");
    run.send("leave");
    expect(run.state.history).toEqual({ "p.a.h": ["p.a.y"], "p.b.h": ["p.b.y"] });
    expect(run.send("both").state.configuration).toEqual(["p.a.y", "p.b.y"]);
    run.send("leave");
    expect(run.send("one").state.configuration).toEqual(["p.a.x", "p.b.y"]);
  });

  test("a transition through a history is taken beside those of other regions", () => {
    const machine = defineMachine({
      id: "m",
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            a: {
              initial: "x",
              states: {
                x: { on: { go: { target: "h" }, far: "y" } },
                y: { on: { go: { target: "h" } } },
                h: { type: "history", target: "y" },
              },
            },
            b: { initial: "x", states: { x: { on: { go: "y" } }, y: {} } },
          },
        },
      },
    });
    const run = simulate(machine);
    expect(run.send("go").state.configuration).toEqual(["p.a.y", "p.b.y"]);
  });
});
