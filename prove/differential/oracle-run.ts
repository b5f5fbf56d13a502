/** Drives the oracle, or a variant of it, through a plan. */
import { countersOf } from "../../test/generate/content.ts";
import { definitionOf, eventOf } from "../../test/generate/definition.ts";
import type { Plan } from "../../test/generate/plan.ts";
import { type Algorithm, createOracle, type OracleStep } from "../../test/oracle/oracle.ts";
import { type Behaviour, type Observation, sorted } from "./observation.ts";

/** What the algorithm makes of a plan. */
export function runOracle(plan: Plan, Variant?: Algorithm): Behaviour {
  const oracle = createOracle(definitionOf(plan), Variant);
  const steps: Observation[] = [];
  let step = oracle.start();
  for (const event of plan.events) {
    if (step === undefined) break;
    steps.push(observe(step));
    if (step.state.status === "done") return { steps, unbounded: false };
    step = oracle.step(step.state, eventOf(event));
  }
  if (step !== undefined) steps.push(observe(step));
  return { steps, unbounded: step === undefined };
}

const observe = ({ state, logs, errors, outcome }: OracleStep): Observation => ({
  status: state.status,
  configuration: [...state.configuration].sort(),
  log: logs.map(String),
  counters: countersOf(state.context),
  details: { outcome, errors, history: sorted(state.history), output: state.output },
});
