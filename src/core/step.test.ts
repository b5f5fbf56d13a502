import { afterEach, describe, expect, test, vi } from "vitest";
import {
  can,
  cancel,
  defineMachine,
  type Event,
  HoldfastError,
  isHoldfastError,
  type Json,
  nextEvents,
  restore,
  simulate,
  start,
  step,
} from "../index.ts";

const at = { at: 0 };

/** An agent's life, with most of what a chart can do. */
const agent = () =>
  defineMachine({
    id: "agent",
    start: ({ input }: { input: { goal: string; stepsMax: number } }) => ({
      ...input,
      steps: [] as string[],
      spent: 0,
    }),
    unhandled: "reject",
    invariants: { withinBudget: ({ context }) => context.steps.length <= context.stepsMax },
    initial: "idle",
    states: {
      idle: { on: { plan: "working" } },
      working: {
        type: "parallel",
        onDone: "reflecting",
        on: { pause: "paused" },
        states: {
          thinking: {
            initial: "planning",
            states: {
              planning: {
                on: {
                  act: {
                    guard: ({ context, event }) => context.goal !== "" && typeof event.data === "string",
                    target: "acting",
                    update: (draft, { event }) => {
                      draft.steps.push(event.data as string);
                    },
                    actions: [{ send: { type: "remind", delay: "1 min" } }, { emit: "acted" }],
                  },
                },
              },
              acting: {
                invoke: {
                  activity: "tool",
                  input: ({ context }) => context.steps.at(-1) as string,
                  onDone: "done",
                },
                after: { "5 min": "planning" },
              },
              done: { type: "final" },
            },
          },
          spending: {
            initial: "open",
            states: {
              open: {
                on: {
                  spend: {
                    update: (draft) => {
                      draft.spent++;
                    },
                  },
                  close: "done",
                },
              },
              done: { type: "final" },
            },
          },
          h: { type: "history", history: "deep", target: ["thinking", "spending"] },
        },
      },
      paused: { on: { resume: "working.h" } },
      reflecting: { on: { replan: "working", finish: "finished" } },
      finished: { type: "final", output: ({ context }) => context.steps },
    },
  });
const input = { goal: "a paper", stepsMax: 2 };
const events: Event[] = [
  { type: "plan" },
  { type: "act", data: "search" },
  { type: "pause" },
  { type: "resume" },
  { type: "spend" },
  { type: "close" },
  {
    type: "done.invoke.working.thinking.acting",
    invokeId: "working.thinking.acting",
    invocation: "5.1",
    kind: "platform",
  },
  { type: "finish" },
];

/** Every step of the story above. */
function story(machine = agent()) {
  let { state } = start(machine, input, { at: 1000 });
  return events.map((event, index) => {
    const taken = step(machine, state, event, { at: 2000 + index });
    state = taken.state;
    return taken;
  });
}

