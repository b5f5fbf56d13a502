/**
 * Random machines on their way to XState and back. What comes back must look the same and do the same, event by event.
 * The machines say only what XState has words for; that the rest is noted is shown on machines that say everything.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import * as xstate from "xstate";
import { toXState } from "../../src/core/formats/xstate/export.ts";
import { fromXState } from "../../src/core/formats/xstate/import.ts";
import { defineMachine, type Machine } from "../../src/core/machine.ts";
import { drawPlan } from "../generate/chart.ts";
import { definitionOf, eventOf } from "../generate/definition.ts";
import type { TransitionPlan } from "../generate/plan.ts";
import {
  directInitial,
  oneBlock,
  onlyTransitions,
  type Simplify,
  silentHistory,
  simplePlan,
} from "./plan.ts";
import { behaviourOf, shapeOf } from "./shape.ts";

const seeds = fc.noShrink(fc.nat({ max: 0x7fff_ffff }));
/** What is said of every machine, and changes nothing on the way back. */
const harmless = ["errors", "time"];

const isError = ({ trigger }: TransitionPlan) =>
  "events" in trigger && trigger.events.some((event) => event.startsWith("error"));
const sayable: Simplify = (state, tree) =>
  onlyTransitions(directInitial(silentHistory(oneBlock(state)), tree), (one) => !isError(one));

function thereAndBack(machine: Machine) {
  const { config, implementations, notes } = toXState(machine, { xstate });
  const theirs = xstate.createMachine(config as never, implementations as never);
  return { back: defineMachine(fromXState(theirs).definition), notes };
}

test("a machine that XState has words for comes back as it was", () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const plan = { ...simplePlan(seed, "shared", sayable), matching: "exact" } as const;
      const machine = defineMachine(definitionOf(plan));
      const events = plan.events.map(eventOf);
      const ours = behaviourOf(machine, events);
      // Those that go round for ever take long and show nothing.
      fc.pre(!ours.includes("STEP_UNBOUNDED"));
      const { back, notes } = thereAndBack(machine);
      expect(notes.filter(({ topic }) => !harmless.includes(topic))).toEqual([]);
      expect(shapeOf(back)).toEqual(shapeOf(machine));
      expect(behaviourOf(back, events)).toEqual(ours);
    }),
    { numRuns: 200 },
  );
});

test("a machine that comes back different has been noted", () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const plan = drawPlan(seed, "shared");
      const machine = defineMachine(definitionOf(plan));
      const events = plan.events.map(eventOf);
      const ours = behaviourOf(machine, events);
      fc.pre(!ours.includes("STEP_UNBOUNDED"));
      const { back, notes } = thereAndBack(machine);
      const same = JSON.stringify(behaviourOf(back, events)) === JSON.stringify(ours);
      expect(same || notes.some(({ topic }) => !harmless.includes(topic))).toBe(true);
    }),
    { numRuns: 100 },
  );
});
