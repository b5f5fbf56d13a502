import { describe, expect, test } from "vitest";
import { defineMachine, type Json, type StateDefinition, simulate } from "../index.ts";

const says = (run: { logs: readonly { data?: Json }[] }) => run.logs.map(({ data }) => data);

/** A state that says when it is entered and left. */
function loud(name: string, state: StateDefinition = {}): StateDefinition {
  return { ...state, entry: { log: `+${name}` }, exit: { log: `-${name}` } };
}

/** What is said on an event, after what was said at the start. */
function heard(states: Record<string, StateDefinition>, initial: string, ...types: string[]) {
  const run = simulate(defineMachine({ id: "m", initial, states }));
  const before = run.logs.length;
  for (const type of types) run.send(type);
  return { configuration: run.state.configuration, said: says(run).slice(before) };
}

describe("guarded transitions", () => {
  test("the first whose guard holds is taken", () => {
    const machine = defineMachine({
      id: "m",
      start: { size: 2 },
      initial: "a",
      states: {
        a: {
          on: {
            go: [
              { guard: ({ context }) => context.size > 5, target: "large" },
              { guard: ({ context }) => context.size > 1, target: "medium" },
              { target: "small" },
            ],
          },
        },
        large: {},
        medium: {},
        small: {},
      },
    });
    expect(simulate(machine).send("go").state.configuration).toEqual(["medium"]);
  });

  test("a guard sees the event's data", () => {
    const machine = defineMachine<Record<string, never>, { type: "say"; data: { word: string } }>({
      id: "m",
      initial: "a",
      states: { a: { on: { say: { guard: ({ event }) => event.data.word === "yes", target: "b" } } }, b: {} },
    });
    const run = simulate(machine);
    expect(run.send({ type: "say", data: { word: "no" } }).outcome).toBe("ignored");
    expect(run.send({ type: "say", data: { word: "yes" } }).state.configuration).toEqual(["b"]);
  });

  test("guards are put together with and, or, not, in and names", () => {
    const machine = defineMachine({
      id: "m",
      start: { ready: true, paid: false },
      guards: { ready: ({ context }) => context.ready },
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            a: { initial: "x", states: { x: { on: { flip: "y" } }, y: { id: "why" } } },
            b: {
              initial: "x",
              states: {
                x: {
                  on: {
                    and: { guard: { and: ["ready", { in: "p.a.y" }] }, target: "y" },
                    or: { guard: { or: [({ context }) => context.paid, { in: "#why" }] }, target: "y" },
                    not: { guard: { not: { in: "p.a.y" } }, target: "y" },
                    nested: {
                      guard: { not: { or: [{ not: "ready" }, { and: [{ in: "p.a.x" }] }] } },
                      target: "y",
                    },
                    scope: {
                      guard: (scope) => scope.in("#why") && !scope.in("p.a.x") && !scope.in("nowhere"),
                      target: "y",
                    },
                  },
                },
                y: {},
              },
            },
          },
        },
      },
    });
    for (const type of ["and", "or", "nested", "scope"]) {
      const run = simulate(machine);
      expect([type, run.send(type).outcome]).toEqual([type, "ignored"]);
      run.send("flip");
      expect([type, run.send(type).outcome]).toEqual([type, "taken"]);
    }
    const run = simulate(machine);
    run.send("flip");
    expect(run.send("not").outcome).toBe("ignored");
    expect(simulate(machine).send("not").outcome).toBe("taken");
  });
});

describe("internal and external transitions", () => {
  const states = {
    s: loud("s", {
      initial: "x",
      on: {
        targetless: { actions: { log: "act" } },
        inner: ".y",
        self: "s",
        outside: { target: ".y", reenter: true },
        again: { target: "s", reenter: true },
      },
      states: { x: loud("x"), y: loud("y") },
    }),
  };

  test("one without a target leaves and enters nothing", () => {
    expect(heard(states, "s", "targetless")).toEqual({ configuration: ["s.x"], said: ["act"] });
  });

  test("one into its source's inside stays in the source", () => {
    expect(heard(states, "s", "inner")).toEqual({ configuration: ["s.y"], said: ["-x", "+y"] });
  });

  test("one to its own source starts the inside again and stays in the source", () => {
    expect(heard(states, "s", "inner", "self")).toEqual({
      configuration: ["s.x"],
      said: ["-x", "+y", "-y", "+x"],
    });
  });

  test("one to its own source takes the initial transition again, with its actions", () => {
    const initial = { target: "x", actions: { log: "initial" } };
    const said = heard({ s: loud("s", { initial, on: { self: "s" }, states: { x: {} } }) }, "s", "self").said;
    expect(said).toEqual(["initial"]);
  });

  test("with reenter it leaves and enters its source, wherever inside it leads", () => {
    expect(heard(states, "s", "outside").said).toEqual(["-x", "-s", "+s", "+y"]);
    expect(heard(states, "s", "again").said).toEqual(["-x", "-s", "+s", "+x"]);
  });

  test("one to a state above its source leaves and enters that state", () => {
    const x = loud("x", { on: { up: "s" } });
    expect(heard({ s: loud("s", { initial: "x", states: { x } }) }, "s", "up").said).toEqual([
      "-x",
      "-s",
      "+s",
      "+x",
    ]);
  });

  test("an atomic state that targets itself stays, unless it re-enters", () => {
    const atom = { a: loud("a", { on: { self: "a", again: { target: "a", reenter: true } } }) };
    expect(heard(atom, "a", "self")).toEqual({ configuration: ["a"], said: [] });
    expect(heard(atom, "a", "again").said).toEqual(["-a", "+a"]);
  });

  test("a parallel source that leads into one region starts the other regions again", () => {
    const region = (name: string) =>
      loud(name, { initial: "x", states: { x: { on: { next: "y" } }, y: {} } });
    const p = loud("p", {
      type: "parallel",
      on: { inner: ".a.y", self: "p" },
      states: { a: region("a"), b: region("b") },
    });
    expect(heard({ p }, "p", "next", "inner")).toEqual({
      configuration: ["p.a.y", "p.b.x"],
      said: ["-b", "-a", "+a", "+b"],
    });
    expect(heard({ p }, "p", "next", "self").configuration).toEqual(["p.a.x", "p.b.x"]);
  });
});

