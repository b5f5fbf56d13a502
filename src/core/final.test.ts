import { describe, expect, test } from "vitest";
import { defineMachine, type Event, type Json, simulate, start, step } from "../index.ts";

const says = (run: { logs: readonly { data?: Json }[] }) => run.logs.map(({ data }) => data);

describe("a compound state is done", () => {
  test("when its final child is entered, and onDone gets that child's output as data", () => {
    const machine = defineMachine({
      id: "m",
      start: { got: 0 },
      initial: "a",
      states: {
        a: {
          initial: "x",
          states: { x: { on: { go: "end" } }, end: { type: "final", output: () => 7 } },
          onDone: {
            target: "b",
            update: (draft, { event }) => {
              draft.got = event.data;
            },
          },
        },
        b: {},
      },
    });
    const run = simulate(machine);
    run.send("go");
    expect(run.state).toMatchObject({ status: "active", configuration: ["b"], context: { got: 7 } });
  });

  test("whatever was sent under that name before, which is nobody's word but the sender's", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          initial: "x",
          states: { x: { on: { go: "end" } }, end: { type: "final" } },
          onDone: "b",
        },
        b: {},
      },
    });
    const { state } = start(machine, undefined, { at: 0 });
    const inEnd = { ...state, configuration: ["a.end"] };
    const done: Event = { type: "done.state.a" };
    expect(step(machine, inEnd, done, { at: 0 }).outcome).toBe("ignored");
    const run = simulate(machine);
    run.send("go");
    expect(run.state.configuration).toEqual(["b"]);
  });

  test("as done.state with its path, or its id if it has one, and without data if there is no output", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { initial: "end", states: { end: { type: "final" } }, on: { "done.state.a": "b" } },
        b: { id: "bee", initial: "end", states: { end: { type: "final" } }, on: { "done.state.bee": "c" } },
        c: { entry: { log: ({ event }) => ({ ...event }) as Json } },
      },
    });
    const run = simulate(machine);
    expect(run.state.configuration).toEqual(["c"]);
    expect(says(run)).toEqual([{ type: "done.state.bee", kind: "platform" }]);
  });

  test("after the entry actions of the final child, and not before raised events that wait already", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          initial: "x",
          on: { early: { actions: { log: "early" } } },
          states: {
            x: { on: { go: { target: "end", actions: { raise: "early" } } } },
            end: { type: "final", entry: { log: "entered" } },
          },
          onDone: { actions: { log: "done" } },
        },
      },
    });
    const run = simulate(machine);
    run.send("go");
    expect(says(run)).toEqual(["entered", "early", "done"]);
  });
});

describe("a parallel state is done", () => {
  const region = (event: string) => ({
    initial: "x",
    states: { x: { on: { [event]: "end" } }, end: { type: "final" as const, output: event } },
  });

  test("when every region is, whichever comes last, and each region is done before", () => {
    const machine = defineMachine({
      id: "m",
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: { a: region("one"), b: region("two") },
          on: {
            "done.state.p.a": { actions: { log: ({ event }) => event.data as Json } },
            "done.state.p.b": { actions: { log: ({ event }) => event.data as Json } },
          },
          onDone: { target: "b", actions: { log: "joined" } },
        },
        b: {},
      },
    });
    const run = simulate(machine);
    run.send("two");
    expect(run.state.configuration).toEqual(["p.a.x", "p.b.end"]);
    run.send("one");
    expect(run.state.configuration).toEqual(["b"]);
    expect(says(run)).toEqual(["two", "one", "joined"]);
  });

  test("once, when all regions end in the same microstep", () => {
    const machine = defineMachine({
      id: "m",
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: { a: region("go"), b: region("go") },
          onDone: { actions: { log: "joined" } },
        },
      },
    });
    const run = simulate(machine);
    run.send("go");
    expect(says(run)).toEqual(["joined"]);
  });

  test("also as a region of another parallel state", () => {
    const machine = defineMachine({
      id: "m",
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: { q: { type: "parallel", states: { a: region("go") } }, r: region("stop") },
          onDone: "out",
        },
        out: {},
      },
    });
    const run = simulate(machine);
    run.send("go");
    expect(run.state.configuration).toEqual(["p.q.a.end", "p.r.x"]);
    run.send("stop");
    expect(run.state.configuration).toEqual(["out"]);
  });

  test("not when a region has a final state only further down", () => {
    const deep = {
      initial: "y",
      states: { y: { initial: "end", states: { end: { type: "final" as const } } } },
    };
    const machine = defineMachine({
      id: "m",
      initial: "p",
      states: { p: { type: "parallel", states: { a: deep, b: region("go") }, onDone: "out" }, out: {} },
    });
    const run = simulate(machine);
    run.send("go");
    expect(run.state.configuration).toEqual(["p.a.y.end", "p.b.end"]);
  });
});