describe("A1", () => {
  test("A1: states, events, transitions, guards and actions work behind start, step, can and nextEvents", () => {
    const machine = agent();
    const begun = start(machine, input, at);
    expect(begun.state).toMatchObject({ status: "active", configuration: ["idle"], context: { steps: [] } });
    expect(nextEvents(machine, begun.state)).toEqual(["plan"]);
    expect(can(machine, begun.state, { type: "act", data: "x" })).toBe(false);
    const working = step(machine, begun.state, { type: "plan" }, at).state;
    expect(can(machine, working, { type: "act", data: "x" })).toBe(true);
    expect(can(machine, working, { type: "act" })).toBe(false);
    const acting = step(machine, working, { type: "act", data: "search" }, at);
    expect(acting.state).toMatchObject({
      configuration: ["working.thinking.acting", "working.spending.open"],
      context: { steps: ["search"] },
    });
    expect(acting.effects.map(({ type }) => type)).toEqual(["timer", "emit", "timer", "activity"]);
    expect(story().at(-1)?.state).toMatchObject({ status: "done", output: ["search"] });
  });

  test("A1: an impossible transition is refused with an error that names state, event and what was possible", () => {
    const machine = agent();
    const { state } = start(machine, input, at);
    const refused = step(machine, state, { type: "resume" }, at);
    expect(refused.outcome).toBe("refused");
    expect(refused.error).toBeInstanceOf(HoldfastError);
    expect(refused.error).toMatchObject({
      code: "EVENT_UNHANDLED",
      message: '"resume" cannot be taken in idle: possible here: plan',
      details: { event: "resume", configuration: ["idle"], possible: ["plan"] },
    });
    const working = step(machine, state, { type: "plan" }, at).state;
    expect(step(machine, working, { type: "finish" }, at).error?.message).toBe(
      '"finish" cannot be taken in working.thinking.planning, working.spending.open: possible here: act, close, pause, spend',
    );
    expect(step(machine, working, { type: "fly" }, at).error?.code).toBe("EVENT_UNKNOWN");
  });

  test("A1: a refused event never corrupts the state, in whatever state it comes", () => {
    const machine = agent();
    const states = [start(machine, input, at).state, ...story(machine).map(({ state }) => state)];
    const types = ["plan", "act", "pause", "resume", "spend", "close", "replan", "finish", "fly", ""];
    let refusals = 0;
    for (const state of states) {
      const text = JSON.stringify(state);
      for (const type of types) {
        const { outcome, state: after, effects } = step(machine, state, { type }, at);
        expect(JSON.stringify(state)).toBe(text);
        if (outcome === "taken") continue;
        refusals++;
        expect([outcome, after === state, effects]).toEqual(["refused", true, []]);
      }
    }
    expect(refusals).toBeGreaterThan(50);
  });
});

describe("A8", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  test("A8: the same state and event give the same step, always, down to every name it makes", () => {
    expect(JSON.stringify(story())).toBe(JSON.stringify(story()));
    const machine = agent();
    const { state } = start(machine, input, at);
    const again = Array.from({ length: 20 }, () =>
      JSON.stringify(step(machine, state, { type: "plan" }, at)),
    );
    expect(new Set(again).size).toBe(1);
  });

  test("A8: it does not matter what was stepped before, nor whether the state was stored in between", () => {
    const machine = agent();
    const fresh = story(agent());
    story(machine);
    let { state } = start(machine, input, { at: 1000 });
    const stored = events.map((event, index) => {
      const taken = step(machine, restore(machine, JSON.parse(JSON.stringify(state))), event, {
        at: 2000 + index,
      });
      state = taken.state;
      return taken;
    });
    expect(JSON.stringify(stored)).toBe(JSON.stringify(fresh));
  });

  test("A8: time is what the caller says it is", () => {
    const machine = agent();
    const due = (now: number) => {
      const { state } = step(machine, start(machine, input, { at: 0 }).state, { type: "plan" }, { at: now });
      return step(machine, state, { type: "act", data: "x" }, { at: now }).state.timers.map(
        (timer) => timer.due - now,
      );
    };
    expect(due(0)).toEqual([60_000, 300_000]);
    expect(due(1e12)).toEqual([60_000, 300_000]);
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, undefined, "0", null]) {
      expect(() => start(machine, input, { at: bad as number })).toThrow(
        expect.objectContaining({ code: "TIME_INVALID" }),
      );
    }
  });

  test("A8: no clock, no randomness and no input or output is touched inside", () => {
    const machine = agent();
    const expected = JSON.stringify(story(machine));
    const touched = vi.fn(() => {
      throw new Error("a step touched the world");
    });
    const forbidden = ["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "fetch"];
    for (const name of forbidden) vi.stubGlobal(name, touched);
    vi.stubGlobal("Date", new Proxy(Date, { apply: touched, construct: touched, get: touched }));
    vi.stubGlobal("performance", new Proxy({}, { get: touched }));
    vi.stubGlobal("crypto", new Proxy({}, { get: touched }));
    vi.stubGlobal("process", new Proxy({}, { get: touched }));
    vi.stubGlobal(
      "Math",
      new Proxy(Math, { get: (math, key) => (key === "random" ? touched() : Reflect.get(math, key)) }),
    );
    const found = JSON.stringify(story(machine));
    vi.unstubAllGlobals();
    expect(found).toBe(expected);
    expect(touched).not.toHaveBeenCalled();
  });
});

