/** What outages do to timers, by their policy. */
import { describe, expect, test } from "vitest";
import {
  defineMachine,
  type Event,
  type HoldfastError,
  type MachineDefinition,
  type Outage,
  type Problem,
  restore,
  resume,
  resumedDue,
  simulate,
  start,
  step,
  type Timer,
} from "../index.ts";
import { resumeEvent } from "./event.ts";

const fire = ({ event, key }: Timer): Event => ({ ...event, timer: key });

function problemsOf(definition: unknown): string[] {
  try {
    defineMachine(definition as MachineDefinition);
  } catch (error) {
    expect(error).toMatchObject({ code: "MACHINE_INVALID" });
    const { problems } = (error as HoldfastError).details as { problems: Problem[] };
    return problems.map(
      ({ path, problem, fix }) => `${path} ${problem}${fix === undefined ? "" : `; ${fix}`}`,
    );
  }
  return [];
}
const problemsOfState = (a: object) => problemsOf({ id: "m", initial: "a", states: { a, b: {} } });

describe("resumedDue", () => {
  const timer = (policy: "remaining" | "restart", since = 100, ms = 50) => ({
    due: since + ms,
    resume: policy,
    since,
    ms,
  });
  const due = (policy: "remaining" | "restart", ...outages: Outage[]) => resumedDue(timer(policy), outages);

  test("leaves a deadline where it is", () => {
    expect(resumedDue({ due: 150 }, [{ from: 110, until: 1_000 }])).toEqual({ due: 150 });
  });

  test("moves a timer that waits what remains by the length of the outage", () => {
    expect(due("remaining", { from: 120, until: 1_000 })).toEqual({ due: 1_030, since: 1_000 });
  });

  test("lets one that restarts wait its whole delay from the end of the outage", () => {
    expect(due("restart", { from: 120, until: 1_000 })).toEqual({ due: 1_050, since: 1_000 });
  });

  test("counts only what came after the timer was set", () => {
    expect(due("remaining", { from: 0, until: 110 })).toEqual({ due: 160, since: 110 });
    expect(due("restart", { from: 0, until: 110 })).toEqual({ due: 160, since: 110 });
    expect(due("remaining", { from: 0, until: 100 })).toEqual({ due: 150, since: 100 });
    expect(due("restart", { from: 0, until: 99 })).toEqual({ due: 150, since: 100 });
  });

  test("counts no outage that began when the timer was due already", () => {
    for (const policy of ["remaining", "restart"] as const) {
      expect(due(policy, { from: 150, until: 1_000 })).toEqual({ due: 150, since: 100 });
      expect(due(policy, { from: 149, until: 150 }).due).toBeGreaterThan(150);
    }
  });

  test("counts outages one after the other, each from where the last one left the timer", () => {
    const outages = [
      { from: 120, until: 200 },
      { from: 210, until: 300 },
      { from: 400, until: 500 },
    ];
    expect(due("remaining", ...outages)).toEqual({ due: 320, since: 300 });
    expect(due("restart", ...outages)).toEqual({ due: 350, since: 300 });
  });

  test("counts what overlaps once", () => {
    const outages = [
      { from: 120, until: 200 },
      { from: 130, until: 190 },
      { from: 150, until: 210 },
    ];
    expect(due("remaining", ...outages)).toEqual({ due: 240, since: 210 });
  });

  test("ignores an outage that ends before it begins, as after a clock was set back", () => {
    expect(due("remaining", { from: 140, until: 120 })).toEqual({ due: 150, since: 100 });
  });

  test("gives the same again when the same outages are counted again", () => {
    const outages = [
      { from: 120, until: 200 },
      { from: 210, until: 300 },
    ];
    for (const policy of ["remaining", "restart"] as const) {
      const once = { ...timer(policy), ...resumedDue(timer(policy), outages) };
      expect(resumedDue(once, outages)).toEqual({ due: once.due, since: once.since });
    }
  });
});

