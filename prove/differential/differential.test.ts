/** The proof can fail: bugs planted in each engine are caught, made small and shown. */
import { describe, expect, test } from "vitest";
import { compound, final, history, on, parallel, plan, state } from "../../test/generate/by-hand.ts";
import { drawPlan } from "../../test/generate/chart.ts";
import type { Plan } from "../../test/generate/plan.ts";
import { OrderedSet } from "../../test/oracle/collections.ts";
import type { StateNode } from "../../test/oracle/document.ts";
import { Interpreter } from "../../test/oracle/interpreter.ts";
import { getProperAncestors, isDescendant } from "../../test/oracle/relations.ts";
import type { Deviation } from "./deviations.ts";
import { runHoldfast } from "./holdfast.ts";
import { type Engines, engines, judge } from "./judge.ts";
import type { Behaviour, Observation } from "./observation.ts";
import { runOracle } from "./oracle-run.ts";
import { proveDifferential } from "./proof.ts";
import { runScion } from "./scion.ts";

function prove(charts: number, planted: Partial<Engines> = {}, seed = 1) {
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  const passed = proveDifferential({
    seed,
    charts,
    print,
    now: () => 0,
    engines: { ...engines, ...planted },
  });
  return { passed, lines, text: lines.join("\n") };
}

const changed = (behaviour: Behaviour, change: (step: Observation) => Observation): Behaviour => ({
  ...behaviour,
  steps: behaviour.steps.map(change),
});

/** How many states the chart that a mismatch shows has. */
const statesShown = (text: string): number => text.split("MISMATCH")[1]!.split('"kind"').length - 1;

describe("the proof", () => {
  test("passes on the real engines, with its seed first and its figures last", () => {
    const { passed, lines } = prove(60);
    expect(passed).toBe(true);
    expect(lines[0]).toBe("prove:differential seed 1");
    expect(lines.at(-1)).toMatch(/^prove:differential passed: 60 charts .* 0 mismatches$/);
  });

  test("says the same again for the same seed, and something else for another", () => {
    expect(prove(20).text).toBe(prove(20).text);
    expect(prove(20, {}, 1_000).lines.slice(1)).not.toEqual(prove(20).lines.slice(1));
  });

  test("goes on for the minutes it is given", () => {
    let now = 0;
    const lines: string[] = [];
    const tick = () => {
      now += 20_000;
      return now;
    };
    proveDifferential({ seed: 1, charts: 1, minutes: 1, print: (line) => lines.push(line), now: tick });
    expect(lines.at(-1)).toContain("passed: 2 charts");
  });
});

