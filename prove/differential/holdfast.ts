/** Drives Holdfast's own engine through a plan. */
import { defineMachine } from "../../src/core/machine.ts";
import { type Step, start, step } from "../../src/core/step.ts";
import { isHoldfastError } from "../../src/errors.ts";
import { countersOf } from "../../test/generate/content.ts";
import { definitionOf, eventOf } from "../../test/generate/definition.ts";
import type { Plan } from "../../test/generate/plan.ts";
import { type Behaviour, type Observation, sorted } from "./observation.ts";

/** What Holdfast does with a plan. Any refusal other than that of an endless step is a bug, and thrown. */
export function runHoldfast(plan: Plan): Behaviour {
  const machine = defineMachine(definitionOf(plan));
  const steps: Observation[] = [];
  let current = bounded(() => start(machine, undefined, { at: 0 }));
  for (const [index, event] of plan.events.entries()) {
    if (current === undefined) break;
    steps.push(observe(current));
    const { state } = current;
    if (state.status !== "active") return { steps, unbounded: false };
    current = bounded(() => step(machine, state, eventOf(event), { at: index + 1 }));
  }
  if (current !== undefined) steps.push(observe(current));
  return { steps, unbounded: current === undefined };
}

/** The step, or undefined if it was refused because it has no end. */
function bounded(take: () => Step): Step | undefined {
  try {
    const taken = take();
    if (taken.outcome !== "refused") return taken;
    throw taken.error;
  } catch (error) {
    if (isHoldfastError(error) && error.code === "STEP_UNBOUNDED") return undefined;
    throw error;
  }
}

const observe = ({ state, effects, errors, outcome }: Step): Observation => ({
  status: state.status === "active" ? "active" : "done",
  configuration: [...state.configuration].sort(),
  log: effects.flatMap((effect) => (effect.type === "log" ? [String(effect.data)] : [])),
  counters: countersOf(state.context),
  details: {
    outcome,
    errors: errors.map(({ type }) => type),
    history: sorted(state.history),
    output: state.output,
  },
});
