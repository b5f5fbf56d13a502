/**
 * One plan before the court: Holdfast must do what the oracle does, in everything that can be seen; SCION must do so
 * too, or exactly what the oracle does with SCION's known deviations.
 */
import type { Dialect, Plan } from "../../test/generate/plan.ts";
import type { Algorithm } from "../../test/oracle/oracle.ts";
import { allDeviations, type Deviation, deviating } from "./deviations.ts";
import { runHoldfast } from "./holdfast.ts";
import { firstIllegal } from "./legality.ts";
import { type Behaviour, firstDifference } from "./observation.ts";
import { runOracle } from "./oracle-run.ts";
import { runScion } from "./scion.ts";

/** Who takes part. Tests put in one that is wrong, to see it found. */
export interface Engines {
  readonly holdfast: (plan: Plan) => Behaviour;
  readonly scion: (plan: Plan) => Behaviour;
  readonly oracle: (plan: Plan, Variant?: Algorithm) => Behaviour;
}

export const engines: Engines = { holdfast: runHoldfast, scion: runScion, oracle: runOracle };

export type Verdict =
  | {
      readonly agrees: true;
      /** How many steps were compared. */
      readonly steps: number;
      /** Whether the comparison ended early, at a step that never ends, which all of them found. */
      readonly cutShort: boolean;
      /** What it takes to explain SCION. */
      readonly deviations: readonly Deviation[];
    }
  | { readonly agrees: false; readonly mismatch: Mismatch };

export interface Mismatch {
  /** What is wrong. */
  readonly claim: string;
  readonly engine: "holdfast" | "scion";
  /** The first step at which it shows; 0 is the start. */
  readonly step: number;
  readonly expected: Behaviour;
  readonly found: Behaviour;
}

/** What becomes of a plan. The native dialect says things that SCION cannot, so there it stays away. */
export function judge(plan: Plan, dialect: Dialect, { holdfast, scion, oracle }: Engines = engines): Verdict {
  const expected = oracle(plan);
  const found = attempt(holdfast, plan);
  const step = firstDifference(expected, found);
  if (step !== undefined)
    return mismatch("holdfast", "holdfast and the oracle differ", step, expected, found);
  const illegal = firstIllegal(plan, found);
  if (illegal !== undefined)
    return mismatch(
      "holdfast",
      "holdfast and the oracle are where no chart can be",
      illegal,
      expected,
      found,
    );

  const agreed = { agrees: true, steps: expected.steps.length, cutShort: expected.unbounded } as const;
  if (dialect === "native") return { ...agreed, deviations: [] };
  const other = attempt(scion, plan);
  if (firstDifference(expected, other) === undefined) return { ...agreed, deviations: [] };

  const explains = (chosen: readonly Deviation[]): number | undefined =>
    firstDifference(oracle(plan, deviating(chosen)), other);
  const unexplained = explains(allDeviations);
  if (unexplained !== undefined)
    return mismatch("scion", "scion and the oracle differ", unexplained, expected, other);
  // Only the deviations without which SCION cannot be explained.
  const needed = allDeviations.reduce<readonly Deviation[]>((kept, one) => {
    const fewer = kept.filter((other) => other !== one);
    return explains(fewer) === undefined ? fewer : kept;
  }, allDeviations);
  return { ...agreed, deviations: needed };
}

const mismatch = (
  engine: Mismatch["engine"],
  claim: string,
  step: number,
  expected: Behaviour,
  found: Behaviour,
): Verdict => ({ agrees: false, mismatch: { claim, engine, step, expected, found } });

/** What an engine does, even if that is to fall over. */
function attempt(engine: (plan: Plan) => Behaviour, plan: Plan): Behaviour {
  try {
    return engine(plan);
  } catch (error) {
    return { steps: [], unbounded: false, crash: error instanceof Error ? error.message : String(error) };
  }
}
