import { describe, expect, test } from "vitest";
import { cancel, defineMachine, simulate, start, step } from "../index.ts";

const at = { at: 0 };
const boom = (): never => {
  throw new Error("unsure");
};

describe("invariants", () => {
  const machine = defineMachine({
    id: "m",
    start: { n: 0 },
    invariants: { small: ({ context }) => context.n < 3 },
    initial: "a",
    states: {
      a: {
        invariants: { even: ({ context }) => context.n % 2 === 0 },
        on: {
          set: {
            update: (draft, { event }) => {
              draft.n = event.data as number;
            },
          },
          detour: {
            update: (draft) => {
              draft.n = 99;
            },
            actions: { raise: "mend" },
          },
          mend: {
            update: (draft) => {
              draft.n = 0;
            },
          },
          leave: {
            target: "b",
            update: (draft) => {
              draft.n = 1;
            },
          },
        },
      },
      b: {},
    },
  });
  const begun = start(machine, undefined, at).state;

  test("that would be broken refuse the step: the state stays, and the error names invariant, owner and event", () => {
    const refused = step(machine, begun, { type: "set", data: 4 }, at);
    expect(refused).toMatchObject({ outcome: "refused", effects: [] });
    expect(refused.state).toBe(begun);
    expect(refused.error).toMatchObject({
      code: "INVARIANT_VIOLATED",
      message: 'The step on "set" was refused: it would break the invariant "small" of the machine',
      details: { invariant: "small", state: "", event: "set" },
    });
    expect(step(machine, begun, { type: "set", data: 1 }, at).error?.message).toBe(
      'The step on "set" was refused: it would break the invariant "even" of "a"',
    );
  });

  test("are judged at the end of the step, not in the middle of it", () => {
    expect(step(machine, begun, { type: "detour" }, at).outcome).toBe("taken");
  });

  test("of a state count only while it is active", () => {
    expect(step(machine, begun, { type: "leave" }, at).state).toMatchObject({
      configuration: ["b"],
      context: { n: 1 },
    });
  });

  test("see the event that led there, and the error names the one the step was about, whatever was raised or waits", () => {
    const seen: string[] = [];
    const chained = defineMachine({
      id: "m",
      start: { n: 0 },
      invariants: {
        small: ({ context, event }) => {
          seen.push(event.type);
          return context.n < 3;
        },
      },
      initial: "a",
      states: {
        a: {
          defer: ["wait"],
          on: {
            set: { actions: { raise: "inner" } },
            inner: {
              update: (draft) => {
                draft.n = 3;
              },
            },
          },
        },
      },
    });
    const waiting = step(chained, start(chained, undefined, at).state, { type: "wait" }, at).state;
    const { error } = step(chained, waiting, { type: "set" }, at);
    expect(error?.message).toContain('The step on "set" was refused');
    expect(error?.details.event).toBe("set");
    expect(seen).toEqual(["start", "wait", "inner"]);
  });

  test("that fail to answer do not hold, and the reason is the error's cause", () => {
    const unsure = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { go: "b" } }, b: { invariants: { boom } } },
    });
    const { error } = step(unsure, start(unsure, undefined, at).state, { type: "go" }, at);
    expect(error?.code).toBe("INVARIANT_VIOLATED");
    expect(error?.cause).toMatchObject({ message: "unsure" });
  });

  test("that the first state breaks make the start throw", () => {
    const broken = defineMachine({
      id: "m",
      invariants: { never: () => false },
      initial: "a",
      states: { a: {} },
    });
    expect(() => start(broken, undefined, at)).toThrow(
      expect.objectContaining({ code: "INVARIANT_VIOLATED" }),
    );
  });

  test("are judged before a run ends, but do not keep it from being cancelled", () => {
    const ending = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { end: "end" } }, end: { type: "final", invariants: { never: () => false } } },
    });
    const { state } = start(ending, undefined, at);
    expect(step(ending, state, { type: "end" }, at).error?.code).toBe("INVARIANT_VIOLATED");
    expect(cancel(ending, state, at).state.status).toBe("cancelled");
  });
});

