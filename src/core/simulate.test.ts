import { describe, expect, test } from "vitest";
import {
  defineMachine,
  type Event,
  type Json,
  limits,
  type Machine,
  settledEvent,
  simulate,
} from "../index.ts";

const says = (run: { logs: readonly { data?: Json }[] }) => run.logs.map(({ data }) => data);

/** Says what it hears, and its time. */
const listener = (id = "listener") =>
  defineMachine({
    id,
    initial: "a",
    states: { a: { on: { "*": { actions: { log: ({ event }) => event.type } } } } },
  });

describe("the virtual clock", () => {
  const machine = defineMachine({
    id: "m",
    initial: "a",
    states: {
      a: {
        entry: [
          { send: { type: "late", delay: 30 } },
          { send: { type: "early", delay: 10 } },
          { send: { type: "also early", delay: 10 } },
        ],
        on: { "*": { actions: { log: ({ event }) => event.type } } },
      },
    },
  });

  test("moves only when it is told to, and fires timers in order of their due time, then of their making", () => {
    const run = simulate(machine);
    expect([run.now, says(run)]).toEqual([0, []]);
    run.advance(9);
    expect([run.now, says(run)]).toEqual([9, []]);
    run.advance(1);
    expect([run.now, says(run)]).toEqual([10, ["early", "also early"]]);
    run.advance("1 min");
    expect([run.now, says(run)]).toEqual([60_010, ["early", "also early", "late"]]);
  });

  test("starts where it is told, and timers started on the way fire in the same advance", () => {
    const ticking = defineMachine({
      id: "m",
      start: { ticks: [] as number[] },
      initial: "a",
      states: {
        a: {
          after: { 10: { target: "a", reenter: true } },
          exit: {
            update: (draft) => {
              draft.ticks.push(draft.ticks.length);
            },
          },
        },
      },
    });
    const run = simulate(ticking, { at: 1_000_000 });
    expect(run.state.timers[0]?.due).toBe(1_000_010);
    run.advance(35);
    expect(run.state.context.ticks).toEqual([0, 1, 2]);
    expect(run.state.timers[0]?.due).toBe(1_000_040);
  });

  test("refuses a duration that is none", () => {
    expect(() => simulate(machine).advance("a while")).toThrow(
      expect.objectContaining({ code: "DURATION_INVALID" }),
    );
  });
});

describe("events", () => {
  test("are taken one at a time, and send gives the step the event led to", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { on: { go: { target: "b", actions: { send: "then" } } } },
        b: { on: { then_: "c" } },
        c: {},
      },
      unhandled: "ignore",
    });
    const run = simulate(machine);
    const taken = run.send("go");
    expect(taken).toMatchObject({ outcome: "taken", state: { configuration: ["b"] } });
    expect(run.last).toMatchObject({ outcome: "ignored" });
  });

  test("may be whole events, and the same object may be sent again", () => {
    const run = simulate(listener());
    const event: Event = { type: "same" };
    run.deliver(event);
    run.deliver(event);
    expect(says(run)).toEqual([]);
    run.advance(0);
    expect(says(run)).toEqual(["same", "same"]);
  });

  test("come one at a time to whoever wants to look at each turn", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      entry: [{ log: "hello" }, { emit: "bell" }],
      states: { a: { on: { go: { actions: { send: { type: "out", to: { url: "http://there" } } } } } } },
    });
    const run = simulate(machine, { settle: false });
    expect(says(run)).toEqual([]);
    expect(run.turn()).toMatchObject({ run: "m", effect: { type: "log", data: "hello" } });
    expect(run.turn()).toMatchObject({ effect: { type: "emit" } });
    expect(run.turn()).toBeUndefined();
    run.deliver({ type: "go" });
    expect(run.turn()).toMatchObject({ event: { type: "go" }, step: { outcome: "taken" } });
    expect(run.turn()).toMatchObject({
      outside: { type: "send", to: { url: "http://there" }, event: { type: "out" } },
    });
    expect(run.turn()).toBeUndefined();
  });

  test("to a run that is not there are refused", () => {
    expect(() => simulate(listener()).deliver({ type: "x" }, "nobody")).toThrow(
      'There is no run "nobody" here',
    );
  });

  test("that leave the simulation come back as an error, since nobody listens outside", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          on: {
            url: { actions: { send: { type: "x", to: { url: "http://there" }, id: "mine" } } },
            via: { actions: { send: { type: "x", via: "pigeon" } } },
            "error.communication": {
              actions: { log: ({ event }) => [event.sendId ?? "none", event.data as Json] },
            },
          },
        },
      },
    });
    const run = simulate(machine);
    run.send("url");
    run.send("via");
    expect(says(run)).toEqual([
      ["mine", { message: 'There is nobody at {"url":"http://there"}' }],
      ["none", { message: 'There is nobody at "self"' }],
    ]);
  });

  test("to addresses that do not exist are errors inside the step", () => {
    const send = (to: never) =>
      simulate(
        defineMachine({
          id: "m",
          initial: "a",
          states: { a: { on: { go: { actions: { send: { type: "x", to } } } } } },
        }),
      ).send("go").errors.length;
    expect(send("parent" as never)).toBe(1);
    expect(send({ run: "nobody" } as never)).toBe(1);
    expect(send({ url: "" } as never)).toBe(1);
    expect(send({ child: "nobody" } as never)).toBe(1);
    expect(send({ run: "m" } as never)).toBe(0);
  });

  test("a run may send to itself by its own id, even while it starts", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { entry: { send: { type: "x", to: { run: "me" } } }, on: { x: "b" } }, b: {} },
    });
    expect(simulate(machine, { run: "me" }).state.configuration).toEqual(["b"]);
  });
});

