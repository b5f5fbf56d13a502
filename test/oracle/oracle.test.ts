/** The oracle itself, on charts small enough to work out by hand. Each expectation is the specification's. */
import { describe, expect, test } from "vitest";
import type { Action, MachineDefinition, StateDefinition } from "../../src/core/definition.ts";
import type { Json } from "../../src/core/json.ts";
import { descriptorTakes } from "./descriptor.ts";
import { createOracle, type OracleStep } from "./oracle.ts";

const log = (text: string): Action => ({ log: text });
/** A state that tells when it is entered and left. */
const told = (name: string, rest: StateDefinition = {}): StateDefinition => ({
  entry: log(`+${name}`),
  exit: log(`-${name}`),
  ...rest,
});
const fails: Action = {
  update: () => {
    throw new Error("no");
  },
};

/** Starts a machine and sends it events; the last step. */
function run(definition: Partial<MachineDefinition>, ...events: string[]): OracleStep {
  const oracle = createOracle({ id: "m", start: {}, ...definition });
  let step = oracle.start()!;
  for (const type of events) step = oracle.step(step.state, { type })!;
  return step;
}
const logs = (step: OracleStep): readonly Json[] => step.logs;

describe("entering and leaving", () => {
  const tree = {
    initial: "a",
    states: {
      a: told("a", { initial: "b", states: { b: told("b"), c: told("c") }, on: { go: ".c", out: "d" } }),
      d: told("d"),
    },
  };

  test("goes from the outside in, and from the inside out", () => {
    expect(logs(run(tree))).toEqual(["+a", "+b"]);
    expect(logs(run(tree, "out"))).toEqual(["-b", "-a", "+d"]);
  });

  test("an internal transition does not leave its source, an external one does", () => {
    expect(logs(run(tree, "go"))).toEqual(["-b", "+c"]);
    const external = structuredClone({ to: { target: ".c", reenter: true } }).to;
    const states = { ...tree.states, a: { ...tree.states.a, on: { go: external } } };
    expect(logs(run({ ...tree, states }, "go"))).toEqual(["-b", "-a", "+a", "+c"]);
  });

  test("deep and several initials enter all that is between, with the content of each initial", () => {
    const step = run({
      initial: { target: ["p.x.deep", "p.y.other"], actions: log("initial") },
      entry: log("+m"),
      states: {
        p: told("p", {
          type: "parallel",
          states: {
            x: told("x", { initial: "shallow", states: { shallow: {}, deep: told("deep") } }),
            y: told("y", { initial: "one", states: { one: {}, other: told("other") } }),
          },
        }),
      },
    });
    expect(logs(step)).toEqual(["+m", "initial", "+p", "+x", "+deep", "+y", "+other"]);
    expect(step.state.configuration).toEqual(["p.x.deep", "p.y.other"]);
  });
});

describe("parallel states", () => {
  const regions = (one: StateDefinition, other: StateDefinition, p: StateDefinition = {}) => ({
    initial: "p",
    states: {
      p: told("p", {
        type: "parallel",
        ...p,
        states: {
          x: told("x", { initial: "a", states: { a: one, b: told("b") } }),
          y: told("y", { initial: "c", states: { c: other, d: told("d") } }),
        },
      }),
      q: told("q"),
    },
  });

  test("all exits come first, then all actions, then all entries", () => {
    const chart = regions(
      told("a", { on: { e: { target: "b", actions: log("ab") } } }),
      told("c", { on: { e: { target: "d", actions: log("cd") } } }),
    );
    expect(logs(run(chart, "e"))).toEqual(["-c", "-a", "ab", "cd", "+b", "+d"]);
  });

  test("a transition from one region into another leaves the parallel state: its domain is never parallel", () => {
    const chart = regions(told("a", { on: { e: "y.d" } }), told("c"));
    expect(logs(run(chart, "e"))).toEqual(["-c", "-y", "-a", "-x", "-p", "+p", "+x", "+a", "+y", "+d"]);
  });

  test("of two that conflict the inner one wins, else the earlier one", () => {
    const outwards = { e: { target: "q", actions: log("outer") } };
    const inner = regions(told("a", { on: { e: "b" } }), told("c"), { on: outwards });
    expect(run(inner, "e").state.configuration).toEqual(["p.x.b", "p.y.c"]);
    const earlier = regions(told("a", { on: outwards }), told("c", { on: { e: "d" } }));
    expect(run(earlier, "e").state.configuration).toEqual(["q"]);
  });

  test("a targetless transition of the parallel state runs beside that of a region, in the order of the leaves", () => {
    const chart = regions({ on: { e: { actions: log("a") } } }, {}, { on: { e: { actions: log("p") } } });
    expect(logs(run(chart, "e"))).toEqual(["a", "p"]);
  });

  test("are done when every region is, in the order of the entries", () => {
    const region = { initial: "f", states: { f: { type: "final" } } } as const;
    const step = run({
      initial: "p",
      states: { p: { type: "parallel", states: { x: region, y: region } } },
      on: { "done.state.*": { actions: { log: ({ event }) => event.type } } },
    });
    expect(logs(step)).toEqual(["done.state.p.x", "done.state.p.y", "done.state.p"]);
  });
});