describe("the order of a microstep", () => {
  test("all exits come first, innermost and last in the document first; then actions; then entries", () => {
    const region = (name: string) =>
      loud(name, {
        initial: "x",
        states: {
          x: loud(`${name}x`, { on: { go: { target: "y", actions: { log: `${name}!` } } } }),
          y: loud(`${name}y`),
        },
      });
    const states = { p: { type: "parallel", states: { a: region("a"), b: region("b") } } } as const;
    expect(heard(states, "p", "go").said).toEqual(["-bx", "-ax", "a!", "b!", "+ay", "+by"]);
  });

  test("an update comes before the transition's other actions", () => {
    const machine = defineMachine({
      id: "m",
      start: { n: 0 },
      initial: "a",
      states: {
        a: {
          on: {
            go: {
              update: (draft) => {
                draft.n = 1;
              },
              actions: { log: ({ context }) => context.n },
            },
          },
        },
      },
    });
    const run = simulate(machine);
    run.send("go");
    expect(says(run)).toEqual([1]);
  });

  test("what is active grows and shrinks as the microstep goes", () => {
    const watch = {
      log: (scope: { in(state: string): boolean }) => [scope.in("a"), scope.in("b"), scope.in("b.c")],
    };
    const states = {
      a: { exit: watch, on: { go: { target: "b", actions: watch } } },
      b: { entry: watch, initial: "c", states: { c: { entry: watch } } },
    };
    expect(heard(states, "a", "go").said).toEqual([
      [true, false, false],
      [false, false, false],
      [false, true, false],
      [false, true, true],
    ]);
  });

  test("a state that is left and entered in one microstep is out in between", () => {
    const watch = { log: (scope: { in(state: string): boolean }) => scope.in("a") };
    const states = {
      a: { exit: watch, entry: watch, on: { go: { target: "a", reenter: true, actions: watch } } },
    };
    expect(heard(states, "a", "go").said).toEqual([true, false, true]);
  });
});

describe("eventless transitions", () => {
  test("are taken as soon as their guard holds, and one after the other", () => {
    const machine = defineMachine({
      id: "m",
      start: { n: 0 },
      initial: "a",
      states: {
        a: {
          on: {
            add: {
              update: (draft) => {
                draft.n++;
              },
            },
          },
          always: { guard: ({ context }) => context.n === 2, target: "b" },
        },
        b: { always: "c" },
        c: {},
      },
    });
    const run = simulate(machine);
    expect(run.send("add").state.configuration).toEqual(["a"]);
    expect(run.send("add").state.configuration).toEqual(["c"]);
  });

  test("come before raised events, and those before events from outside", () => {
    const states = {
      a: { on: { go: { target: "b", actions: { raise: "inner" } }, inner: "wrong" } },
      b: { always: { target: "c", actions: { log: "always" } }, on: { inner: "wrong" } },
      c: { on: { inner: { target: "d", actions: { log: "raised" } } } },
      d: {},
      wrong: {},
    };
    expect(heard(states, "a", "go")).toEqual({ configuration: ["d"], said: ["always", "raised"] });
  });

  test("see the event that led there, and may come without any at the start", () => {
    const states = {
      a: {
        always: { guard: ({ event }: { event: { type: string } }) => event.type === "start", target: "b" },
      },
      b: { on: { go: "c" } },
      c: { always: { guard: ({ event }: { event: { type: string } }) => event.type === "go", target: "d" } },
      d: {},
    };
    expect(heard(states, "a").configuration).toEqual(["b"]);
    expect(heard(states, "a", "go").configuration).toEqual(["d"]);
  });

  test("in different regions are taken together", () => {
    const region = { initial: "x", states: { x: { on: { go: "y" } }, y: { always: "z" }, z: {} } };
    const states = { p: { type: "parallel", states: { a: region, b: region } } } as const;
    expect(heard(states, "p", "go").configuration).toEqual(["p.a.z", "p.b.z"]);
  });
});

