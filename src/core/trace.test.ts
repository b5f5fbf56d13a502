import { describe, expect, test } from "vitest";
import { defineMachine, start, step } from "../index.ts";

const machine = defineMachine({
  id: "m",
  initial: "a",
  states: {
    a: {
      on: {
        go: [
          { guard: () => false, target: "c" },
          { target: "b", actions: { raise: "inner" } },
        ],
        look: { guard: () => false },
      },
    },
    b: {
      initial: "x",
      states: { x: { always: { guard: { in: "b.x" }, target: "y" } }, y: { on: { inner: "#c" } } },
    },
    c: { id: "c" },
  },
});

describe("the trace", () => {
  test("is made only when asked for", () => {
    const begun = start(machine, undefined, { at: 0 });
    expect(begun.trace).toBeUndefined();
    expect(step(machine, begun.state, { type: "go" }, { at: 0 }).trace).toBeUndefined();
    expect(step(machine, begun.state, { type: "go" }, { at: 0, trace: false }).trace).toBeUndefined();
  });

  test("shows every microstep: its event, the guards that were asked, what was taken, left and entered", () => {
    const begun = start(machine, { n: 1 }, { at: 0, trace: true });
    expect(begun.trace).toEqual({
      microsteps: [
        {
          event: { type: "start", kind: "platform", data: { n: 1 } },
          guards: [],
          taken: [],
          exited: [],
          entered: ["a"],
          configuration: ["a"],
        },
      ],
      guards: [],
    });
    const { trace } = step(machine, begun.state, { type: "go" }, { at: 0, trace: true });
    const toB = { source: "a", on: "go", targets: ["b"] };
    const toY = { source: "b.x", on: "", targets: ["b.y"] };
    expect(trace?.microsteps).toEqual([
      {
        event: { type: "go" },
        guards: [{ transition: { source: "a", on: "go", targets: ["c"] }, holds: false }],
        taken: [toB],
        exited: ["a"],
        entered: ["b", "b.x"],
        configuration: ["b.x"],
      },
      {
        guards: [{ transition: toY, holds: true }],
        taken: [toY],
        exited: ["b.x"],
        entered: ["b.y"],
        configuration: ["b.y"],
      },
      {
        event: { type: "inner", kind: "internal" },
        guards: [],
        taken: [{ source: "b.y", on: "inner", targets: ["c"] }],
        exited: ["b.y", "b"],
        entered: ["c"],
        configuration: ["c"],
      },
    ]);
  });

  test("shows the guards that let nothing through when a step comes to nothing", () => {
    const { state } = start(machine, undefined, { at: 0 });
    expect(step(machine, state, { type: "look" }, { at: 0, trace: true })).toMatchObject({
      outcome: "ignored",
      trace: {
        microsteps: [],
        guards: [{ transition: { source: "a", on: "look", targets: [] }, holds: false }],
      },
    });
  });

  test("changes nothing about the step", () => {
    const { state } = start(machine, undefined, { at: 0 });
    const { trace: _, ...traced } = step(machine, state, { type: "go" }, { at: 0, trace: true });
    expect(step(machine, state, { type: "go" }, { at: 0 })).toMatchObject(traced);
  });
});