describe("a planted bug is caught and shrunk", () => {
  test("a configuration that loses a leaf", () => {
    const holdfast = (one: Plan) =>
      changed(runHoldfast(one), (step) =>
        step.configuration.length < 3 ? step : { ...step, configuration: step.configuration.slice(1) },
      );
    const { passed, text, lines } = prove(100, { holdfast });
    expect(passed).toBe(false);
    expect(text).toMatch(/MISMATCH in the \w+ chart of seed \d+: holdfast and the oracle differ at step 0/);
    expect(text).toContain("again: npm run prove:differential -- --seed");
    expect(statesShown(text)).toBeLessThanOrEqual(5);
    expect(lines.at(-1)).toMatch(/^prove:differential failed: /);
  });

  test("a domain that may be a parallel state: the plain least common ancestor", () => {
    class PlainAncestor extends Interpreter {
      override findLCCA([head, ...tail]: readonly StateNode[]): StateNode {
        const contains = (above: StateNode) => tail.every((s) => isDescendant(s, above));
        return getProperAncestors(head!, null).find(contains) ?? this.document.root;
      }
    }
    const { passed, text } = prove(400, { holdfast: (one) => runOracle(one, PlainAncestor) });
    expect(passed).toBe(false);
    expect(statesShown(text)).toBeLessThanOrEqual(6);
    expect(text).toContain('"kind": "parallel"');
  });

  test("entries in the wrong order", () => {
    class Backwards extends Interpreter {
      override executeTransitionContent(
        transitions: Parameters<Interpreter["executeTransitionContent"]>[0],
      ): void {
        super.executeTransitionContent(transitions.toReversed());
      }
    }
    const { passed, text } = prove(400, { holdfast: (one) => runOracle(one, Backwards) });
    expect(passed).toBe(false);
    expect(statesShown(text)).toBeLessThanOrEqual(6);
  });

  test("an engine that falls over", () => {
    const holdfast = (one: Plan): Behaviour => {
      if (one.counters > 1) throw new Error("too many counters");
      return runHoldfast(one);
    };
    const { passed, text } = prove(20, { holdfast });
    expect(passed).toBe(false);
    expect(text).toContain("holdfast: falls over: too many counters");
    expect(statesShown(text)).toBe(2);
  });

  test("a configuration that no chart can be in, even if the oracle has it too", () => {
    class Greedy extends Interpreter {
      override wasLeft(): boolean {
        return true;
      }
      override computeExitSet(): ReturnType<Interpreter["computeExitSet"]> {
        return new OrderedSet();
      }
    }
    const greedy = (one: Plan) => runOracle(one, Greedy);
    const { passed, text } = prove(40, { holdfast: greedy, oracle: greedy });
    expect(passed).toBe(false);
    expect(text).toContain("holdfast and the oracle are where no chart can be at step 1");
  });

  test("a SCION that deviates in a way nobody knows of", () => {
    const scion = (one: Plan) => changed(runScion(one), (step) => ({ ...step, log: step.log.toReversed() }));
    const { passed, text } = prove(40, { scion });
    expect(passed).toBe(false);
    expect(text).toContain("scion and the oracle differ");
  });

  test("a step that one engine finds endless and the other does not", () => {
    const holdfast = (one: Plan): Behaviour => {
      const behaviour = runHoldfast(one);
      return { steps: behaviour.steps.slice(0, 2), unbounded: behaviour.steps.length > 2 };
    };
    const { passed, text } = prove(10, { holdfast });
    expect(passed).toBe(false);
    expect(text).toContain("holdfast: never ends");
  });
});

describe("each known deviation of SCION is one that SCXML contradicts", () => {
  const leave = { reenter: true };
  const tells = (label: string) => on("e", [], { actions: [{ log: label }] });

  const charts: Readonly<Record<Deviation, Plan>> = {
    domain: plan([parallel("p", [state("a", { transitions: [on("e", ["b"], leave)] }), state("b")])], "e"),
    transitionOrder: plan(
      [
        parallel("p", [state("a", { transitions: [tells("a")] }), state("b")], {
          transitions: [tells("p")],
        }),
      ],
      "e",
    ),
    doneEvents: plan([
      parallel("p", [compound("a", [final("f")]), compound("b", [final("g")])], {
        transitions: [{ trigger: { done: true }, targets: [], actions: [{ log: "done" }] }],
      }),
    ]),
    deepHistory: plan(
      [
        compound(
          "c",
          [
            parallel("p", [
              compound("a", [state("x", { transitions: [on("end", ["f"])] }), final("f")]),
              state("b"),
            ]),
            history("h", "p", { deep: true }),
          ],
          { transitions: [on("out", ["d"])] },
        ),
        state("d", { transitions: [on("back", ["h"])] }),
      ],
      "end",
      "out",
      "back",
    ),
  };

  test.each(Object.entries(charts))("%s", (deviation, chart) => {
    expect(judge(chart, "shared")).toMatchObject({ agrees: true, deviations: [deviation] });
  });

  test("and most charts need none of them", () => {
    const verdicts = Array.from({ length: 60 }, (_, seed) => judge(drawPlan(seed), "shared"));
    const plain = verdicts.filter((verdict) => verdict.agrees && verdict.deviations.length === 0);
    expect(plain.length).toBeGreaterThan(40);
  });
});
