import { describe, expect, test } from "vitest";
import { defineMachine, type Event, type Json, settledEvent, simulate, start, step } from "../index.ts";

const says = (run: { logs: readonly { data?: Json }[] }) => run.logs.map(({ data }) => data);

describe("an activity", () => {
  const machine = defineMachine({
    id: "m",
    start: { query: "kelp", found: 0, problem: "" },
    initial: "search",
    states: {
      search: {
        invoke: {
          activity: "find",
          input: ({ context }) => ({ query: context.query }),
          retry: { attempts: 3 },
          timeout: "30s",
          once: true,
          onDone: {
            target: "found",
            update: (draft, { event }) => {
              draft.found = event.data.count;
            },
          },
          onError: {
            target: "failed",
            update: (draft, { event }) => {
              draft.problem = event.data.message;
            },
          },
          onUnknown: "checking",
        },
        on: { leave: "idle" },
      },
      found: {},
      failed: {},
      checking: {},
      idle: { on: { again: "search" } },
    },
  });
  const begun = start(machine, undefined, { at: 0 });
  const [activity] = begun.state.activities as [(typeof begun.state.activities)[number]];

  test("is asked for as an effect, with its input and the author's options, and is pending in the state", () => {
    expect(begun.effects).toEqual([
      {
        type: "activity",
        key: "1.0",
        id: "search",
        activity: "find",
        input: { query: "kelp" },
        options: { retry: { attempts: 3 }, timeout: "30s", once: true },
      },
    ]);
    expect(begun.state.activities).toEqual([
      { key: "1.0", id: "search", state: "search", index: 0, activity: "find" },
    ]);
  });

  test("that is done gives its output to onDone and is no longer pending", () => {
    const { state } = step(machine, begun.state, settledEvent(activity, { output: { count: 3 } }), { at: 0 });
    expect(state).toMatchObject({ configuration: ["found"], context: { found: 3 }, activities: [] });
  });

  test("that failed gives its error to onError", () => {
    const event = settledEvent(activity, { error: { message: "no net" } });
    const { state } = step(machine, begun.state, event, { at: 0 });
    expect(state).toMatchObject({
      configuration: ["failed"],
      context: { problem: "no net" },
      activities: [],
    });
  });

  test("of which nobody knows what became goes to onUnknown", () => {
    const { state } = step(machine, begun.state, settledEvent(activity, { unknown: { tried: 1 } }), {
      at: 0,
    });
    expect(state).toMatchObject({ configuration: ["checking"], activities: [] });
  });

  test("is cancelled when its state is left, and what it says afterwards is ignored", () => {
    const left = step(machine, begun.state, { type: "leave" }, { at: 0 });
    expect(left.effects).toEqual([{ type: "cancel", of: "activity", key: "1.0", id: "search" }]);
    const stale = step(machine, left.state, settledEvent(activity, { output: { count: 3 } }), { at: 0 });
    expect(stale).toMatchObject({ outcome: "ignored" });
    expect(stale.state).toBe(left.state);
  });

  test("of an earlier stay in the state is not mistaken for the one that runs now", () => {
    let { state } = step(machine, begun.state, { type: "leave" }, { at: 0 });
    state = step(machine, state, { type: "again" }, { at: 0 }).state;
    expect(state.activities).toMatchObject([{ id: "search", key: "3.0" }]);
    const stale = step(machine, state, settledEvent(activity, { output: { count: 3 } }), { at: 0 });
    expect(stale.outcome).toBe("ignored");
    expect(stale.state.configuration).toEqual(["search"]);
  });

  test("says something twice, and the second time is ignored", () => {
    const event = settledEvent(activity, { output: { count: 3 } });
    const { state } = step(machine, begun.state, event, { at: 0 });
    expect(step(machine, state, event, { at: 0 })).toMatchObject({ outcome: "ignored", state });
  });

  test("that nothing waits for is no longer pending once it ended", () => {
    const alone = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { invoke: { activity: "job", id: "j" } } },
    });
    const first = start(alone, undefined, { at: 0 }).state;
    expect(first.activities).toMatchObject([{ id: "j", key: "1.0" }]);
    const { state, outcome } = step(alone, first, settledEvent({ id: "j", key: "1.0" }, {}), { at: 0 });
    expect([outcome, state.activities, state.seq]).toEqual(["ignored", [], 2]);
  });
});

