import { describe, expect, test } from "vitest";
import { type ActionList, defineMachine, type Json, simulate, start, step } from "../index.ts";

const says = (run: { logs: readonly { data?: Json }[] }) => run.logs.map(({ data }) => data);

/** A machine that does these on `go`. */
function doing(actions: ActionList<{ n: number }>) {
  return defineMachine({
    id: "m",
    start: { n: 1 },
    initial: "a",
    states: {
      a: { on: { go: { actions }, inner: { actions: { log: "inner" } }, x: { actions: { log: "x" } } } },
    },
  });
}

/** The effects of `go`. */
function effectsOf(actions: ActionList<{ n: number }>) {
  const machine = doing(actions);
  return step(machine, start(machine, undefined, { at: 0 }).state, { type: "go" }, { at: 1000 }).effects;
}

describe("entry, exit and transition actions", () => {
  test("run in the order they are written, each seeing what the ones before it did", () => {
    const add = (text: string) => ({
      update: (draft: { text: string }) => {
        draft.text += text;
      },
    });
    const machine = defineMachine({
      id: "m",
      start: { text: "" },
      initial: "a",
      states: {
        a: {
          entry: [add("1"), add("2")],
          exit: [add("3"), add("4")],
          on: { go: { target: "b", update: add("5").update, actions: [add("6"), add("7")] } },
        },
        b: { entry: add("8") },
      },
    });
    expect(simulate(machine).send("go").state.context.text).toBe("12345678");
  });

  test("updates may be named, and the name bound in the definition or afterwards", () => {
    const machine = defineMachine<{ n: number }>({
      id: "m",
      start: { n: 1 },
      initial: "a",
      states: { a: { on: { go: { update: "double", actions: { update: "double" } } } } },
    });
    expect(machine.missing).toEqual(['update "double"']);
    const double = (draft: { n: number }) => {
      draft.n *= 2;
    };
    expect(simulate(machine.implement({ updates: { double } })).send("go").state.context.n).toBe(4);
  });

  test("an update's return value is ignored, and one that changes nothing keeps the context", () => {
    const machine = doing({ update: () => ({ n: 99 }) });
    const { state } = start(machine, undefined, { at: 0 });
    expect(step(machine, state, { type: "go" }, { at: 0 }).state.context).toBe(state.context);
  });
});

describe("raise", () => {
  test("gives the machine an event of its own, taken in the same step, in order", () => {
    const run = simulate(doing([{ raise: "inner" }, { raise: { type: "x" } }, { log: "first" }]));
    const before = run.state.seq;
    run.send("go");
    expect(says(run)).toEqual(["first", "inner", "x"]);
    expect(run.state.seq).toBe(before + 1);
  });

  test("takes a type and data that may be computed, or a function that gives the whole event", () => {
    const machine = defineMachine({
      id: "m",
      start: { n: 1 },
      initial: "a",
      states: {
        a: {
          on: {
            one: {
              actions: {
                raise: { type: ({ context }) => `x${context.n}`, data: ({ context }) => context.n },
              },
            },
            two: { actions: { raise: ({ context }) => ({ type: "x1", data: { n: context.n } }) } },
            x1: { actions: { log: ({ event }) => ({ ...event }) as Json } },
          },
        },
      },
    });
    const run = simulate(machine);
    run.send("one");
    run.send("two");
    expect(says(run)).toEqual([
      { type: "x1", data: 1, kind: "internal" },
      { type: "x1", data: { n: 1 }, kind: "internal" },
    ]);
  });

  test("of what no state takes is forgotten, whatever the policy for events from outside", () => {
    const machine = defineMachine({
      id: "m",
      unhandled: "reject",
      initial: "a",
      states: { a: { on: { go: { actions: { raise: "nobody" } } } } },
    });
    expect(simulate(machine).send("go")).toMatchObject({ outcome: "taken", errors: [] });
  });
});