describe("activities", () => {
  const machine = defineMachine({
    id: "m",
    start: { got: null as Json },
    initial: "a",
    states: {
      a: {
        invoke: {
          activity: "job",
          id: "j",
          input: { n: 2 },
          onDone: {
            target: "b",
            update: (draft, { event }) => {
              draft.got = event.data ?? "nothing";
            },
          },
          onError: {
            target: "c",
            update: (draft, { event }) => {
              draft.got = event.data;
            },
          },
        },
      },
      b: {},
      c: {},
    },
  });

  test("are done at once by the functions given for them", () => {
    const done = simulate(machine, { activities: { job: (input) => (input as { n: number }).n * 21 } });
    expect(done.state).toMatchObject({ configuration: ["b"], context: { got: 42 } });
    expect(simulate(machine, { activities: { job: () => undefined } }).state.context.got).toBe("nothing");
  });

  test("fail as those functions do", () => {
    const job = () => {
      throw new RangeError("too much");
    };
    expect(simulate(machine, { activities: { job } }).state).toMatchObject({
      configuration: ["c"],
      context: { got: { name: "RangeError", message: "too much" } },
    });
  });

  test("without one stay pending until they are settled", () => {
    const run = simulate(machine);
    expect(() => run.settle("other", {})).toThrow('There is no activity "other" under way; pending: j');
    expect(run.settle("j", { error: "broken" }).state).toMatchObject({
      configuration: ["c"],
      context: { got: "broken" },
    });
    expect(() => run.settle("j", {})).toThrow("pending: none");
  });

  test("may end unknown", () => {
    const run = simulate(machine);
    run.send(settledEvent({ id: "j", key: "1.0" }, { unknown: "who knows" }));
    expect(run.state).toMatchObject({ configuration: ["a"], activities: [] });
  });

  test("are found by their own names only", () => {
    const odd = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { invoke: { activity: "constructor" } } },
    });
    expect(simulate(odd, { activities: {} }).state.activities).toHaveLength(1);
  });
});