describe("B14", () => {
  test("B14: a machine runs statelessly: the caller keeps nothing but the state's JSON between events", () => {
    let text = JSON.stringify(start(agent(), input, { at: 1000 }).state);
    for (const [index, event] of events.entries()) {
      // As if each event came to another process: a machine of its own, and the state from storage.
      const machine = agent();
      text = JSON.stringify(
        step(machine, restore(machine, JSON.parse(text)), event, { at: 2000 + index }).state,
      );
    }
    expect(JSON.parse(text)).toEqual(story().at(-1)?.state);
  });

  test("B14: the same machine runs in memory only", () => {
    const run = simulate(agent(), { input, activities: { tool: () => "found" } });
    for (const event of [
      { type: "plan" },
      { type: "act", data: "search" },
      { type: "close" },
      { type: "finish" },
    ]) {
      run.send(event);
    }
    expect(run.state).toMatchObject({ status: "done", output: ["search"] });
  });
});

describe("cancel", () => {
  test("runs all exit actions, drops all that is pending, and ends the run where it was", () => {
    const machine = defineMachine({
      id: "m",
      start: { left: [] as string[] },
      initial: "a",
      exit: {
        update: (draft) => {
          draft.left.push("m");
        },
      },
      states: {
        a: {
          exit: {
            update: (draft) => {
              draft.left.push("a");
            },
          },
          after: { 10: "b" },
          invoke: [{ activity: "job" }, { machine: "kid" }],
          defer: ["x"],
          entry: { send: { type: "later", delay: 5, id: "s" } },
        },
        b: {},
      },
    });
    const { state } = step(machine, start(machine, undefined, at).state, { type: "x" }, at);
    const ended = cancel(machine, state, { at: 5 });
    expect(ended).toMatchObject({ outcome: "taken", error: undefined });
    expect(ended.state).toMatchObject({
      status: "cancelled",
      seq: state.seq + 1,
      configuration: ["a"],
      context: { left: ["a", "m"] },
      timers: [],
      activities: [],
      children: [],
      deferred: [],
    });
    expect(ended.effects).toMatchObject([
      { type: "cancel", of: "timer", key: "1.1" },
      { type: "cancel", of: "activity", id: "a:0" },
      { type: "cancel", of: "child", id: "a:1" },
      { type: "cancel", of: "timer", key: "1.0", id: "s" },
    ]);
    expect(ended.state).not.toHaveProperty("output");
  });

  test("of a run that has ended changes nothing, and a cancelled run takes no more events", () => {
    const machine = defineMachine({ id: "m", initial: "a", states: { a: { on: { go: {} } } } });
    const { state } = cancel(machine, start(machine, undefined, at).state, at);
    expect(cancel(machine, state, at)).toMatchObject({ outcome: "ignored", state });
    expect(step(machine, state, { type: "go" }, at)).toMatchObject({
      outcome: "refused",
      error: { code: "RUN_ENDED" },
    });
  });

  test("with a reason ends the run the same way, as failed, and keeps the reason", () => {
    const machine = defineMachine<{ why?: Json }>({
      id: "m",
      start: {},
      initial: "a",
      states: {
        a: {
          after: { 10: "a" },
          exit: {
            update: (draft, { event }) => {
              draft.why = event.data as never;
            },
          },
          on: { go: {} },
        },
      },
    });
    const { state } = start(machine, undefined, at);
    const reason = { limit: "steps", max: 60 };
    const failed = cancel(machine, state, { at: 5, reason });
    expect(failed.effects).toEqual(cancel(machine, state, { at: 5 }).effects);
    expect(failed.state).toEqual({
      ...cancel(machine, state, { at: 5 }).state,
      status: "failed",
      reason,
      context: { why: reason },
    });
    expect(Object.isFrozen(failed.state) && Object.isFrozen(failed.state.reason)).toBe(true);
    expect(cancel(machine, failed.state, { at: 6 })).toMatchObject({
      outcome: "ignored",
      state: failed.state,
    });
    const { error, outcome } = step(machine, failed.state, { type: "go" }, at);
    expect(outcome).toBe("refused");
    expect(error).toMatchObject({
      code: "RUN_ENDED",
      message: 'The run has failed ({"limit":"steps","max":60}) in a and cannot take "go"; start a new one',
      details: { status: "failed", event: "go", reason },
    });
  });

  test("takes no reason that is not an object of JSON", () => {
    const machine = defineMachine({ id: "m", initial: "a", states: { a: {} } });
    const { state } = start(machine, undefined, at);
    for (const reason of ["because", null, ["x"]])
      expect(() => cancel(machine, state, { at: 0, reason: reason as never })).toThrow(
        `A reason is an object such as { limit: "steps" }, not ${JSON.stringify(reason)}`,
      );
    expect(() => cancel(machine, state, { at: 0, reason: { when: new Date(0) as never } })).toThrow(
      "reason.when",
    );
  });

  test("is not stopped by exit actions that fail, and reports their errors", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { exit: { log: () => Number.NaN } } },
    });
    expect(cancel(machine, start(machine, undefined, at).state, at)).toMatchObject({
      state: { status: "cancelled" },
      errors: [{ type: "error.execution" }],
    });
  });
});