describe("send", () => {
  test("to the run itself goes out and comes back as an event of its own", () => {
    expect(effectsOf({ send: "x" })).toEqual([
      { type: "send", key: "2.0", to: "self", event: { type: "x" } },
    ]);
    const run = simulate(doing([{ send: { type: "x" } }, { raise: "inner" }]));
    run.send("go");
    expect(says(run)).toEqual(["inner", "x"]);
  });

  test("to internal joins the raised events", () => {
    const run = simulate(doing([{ send: { type: "x", to: "internal" } }, { send: "x" }, { raise: "inner" }]));
    run.send("go");
    expect(says(run)).toEqual(["x", "inner", "x"]);
  });

  test("carries data, an id and an address, each of which may be computed", () => {
    expect(
      effectsOf([
        {
          send: {
            type: ({ context }) => `t${context.n}`,
            data: ({ context }) => ({ n: context.n }),
            id: ({ context }) => `id${context.n}`,
            to: ({ context }) => ({ run: `other${context.n}` }),
            via: "pigeon",
          },
        },
        { send: ({ context }) => ({ type: "f", data: context.n, to: "parent", id: "fid" }) },
        { send: () => ({ type: "g" }) },
        { send: { type: "u", to: { url: "http://somewhere" } } },
      ]),
    ).toEqual([
      {
        type: "send",
        key: "2.0",
        to: { run: "other1" },
        via: "pigeon",
        event: { type: "t1", data: { n: 1 }, sendId: "id1" },
      },
      { type: "send", key: "2.1", to: "parent", event: { type: "f", data: 1, sendId: "fid" } },
      { type: "send", key: "2.2", to: "self", event: { type: "g" } },
      { type: "send", key: "2.3", to: { url: "http://somewhere" }, event: { type: "u" } },
    ]);
  });

  test("with a delay becomes a timer with its due time, in the state and as an effect", () => {
    const machine = doing([
      { send: { type: "x", delay: "2s", id: "soon" } },
      { send: { type: "x", delay: ({ context }) => context.n * 50, to: "parent", via: "pigeon" } },
      { send: () => ({ type: "x", delay: 5 }) },
      { send: { type: "x", delay: 0 } },
    ]);
    const { state, effects } = step(
      machine,
      start(machine, undefined, { at: 0 }).state,
      { type: "go" },
      { at: 1000 },
    );
    expect(state.timers).toEqual([
      { key: "2.0", id: "soon", due: 3000, event: { type: "x", sendId: "soon" } },
      { key: "2.1", due: 1050, event: { type: "x" }, to: "parent", via: "pigeon" },
      { key: "2.2", due: 1005, event: { type: "x" } },
    ]);
    expect(effects).toEqual([
      { type: "timer", key: "2.0", due: 3000 },
      { type: "timer", key: "2.1", due: 1050 },
      { type: "timer", key: "2.2", due: 1005 },
      { type: "send", key: "2.3", to: "self", event: { type: "x" } },
    ]);
  });

  test("computes its parts when it is sent, not when it is delivered", () => {
    const machine = defineMachine({
      id: "m",
      start: { n: 1 },
      initial: "a",
      states: {
        a: {
          on: {
            go: {
              actions: [
                { send: { type: "x", delay: 10, data: ({ context }) => context.n } },
                {
                  update: (draft) => {
                    draft.n = 2;
                  },
                },
              ],
            },
            x: { actions: { log: ({ event }) => event.data as Json } },
          },
        },
      },
    });
    const run = simulate(machine);
    run.send("go");
    run.advance(10);
    expect(says(run)).toEqual([1]);
  });

  test("to a child that is not there is an error of communication inside the step", () => {
    const run = simulate(doing({ send: { type: "x", to: { child: "nobody" }, id: "mine" } }));
    expect(run.send("go").errors).toEqual([
      {
        type: "error.communication",
        kind: "platform",
        sendId: "mine",
        data: { message: 'There is nobody at {"child":"nobody"}' },
      },
    ]);
  });

  test("to an address the caller says is not there is an error of communication inside the step", () => {
    const machine = doing([
      { send: { type: "x", to: { run: "gone" } } },
      { send: { type: "x", to: { run: "here" } } },
    ]);
    const taken = step(
      machine,
      start(machine, undefined, { at: 0 }).state,
      { type: "go" },
      {
        at: 0,
        reachable: (to) => typeof to === "object" && "run" in to && to.run === "here",
      },
    );
    expect(taken.errors).toMatchObject([{ type: "error.communication" }]);
    expect(taken.effects).toMatchObject([{ type: "send", to: { run: "here" } }]);
  });

  test("to what is no address is an error event that names the place and carries the send's id", () => {
    for (const to of ["nowhere", 5, null, {}, { child: 1 }, { run: "a", url: "b" }, { email: "x" }]) {
      const run = simulate(
        doing([{ send: { type: "x", id: "mine", to: (() => to) as never } }, { log: "not reached" }]),
      );
      expect(run.send("go").errors).toMatchObject([{ type: "error.execution", sendId: "mine" }]);
      expect(run.last.errors[0]?.data).toMatchObject({
        message: `states.a.on.go.actions[0].send.to is ${JSON.stringify(to)}; write "self", "internal", "parent", { child }, { run } or { url }`,
      });
      expect(says(run)).toEqual([]);
    }
  });

  test("of parts that are not what they should be is an error event", () => {
    const message = (actions: ActionList<{ n: number }>) =>
      simulate(doing(actions)).send("go").errors[0]?.data;
    expect(message({ send: { type: () => 5 as never } })).toMatchObject({
      message: "states.a.on.go.actions.send.type must be text, and is 5",
    });
    expect(message({ send: { type: "x", via: () => 5 as never } })).toMatchObject({
      message: "states.a.on.go.actions.send.via must be text, and is 5",
    });
    expect(message({ send: () => ({}) })).toMatchObject({
      message: "states.a.on.go.actions.send must give an event with a type",
    });
    expect(message({ send: () => null as never })).toMatchObject({ name: "TypeError" });
    expect(message({ send: () => ({ type: "x", data: Number.NaN }) })).toMatchObject({ code: "NOT_JSON" });
    expect(message({ send: { type: "x", delay: () => "soon" } })).toMatchObject({ code: "DURATION_INVALID" });
    expect(message({ raise: () => null as never })).toMatchObject({
      message: "states.a.on.go.actions.raise must give an event with a type",
    });
    expect(message({ cancel: () => 5 as never })).toMatchObject({ name: "TypeError" });
    expect(message({ log: () => new Date() as never })).toMatchObject({ code: "NOT_JSON" });
  });

  test("for somewhere outside may go without a type", () => {
    expect(effectsOf({ send: { to: { url: "http://there" }, data: "just this" } })).toEqual([
      { type: "send", key: "2.0", to: { url: "http://there" }, event: { type: "", data: "just this" } },
    ]);
  });

  test("via nothing goes from run to run", () => {
    expect(effectsOf({ send: { type: "x", to: "parent", via: () => undefined as never } })).toEqual([
      { type: "send", key: "2.0", to: "parent", event: { type: "x" } },
    ]);
  });
});

