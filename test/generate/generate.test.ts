/** The generator and the shrinker: repeatable, valid, various, and able to make a failure small. */
import { describe, expect, test } from "vitest";
import { defineMachine } from "../../src/core/machine.ts";
import { drawPlan } from "./chart.ts";
import { definitionOf } from "./definition.ts";
import type { Dialect, Plan, StatePlan } from "./plan.ts";
import { createRandom } from "./random.ts";
import { repair } from "./repair.ts";
import { shrink } from "./shrink.ts";
import { plant } from "./tree.ts";

const seeds = Array.from({ length: 200 }, (_, index) => index * 7 + 1);
const dialects: readonly Dialect[] = ["shared", "native"];

describe("chance", () => {
  test("the same seed gives the same stream, another seed another one", () => {
    const draw = (seed: number) => Array.from({ length: 20 }, createRandom(seed).next);
    expect(draw(5)).toEqual(draw(5));
    expect(draw(5)).not.toEqual(draw(6));
  });

  test("whole numbers cover their range and nothing else", () => {
    const random = createRandom(1);
    const drawn = new Set(Array.from({ length: 500 }, () => random.between(3, 7)));
    expect([...drawn].sort()).toEqual([3, 4, 5, 6, 7]);
  });

  test("some items are different ones, in the order of the list", () => {
    const random = createRandom(2);
    for (let round = 0; round < 50; round++) {
      const some = random.some([1, 2, 3, 4], 2);
      expect(some).toHaveLength(2);
      expect(some).toEqual([...new Set(some)].sort());
    }
    expect(random.some([1], 3)).toEqual([1]);
  });
});

describe.each(dialects)("plans of the %s dialect", (dialect) => {
  test("are determined by their seed", () => {
    for (const seed of seeds.slice(0, 20)) expect(drawPlan(seed, dialect)).toEqual(drawPlan(seed, dialect));
  });

  test("are JSON and nothing else", () => {
    for (const seed of seeds) {
      const plan = drawPlan(seed, dialect);
      expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
    }
  });

  test("need no repair", () => {
    for (const seed of seeds) {
      const plan = drawPlan(seed, dialect);
      expect(repair(plan, dialect)).toEqual(plan);
    }
  });

  test("are machines without a problem", () => {
    for (const seed of seeds)
      expect(() => defineMachine(definitionOf(drawPlan(seed, dialect)))).not.toThrow();
  });

  test("have all kinds of states and triggers among them", () => {
    const text = JSON.stringify(seeds.map((seed) => drawPlan(seed, dialect)));
    const parts = ["atomic", "compound", "parallel", "final", "history"].map((kind) => `"kind":"${kind}"`);
    const more = [
      '"deep":true',
      '"always":true',
      '"done":true',
      '"*"',
      '"a.*"',
      '"reenter":true',
      '"throws":true',
    ];
    for (const part of [...parts, ...more]) expect(text).toContain(part);
  });
});

test("only the native dialect has a parallel root", () => {
  const kinds = (dialect: Dialect) => new Set(seeds.map((seed) => drawPlan(seed, dialect).root.kind));
  expect(kinds("shared")).toEqual(new Set(["compound"]));
  expect(kinds("native")).toEqual(new Set(["compound", "parallel"]));
});

describe("shrinking", () => {
  const statesOf = (plan: Plan): StatePlan[] => [...plant(plan.root).values()].map(({ state }) => state);
  const nested = (plan: Plan): boolean =>
    [...plant(plan.root).values()].some(
      ({ state, parent }) => state.kind === "parallel" && parent?.state.kind === "parallel",
    );

  test("leaves what the failure needs and nothing else", () => {
    const seed = seeds.find((one) => nested(drawPlan(one)))!;
    const small = shrink(drawPlan(seed), "shared", nested);
    expect(nested(small)).toBe(true);
    expect(small.events).toEqual([]);
    expect(statesOf(small).map(({ kind }) => kind)).toEqual(["compound", "parallel", "parallel", "atomic"]);
    expect(
      statesOf(small).flatMap(({ transitions, entry, exit }) => [...transitions, ...entry, ...exit]),
    ).toEqual([]);
  });

  test("takes single parts out of guards, targets and blocks", () => {
    const hasIn = (plan: Plan): boolean => JSON.stringify(plan).includes('"in":"');
    const seed = seeds.find((one) => /"(and|or)":.*"in":"/.test(JSON.stringify(drawPlan(one))))!;
    const small = shrink(drawPlan(seed), "shared", hasIn);
    const [transition] = statesOf(small).flatMap(({ transitions }) => transitions);
    expect(Object.keys(transition!.guard!)).toEqual(["in"]);
    expect(transition!.actions).toEqual([]);
    expect(transition!.targets).toEqual([]);
  });

  test("every plan on the way is valid", () => {
    shrink(drawPlan(seeds[3]!, "native"), "native", (plan) => {
      expect(() => defineMachine(definitionOf(plan))).not.toThrow();
      return plan.root.states.length > 0;
    });
  });
});