describe("a step", () => {
  const machine = defineMachine({
    id: "m",
    version: 2,
    initial: "a",
    states: { a: { on: { go: "b" } }, b: {} },
  });

  test("counts: each makes a state with the next seq, and names what it starts by seq and index", () => {
    const { state } = start(machine, undefined, at);
    expect(state).toEqual({
      machine: "m",
      version: 2,
      status: "active",
      seq: 1,
      configuration: ["a"],
      context: {},
      history: {},
      timers: [],
      activities: [],
      children: [],
      deferred: [],
    });
    expect(step(machine, state, { type: "go" }, at).state.seq).toBe(2);
  });

  test("throws for a state that is not one of this machine", () => {
    const { state } = start(machine, undefined, at);
    const invalid = expect.objectContaining({ code: "STATE_INVALID" });
    expect(() => step(machine, { ...state, machine: "other" }, { type: "go" }, at)).toThrow(invalid);
    expect(() => step(machine, { ...state, version: 1 }, { type: "go" }, at)).toThrow(invalid);
    expect(() => step(machine, { ...state, configuration: ["c"] }, { type: "go" }, at)).toThrow(invalid);
    expect(() => cancel(machine, { ...state, configuration: [] }, at)).toThrow(invalid);
    expect(() => step(machine, state, { type: "go" }, { at: Number.NaN })).toThrow(
      expect.objectContaining({ code: "TIME_INVALID" }),
    );
  });

  test("gives the input to the first context and, as the start event's data, to entry actions", () => {
    const greeting = defineMachine<{ name: string }, Event, { name: string }>({
      id: "m",
      start: ({ input: { name } }) => ({ name }),
      initial: "a",
      states: { a: { entry: { log: ({ event }) => [event.type, event.data as never] } } },
    });
    expect(start(greeting, { name: "Ada" }, at)).toMatchObject({
      state: { context: { name: "Ada" } },
      effects: [{ type: "log", data: ["start", { name: "Ada" }] }],
    });
  });

  test("passes on an error of the caller's own functions, which are no part of the machine", () => {
    const sender = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { go: { actions: { send: "x" } } } } },
    });
    const broken = {
      at: 0,
      reachable: () => {
        throw new Error("the caller's own");
      },
    };
    const taken = step(sender, start(sender, undefined, at).state, { type: "go" }, broken);
    expect(taken.errors).toMatchObject([{ data: { message: "the caller's own" } }]);
  });
});

test("an error of the data model itself gets out: it is a bug, and no event could be trusted to report it", () => {
  const base = defineMachine({ id: "m", initial: "a", states: { a: { on: { go: {} } } } });
  const { state } = start(base, undefined, at);
  const broken = defineMachine({
    ...base.definition,
    model: {
      ...base.chart.model,
      open() {
        throw new Error("cannot open");
      },
    },
  });
  expect(() => step(broken, state, { type: "go" }, at)).toThrow("cannot open");
});

test("a Holdfast error is known as one whichever copy of the package made it", () => {
  const error = new HoldfastError("NOT_JSON", "x", { cause: "y" });
  expect([isHoldfastError(error), isHoldfastError(new Error("x")), isHoldfastError(null)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(isHoldfastError({ [Symbol.for("holdfast.error")]: true })).toBe(true);
  expect([error.retry, error.cause, error.name]).toEqual(["after-fix", "y", "HoldfastError"]);
});
