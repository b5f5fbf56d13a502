/** What a store is told when it is made: whatever cannot be meant is refused then, and not misunderstood. */
import { showValue } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";

/** What one option must be if it is given, and how that is said. */
export interface Demand {
  is(given: unknown): boolean;
  readonly wanted: string;
  /** Whether it may hold what nobody should read. */
  readonly secret?: true;
}

export const aText: Demand = { is: (given) => typeof given === "string" && given !== "", wanted: "a text" };
export const yesOrNo: Demand = { is: (given) => typeof given === "boolean", wanted: "true or false" };
export const oneOf = (...words: readonly string[]): Demand => ({
  is: (given) => words.includes(given as string),
  wanted: words.map((word) => `"${word}"`).join(" or "),
});
/** A whole number in these bounds. */
export const aCount = (least: number, most: number, of: string): Demand => ({
  is: (given) => Number.isSafeInteger(given) && (given as number) >= least && (given as number) <= most,
  wanted: `a whole number ${of} from ${least} to ${most}`,
});

/** Throws OPTIONS_INVALID for options that are none, or of which one is not what it must be; `usage` says how they are written. */
export function checkOptions(usage: string, given: unknown, demands: Readonly<Record<string, Demand>>): void {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalid(`Write ${usage}: what was given is ${showValue(given)}`);
  for (const [name, { is, wanted, secret }] of Object.entries(demands)) {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    if (value === undefined || is(value)) continue;
    const shown = secret === true ? "" : `, not ${showValue(value)}`;
    throw invalid(`Write ${usage}: ${name} is ${wanted}${shown}`);
  }
}

export function invalid(problem: string): HoldfastError {
  return new HoldfastError("OPTIONS_INVALID", problem);
}
