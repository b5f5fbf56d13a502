import { describe, expect, test } from "vitest";
import { defineMachine, type Json, matches, simulate } from "../index.ts";

const says = (run: { logs: readonly { data?: Json }[] }) => run.logs.map(({ data }) => data);

describe("compound states", () => {
  test("entering a compound state enters its initial child, all the way down", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { initial: "b", states: { b: { initial: "c", states: { c: {}, d: {} } }, e: {} } } },
    });
    const { state } = simulate(machine);
    expect(state.configuration).toEqual(["a.b.c"]);
    expect(["a", "a.b", "a.b.c"].map((path) => matches(state, path))).toEqual([true, true, true]);
  });

  test("a parent handles what its child does not, and the child handles it first where both do", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          initial: "b",
          on: { up: "out", both: "out" },
          states: { b: { on: { both: "c" } }, c: {} },
        },
        out: {},
      },
    });
    expect(simulate(machine).send("up").state.configuration).toEqual(["out"]);
    expect(simulate(machine).send("both").state.configuration).toEqual(["a.c"]);
  });

  test("a child whose guard says no leaves the event to its parent", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          initial: "b",
          on: { go: "out" },
          states: { b: { on: { go: { guard: () => false, target: "c" } } }, c: {} },
        },
        out: {},
      },
    });
    expect(simulate(machine).send("go").state.configuration).toEqual(["out"]);
  });

  test("an empty handler keeps an event from the parent", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { initial: "b", on: { go: "out" }, states: { b: { on: { go: {} } } } }, out: {} },
    });
    const run = simulate(machine);
    expect(run.send("go").outcome).toBe("taken");
    expect(run.state.configuration).toEqual(["a.b"]);
  });

  test("the machine itself has handlers, entry and exit actions, a delay and an invocation like any state", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      entry: { log: "in" },
      exit: { log: "out" },
      after: { 10: ".b" },
      invoke: { activity: "watch", onDone: ".c" },
      on: { end: ".done" },
      states: { a: {}, b: {}, c: {}, done: { type: "final" } },
    });
    const run = simulate(machine);
    expect(run.state.activities).toMatchObject([{ id: "", activity: "watch" }]);
    run.advance(10);
    expect(run.state.configuration).toEqual(["b"]);
    run.settle("", { output: 1 });
    expect(run.state.configuration).toEqual(["c"]);
    run.send("end");
    expect(run.state.status).toBe("done");
    expect(says(run)).toEqual(["in", "out"]);
  });
});

test("a handler of the machine names its states as they are, and may start them all again", () => {
  const machine = defineMachine({
    id: "m",
    initial: "a",
    entry: { log: "+m" },
    on: { go: "b", again: { target: "a", reenter: true } },
    states: {
      a: { entry: { log: "+a" } },
      b: { on: { look: { actions: { log: (scope) => scope.in("") } } } },
    },
  });
  const run = simulate(machine);
  run.send("go");
  expect(run.state.configuration).toEqual(["b"]);
  run.send("look");
  run.send("again");
  expect(run.state.configuration).toEqual(["a"]);
  expect(says(run)).toEqual(["+m", "+a", true, "+a"]);
});

describe("targets", () => {
  const states = {
    a: {
      initial: "b",
      states: {
        b: { initial: "c", states: { c: {}, x: {} } },
        d: { initial: "e", states: { e: {}, f: { id: "deep.one", initial: "g", states: { g: {}, h: {} } } } },
      },
    },
    x: {},
  } as const;
  const from = (path: "b" | "c", target: string) => {
    const c = path === "c" ? { on: { go: target } } : {};
    const b = { ...states.a.states.b, states: { c, x: {} }, ...(path === "b" ? { on: { go: target } } : {}) };
    const a = { ...states.a, states: { ...states.a.states, b } };
    return simulate(defineMachine({ id: "m", initial: "a", states: { ...states, a } })).send("go").state
      .configuration;
  };

  test("a name is looked for among siblings first and then among the siblings of each ancestor", () => {
    expect(from("c", "x")).toEqual(["a.b.x"]);
    expect(from("b", "x")).toEqual(["x"]);
    expect(from("c", "d")).toEqual(["a.d.e"]);
  });

  test("a name may go on as a path of keys", () => {
    expect(from("c", "d.f.h")).toEqual(["a.d.f.h"]);
  });

  test("a dot first means a child of the source", () => {
    expect(from("b", ".x")).toEqual(["a.b.x"]);
  });

  test("# names an id, even one with dots in it, and may go on as a path", () => {
    expect(from("c", "#deep.one")).toEqual(["a.d.f.g"]);
    expect(from("c", "#deep.one.h")).toEqual(["a.d.f.h"]);
  });

  test("a target that leads into nothing is a problem of the definition", () => {
    expect(() => from("c", "d.nowhere")).toThrow('names no state: "d.nowhere"');
    expect(() => from("c", "#deep.nowhere")).toThrow("names no state");
    expect(() => from("c", "#")).toThrow("names no state");
    expect(() => from("c", "")).toThrow("names no state");
  });
});

