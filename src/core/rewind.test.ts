/** Going back, as a pure step: what is cancelled, what begins again, and what cannot be gone back to. */
import { describe, expect, test } from "vitest";
import type { ActivityEffect, SpawnEffect } from "./effect.ts";
import { settledEvent } from "./event.ts";
import type { JsonObject } from "./json.ts";
import { defineMachine } from "./machine.ts";
import { beginFork, type Past, rollBack } from "./rewind.ts";
import type { State } from "./state.ts";
import { cancel, type Step, start, step } from "./step.ts";

const trip = defineMachine({
  id: "trip",
  initial: "idle",
  states: {
    idle: { on: { go: "booking", part: "parted" } },
    booking: {
      invoke: { activity: "book", id: "book", compensate: { activity: "unbook" }, onDone: "booked" },
      after: { "1m": "idle" },
      on: { back: "idle" },
    },
    booked: { on: { regret: { target: "undoing", actions: { compensate: true } }, back: "idle" } },
    undoing: { on: { "done.invoke.compensation": "idle", back: "idle" } },
    parted: { invoke: { machine: "other", id: "child" }, on: { back: "idle" } },
  },
});

type Begun = Map<string, ActivityEffect | SpawnEffect>;
const at = (ms: number) => ({ at: ms });
const begunIn = (...steps: readonly Step[]): Begun => {
  const effects = steps.flatMap((one) => one.effects);
  const begun = effects.filter((one) => one.type === "activity" || one.type === "spawn");
  return new Map(begun.map((one) => [one.key, one]));
};
const pastOf = (made: Step, begun: Begun = new Map()): Past => ({
  ...{ state: made.state as State, seq: 1, at: 0, begun },
});

const idle = start(trip, undefined, at(0));
const booking = step(trip, idle.state, { type: "go" }, at(0));
const [{ key }] = booking.state.activities as unknown as [{ key: string }];
const booked = step(trip, booking.state, settledEvent({ id: "book", key }, { output: "seat" }), at(1));
const undoing = step(trip, booked.state, { type: "regret" }, at(2));

describe("going back", () => {
  test("sets timers and begins invocations again that have ended, under new keys", () => {
    const { state, effects } = rollBack(trip, booked.state, pastOf(booking, begunIn(booking)), at(5_000));
    expect(state).toMatchObject({ configuration: ["booking"], seq: booked.state.seq + 1 });
    expect(effects.map(({ type }) => type)).toEqual(["timer", "activity"]);
    expect(state.activities[0]?.key).not.toBe(key);
    expect(state.timers[0]).toMatchObject({ due: 60_000 });
    expect(state.compensations).toHaveLength(1);
  });

  test("does not count the time since then for a timer that goes on where it was", () => {
    const waiting = defineMachine({
      id: "waiting",
      initial: "on",
      states: {
        on: { after: { "1m": { target: "off", resume: "remaining" } }, on: { off: "off" } },
        off: {},
      },
    });
    const begun = start(waiting, undefined, at(0));
    const off = step(waiting, begun.state, { type: "off" }, at(10_000));
    const { state } = rollBack(waiting, off.state, { ...pastOf(begun), at: 5_000 }, at(100_000));
    expect(state.timers).toMatchObject([{ due: 155_000 }]);
  });

  test("lets go of each event that was deferred since, also of one that is like an earlier one", () => {
    const asleep = defineMachine({ id: "asleep", initial: "on", states: { on: { defer: ["poke"] } } });
    const poked = step(asleep, start(asleep, undefined, at(0)).state, { type: "poke" }, at(1));
    const again = step(asleep, poked.state, { type: "poke" }, at(2));
    const { state, dropped } = rollBack(asleep, again.state, pastOf(poked), at(3));
    expect([state.deferred.length, dropped.map(({ type }) => type)]).toEqual([1, ["poke"]]);
  });

  test("goes on by itself from a context that was edited", () => {
    const gate = defineMachine<JsonObject>({
      id: "gate",
      start: { open: false },
      initial: "shut",
      states: {
        shut: { always: { guard: ({ context }) => context.open === true, target: "passed" } },
        passed: {},
      },
    });
    const shut = start(gate, undefined, at(0));
    const edit = (context: object) => void Object.assign(context, { open: true });
    const { state } = rollBack(gate, shut.state, pastOf(shut), { ...at(1), edit });
    expect(state.configuration).toEqual(["passed"]);
  });

  test("cancels what began since", () => {
    const { state, effects } = rollBack(trip, booking.state, pastOf(idle), at(5));
    expect(effects).toMatchObject([
      { type: "cancel", of: "timer" },
      { type: "cancel", of: "activity", key, id: "book" },
    ]);
    expect([state.timers, state.activities]).toEqual([[], []]);
  });

  test("begins children again, and leaves those alone that are under way", () => {
    const parted = step(trip, idle.state, { type: "part" }, at(0));
    const gone = step(trip, parted.state, { type: "back" }, at(1));
    const again = rollBack(trip, gone.state, pastOf(parted, begunIn(parted)), at(2));
    expect(again.effects).toMatchObject([{ type: "spawn", machine: "other" }]);
    const same = rollBack(trip, parted.state, pastOf(parted), at(2));
    expect([same.effects, same.state.children]).toEqual([[], parted.state.children]);
  });

  test("has what is being undone undone to the end, and once", () => {
    const over = rollBack(trip, undoing.state, pastOf(booked), at(3));
    expect([over.effects, over.state.children]).toEqual([[], undoing.state.children]);
    const left = step(trip, undoing.state, { type: "back" }, at(3));
    const child = undoing.state.children[0] as { key: string };
    const done = { ...left.state, children: [] };
    const into = rollBack(trip, done, pastOf(undoing, begunIn(undoing)), at(4));
    expect(into.effects).toMatchObject([{ type: "spawn", input: { steps: [] } }]);
    expect(into.state.children[0]?.key).not.toBe(child.key);
  });

  test("is refused where the run had ended, and where nobody knows what to begin with", () => {
    const ended = cancel(trip, idle.state, at(1));
    expect(() => rollBack(trip, idle.state, pastOf(ended), at(2))).toThrow("was cancelled");
    expect(() => rollBack(trip, booked.state, pastOf(booking), at(2))).toThrow("Nobody knows");
    const parted = step(trip, idle.state, { type: "part" }, at(0));
    expect(() => rollBack(trip, idle.state, pastOf(parted), at(2))).toThrow("Nobody knows");
  });
});

describe("a fork", () => {
  test("begins what was under way, edited, with nothing to undo", () => {
    const forked = beginFork(trip, "a", pastOf(booking, begunIn(booking)), {
      ...at(9),
      edit: (context) => void Object.assign(context, { n: 1 }),
    });
    expect(forked.state).toMatchObject({ context: { n: 1 }, configuration: ["booking"] });
    expect(forked.state.compensations).toBeUndefined();
    const plain = beginFork(trip, "a", pastOf(undoing, begunIn(undoing)), at(9));
    expect(plain.effects).toMatchObject([{ type: "spawn", input: { steps: [] } }]);
  });
});