describe("transitions to several targets", () => {
  const region = { initial: "x", states: { x: {}, y: {} } };
  const states = {
    a: { on: { both: { target: ["p.a.y", "p.c.y"] }, one: "p.b.y" } },
    p: { type: "parallel", states: { a: region, b: region, c: region } },
  } as const;

  test("enter each, and the regions that none of them lies in by default", () => {
    expect(heard(states, "a", "both").configuration).toEqual(["p.a.y", "p.b.x", "p.c.y"]);
    expect(heard(states, "a", "one").configuration).toEqual(["p.a.x", "p.b.y", "p.c.x"]);
  });

  test("cannot be defined to lead to what cannot be active together", () => {
    const define = (...target: string[]) =>
      defineMachine({ id: "m", initial: "a", states: { a: { on: { go: { target } } }, b: {}, p: states.p } });
    expect(() => define("a", "b")).toThrow('cannot lead to "a" and "b" at once');
    expect(() => define("p", "p.a.x")).toThrow('cannot lead to "p" and "p.a.x" at once');
    expect(() => define("p.a", "p.a.x")).toThrow("at once");
    expect(() => define("p.a.x", "p.a.y")).toThrow("at once");
    expect(() => define("p.a.x", "p.a.x")).toThrow("at once");
    expect(define("p.a.x", "p.b").id).toBe("m");
  });
});

describe("event descriptors", () => {
  const target = (on: Record<string, string>, type: string, matching?: "scxml") => {
    const states = Object.fromEntries(Object.values(on).map((name) => [name, {}]));
    const machine = defineMachine({
      id: "m",
      ...(matching === undefined ? {} : { matching }),
      unhandled: "ignore",
      initial: "a",
      states: { ...states, a: { on } },
    });
    return simulate(machine).send(type).state.configuration[0];
  };

  test("a plain key takes exactly its event", () => {
    expect(target({ order: "b" }, "order")).toBe("b");
    expect(target({ order: "b" }, "order.paid")).toBe("a");
    expect(target({ order: "b" }, "orders")).toBe("a");
  });

  test("a prefix takes the event itself and whatever goes on after a dot", () => {
    expect(target({ "order.*": "b" }, "order")).toBe("b");
    expect(target({ "order.*": "b" }, "order.paid.late")).toBe("b");
    expect(target({ "order.*": "b" }, "orders.paid")).toBe("a");
  });

  test("a star takes everything", () => {
    expect(target({ "*": "b" }, "whatever.it.is")).toBe("b");
  });

  test("the most specific key that matches comes first, in whatever order they are written", () => {
    const on = { "*": "any", "order.*": "order", "order.paid.*": "paid", "order.paid.late": "late" };
    expect(target(on, "order.paid.late")).toBe("late");
    expect(target(on, "order.paid.early")).toBe("paid");
    expect(target(on, "order.new")).toBe("order");
    expect(target(on, "else")).toBe("any");
  });

  test("a star does not swallow what after, onDone and invocations wait for", () => {
    const state = (extra: StateDefinition) =>
      simulate(
        defineMachine({
          id: "m",
          initial: "a",
          states: { a: { on: { "*": "wrong" }, ...extra }, b: {}, wrong: {} },
        }),
        { activities: { now: () => 1 } },
      );
    const timed = state({ after: { 10: "b" } });
    timed.advance(10);
    expect(timed.state.configuration).toEqual(["b"]);
    expect(state({ invoke: { activity: "now", onDone: "b" } }).state.configuration).toEqual(["b"]);
    const done = state({ initial: "end", states: { end: { type: "final" } }, onDone: "b" });
    expect(done.state.configuration).toEqual(["b"]);
  });

  test("where the most specific guard says no, the next key that matches is asked", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { on: { "go.*": "prefix", "go.now": { guard: () => false, target: "exact" } } },
        prefix: {},
        exact: {},
      },
    });
    expect(simulate(machine).send("go.now").state.configuration).toEqual(["prefix"]);
  });

  test("a list of handlers is asked in the order of the document, and may name several events each", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          on: [
            { event: "x y", target: "first" },
            { event: ["z", "x"], target: "second" },
            { event: "*", target: "third" },
          ],
        },
        first: {},
        second: {},
        third: {},
      },
    });
    const target = (type: string) => simulate(machine).send(type).state.configuration;
    expect(["x", "y", "z", "other"].map(target)).toEqual([["first"], ["first"], ["second"], ["third"]]);
  });

  test("with SCXML's matching a key takes a prefix of dotted words", () => {
    expect(target({ order: "b" }, "order.paid", "scxml")).toBe("b");
    expect(target({ "order.": "b" }, "order.paid", "scxml")).toBe("b");
    expect(target({ "order.*": "b" }, "order", "scxml")).toBe("b");
    expect(target({ order: "b" }, "orders", "scxml")).toBe("a");
  });
});