describe("a timer in the state", () => {
  const machine = defineMachine({
    id: "m",
    initial: "a",
    states: {
      a: {
        after: {
          "1s": { target: "b", resume: "remaining" },
          "2s": { target: "b", resume: "deadline" },
          "3s": "b",
        },
        entry: [
          { send: { type: "e", delay: 500, resume: "restart" } },
          { send: { type: "e", delay: 600, to: { run: "other" }, id: "s", resume: "remaining" } },
          { send: () => ({ type: "e", delay: 700, resume: "restart" }) },
          { send: () => ({ type: "e", delay: 800, resume: "deadline" }) },
        ],
        on: { e: {} },
      },
      b: {},
    },
  });
  const { state } = start(machine, undefined, { at: 10 });

  test("carries its policy, when it was set and its delay, unless it is a deadline", () => {
    expect(state.timers.map(({ key, event: _, ...timer }) => timer)).toEqual([
      { due: 510, resume: "restart", since: 10, ms: 500 },
      { id: "s", due: 610, to: { run: "other" }, resume: "remaining", since: 10, ms: 600 },
      { due: 710, resume: "restart", since: 10, ms: 700 },
      { due: 810 },
      { due: 1_010, state: "a", resume: "remaining", since: 10, ms: 1_000 },
      { due: 2_010, state: "a" },
      { due: 3_010, state: "a" },
    ]);
    expect(Object.keys(state.timers.at(-1) as Timer)).toEqual(["key", "due", "event", "state"]);
  });

  test("has the policy of any of the transitions that wait for it, in both forms", () => {
    const both = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { after: { 10: ["b", { target: "b", resume: "restart" }] } },
        b: { after: [{ delay: () => 10, target: "a", resume: "remaining" }] },
      },
    });
    const run = simulate(both);
    expect(run.state.timers).toMatchObject([{ resume: "restart", since: 0, ms: 10 }]);
    run.advance(10);
    expect(run.state.timers).toMatchObject([{ due: 20, resume: "remaining", since: 10, ms: 10 }]);
  });

  test("is stored and restored with it, and refused if it makes no sense", () => {
    const stored = (change: object) => ({
      ...state,
      timers: [{ ...(state.timers[0] as Timer), ...change }],
    });
    expect(restore(machine, JSON.parse(JSON.stringify(state)))).toEqual(state);
    for (const change of [
      { resume: "deadline" },
      { resume: "never" },
      { since: "today" },
      { since: undefined },
      { ms: undefined },
      { ms: -1 },
      { resume: undefined },
      { resume: undefined, since: undefined },
    ])
      expect(() => restore(machine, stored(change))).toThrow(
        expect.objectContaining({
          code: "STATE_INVALID",
          message: expect.stringContaining('its timer "1.0" cannot be resumed'),
        }),
      );
  });
});

describe("resume", () => {
  const machine = defineMachine<{ n: number }>({
    id: "m",
    start: { n: 0 },
    invariants: { quiet: ({ event }) => event.type !== "resume" },
    initial: "a",
    states: {
      a: {
        after: { 100: { target: "left", resume: "remaining" } },
        entry: [
          { send: { type: "again", delay: 200, resume: "restart" } },
          { send: { type: "on time", delay: 300 } },
        ],
        on: { again: {}, "on time": {}, away: "b", end: "end" },
      },
      b: {},
      left: {},
      end: { type: "final" },
    },
  });
  const { state } = start(machine, undefined, { at: 0 });
  const outages = [{ from: 50, until: 1_000 }];

  test("is a step that moves every timer that does not keep to its deadline, and nothing else", () => {
    const resumed = resume(machine, state, outages, { at: 1_000 });
    expect(resumed.outcome).toBe("taken");
    expect(resumed.effects).toEqual([
      { type: "timer", key: "1.0", due: 1_200 },
      { type: "timer", key: "1.2", due: 1_050 },
    ]);
    expect(resumed.state.timers.map(({ key, due }) => [key, due])).toEqual([
      ["1.0", 1_200],
      ["1.1", 300],
      ["1.2", 1_050],
    ]);
    expect({ ...resumed.state, timers: [] }).toEqual({ ...state, seq: 2, timers: [] });
    expect(Object.isFrozen(resumed.state.timers) && resumed.state.timers.every(Object.isFrozen)).toBe(true);
    expect(state.timers.map(({ due }) => due)).toEqual([200, 300, 100]);
    expect([resumed.error, resumed.errors, resumed.dropped, resumed.trace]).toEqual([
      undefined,
      [],
      [],
      undefined,
    ]);
    expect(resume(machine, state, outages, { at: 1_000, trace: true }).trace).toBeDefined();
  });

  test("makes a timer early that would have been due, and it fires once its new time has come", () => {
    const resumed = resume(machine, state, outages, { at: 1_000 }).state;
    const left = resumed.timers[2] as Timer;
    expect(step(machine, resumed, fire(left), { at: 1_049 }).error?.code).toBe("TIMER_EARLY");
    expect(step(machine, resumed, fire(left), { at: 1_050 }).state.configuration).toEqual(["left"]);
  });

  test("is ignored, and gives the same state, if nothing moves: the same outages do not count twice", () => {
    const resumed = resume(machine, state, outages, { at: 1_000 }).state;
    for (const again of [
      resume(machine, resumed, outages, { at: 1_000 }),
      resume(machine, resumed, [], { at: 1_000 }),
    ]) {
      expect(again).toMatchObject({ outcome: "ignored", effects: [] });
      expect(again.state).toBe(resumed);
    }
  });

  test("is ignored by a run that has ended", () => {
    const ended = step(machine, state, { type: "end" }, { at: 0 }).state;
    const resumed = resume(machine, ended, outages, { at: 1_000 });
    expect(resumed.outcome).toBe("ignored");
    expect(resumed.state).toBe(ended);
  });

  test("is journaled as an event of the platform that tells the outages", () => {
    const event = { type: "resume", kind: "platform", data: { outages } };
    expect(resumeEvent(outages)).toEqual(event);
    expect(resumeEvent(outages.map((outage) => ({ ...outage, more: 1 })))).toEqual(event);
  });

  test("is refused without a time, for a state of another machine and for outages that are none", () => {
    const code = (work: () => unknown) => {
      try {
        work();
      } catch (error) {
        return (error as HoldfastError).code;
      }
      return undefined;
    };
    expect(code(() => resume(machine, state, outages, { at: Number.NaN }))).toBe("TIME_INVALID");
    expect(code(() => resume(machine, { ...state, version: 2 }, outages, { at: 0 }))).toBe("STATE_INVALID");
    expect(code(() => resume(machine, state, [{ from: Number.NaN, until: 0 }], { at: 0 }))).toBe("NOT_JSON");
  });
});

