/** Replies: answers to events whose sender waits for one. */
import { describe, expect, test } from "vitest";
import { defineMachine, simulate, start, step } from "../index.ts";

const at = { at: 0 };

describe("a reply", () => {
  const machine = defineMachine<{ asked: string[]; n: number }>({
    id: "m",
    start: { asked: [], n: 2 },
    initial: "a",
    states: {
      a: {
        on: {
          ask: { actions: { reply: ({ context, event }) => ({ n: context.n, to: event.type }) } },
          constant: { actions: { reply: 42 } },
          nothing: { actions: { reply: () => undefined as never } },
          bad: { actions: [{ reply: () => new Map() as never }, { log: "skipped" }] },
          keep: { update: (draft, { event }) => void draft.asked.push(event.replyTo as string) },
          answer: {
            actions: [{ reply: "late", to: ({ context }) => context.asked[0] as string }, { reply: "own" }],
          },
          fixed: { actions: { reply: 1, to: "desk" } },
          nowhere: { actions: { reply: 1, to: () => 7 as never } },
          raising: { actions: { raise: "inner" } },
          inner: { actions: { reply: "inner" } },
          go: "b",
        },
      },
      b: {
        defer: ["ask"],
        always: [{ guard: ({ context }) => context.n > 2, target: "c" }],
        on: { back: "a" },
      },
      c: {},
    },
  });
  const { state } = start(machine, undefined, at);
  const asked = (type: string, replyTo = "r1") => step(machine, state, { type, replyTo }, at);

  test("goes to where the event under way wants it, with a value computed in the step", () => {
    expect(asked("ask")).toMatchObject({
      outcome: "taken",
      effects: [{ type: "reply", to: "r1", data: { n: 2, to: "ask" } }],
    });
    expect(asked("constant").effects).toEqual([{ type: "reply", to: "r1", data: 42 }]);
    expect(asked("nothing").effects).toEqual([{ type: "reply", to: "r1", data: null }]);
  });

  test("to an event that asked for none does nothing, and is not even computed", () => {
    for (const type of ["ask", "bad"])
      expect(step(machine, state, { type }, at)).toMatchObject({ outcome: "taken", errors: [] });
    expect(step(machine, state, { type: "ask" }, at).effects).toEqual([]);
  });

  test("can be given in a later step, to the address that was kept", () => {
    const kept = asked("keep").state;
    expect(kept.context.asked).toEqual(["r1"]);
    expect(step(machine, kept, { type: "answer", replyTo: "r2" }, at).effects).toEqual([
      { type: "reply", to: "r1", data: "late" },
      { type: "reply", to: "r2", data: "own" },
    ]);
    expect(step(machine, state, { type: "fixed" }, at).effects).toEqual([
      { type: "reply", to: "desk", data: 1 },
    ]);
  });

  test("that is not JSON, or goes to no text, is an error of its block", () => {
    const bad = asked("bad");
    expect(bad.effects).toEqual([]);
    expect(bad.errors).toMatchObject([{ type: "error.execution", data: { code: "NOT_JSON" } }]);
    expect(asked("nowhere").errors).toMatchObject([
      {
        type: "error.execution",
        data: { message: "states.a.on.nowhere.actions.to must be text, and is 7" },
      },
    ]);
  });

  test("answers the event that handlers see: a raised one asked for nothing", () => {
    expect(asked("raising").effects).toEqual([]);
  });

  test("to an event that was deferred is given when it is taken", () => {
    const away = asked("go").state;
    const waiting = step(machine, away, { type: "ask", replyTo: "r9" }, at);
    expect(waiting).toMatchObject({
      outcome: "deferred",
      state: { deferred: [{ type: "ask", replyTo: "r9" }] },
    });
    const stored = JSON.parse(JSON.stringify(waiting.state));
    expect(step(machine, stored, { type: "back", replyTo: "r10" }, at).effects).toEqual([
      { type: "reply", to: "r9", data: { n: 2, to: "ask" } },
    ]);
  });

  test("is listed by a simulation, with the run that gave it", () => {
    const run = simulate(machine);
    run.send({ type: "constant", replyTo: "r1" });
    expect(run.replies).toEqual([{ type: "reply", to: "r1", data: 42, run: "m" }]);
  });

  test("needs an address that is text", () => {
    expect(step(machine, state, { type: "ask", replyTo: 5 as never }, at).error?.code).toBe("EVENT_INVALID");
  });
});