describe("child machines", () => {
  const child = defineMachine({
    id: "child",
    initial: "a",
    states: {
      a: {
        after: { 10: { actions: { send: { type: "ping", to: "parent" } } } },
        on: { end: "end", note: { actions: { log: "noted" } } },
        exit: { log: "bye" },
      },
      end: { type: "final", output: "result" },
    },
  });
  const parent = defineMachine({
    id: "parent",
    start: { pings: 0, from: "" },
    initial: "a",
    states: {
      a: {
        invoke: { machine: child, id: "kid", onDone: "b" },
        on: {
          ping: {
            update: (draft, { event }) => {
              draft.pings++;
              draft.from = `${event.origin} ${event.invokeId}`;
            },
          },
          finish: { actions: { send: { type: "end", to: { child: "kid" } } } },
          leave: "b",
        },
      },
      b: {},
    },
  });

  test("run on the same clock, under an id of their own, and their events say where they come from", () => {
    const run = simulate(parent, { run: "top" });
    expect(run.run("top/kid:1.0")).toMatchObject({ machine: "child", status: "active" });
    run.advance(10);
    expect(run.state.context).toEqual({ pings: 1, from: "top/kid:1.0 kid" });
  });

  test("that end tell their parent and are gone", () => {
    const run = simulate(parent, { run: "top" });
    run.send("finish");
    expect(run.state.configuration).toEqual(["b"]);
    expect(run.run("top/kid:1.0")).toBeUndefined();
    expect(says(run)).toEqual(["bye"]);
  });

  test("that are no longer wanted are cancelled with all their children, and tell nobody", () => {
    const middle = defineMachine({
      id: "middle",
      initial: "a",
      states: { a: { invoke: { machine: child }, exit: { log: "middle" } } },
    });
    const top = defineMachine({
      id: "top",
      initial: "a",
      states: { a: { invoke: { machine: middle }, on: { leave: "b" } }, b: {} },
    });
    const run = simulate(top);
    run.send("leave");
    expect(says(run)).toEqual(["middle", "bye"]);
    run.advance(100);
    expect(run.state.configuration).toEqual(["b"]);
  });

  test("hear others by their run's id", () => {
    const run = simulate(parent, { run: "top" });
    run.deliver({ type: "note" }, "top/kid:1.0");
    run.advance(0);
    expect(run.logs).toEqual([{ type: "log", data: "noted", run: "top/kid:1.0" }]);
  });

  test("are found by name where the machine does not bring them", () => {
    const by = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { invoke: { machine: "child", onDone: "b" } }, b: {} },
    });
    const machines = (name: string) => (name === "child" ? (child as unknown as Machine) : undefined);
    expect(simulate(by, { machines }).run("m/a:1.0")?.machine).toBe("child");
  });

  test("that fail to start are an error of their parent's invocation", () => {
    const bad = defineMachine({
      id: "bad",
      invariants: { never: () => false },
      initial: "a",
      states: { a: {} },
    });
    const starts = (machine: Machine | string) =>
      simulate(
        defineMachine({ id: "m", initial: "a", states: { a: { invoke: { machine, onError: "b" } }, b: {} } }),
      ).state.configuration;
    expect(starts(bad)).toEqual(["b"]);
    expect(starts("constructor")).toEqual(["b"]);
  });

  test("that end without output, or just as they are no longer wanted, are gone without more ado", () => {
    const brief = defineMachine({ id: "brief", initial: "end", states: { end: { type: "final" } } });
    const waiting = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { invoke: { machine: brief, onDone: "b" }, on: { leave: "c" } },
        b: { entry: { log: ({ event }) => event.data === undefined } },
        c: {},
      },
    });
    expect(says(simulate(waiting))).toEqual([true]);
    const run = simulate(waiting, { settle: false });
    expect(run.turn()).toMatchObject({ effect: { type: "spawn" } });
    run.deliver({ type: "leave" });
    run.advance(0);
    expect(run.state.configuration).toEqual(["c"]);
    expect(run.run("m/a:1.0")).toBeUndefined();
  });

  test("that could not be started are given up in peace", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { invoke: { machine: "nobody knows" }, on: { leave: "b" } }, b: {} },
    });
    const run = simulate(machine, { settle: false });
    run.deliver({ type: "leave" });
    run.turn();
    run.turn();
    run.turn();
    run.advance(0);
    expect(run.state).toMatchObject({ configuration: ["b"], children: [] });
  });

  test("an event for a child that could not be started is an error event", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          on: {
            go: {
              actions: [
                { spawn: { machine: "nobody knows", id: "kid" } },
                { send: { type: "hello", to: { child: "kid" }, id: "greeting" } },
              ],
            },
            "error.*": { actions: { log: ({ event }) => [event.type, event.sendId ?? ""] } },
          },
        },
      },
    });
    const run = simulate(machine);
    run.send("go");
    expect(says(run)).toEqual([
      ["error.communication", "greeting"],
      ["error.invoke.kid", ""],
    ]);
    expect(run.state.children).toEqual([]);
  });
});