describe("a definition's resume policies", () => {
  test("must be known by name", () => {
    expect(problemsOfState({ after: { "1s": { target: "b", resume: "later" } } })).toEqual([
      'states.a.after.1s.resume is "later"; write deadline, remaining or restart',
    ]);
    expect(problemsOfState({ after: [{ delay: "1s", target: "b", resume: 7 }] })).toEqual([
      "states.a.after[0].resume is 7; write deadline, remaining or restart",
    ]);
    expect(problemsOfState({ entry: { send: { type: "e", delay: "1s", resume: "" } } })).toEqual([
      'states.a.entry.send.resume is ""; write deadline, remaining or restart',
    ]);
  });

  test("must be the same for all transitions that wait for one timer", () => {
    const after = { "1s": [{ target: "b", resume: "restart" }, { resume: "remaining" }, "b"] };
    expect(problemsOfState({ after })).toEqual([
      'states.a.after.1s.resume cannot be "restart" and "remaining" at once: there is one timer for them',
    ]);
    const list = [
      { delay: "1s", target: "b", resume: "restart" },
      { delay: "2s", target: "b", resume: "remaining" },
    ];
    expect(problemsOfState({ after: list })).toEqual([]);
  });

  test("need a delay", () => {
    const without = "needs a delay: without one there is no timer to resume";
    const transition = { target: "b", resume: "restart" };
    expect(problemsOfState({ on: { go: transition } })).toEqual([`states.a.on.go.resume ${without}`]);
    expect(problemsOfState({ always: transition })).toEqual([`states.a.always.resume ${without}`]);
    expect(problemsOfState({ invoke: { activity: "x", onDone: transition } })).toEqual([
      `states.a.invoke.onDone.resume ${without}`,
    ]);
    expect(problemsOfState({ entry: { send: { type: "e", resume: "restart" } } })).toEqual([
      `states.a.entry.send.resume ${without}`,
    ]);
  });

  test("that a function gives are checked by the step, and are its errors", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          entry: [
            [{ send: () => ({ type: "e", delay: 1, resume: "later" as never }) }],
            [{ send: () => ({ type: "e", resume: "restart" }) }],
          ],
        },
      },
    });
    const { state, errors } = start(machine, undefined, { at: 0 });
    expect(state.timers).toEqual([]);
    expect(errors.map(({ type, data }) => [type, (data as { message: string }).message])).toEqual([
      [
        "error.execution",
        'states.a.entry[0][0].send.resume is "later"; write deadline, remaining or restart',
      ],
      [
        "error.execution",
        "states.a.entry[1][0].send.resume needs a delay: without one there is no timer to resume",
      ],
    ]);
  });
});
