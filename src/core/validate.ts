/** Validation: everything that is wrong with a definition, from wherever it came. */
import { compile } from "./compile.ts";
import type { Problem } from "./problem.ts";

/**
 * Every problem of a definition; none if `defineMachine` takes it. Never throws, and never runs a function of it.
 * Names of guards and updates that are to be bound later are no problems.
 */
export function validate(definition: unknown): readonly Problem[] {
  return compile(definition).problems;
}