describe("priorities", () => {
  test("decide in each run which of its waiting events goes first", () => {
    const machine = defineMachine({
      id: "m",
      priorities: { "alarm.*": 2, chat: -1 },
      initial: "a",
      states: { a: { on: { "*": { actions: { log: ({ event }) => event.type } } } } },
    });
    const run = simulate(machine);
    for (const type of ["chat", "work", "alarm.fire", "work", "alarm"]) run.deliver({ type });
    run.advance(0);
    expect(says(run)).toEqual(["alarm.fire", "alarm", "work", "work", "chat"]);
  });
});

describe("options", () => {
  test("restore sends every state through JSON after every step, and nothing changes", () => {
    const machine = defineMachine({
      id: "m",
      start: { n: 0 },
      initial: "a",
      states: {
        a: {
          initial: "x",
          after: { 10: "b" },
          defer: ["later"],
          states: { x: { on: { next: "y" } }, y: {}, h: { type: "history", history: "deep", target: "x" } },
        },
        b: { on: { later: "c", back: "a.h" } },
        c: { on: { back: "a.h" } },
      },
    });
    const play = (restore: boolean) => {
      const run = simulate(machine, { restore });
      const seen: unknown[] = [];
      for (const act of [
        () => run.send("next"),
        () => run.send("later"),
        () => run.advance(10),
        () => run.send("back"),
      ]) {
        act();
        seen.push(structuredClone(run.state));
      }
      return seen;
    };
    expect(play(true)).toEqual(play(false));
    expect(Object.isFrozen(simulate(machine, { restore: true }).state)).toBe(false);
  });

  test("input and environment are given to each run, and a trace is made if asked for", () => {
    const seen: string[] = [];
    const child = defineMachine({ id: "child", initial: "a", states: { a: {} } });
    const machine = defineMachine({
      id: "m",
      start: ({ input }: { input: { n: number } }) => ({ n: input.n }),
      initial: "a",
      states: { a: { invoke: { machine: child }, on: { go: {} } } },
    });
    const environment = (run: string) => {
      seen.push(run);
      return {};
    };
    const run = simulate(machine, { input: { n: 7 }, environment, trace: true });
    expect(run.state.context).toEqual({ n: 7 });
    expect(new Set(seen)).toEqual(new Set(["m", "m/a:1.0"]));
    expect(run.send("go").trace?.microsteps).toHaveLength(1);
    expect(simulate(machine, { input: { n: 7 } }).send("go").trace).toBeUndefined();
  });
});

describe("a simulation that never rests", () => {
  /** `go` takes `2 * sends + 1` turns, and each `idle` one. */
  const sending = defineMachine<{ left: number }>({
    id: "m",
    start: ({ input }) => ({ left: input as number }),
    initial: "a",
    states: {
      a: {
        on: {
          idle: {},
          go: {
            guard: ({ context }) => context.left > 0,
            update: (draft) => {
              draft.left--;
            },
            actions: { send: "go" },
          },
        },
      },
    },
  });
  const afterTurns = (turns: number) => {
    const run = simulate(sending, { input: (turns - 2) / 2 });
    run.deliver({ type: "idle" });
    run.send("go");
    return run.state.context.left;
  };

  test("may take as many turns as the limit says, and not one more", () => {
    expect(limits.turnsMax % 2).toBe(0);
    expect(afterTurns(limits.turnsMax)).toBe(0);
    expect(() => afterTurns(limits.turnsMax + 2)).toThrow(
      expect.objectContaining({
        code: "SIMULATION_UNBOUNDED",
        message: expect.stringMatching(/did not come to rest after 100000 turns; the run "m" is still busy/),
      }),
    );
  });

  test("because timers without a delay start each other is stopped, too", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { after: { 0: "b" } }, b: { after: { 0: "a" } } },
    });
    expect(() => simulate(machine).advance(1)).toThrow(
      expect.objectContaining({ code: "SIMULATION_UNBOUNDED" }),
    );
  });
});
