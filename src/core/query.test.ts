import { describe, expect, test } from "vitest";
import { can, cancel, defineMachine, hasTag, matches, nextEvents, start, step } from "../index.ts";

const at = { at: 0 };
const machine = defineMachine({
  id: "m",
  start: { open: false as boolean },
  tags: ["whole"],
  on: { help: {} },
  initial: "a",
  states: {
    a: {
      tags: ["first", "shown"],
      on: {
        go: { guard: ({ context }) => context.open, target: "b" },
        open: {
          update: (draft) => {
            draft.open = true;
          },
        },
        "order.*": {},
        "error.execution": {},
      },
      after: { 10: "b" },
      invoke: { activity: "x", onDone: "b", onUnknown: "b" },
      defer: ["later"],
    },
    b: {
      type: "parallel",
      states: {
        left: { initial: "x", states: { x: { tags: ["deep"], on: { end: "#end" } } } },
        right: { initial: "x", states: { x: { on: { other: {}, "*": {} } } } },
      },
    },
    end: { id: "end", type: "final", tags: ["over"] },
  },
});
const a = start(machine, undefined, at).state;
const opened = step(machine, a, { type: "open" }, at).state;
const b = step(machine, opened, { type: "go" }, at).state;
const ended = step(machine, b, { type: "end" }, at).state;

describe("can", () => {
  test("tells whether a transition would take the event right now, guards included", () => {
    expect(can(machine, a, { type: "go" })).toBe(false);
    expect(can(machine, opened, { type: "go" })).toBe(true);
    expect(can(machine, a, { type: "help" })).toBe(true);
    expect(can(machine, a, { type: "order.paid" })).toBe(true);
    expect(can(machine, a, { type: "strange" })).toBe(false);
    expect(can(machine, a, { type: "later" })).toBe(false);
  });

  test("agrees with what step does, and changes nothing", () => {
    for (const state of [a, opened, b, ended]) {
      const text = JSON.stringify(state);
      for (const type of ["go", "open", "help", "other", "end", "strange"]) {
        expect([type, can(machine, state, { type })]).toEqual([
          type,
          step(machine, state, { type }, at).outcome === "taken",
        ]);
      }
      expect(JSON.stringify(state)).toBe(text);
    }
  });

  test("is no when the run has ended", () => {
    expect(can(machine, ended, { type: "help" })).toBe(false);
    expect(can(machine, cancel(machine, a, at).state, { type: "help" })).toBe(false);
  });

  test("a guard that fails is a no", () => {
    const unsure = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          on: {
            go: {
              guard: () => {
                throw new Error("unsure");
              },
            },
          },
        },
      },
    });
    expect(can(unsure, start(unsure, undefined, at).state, { type: "go" })).toBe(false);
  });

  test("throws for what is no event, no state of this machine, or a machine that is not whole", () => {
    expect(() => can(machine, a, { type: "" })).toThrow(expect.objectContaining({ code: "EVENT_INVALID" }));
    expect(() => can(machine, { ...a, version: 9 }, { type: "go" })).toThrow(
      expect.objectContaining({ code: "STATE_INVALID" }),
    );
    const part = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { go: { guard: "unbound" } } } },
    });
    expect(() => can(part, a as never, { type: "go" })).toThrow(
      expect.objectContaining({ code: "MACHINE_INVALID" }),
    );
  });
});

describe("nextEvents", () => {
  test("lists the keys that active states and their ancestors listen to, sorted, those of the platform aside", () => {
    expect(nextEvents(machine, a)).toEqual(["go", "help", "open", "order.*"]);
    expect(nextEvents(machine, b)).toEqual(["*", "end", "help", "other"]);
  });

  test("is empty when the run has ended", () => {
    expect(nextEvents(machine, ended)).toEqual([]);
  });
});

describe("matches", () => {
  test("is true of a state while anything inside it is active", () => {
    expect(["b", "b.left", "b.left.x", "b.right.x"].map((path) => matches(b, path))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(["a", "b.lef", "left", "b.left.x.y", ""].map((path) => matches(b, path))).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe("hasTag", () => {
  test("asks all active states and the machine itself", () => {
    expect(["first", "shown", "whole", "deep"].map((tag) => hasTag(machine, a, tag))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(["first", "whole", "deep"].map((tag) => hasTag(machine, b, tag))).toEqual([false, true, true]);
    expect(hasTag(machine, ended, "over")).toBe(true);
  });
});

test("a guard that looks at the time is asked about the time given", () => {
  const timed = defineMachine({
    id: "m",
    initial: "a",
    states: { a: { on: { go: { guard: ({ at: now }) => now >= 10, target: "b" } } }, b: {} },
  });
  const { state } = start(timed, undefined, at);
  expect([can(timed, state, { type: "go" }), can(timed, state, { type: "go" }, { at: 10 })]).toEqual([
    false,
    true,
  ]);
});
