/** Every bound of the core, at the limit and one past it. Depths of values are in json.test.ts, turns in simulate.test.ts. */
import { describe, expect, test } from "vitest";
import { defineMachine, limits, type StateDefinition, start, step } from "../index.ts";
import type { Configuration } from "./chart.ts";
import { configurationOf } from "./configuration.ts";

const at = { at: 0 };

describe("microsteps of one step", () => {
  /** Takes `count` microsteps on `go`: the first on the event, the others eventless. */
  const counting = (count: number) =>
    defineMachine({
      id: "m",
      start: { n: 0 },
      initial: "a",
      states: {
        a: { on: { go: "b" } },
        b: {
          always: {
            guard: ({ context }) => context.n < count - 1,
            update: (draft) => {
              draft.n++;
            },
          },
        },
      },
    });

  test("may be as many as the limit says", () => {
    const machine = counting(limits.microstepsMax);
    const { state, outcome } = step(machine, start(machine, undefined, at).state, { type: "go" }, at);
    expect([outcome, state.context.n]).toEqual(["taken", limits.microstepsMax - 1]);
  });

  test("one more refuses the step, and nothing has changed", () => {
    const machine = counting(limits.microstepsMax + 1);
    const before = start(machine, undefined, at).state;
    const refused = step(machine, before, { type: "go" }, at);
    expect(refused).toMatchObject({ outcome: "refused", effects: [], error: { code: "STEP_UNBOUNDED" } });
    expect(refused.state).toBe(before);
  });

  test("count for all that follows from one event: raised and deferred events as well", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { go: { actions: { raise: "go" } } } } },
    });
    const { error } = step(machine, start(machine, undefined, at).state, { type: "go" }, at);
    expect(error?.details).toEqual({ loop: ["a --go--> a"] });
  });

  test("the error shows the loop, once round", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { on: { go: "b" } },
        b: { always: "c" },
        c: { entry: { raise: "next" }, on: { next: "d" } },
        d: { always: "b" },
      },
    });
    const { error } = step(machine, start(machine, undefined, at).state, { type: "go" }, at);
    const loop = error?.details.loop as string[];
    expect(loop.toSorted()).toEqual(["b --always--> c", "c --next--> d", "d --always--> b"]);
    expect(error?.message).toContain(
      `did not end after ${limits.microstepsMax} microsteps; it goes round:\n  `,
    );
  });

  /** The loop that the error of a round trip through so many states shows. */
  const loopOf = (size: number) => {
    const states = Object.fromEntries(
      Array.from({ length: size }, (_, n): [string, StateDefinition] => [
        `s${n}`,
        { always: `s${(n + 1) % size}` },
      ]),
    );
    const machine = defineMachine({ id: "m", initial: "z", states: { z: { on: { go: "s0" } }, ...states } });
    return step(machine, start(machine, undefined, at).state, { type: "go" }, at).error?.details
      .loop as string[];
  };

  test("a loop as long as can be shown is shown whole, and of a longer one the end", () => {
    const whole = loopOf(limits.loopShownMax);
    expect(new Set(whole).size).toBe(limits.loopShownMax);
    expect(loopOf(limits.loopShownMax + 1)).toHaveLength(limits.loopShownMax);
  });

  test("a start that never comes to rest throws", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { always: "b" }, b: { always: "a" } },
    });
    expect(() => start(machine, undefined, at)).toThrow(expect.objectContaining({ code: "STEP_UNBOUNDED" }));
  });
});

describe("errors that lead to errors without a microstep", () => {
  const boom = () => {
    throw new Error("boom");
  };

  test("in a guard of an eventless transition are bounded", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { go: "b" } }, b: { always: { guard: boom, target: "a" } } },
    });
    const before = start(machine, undefined, at).state;
    const refused = step(machine, before, { type: "go" }, at);
    expect(refused).toMatchObject({ outcome: "refused", error: { code: "STEP_UNBOUNDED" } });
    expect(refused.error?.message).toContain("boom");
    expect(refused.state).toBe(before);
  });

  test("in a guard that is asked about the error event itself are bounded", () => {
    const machine = defineMachine({
      id: "m",
      unhandled: "ignore",
      initial: "a",
      states: { a: { on: { "*": { guard: boom } } } },
    });
    const { error } = step(machine, start(machine, undefined, at).state, { type: "go" }, at);
    expect(error?.code).toBe("STEP_UNBOUNDED");
  });

  test("in the handler of the error event are bounded, and show the loop", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { on: { go: { actions: { log: boom } }, "error.execution": { actions: { log: boom } } } },
      },
    });
    const { error } = step(machine, start(machine, undefined, at).state, { type: "go" }, at);
    expect(error).toMatchObject({ code: "STEP_UNBOUNDED", details: { loop: ["a --error.execution--> a"] } });
  });
});