describe("initials", () => {
  test("an initial may lie deep inside", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a.b.c",
      states: { a: { initial: "x", states: { x: {}, b: { initial: "y", states: { y: {}, c: {} } } } } },
    });
    expect(simulate(machine).state.configuration).toEqual(["a.b.c"]);
  });

  test("an initial may be given by .child or by #id", () => {
    const states = { a: {}, b: { initial: "c", states: { c: {}, d: { id: "dee" } } } };
    expect(simulate(defineMachine({ id: "m", initial: ".b", states })).state.configuration).toEqual(["b.c"]);
    expect(simulate(defineMachine({ id: "m", initial: "#dee", states })).state.configuration).toEqual([
      "b.d",
    ]);
  });

  test("an initial may name states in several regions, and the others start as they always do", () => {
    const region = { initial: "one", states: { one: {}, two: {} } };
    const machine = defineMachine({
      id: "m",
      initial: { target: ["p.a.two", "p.c.two"] },
      states: { p: { type: "parallel", states: { a: region, b: region, c: region } } },
    });
    expect(simulate(machine).state.configuration).toEqual(["p.a.two", "p.b.one", "p.c.two"]);
  });

  test("an initial's actions run after the entry of its state and before that of its child", () => {
    const machine = defineMachine({
      id: "m",
      start: { from: "" },
      initial: "a",
      states: {
        a: {
          entry: { log: "a" },
          initial: {
            target: "b",
            update: (draft) => {
              draft.from = "initial";
            },
            actions: { log: ({ context }) => context.from },
          },
          states: { b: { entry: { log: "b" } } },
        },
      },
    });
    const run = simulate(machine);
    expect(says(run)).toEqual(["a", "initial", "b"]);
    expect(run.state.context).toEqual({ from: "initial" });
  });

  test("an initial's actions do not run when a transition leads past it", () => {
    const machine = defineMachine({
      id: "m",
      initial: "z",
      states: {
        z: { on: { past: "a.c", through: "a" } },
        a: { initial: { target: "b", actions: { log: "initial" } }, states: { b: {}, c: {} } },
      },
    });
    const past = simulate(machine);
    past.send("past");
    expect([past.state.configuration, says(past)]).toEqual([["a.c"], []]);
    const through = simulate(machine);
    through.send("through");
    expect([through.state.configuration, says(through)]).toEqual([["a.b"], ["initial"]]);
  });
});

describe("A3", () => {
  const checkout = defineMachine({
    id: "payment",
    start: ({ input }: { input: { amount: number } }) => ({ amount: input.amount }),
    initial: "charging",
    states: {
      charging: { on: { charged: "paid" } },
      paid: { type: "final", output: ({ context }) => ({ receipt: context.amount }) },
    },
  });
  const shop = defineMachine({
    id: "shop",
    start: { price: 5, seen: [] as string[], receipt: 0 },
    initial: "browsing",
    // Inherited by every state below.
    on: { help: { actions: { log: ({ context }) => `price ${context.price}` } }, pause: ".paused" },
    states: {
      browsing: {
        initial: "list",
        states: {
          list: { on: { open: "detail" } },
          detail: {
            initial: "text",
            entry: {
              update: (draft) => {
                draft.seen.push("detail");
              },
            },
            states: {
              text: { on: { next: "images", buy: "#paying" } },
              images: {
                // A guard deep down sees the whole context.
                on: { buy: { guard: ({ context }) => context.price < 10, target: "#paying" } },
              },
            },
          },
          recent: { type: "history", target: "list" },
          exactly: { type: "history", history: "deep", target: "list" },
        },
      },
      paused: { on: { resume: "browsing.recent", resumeExactly: "browsing.exactly" } },
      paying: {
        id: "paying",
        invoke: {
          machine: checkout,
          input: ({ context }) => ({ amount: context.price }),
          onDone: {
            target: "sold",
            update: (draft, { event }) => {
              draft.receipt = event.data.receipt;
            },
          },
        },
        on: { charge: { actions: { send: { type: "charged", to: { child: "paying" } } } } },
      },
      sold: { type: "final" },
    },
  });

  test("A3: nested states inherit their parents' handlers and see the whole context", () => {
    const run = simulate(shop);
    run.send("open");
    run.send("next");
    expect(run.state.configuration).toEqual(["browsing.detail.images"]);
    expect(run.send("help").outcome).toBe("taken");
    expect(says(run)).toEqual(["price 5"]);
    expect(run.send("buy").state.configuration).toEqual(["paying"]);
  });

  test("A3: a transition crosses levels, leaving what is left and entering what is entered", () => {
    const run = simulate(shop);
    run.send("open");
    run.send("buy");
    expect(run.state.configuration).toEqual(["paying"]);
    expect(run.state.context.seen).toEqual(["detail"]);
  });

  test("A3: shallow history comes back to the child, deep history to the very leaf", () => {
    const run = simulate(shop);
    run.send("open");
    run.send("next");
    run.send("pause");
    expect(run.send("resume").state.configuration).toEqual(["browsing.detail.text"]);
    run.send("next");
    run.send("pause");
    expect(run.send("resumeExactly").state.configuration).toEqual(["browsing.detail.images"]);
  });

  test("A3: a machine is used as the child of another, with input, messages and a result", () => {
    const run = simulate(shop);
    run.send("open");
    run.send("buy");
    const child = run.state.children[0];
    expect(run.run(`shop/paying:${child?.key}`)).toMatchObject({
      machine: "payment",
      context: { amount: 5 },
    });
    run.send("charge");
    expect(run.state).toMatchObject({ status: "done", context: { receipt: 5 }, children: [] });
  });

  test("A3: a machine's states are used as a state of another", () => {
    const { initial, states } = checkout.definition;
    const machine = defineMachine({
      id: "composed",
      start: { amount: 3 },
      initial: "pay",
      states: { pay: { initial, states, onDone: "thanks" }, thanks: {} } as never,
    });
    const run = simulate(machine);
    expect(run.state.configuration).toEqual(["pay.charging"]);
    run.send("charged");
    expect(run.state.configuration).toEqual(["thanks"]);
  });
});
