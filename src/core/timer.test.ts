import { describe, expect, test } from "vitest";
import { defineMachine, type Event, type Json, simulate, start, step, type Timer } from "../index.ts";

const says = (run: { logs: readonly { data?: Json }[] }) => run.logs.map(({ data }) => data);
const fire = ({ event, key }: Timer): Event => ({ ...event, timer: key });

describe("delayed transitions", () => {
  test("are taken when their time has come, in milliseconds or as people write it", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { after: { "2 days": "c", 500: "b" } }, b: {}, c: {} },
    });
    const run = simulate(machine);
    expect(run.state.timers.map(({ due }) => due)).toEqual([500, 2 * 24 * 3600 * 1000]);
    run.advance(499);
    expect(run.state.configuration).toEqual(["a"]);
    run.advance(1);
    expect(run.state.configuration).toEqual(["b"]);
  });

  test("are not taken early by an event from outside that merely has their name", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { after: { "2 days": "b" } }, b: {} },
    });
    const { state } = start(machine, undefined, { at: 0 });
    const [{ event }] = state.timers as readonly [Timer];
    const early = step(machine, state, { type: event.type }, { at: 1 });
    expect([early.outcome, early.state]).toEqual(["ignored", state]);
  });

  test("may have a computed delay, guards and several choices", () => {
    const machine = defineMachine({
      id: "m",
      start: { wait: 30, open: false },
      initial: "a",
      states: {
        a: { after: [{ delay: ({ context }) => context.wait, target: "b", actions: { log: "computed" } }] },
        b: { after: { "1s": [{ guard: ({ context }) => context.open, target: "c" }, { target: "d" }] } },
        c: {},
        d: {},
      },
    });
    const run = simulate(machine);
    run.advance(30);
    expect(says(run)).toEqual(["computed"]);
    run.advance("1 s");
    expect(run.state.configuration).toEqual(["d"]);
  });

  test("are forgotten when the state is left, and start anew when it is entered again", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { after: { 100: "late" }, on: { away: "b" } }, b: { on: { back: "a" } }, late: {} },
    });
    const run = simulate(machine);
    run.advance(60);
    expect(run.send("away").effects).toEqual([{ type: "cancel", of: "timer", key: "1.0" }]);
    expect(run.state.timers).toEqual([]);
    run.send("back");
    run.advance(60);
    expect(run.state.configuration).toEqual(["a"]);
    run.advance(40);
    expect(run.state.configuration).toEqual(["late"]);
  });

  test("belong to the state that was left: those of other states stay", () => {
    const machine = defineMachine({
      id: "m",
      initial: "p",
      states: {
        p: {
          after: { 30: { actions: { log: "p" } } },
          initial: "x",
          states: {
            x: { after: { 10: "y" }, on: { skip: "y" } },
            y: { after: { 10: { actions: { log: "y" } } } },
          },
        },
      },
    });
    const run = simulate(machine);
    run.send("skip");
    expect(run.state.timers.map(({ state }) => state)).toEqual(["p", "p.y"]);
    run.advance(50);
    expect(says(run)).toEqual(["y", "p"]);
  });

  test("stay when a transition stays inside their state", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { after: { 50: "b" }, on: { again: "a", inner: ".x" }, initial: "x", states: { x: {} } },
        b: {},
      },
    });
    const run = simulate(machine);
    run.advance(25);
    run.send("again");
    run.send("inner");
    run.advance(25);
    expect(run.state.configuration).toEqual(["b"]);
  });
});

describe("a timer that fires", () => {
  const machine = defineMachine({
    id: "m",
    start: { n: 0 },
    invariants: { small: ({ context }) => context.n < 2 },
    initial: "a",
    states: {
      a: {
        on: {
          plan: { actions: { send: { type: "add", delay: 100 } } },
          add: {
            update: (draft) => {
              draft.n++;
            },
          },
          other: { actions: { send: { type: "hi", delay: 100, to: { run: "other" }, id: "h" } } },
          strange: { actions: { send: { type: "nobody knows this", delay: 100 } } },
        },
      },
    },
  });
  const begin = (type: string) =>
    step(machine, start(machine, undefined, { at: 0 }).state, { type }, { at: 0 }).state;
  const timerOf = (state: { timers: readonly Timer[] }) => state.timers[0] as Timer;

  test("never does so early: the step is refused and the timer stays", () => {
    const state = begin("plan");
    const early = step(machine, state, fire(timerOf(state)), { at: 99 });
    expect(early).toMatchObject({ outcome: "refused", error: { code: "TIMER_EARLY", retry: "later" } });
    expect(early.error?.message).toBe('The timer 2.0 for "add" is due at 100, and it is only 99');
    expect(early.state).toBe(state);
  });

  test("is spent, and its event is taken like any other", () => {
    const state = begin("plan");
    const taken = step(machine, state, fire(timerOf(state)), { at: 100 });
    expect(taken).toMatchObject({ outcome: "taken", state: { timers: [], context: { n: 1 } } });
  });

  test("never does so twice: the second time is ignored", () => {
    const state = begin("plan");
    const taken = step(machine, state, fire(timerOf(state)), { at: 100 }).state;
    const twice = step(machine, taken, fire(timerOf(state)), { at: 100 });
    expect(twice.outcome).toBe("ignored");
    expect(twice.state).toBe(taken);
  });

  test("is spent even if its step is refused, and nothing else changes", () => {
    let state = begin("plan");
    state = step(machine, state, { type: "add" }, { at: 0 }).state;
    const refused = step(machine, state, fire(timerOf(state)), { at: 100 });
    expect(refused).toMatchObject({ outcome: "refused", error: { code: "INVARIANT_VIOLATED" } });
    expect(refused.state).toEqual({ ...state, timers: [] });
    expect(state.timers).toHaveLength(1);
  });

  test("for somebody else sends its event out, and nothing else happens", () => {
    const state = begin("other");
    const { effects, state: after, outcome } = step(machine, state, fire(timerOf(state)), { at: 100 });
    expect(effects).toEqual([
      { type: "send", key: "2.0", to: { run: "other" }, event: { type: "hi", sendId: "h" } },
    ]);
    expect([outcome, after.timers, after.configuration]).toEqual(["taken", [], ["a"]]);
  });

  test("for a child that has gone in the meantime is an error event", () => {
    const late = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          entry: { send: { type: "hi", delay: 1, to: { child: "gone" } } },
          on: { "error.communication": "b" },
        },
        b: {},
      },
    });
    const { state } = start(late, undefined, { at: 0 });
    expect(step(late, state, fire(timerOf(state)), { at: 1 }).state.configuration).toEqual(["b"]);
  });

  test("with an event the machine does not know is spent and no error", () => {
    const state = begin("strange");
    const ignored = step(machine, state, fire(timerOf(state)), { at: 100 });
    expect(ignored).toMatchObject({
      outcome: "ignored",
      error: undefined,
      state: { timers: [], seq: state.seq + 1 },
    });
  });

  test("that is deferred is an event that waits, and no longer a timer", () => {
    const patient = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { entry: { send: { type: "x", delay: 1 } }, defer: ["x"], on: { go: "b" } },
        b: { on: { x: "c" } },
        c: {},
      },
    });
    const run = simulate(patient);
    run.advance(1);
    expect(run.state).toMatchObject({ timers: [], deferred: [{ type: "x" }] });
    expect(run.state.deferred[0]).not.toHaveProperty("timer");
    expect(run.send("go").state.configuration).toEqual(["c"]);
  });
});