describe("contracts of transitions", () => {
  const machine = defineMachine({
    id: "m",
    start: { funds: 10, spent: 0 },
    guards: { solvent: ({ context }) => context.funds >= 0 },
    initial: "a",
    states: {
      a: {
        on: {
          pay: {
            target: "b",
            require: { enough: ({ context, event }) => context.funds >= (event.data as number) },
            update: (draft, { event }) => {
              draft.funds -= event.data as number;
              draft.spent += event.data as number;
            },
            ensure: {
              balanced: ({ context, old }) => context.funds + context.spent === old.funds + old.spent,
            },
          },
          lose: {
            update: (draft) => {
              draft.funds -= 1;
            },
            ensure: { balanced: ({ context, old }) => context.funds === old.funds },
          },
          check: { ensure: { solvent: "solvent", poor: { not: "solvent" } as never } },
          unsure: { require: { boom } },
        },
      },
      b: {},
    },
  });
  const begun = start(machine, undefined, at).state;

  test("let the step through when they hold", () => {
    expect(step(machine, begun, { type: "pay", data: 4 }, at).state).toMatchObject({
      configuration: ["b"],
      context: { funds: 6, spent: 4 },
    });
  });

  test("a require is judged before the actions, and refuses the step", () => {
    const refused = step(machine, begun, { type: "pay", data: 11 }, at);
    expect(refused.state).toBe(begun);
    expect(refused).toMatchObject({ outcome: "refused", effects: [] });
    expect(refused.error).toMatchObject({
      code: "CONTRACT_VIOLATED",
      message: 'The step on "pay" was refused: require "enough" of "a" does not hold',
      details: { contract: "enough", kind: "require", state: "a", event: "pay" },
    });
  });

  test("an ensure is judged after the actions, and sees the context as it was before them", () => {
    const refused = step(machine, begun, { type: "lose" }, at);
    expect(refused.state).toBe(begun);
    expect(refused.error?.message).toBe(
      'The step on "lose" was refused: ensure "balanced" of "a" does not hold',
    );
  });

  test("are judged on a transition that does nothing, too, and may be guards by name", () => {
    expect(step(machine, begun, { type: "check" }, at).error?.details).toMatchObject({ contract: "poor" });
  });

  test("one that fails to answer does not hold", () => {
    const { error } = step(machine, begun, { type: "unsure" }, at);
    expect(error).toMatchObject({ code: "CONTRACT_VIOLATED", cause: { message: "unsure" } });
  });
});

describe("contracts of states", () => {
  const machine = defineMachine({
    id: "m",
    start: { key: 0, log: [] as string[] },
    initial: "out",
    states: {
      out: {
        on: {
          take: {
            update: (draft) => {
              draft.key = 1;
            },
          },
          enter: "room",
        },
      },
      room: {
        require: { key: ({ context }) => context.key > 0 },
        entry: {
          update: (draft) => {
            draft.key = 0;
          },
        },
        exit: {
          update: (draft, { event }) => {
            draft.log.push(event.type);
          },
        },
        ensure: {
          noted: ({ context, old }) => context.log.length === old.log.length + 1,
          polite: ({ event }) => event.type !== "barge",
        },
        on: { leave: "out", barge: "out" },
      },
    },
  });

  test("a require is judged before the entry actions", () => {
    const run = simulate(machine);
    const before = run.state;
    expect(run.send("enter").error?.message).toBe(
      'The step on "enter" was refused: require "key" of "room" does not hold',
    );
    expect(run.state).toBe(before);
    run.send("take");
    expect(run.send("enter").state).toMatchObject({ configuration: ["room"], context: { key: 0 } });
  });

  test("an ensure is judged after the exit actions, and compares with the context before them", () => {
    const run = simulate(machine);
    run.send("take");
    run.send("enter");
    expect(run.send("barge").error?.details).toMatchObject({
      contract: "polite",
      kind: "ensure",
      state: "room",
    });
    expect(run.state.configuration).toEqual(["room"]);
    expect(run.send("leave").state.context.log).toEqual(["leave"]);
  });

  test("can refuse an ending the machine chose, and not one from outside", () => {
    const held = defineMachine({
      id: "m",
      ensure: { released: () => false },
      initial: "a",
      states: { a: { on: { end: "end" } }, end: { type: "final" } },
    });
    const { state } = start(held, undefined, at);
    expect(step(held, state, { type: "end" }, at).error?.details).toMatchObject({ contract: "released" });
    expect(cancel(held, state, at).state.status).toBe("cancelled");
  });
});
