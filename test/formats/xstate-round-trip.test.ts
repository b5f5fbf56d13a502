/**
 * Random machines on their way to XState and back. What comes back must look the same and do the same, event by event,
 * unless a note says that XState has no word for something in it.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import * as xstate from "xstate";
import { toXState } from "../../src/core/formats/xstate/export.ts";
import { fromXState } from "../../src/core/formats/xstate/import.ts";
import { defineMachine } from "../../src/core/machine.ts";
import { drawPlan } from "../generate/chart.ts";
import { definitionOf, eventOf } from "../generate/definition.ts";
import { behaviourOf, shapeOf } from "./shape.ts";

/** What is said of every machine, and changes nothing on the way back. */
const harmless = ["errors", "time"];

test("a machine that XState has words for comes back as it was", () => {
  let whole = 0;
  fc.assert(
    fc.property(fc.noShrink(fc.nat({ max: 0x7fff_ffff })), (seed) => {
      const plan = drawPlan(seed, "shared");
      const machine = defineMachine(definitionOf(plan));
      const { config, implementations, notes } = toXState(machine, { xstate });
      const theirs = xstate.createMachine(config as never, implementations as never);
      const back = defineMachine(fromXState(theirs).definition);
      if (notes.some(({ topic }) => !harmless.includes(topic))) return;
      whole++;
      expect(shapeOf(back)).toEqual(shapeOf(machine));
      const events = plan.events.map(eventOf);
      expect(behaviourOf(back, events)).toEqual(behaviourOf(machine, events));
    }),
    { numRuns: 2_000 },
  );
  expect(whole).toBeGreaterThan(200);
});