describe("history", () => {
  const chart = (history: "shallow" | "deep") => ({
    initial: "a",
    states: {
      a: told("a", {
        initial: "b",
        states: {
          b: { initial: "c", states: { c: { on: { next: "d" } }, d: {} } },
          h: { type: "history", history, target: "b", actions: log("default") },
        } as Record<string, StateDefinition>,
        on: { out: "q" },
      }),
      q: { on: { back: "a.h" } },
    },
  });

  test("deep history recalls leaves, shallow history children", () => {
    const events = ["next", "out", "back"];
    expect(run(chart("deep"), ...events).state.configuration).toEqual(["a.b.d"]);
    expect(run(chart("shallow"), ...events).state.configuration).toEqual(["a.b.c"]);
    expect(run(chart("deep"), "next", "out").state.history).toEqual({ "a.h": ["a.b.d"] });
  });

  test("its default content runs after its parent's entry, and only while there is nothing to recall", () => {
    const fromOutside = { ...chart("deep"), initial: "q" };
    expect(logs(run(fromOutside, "back"))).toEqual(["+a", "default"]);
    expect(logs(run(fromOutside, "back", "out", "back"))).toEqual(["+a"]);
  });

  test("from inside, nothing is entered that was not left", () => {
    const inside = {
      initial: "p",
      states: {
        p: told("p", {
          type: "parallel",
          states: {
            x: told("x", { initial: "a", states: { a: { on: { e: "h" } }, b: told("b") } }),
            y: told("y"),
          },
        }),
        h: { type: "history", history: "deep", target: "p.x.b" },
      } as Record<string, StateDefinition>,
    };
    const step = run(inside, "e");
    expect(logs(step)).toEqual(["+b"]);
    expect(step.state.configuration).toEqual(["p.x.b", "p.y"]);
  });
});

describe("the order of things", () => {
  test("eventless transitions come before raised events, and those before the next event", () => {
    const step = run({
      initial: "a",
      states: {
        a: { entry: [log("a"), { raise: "r" }], always: "b" },
        b: { entry: log("b"), on: { r: { target: "c", actions: log("r") } } },
        c: { entry: log("c") },
      },
    });
    expect(logs(step)).toEqual(["a", "b", "r", "c"]);
  });

  test("an error ends its block only and becomes an event; a guard that fails is false", () => {
    const step = run({
      initial: "a",
      states: {
        a: {
          entry: [[log("one"), fails, log("never")], [log("two")]],
          on: { "error.execution": { actions: log("caught") }, e: { guard: () => JSON.parse("") } },
        },
      },
    });
    expect(logs(step)).toEqual(["one", "two", "caught"]);
    expect(step.errors).toEqual(["error.execution"]);
  });

  test("a final state of the machine ends it: every exit runs, its output stays", () => {
    const step = run(
      {
        initial: "a",
        exit: log("-m"),
        states: { a: { on: { e: "f" } }, f: told("f", { type: "final", output: 7 }) },
      },
      "e",
    );
    expect(logs(step)).toEqual(["+f", "-f", "-m"]);
    expect(step.state).toMatchObject({ status: "done", output: 7, configuration: ["f"] });
  });

  test("a step without end is found out, with microsteps or without", () => {
    const chart = (a: StateDefinition) => createOracle({ id: "m", start: {}, initial: "a", states: { a } });
    expect(chart({ always: {} }).start()).toBeUndefined();
    const failing = chart({ on: { "*": { guard: () => JSON.parse("") } } });
    expect(failing.step(failing.start()!.state, { type: "e" })).toBeUndefined();
  });
});

describe("beyond SCXML", () => {
  test("a state that targets itself without re-entering stays, and starts its inside again", () => {
    const step = run(
      {
        initial: "a",
        states: {
          a: told("a", {
            initial: { target: "b", actions: log("initial") },
            states: { b: told("b"), c: told("c") },
            on: { next: ".c", self: "a" },
          }),
        },
      },
      "next",
      "self",
    );
    expect(logs(step)).toEqual(["-c", "initial", "+b"]);
  });

  test("a parallel state that stays gets all its regions back", () => {
    const region = { initial: "one", states: { one: {}, two: {} } };
    const step = run(
      {
        initial: "p",
        states: { p: told("p", { type: "parallel", on: { e: ".x.two" }, states: { x: region, y: region } }) },
      },
      "e",
    );
    expect(logs(step)).toEqual([]);
    expect(step.state.configuration).toEqual(["p.x.two", "p.y.one"]);
  });
});

describe("descriptors", () => {
  test.each([
    ["a", "a", true, true],
    ["a", "a.b", false, true],
    ["a", "ab", false, false],
    ["a.*", "a", true, true],
    ["a.*", "a.b.c", true, true],
    ["a.*", "ab", false, false],
    ["*", "anything.at.all", true, true],
    ["a.b", "a", false, false],
  ])("%s takes %s: exactly %s, as a prefix %s", (descriptor, type, exact, scxml) => {
    expect(descriptorTakes(descriptor, type, "exact")).toBe(exact);
    expect(descriptorTakes(descriptor, type, "scxml")).toBe(scxml);
  });
});