describe("cancel", () => {
  test("takes back the delayed sends of that id, and only those", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          after: { 20: { actions: { log: "after" } } },
          on: {
            plan: {
              actions: [
                { send: { type: "x", delay: 10, id: "one" } },
                { send: { type: "x", delay: 11, id: "one" } },
                { send: { type: "y", delay: 12, id: "two" } },
              ],
            },
            stop: { actions: [{ cancel: "one" }, { cancel: () => "nothing" }] },
            x: { actions: { log: "x" } },
            y: { actions: { log: "y" } },
          },
        },
      },
    });
    const run = simulate(machine);
    run.send("plan");
    expect(run.send("stop").effects).toEqual([
      { type: "cancel", of: "timer", key: "2.0", id: "one" },
      { type: "cancel", of: "timer", key: "2.1", id: "one" },
    ]);
    run.advance(30);
    expect(says(run)).toEqual(["y", "after"]);
  });

  test("does not reach what has gone out already", () => {
    const run = simulate(doing([{ send: { type: "x", id: "one" } }, { cancel: "one" }]));
    run.send("go");
    expect(says(run)).toEqual(["x"]);
  });
});

test("emit tells whoever listens, with the event as it is now", () => {
  const run = simulate(
    doing([
      { emit: "ping" },
      { emit: { type: "pong", data: ({ context }) => context.n } },
      { emit: () => ({ type: "f" }) },
    ]),
  );
  run.send("go");
  expect(run.emitted).toEqual([
    { run: "m", type: "emit", event: { type: "ping" } },
    { run: "m", type: "emit", event: { type: "pong", data: 1 } },
    { run: "m", type: "emit", event: { type: "f" } },
  ]);
});