describe("when invocations start", () => {
  test("at the end of the step, for the states that are still active then, in document order", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { on: { go: "b" } },
        b: { invoke: { activity: "never" }, always: "p" },
        p: {
          type: "parallel",
          entry: { raise: "inner" },
          invoke: { activity: "first" },
          states: {
            x: {
              initial: "one",
              states: { one: { invoke: { activity: "second" }, on: { inner: "two" } }, two: {} },
            },
            y: { invoke: [{ activity: "third" }, { activity: "fourth", id: "named" }] },
          },
        },
      },
    });
    const run = simulate(machine);
    const { effects } = run.send("go");
    expect(
      effects.map((effect) => (effect.type === "activity" ? [effect.activity, effect.id] : effect)),
    ).toEqual([
      ["first", "p"],
      ["third", "p.y:0"],
      ["fourth", "named"],
    ]);
  });

  test("again when the state is left and entered again, but not when it stays", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          invoke: { activity: "job" },
          initial: "x",
          on: { stay: ".x", again: { target: "a", reenter: true } },
          states: { x: {} },
        },
      },
    });
    const run = simulate(machine);
    expect(run.send("stay").effects).toEqual([]);
    expect(run.send("again").effects.map(({ type }) => type)).toEqual(["cancel", "activity"]);
    expect(run.state.activities).toHaveLength(1);
  });

  test("once, in a state that is left and entered again within one step", () => {
    const machine = defineMachine({
      id: "m",
      start: { rounds: 0 },
      initial: "a",
      states: {
        a: {
          invoke: { activity: "job" },
          entry: { raise: "round" },
          on: {
            round: {
              guard: ({ context }) => context.rounds < 3,
              target: "a",
              reenter: true,
              update: (draft) => {
                draft.rounds++;
              },
            },
          },
        },
      },
    });
    const { state, effects } = start(machine, undefined, { at: 0 });
    expect(effects).toMatchObject([{ type: "activity", key: "1.0" }]);
    expect(state.activities).toHaveLength(1);
  });
});

describe("a child machine", () => {
  const child = defineMachine({
    id: "child",
    start: ({ input }: { input: { n: number } }) => ({ n: input.n }),
    initial: "a",
    states: {
      a: {
        on: {
          tell: { actions: { send: { type: "told", to: "parent", data: ({ context }) => context.n } } },
          stop: "end",
          shared: { actions: { log: "child got it" } },
        },
      },
      end: { type: "final", output: ({ context }) => context.n * 2 },
    },
    exit: { log: "child ends" },
  });
  const parent = defineMachine({
    id: "parent",
    start: { heard: [] as number[], result: 0 },
    initial: "busy",
    states: {
      busy: {
        invoke: {
          machine: child,
          id: "kid",
          input: { n: 21 },
          onDone: {
            target: "over",
            update: (draft, { event }) => {
              draft.result = event.data;
            },
          },
          onError: "failed",
        },
        on: {
          told: {
            update: (draft, { event }) => {
              draft.heard.push(event.data as number);
            },
          },
          tell: { actions: { send: { type: "tell", to: { child: "kid" } } } },
          stop: { actions: { send: { type: "stop", to: { child: "kid" } } } },
          leave: "over",
        },
      },
      over: {},
      failed: {},
    },
  });

  test("is asked for as an effect, with its input, and is pending in the state", () => {
    const { state, effects } = start(parent, undefined, { at: 0 });
    expect(effects).toEqual([{ type: "spawn", key: "1.0", id: "kid", machine: "child", input: { n: 21 } }]);
    expect(state.children).toEqual([{ key: "1.0", id: "kid", state: "busy", index: 0, machine: "child" }]);
  });

  test("hears its parent, tells its parent, and its output is its parent's event in the end", () => {
    const run = simulate(parent);
    run.send("tell");
    expect(run.state.context.heard).toEqual([21]);
    run.send("stop");
    expect(run.state).toMatchObject({ configuration: ["over"], context: { result: 42 }, children: [] });
  });

  test("is ended when its state is left, and what it said in the meantime is ignored", () => {
    const run = simulate(parent);
    const [kid] = run.state.children as [(typeof run.state.children)[number]];
    run.send("leave");
    expect(says(run)).toEqual(["child ends"]);
    const late: Event = { type: "told", data: 1, invokeId: kid.id, invocation: kid.key };
    expect(run.send(late)).toMatchObject({ outcome: "ignored" });
    expect(run.state.context.heard).toEqual([]);
  });

  test("hears what an exit action tells it before it is ended, and that is no error", () => {
    const leaving = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          invoke: { machine: child, id: "kid", input: { n: 1 } },
          exit: { send: { type: "tell", to: { child: "kid" } } },
          on: { leave: "b" },
        },
        b: { on: { "error.*": { actions: { log: "an error" } } } },
      },
    });
    const run = simulate(leaving);
    run.send("leave");
    expect(says(run)).toEqual(["child ends"]);
  });

  test("that ended by itself while its state was left is heard in SCXML, unless another goes by its name", () => {
    const late = (matching: "exact" | "scxml", ...types: string[]) => {
      const machine = defineMachine({
        id: "m",
        matching,
        unhandled: "ignore",
        initial: "a",
        states: {
          a: { invoke: { machine: "w", id: "w" }, on: { leave: "b" } },
          b: { on: { "done.invoke.w": "c", again: "a" } },
          c: {},
        },
      });
      const first = start(machine, undefined, { at: 0 }).state;
      const [kid] = first.children as [(typeof first.children)[number]];
      const state = types.reduce((one, type) => step(machine, one, { type }, { at: 0 }).state, first);
      return step(machine, state, settledEvent(kid, { output: 1 }), { at: 0 });
    };
    expect(late("exact", "leave").outcome).toBe("ignored");
    expect(late("scxml", "leave").state.configuration).toEqual(["c"]);
    expect(late("scxml", "leave", "again").outcome).toBe("ignored");
  });

  test("that cannot be started is an error of the invocation", () => {
    const orphan = defineMachine({
      id: "m",
      start: { why: "" },
      initial: "a",
      states: {
        a: {
          invoke: {
            machine: "nobody knows",
            onError: {
              target: "b",
              update: (draft, { event }) => {
                draft.why = event.data.message;
              },
            },
          },
        },
        b: {},
      },
    });
    expect(simulate(orphan).state).toMatchObject({
      configuration: ["b"],
      context: { why: 'There is no machine "nobody knows" to start' },
    });
  });

  test("with autoforward gets a copy of every event from outside, known to its parent or not", () => {
    const forwarding = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { invoke: { machine: child, id: "kid", autoforward: true, input: { n: 1 } }, on: { known: {} } },
      },
    });
    const run = simulate(forwarding);
    expect(run.send({ type: "known", data: 5 }).effects).toEqual([
      { type: "send", key: "2.0", to: { child: "kid" }, event: { type: "known", data: 5 } },
    ]);
    expect(run.send("shared")).toMatchObject({ outcome: "ignored", error: undefined });
    expect(says(run)).toEqual(["child got it"]);
  });

  test("without autoforward gets nothing but what is sent to it", () => {
    expect(simulate(parent).send("tell").effects).toMatchObject([{ to: { child: "kid" } }]);
    const run = simulate(parent);
    run.send("shared");
    expect(says(run)).toEqual([]);
  });

  test("of another child's autoforward: raised events are not passed on", () => {
    const forwarding = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          invoke: { machine: child, autoforward: true, input: { n: 1 } },
          on: { go: { actions: { raise: "shared" } } },
        },
      },
    });
    const run = simulate(forwarding);
    run.send("go");
    expect(says(run)).toEqual([]);
  });
});