describe("deferred events of one run", () => {
  test("may be as many as the limit says; one more is refused, and those that wait are kept", () => {
    const machine = defineMachine({
      id: "m",
      start: { got: 0 },
      initial: "a",
      states: {
        a: { defer: ["x"], on: { go: "b" } },
        b: {
          on: {
            x: {
              update: (draft) => {
                draft.got++;
              },
            },
          },
        },
      },
    });
    let { state } = start(machine, undefined, at);
    for (let n = 0; n < limits.deferredMax; n++) state = step(machine, state, { type: "x" }, at).state;
    expect(state.deferred).toHaveLength(limits.deferredMax);
    const refused = step(machine, state, { type: "x" }, at);
    expect(refused).toMatchObject({ outcome: "refused", error: { code: "DEFERRED_FULL", retry: "later" } });
    expect(refused.error?.message).toContain('defers 1000 events already, and cannot keep "x"');
    expect(refused.state).toBe(state);
  });
});

describe("states of one machine", () => {
  const flat = (count: number) => {
    const states: Record<string, StateDefinition> = {};
    for (let n = 0; n < count; n++) states[`s${n}`] = {};
    return defineMachine({ id: "m", initial: "s0", states });
  };

  test("may be as many as the limit says, the machine itself included, and not one more", () => {
    expect(flat(limits.statesMax - 1).chart.nodes).toHaveLength(limits.statesMax);
    expect(() => flat(limits.statesMax)).toThrow(
      `states.s${limits.statesMax - 1} is too much: a machine has at most 20000 states, 64 deep`,
    );
  });

  const deep = (levels: number): StateDefinition =>
    levels === 1 ? {} : { initial: "s", states: { s: deep(levels - 1) } };

  test("may be as deep as the limit says, and not one level deeper", () => {
    const machine = defineMachine({ id: "m", initial: "s", states: { s: deep(limits.stateDepthMax) } });
    expect(start(machine, undefined, at).state.configuration[0]?.split(".")).toHaveLength(
      limits.stateDepthMax,
    );
    expect(() =>
      defineMachine({ id: "m", initial: "s", states: { s: deep(limits.stateDepthMax + 1) } }),
    ).toThrow("64 deep");
  });

  test("that contain themselves are finite all the same", () => {
    const endless: { initial: string; states: Record<string, unknown> } = { initial: "s", states: {} };
    endless.states.s = endless;
    expect(() => defineMachine({ id: "m", initial: "s", states: { s: endless as StateDefinition } })).toThrow(
      expect.objectContaining({ code: "MACHINE_INVALID" }),
    );
  });
});

describe("what a machine remembers to be fast", () => {
  test("of events is bounded, and more kinds of events are taken just as well", () => {
    const machine = defineMachine({
      id: "m",
      start: { n: 0 },
      initial: "a",
      states: {
        a: {
          on: {
            "e.*": {
              update: (draft) => {
                draft.n++;
              },
            },
          },
        },
      },
    });
    let { state } = start(machine, undefined, at);
    for (let n = 0; n <= limits.cachedMax; n++) state = step(machine, state, { type: `e.${n}` }, at).state;
    expect(configurationOf(machine.chart, ["a"])?.candidates.size).toBeLessThanOrEqual(limits.cachedMax);
    state = step(machine, state, { type: "e.0" }, at).state;
    expect(state.context.n).toBe(limits.cachedMax + 2);
  });

  /** Fourteen regions that each flip if their bit of the event's number is set: 16384 configurations and plans. */
  const bits = 14;
  const flipping = () => {
    const regions = Array.from({ length: bits }, (_, bit): [string, StateDefinition] => {
      const guard = ({ event }: { event: { data?: unknown } }) => (((event.data as number) >> bit) & 1) === 1;
      return [
        `r${bit}`,
        {
          initial: "off",
          states: {
            off: { on: { flip: { guard, target: "on" } } },
            on: { on: { flip: { guard, target: "off" } } },
          },
        },
      ];
    });
    return defineMachine({ id: "m", type: "parallel", states: Object.fromEntries(regions) });
  };
  const shown = (configuration: readonly string[]) =>
    configuration.reduce((sum, path, bit) => sum + (path.endsWith(".on") ? 1 << bit : 0), 0);

  test("of plans and configurations is bounded, and more of them are just as right", () => {
    const machine = flipping();
    const first = start(machine, undefined, at).state;
    for (let n = 1; n <= limits.cachedMax + 5; n++) {
      const { state } = step(machine, first, { type: "flip", data: n }, at);
      if (shown(state.configuration) !== n) expect(state.configuration).toBe(n);
    }
    const { plans } = configurationOf(machine.chart, first.configuration) as Configuration;
    expect(plans.size).toBeLessThanOrEqual(limits.cachedMax);
    const again = step(machine, first, { type: "flip", data: 5 }, at).state;
    expect(shown(again.configuration)).toBe(5);
    const restored = JSON.parse(JSON.stringify(again)) as typeof again;
    expect(shown(step(machine, restored, { type: "flip", data: 4 }, at).state.configuration)).toBe(1);
  });
});