test("log gives a value, with its label if it has one", () => {
  expect(
    effectsOf([
      { log: ({ context }) => context.n, label: "n" },
      { log: "text" },
      { log: () => undefined as never },
    ]),
  ).toEqual([{ type: "log", label: "n", data: 1 }, { type: "log", data: "text" }, { type: "log" }]);
});

describe("spawn and stop", () => {
  const child = defineMachine({ id: "kid", initial: "a", states: { a: {} }, exit: { log: "stopped" } });

  test("a spawned child is pending in the state, belongs to no state, and is stopped by its id", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          on: {
            plain: { actions: { spawn: "kid" } },
            full: {
              actions: {
                spawn: { machine: child, id: ({ event }) => `k-${event.type}`, input: () => ({ x: 1 }) },
              },
            },
            away: "b",
          },
        },
        b: { on: { stop: { actions: { stop: "k-full" } } } },
      },
    });
    const run = simulate(machine, { machines: () => child });
    expect(run.send("plain").effects).toEqual([{ type: "spawn", key: "2.0", id: "2.0", machine: "kid" }]);
    expect(run.send("full").effects).toEqual([
      { type: "spawn", key: "3.0", id: "k-full", machine: "kid", input: { x: 1 } },
    ]);
    run.send("away");
    expect(run.state.children).toEqual([
      { key: "2.0", id: "2.0", machine: "kid" },
      { key: "3.0", id: "k-full", machine: "kid" },
    ]);
    expect(run.send("stop").effects).toEqual([{ type: "cancel", of: "child", key: "3.0", id: "k-full" }]);
    expect(run.state.children).toHaveLength(1);
    expect(says(run)).toEqual(["stopped"]);
    expect(machine.machines.kid).toBe(child);
  });

  test("stopping what is not there does nothing", () => {
    expect(effectsOf({ stop: "nobody" })).toEqual([]);
  });
});

describe("choose", () => {
  const branch = (n: number) => {
    const run = simulate(
      defineMachine({
        id: "m",
        start: { n },
        initial: "a",
        states: {
          a: {
            entry: {
              choose: [
                { guard: ({ context }) => context.n > 5, actions: [{ log: "large" }, { log: "very" }] },
                { guard: { not: { in: "a" } }, actions: { log: "never" } },
                { actions: { log: "small" } },
                { actions: { log: "not reached" } },
              ],
            },
          },
        },
      }),
    );
    return says(run);
  };

  test("does the first branch whose guard holds; one without a guard always does", () => {
    expect([branch(9), branch(1)]).toEqual([["large", "very"], ["small"]]);
  });

  test("does nothing where no guard holds, or the branch is empty", () => {
    expect(effectsOf({ choose: [{ guard: () => false, actions: { log: "no" } }] })).toEqual([]);
    expect(effectsOf({ choose: [{ guard: () => true }] })).toEqual([]);
  });

  test("a guard that fails is false and an error event, and the next branch is asked", () => {
    const fail = () => {
      throw new Error("unsure");
    };
    const run = simulate(
      doing({ choose: [{ guard: fail, actions: { log: "no" } }, { actions: { log: "else" } }] }),
    );
    expect(run.send("go").errors).toMatchObject([{ type: "error.execution", data: { message: "unsure" } }]);
    expect(says(run)).toEqual(["else"]);
  });

  test("an error in a branch stops the block around it", () => {
    const run = simulate(
      doing([{ choose: [{ actions: { log: () => BigInt(1) as never } }] }, { log: "not reached" }]),
    );
    run.send("go");
    expect(says(run)).toEqual([]);
  });
});
