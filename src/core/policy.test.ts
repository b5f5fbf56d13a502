/** What a definition declares for whoever runs it, and the time its handlers see. */
import { describe, expect, test } from "vitest";
import { defineMachine, type HoldfastError, type MachineDefinition, simulate, start } from "../index.ts";

/** The problems of a machine with these parts, each as one line. */
function problemsOf(parts: object, a: object = {}): string[] {
  try {
    defineMachine({ id: "m", initial: "a", states: { a }, ...parts } as MachineDefinition);
  } catch (error) {
    expect(error).toMatchObject({ code: "MACHINE_INVALID" });
    const [, ...lines] = (error as HoldfastError).message.split("\n  ");
    return lines;
  }
  return [];
}

describe("a machine's limits", () => {
  test("are positive numbers, and a duration", () => {
    const limits = { steps: 60, time: "2 days", tokens: 200_000, cost: 0.5 };
    expect(problemsOf({ limits })).toEqual([]);
    expect(problemsOf({ limits: { time: 1_000 } })).toEqual([]);
    expect(problemsOf({ limits: {} })).toEqual([]);
    const machine = defineMachine({ id: "m", initial: "a", states: { a: {} }, limits });
    expect(machine.definition.limits).toEqual(limits);
  });

  test("that bound nothing are all listed", () => {
    const limits = { steps: 0, time: "0s", tokens: -1, cost: Number.POSITIVE_INFINITY, money: 5 };
    expect(problemsOf({ limits })).toEqual([
      "limits.steps is 0; it must be above zero",
      'limits.time is "0s"; it must be above zero',
      "limits.tokens is -1; it must be above zero",
      "limits.cost is Infinity; it must be above zero",
      "limits.money is no limit; there are steps, time, tokens, cost",
    ]);
    expect(problemsOf({ limits: { steps: "many", time: "soon" } })).toEqual([
      'limits.steps is "many"; it must be above zero',
      'limits.time "soon" is not a delay: write milliseconds, or a number with ms, s, min, h, days or weeks',
    ]);
  });

  test("are an object", () => {
    for (const limits of [5, null, ["steps"]])
      expect(problemsOf({ limits })).toEqual([
        `limits is ${JSON.stringify(limits)}; write { steps, time, tokens, cost }`,
      ]);
  });
});

describe("a machine's checkpoint policy", () => {
  test("is step, manual, every so many steps, or a question", () => {
    const when = () => true;
    for (const checkpoint of ["step", "manual", { every: 1 }, { every: 100 }, { when }])
      expect(problemsOf({ checkpoint })).toEqual([]);
    const machine = defineMachine<{ n: number }>({
      id: "m",
      start: { n: 0 },
      initial: "a",
      states: { a: {} },
      checkpoint: { when: ({ before, after }) => before.context.n !== after.context.n },
    });
    expect(machine.definition.checkpoint).toHaveProperty("when");
  });

  test("is nothing else", () => {
    const other = { every: 2, other: 1 };
    for (const checkpoint of ["often", null, 5, {}, { every: 0 }, { every: 1.5 }, { when: "changed" }, other])
      expect(problemsOf({ checkpoint })).toEqual([
        `checkpoint is ${JSON.stringify(checkpoint)}; write step, manual, { every: a whole number above zero } or { when: a function }`,
      ]);
    expect(problemsOf({ checkpoint: { every: 2, when: () => true } })).toHaveLength(1);
    expect(problemsOf({ checkpoint: { every: "x", when: () => true } })).toHaveLength(1);
  });
});

describe("an activity's options", () => {
  test("go to the runtime as they are", () => {
    const options = {
      retry: { attempts: 3, first: "1s", max: 5_000 },
      timeout: "30s",
      heartbeat: "5s",
      once: true,
      reconcile: "look",
    };
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { invoke: { activity: "x", ...options } } },
    });
    expect(start(machine, undefined, { at: 0 }).effects).toMatchObject([{ type: "activity", options }]);
  });

  test("have durations that are some, and name an activity to reconcile with", () => {
    const invoke = {
      activity: "x",
      retry: { first: "soon", max: -1 },
      timeout: "a while",
      heartbeat: true,
      reconcile: "",
    };
    const none = (value: unknown) =>
      `${JSON.stringify(value)} is not a delay: write milliseconds, or a number with ms, s, min, h, days or weeks`;
    expect(problemsOf({}, { invoke })).toEqual([
      `states.a.invoke.timeout ${none("a while")}`,
      `states.a.invoke.heartbeat ${none(true)}`,
      `states.a.invoke.retry.first ${none("soon")}`,
      `states.a.invoke.retry.max ${none(-1)}`,
      'states.a.invoke.reconcile is ""; name an activity',
    ]);
    expect(problemsOf({}, { invoke: { activity: "x", reconcile: 5, retry: true } })).toEqual([
      "states.a.invoke.retry is true; write a retry: an object with attempts, first, factor, max, never",
      "states.a.invoke.reconcile is 5; name an activity",
    ]);
  });
});

test("handlers see the time of the step they run in, and so does the function that makes the first context", () => {
  const machine = defineMachine<{ begun: number; now: number; guarded: boolean }>({
    id: "m",
    start: ({ at }) => ({ begun: at, now: 0, guarded: false }),
    initial: "a",
    states: {
      a: {
        on: {
          go: {
            guard: ({ at }) => at >= 1_500,
            update: (draft, { at }) => {
              draft.now = at;
            },
            ensure: { later: ({ at, old }) => at > old.begun },
          },
        },
      },
    },
  });
  const run = simulate(machine, { at: 1_000 });
  run.send("go");
  expect(run.state.context).toMatchObject({ begun: 1_000, now: 0 });
  run.advance(500);
  run.send("go");
  expect(run.state.context).toMatchObject({ begun: 1_000, now: 1_500 });
});