describe("finalize", () => {
  const machine = defineMachine({
    id: "m",
    start: { progress: 0, seen: "" },
    initial: "a",
    states: {
      a: {
        invoke: [
          {
            machine: "worker",
            id: "w",
            finalize: {
              update: (draft, { event }) => {
                draft.progress = event.data ?? -1;
              },
            },
          },
          { activity: "other", id: "o" },
        ],
        on: {
          step: {
            guard: ({ context }) => context.progress > 1,
            update: (draft) => {
              draft.seen = `progress ${draft.progress}`;
            },
          },
        },
        always: { guard: ({ context }) => context.progress > 9, target: "b" },
      },
      b: {},
    },
  });
  const first = start(machine, undefined, { at: 0 }).state;
  const from = (id: string, type: string, data?: Json): Event => {
    const { key } = [...first.children, ...first.activities].find((one) => one.id === id) as { key: string };
    return { type, invokeId: id, invocation: key, ...(data === undefined ? {} : { data }) };
  };

  test("runs on each event from its invocation, before a transition is chosen", () => {
    const { state } = step(machine, first, from("w", "step", 2), { at: 0 });
    expect(state.context).toEqual({ progress: 2, seen: "progress 2" });
  });

  test("counts even where nothing takes the event, known to the machine or not", () => {
    const known = step(machine, first, from("w", "step", 1), { at: 0 });
    expect([known.outcome, known.state.context.progress]).toEqual(["ignored", 1]);
    const unknown = step(machine, first, from("w", "unheard of", 1), { at: 0 });
    expect([unknown.outcome, unknown.state.context.progress]).toEqual(["ignored", 1]);
  });

  test("may make an eventless transition possible", () => {
    const { state, outcome } = step(machine, first, from("w", "unheard of", 10), { at: 0 });
    expect([outcome, state.configuration]).toEqual(["taken", ["b"]]);
  });

  test("runs on the event that ends the invocation, too", () => {
    const settled = settledEvent(first.children[0] as { id: string; key: string }, { output: 5 });
    expect(step(machine, first, settled, { at: 0 }).state).toMatchObject({
      context: { progress: 5 },
      children: [],
    });
  });

  test("does not run on events of other invocations, or from elsewhere", () => {
    expect(step(machine, first, from("o", "step", 5), { at: 0 }).state.context.progress).toBe(0);
    expect(step(machine, first, { type: "step", data: 5 }, { at: 0 }).state.context.progress).toBe(0);
  });

  test("of a spawned child there is none, and its events are taken as they come", () => {
    const spawning = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { go: { actions: { spawn: { machine: "w", id: "w" } } }, hello: "b" } }, b: {} },
    });
    const { state } = step(spawning, start(spawning, undefined, { at: 0 }).state, { type: "go" }, { at: 0 });
    const hello: Event = { type: "hello", invokeId: "w", invocation: "2.0" };
    expect(step(spawning, state, hello, { at: 0 }).state.configuration).toEqual(["b"]);
  });
});