describe("a machine is done", () => {
  const machine = defineMachine({
    id: "m",
    start: { n: 1, bye: false as boolean },
    initial: "work",
    output: ({ context }) => context.n,
    exit: {
      update: (draft) => {
        draft.bye = true;
      },
    },
    states: {
      work: {
        initial: "x",
        invoke: [{ activity: "job" }, { machine: "child" }],
        after: { 100: "end" },
        defer: ["later"],
        on: {
          end: { target: "end", actions: { send: { type: "late", delay: 50 } } },
          own: "own",
        },
        states: { x: {} },
      },
      own: {
        type: "final",
        output: ({ context }) => ({ own: context.n, bye: context.bye }),
        exit: { log: "left" },
      },
      end: { type: "final" },
    },
  });

  test("when a final state of its own is entered, with that state's output or the machine's", () => {
    const own = simulate(machine);
    own.send("own");
    expect(own.state).toMatchObject({
      status: "done",
      configuration: ["own"],
      output: { own: 1, bye: true },
    });
    const end = simulate(machine);
    end.send("end");
    expect(end.state).toMatchObject({ status: "done", configuration: ["end"], output: 1 });
  });

  test("and keeps its last configuration, leaves every state and drops all it waited for", () => {
    const first = start(machine, undefined, { at: 0 }).state;
    const waiting = step(machine, first, { type: "later" }, { at: 0 }).state;
    expect(waiting.deferred).toHaveLength(1);
    const { state, effects } = step(machine, waiting, { type: "end" }, { at: 0 });
    expect(state).toMatchObject({
      configuration: ["end"],
      timers: [],
      activities: [],
      children: [],
      deferred: [],
    });
    expect(state.context.bye).toBe(true);
    expect(effects.filter(({ type }) => type === "cancel")).toMatchObject([
      { of: "timer", key: "1.0" },
      { of: "activity", id: "work:0" },
      { of: "child", id: "work:1" },
      { of: "timer", key: "3.0" },
    ]);
  });

  test("and takes no more events: each is refused, and nothing changes", () => {
    const run = simulate(machine);
    run.send("end");
    const before = run.state;
    const after = run.send("own");
    expect(after).toMatchObject({ outcome: "refused", error: { code: "RUN_ENDED", retry: "never" } });
    expect(after.error?.message).toBe('The run is done in end and cannot take "own"; start a new one');
    expect(run.state).toBe(before);
  });

  test("and ends the children it spawned, which belong to no state", () => {
    const spawning = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { entry: { spawn: { machine: "kid", id: "k" } }, on: { end: "end" } },
        end: { type: "final" },
      },
    });
    const { state, effects } = step(
      spawning,
      start(spawning, undefined, { at: 0 }).state,
      { type: "end" },
      { at: 0 },
    );
    expect(state.children).toEqual([]);
    expect(effects).toEqual([{ type: "cancel", of: "child", key: "1.0", id: "k" }]);
  });

  test("without output if nothing gives one", () => {
    const silent = defineMachine({ id: "m", initial: "end", states: { end: { type: "final" } } });
    expect("output" in start(silent, undefined, { at: 0 }).state).toBe(false);
  });

  test("before anything else that is enabled happens", () => {
    const hasty = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { on: { go: { target: "end", actions: [{ raise: "more" }, { raise: "more" }] } } },
        end: { type: "final" },
      },
      on: { more: { actions: { log: "too late" } } },
      always: { guard: { in: "end" }, actions: { log: "too late" } },
    });
    const run = simulate(hasty);
    run.send("go");
    expect(says(run)).toEqual([]);
  });

  test("when it is parallel and each of its regions is", () => {
    const region = (event: string) => ({
      initial: "x",
      states: { x: { on: { [event]: "end" } }, end: { type: "final" as const } },
    });
    const parallel = defineMachine({
      id: "m",
      type: "parallel",
      output: "all",
      states: { a: region("one"), b: region("two") },
    });
    const run = simulate(parallel);
    run.send("one");
    expect(run.state.status).toBe("active");
    run.send("two");
    expect(run.state).toMatchObject({ status: "done", configuration: ["a.end", "b.end"], output: "all" });
  });
});

test("an output that fails is an error event, and the state is done without it", () => {
  const seen: Event[] = [];
  const machine = defineMachine({
    id: "m",
    initial: "a",
    states: {
      a: {
        initial: "end",
        states: {
          end: {
            type: "final",
            output: () => {
              throw new Error("no output");
            },
          },
        },
        on: {
          "error.execution": { actions: { log: ({ event }) => (event.data as { message: string }).message } },
          "done.state.a": { target: "b", guard: ({ event }) => seen.push(event) > 0 },
        },
      },
      b: {},
    },
  });
  const run = simulate(machine);
  expect(says(run)).toEqual(["no output"]);
  expect(run.state.configuration).toEqual(["b"]);
  expect(seen).toEqual([{ type: "done.state.a", kind: "platform" }]);
});
