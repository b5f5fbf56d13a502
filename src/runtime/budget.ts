/** Budgets: what a run may use up in steps, time, tokens and money, and whether it has. Pure. */
import { durationMs } from "../core/duration.ts";
import type { JsonObject } from "../core/json.ts";
import { checkLimits as findLimitProblems } from "../core/policy.ts";
import { HoldfastError } from "../errors.ts";
import type { RunHead, RunLimits, Spending } from "../store/records.ts";
import { checkOptions, optionsError } from "./options.ts";

/** Limits as people give them: time may be text such as `30s` or `2 days`. */
export interface LimitSource extends Spending {
  readonly steps?: number;
  readonly time?: number | string;
}

/** The limits of a run: those of its machine, and where they are given those of its start. */
export function limitsOf(...sources: readonly (LimitSource | undefined)[]): RunLimits | undefined {
  const merged: LimitSource = Object.assign({}, ...sources);
  const { time, ...rest } = merged;
  if (Object.keys(merged).length === 0) return undefined;
  return time === undefined ? rest : { ...rest, time: durationMs(time) };
}

/** Throws LIMIT_INVALID for limits that bound nothing. */
export function checkLimits(limits: LimitSource | undefined): void {
  const problems: string[] = [];
  const problem = (place: string, what: string) => problems.push(`${place} ${what}`);
  findLimitProblems(limits, { problem });
  if (problems.length > 0)
    throw new HoldfastError("LIMIT_INVALID", `A run cannot be started: ${problems.join("; ")}`);
}

/** Throws OPTIONS_INVALID for what nobody can have used up: it would widen a limit, or make it one that no number reaches. */
export function checkSpending(spending: unknown): void {
  const usage = "spend({ tokens, cost }), each a number that is not negative";
  checkOptions(usage, spending, { tokens: true, cost: true });
  const { tokens = 0, cost = 0 } = spending as Spending;
  for (const [what, used] of Object.entries({ tokens, cost }))
    if (!Number.isFinite(used) || used < 0) throw optionsError(usage, used, what);
}

/** What was used up, and this on top. */
export function addSpending(before: Spending | undefined, more: Spending): Spending {
  const { tokens = 0, cost = 0 } = before ?? {};
  return { tokens: tokens + (more.tokens ?? 0), cost: cost + (more.cost ?? 0) };
}

/** When a run's time is up. */
export function endOfTime({ limits, createdAt }: RunHead): number {
  return limits?.time === undefined ? Number.POSITIVE_INFINITY : createdAt + limits.time;
}

/** Why a run may not go on; undefined while it may. */
export function exhausted(head: RunHead, at: number): JsonObject | undefined {
  const { limits, spent = {}, seq, createdAt } = head;
  if (limits === undefined) return undefined;
  const used = { steps: seq, tokens: spent.tokens ?? 0, cost: spent.cost ?? 0, time: at - createdAt };
  for (const limit of ["steps", "tokens", "cost", "time"] as const) {
    const max = limits[limit];
    if (max === undefined || used[limit] < max) continue;
    return {
      ...{ name: "LimitReached", limit, max, used: used[limit] },
      message: `The run has used up its limit of ${limit}: ${used[limit]} of ${max}`,
    };
  }
  return undefined;
}
