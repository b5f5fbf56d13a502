/** Limits: what was used up is counted, and a run ends when it has used up what it may (invariants 20 and 25). */
import type { RunLimits, Spending } from "../../../src/store/records.ts";
import type { Ledger, Start } from "../ledger.ts";
import { hasEnded, type ModelEntry, type ModelRun } from "../model.ts";
import type { Report } from "./report.ts";
import { isSame } from "./same.ts";

const add = (spendings: readonly (Spending | undefined)[]): Required<Spending> => ({
  tokens: spendings.reduce((sum, one) => sum + (one?.tokens ?? 0), 0),
  cost: spendings.reduce((sum, one) => sum + (one?.cost ?? 0), 0),
});

/**
 * A run that has used up what it may is not active any more, and one that failed for that says so. Its time may have been
 * up when it was looked at, and the clock set back before the step that tells of it: `furthest` is where it has been.
 */
export function checkLimits({ head, state, spent }: ModelRun, furthest: number, report: Report): void {
  const { limits = {}, seq, updatedAt, createdAt } = head;
  const kept = add([head.spent]);
  if (spent.tokens !== kept.tokens || spent.cost !== kept.cost)
    report(25, `${head.run} has spent ${show(spent)}, and its head says ${show(kept)}`);
  const used: Required<RunLimits> = { steps: seq, time: updatedAt - createdAt, ...spent };
  for (const limit of ["steps", "time", "tokens", "cost"] as const)
    if (head.status === "active" && used[limit] >= (limits[limit] ?? Number.POSITIVE_INFINITY))
      report(20, `${head.run} goes on after ${used[limit]} of its ${limit}`);
  if (!hasEnded(head) || head.status !== "failed") return;
  const limit = state.reason?.limit as keyof RunLimits | undefined;
  const max = limit === undefined ? undefined : limits[limit];
  const most = { ...used, time: furthest - createdAt };
  if (limit === undefined || max === undefined || most[limit] < max)
    report(20, `${head.run} failed for no reason: ${JSON.stringify(state.reason)}`);
}

/**
 * An activity that ends tells what it spent: no more than all its attempts did, no less than those that its last process
 * saw, and nothing of it is lost while there was one process.
 */
export function checkSpent({ spent, event }: ModelEntry, key: string, ledger: Ledger, report: Report): void {
  const starts = ledger.starts.get(key) ?? [];
  const last = starts.at(-1);
  if (last === undefined) return;
  const told = add([spent]);
  const most = add(starts);
  const least = add(starts.filter(({ life }: Start) => life === last.life));
  for (const unit of ["tokens", "cost"] as const)
    if (told[unit] > most[unit] || (isSame(last.answer, event.data) && told[unit] < least[unit]))
      report(25, `${key} spent ${show(most)}, ${show(least)} of it at the end, and tells ${show(told)}`);
}

const show = ({ tokens = 0, cost = 0 }: Spending): string => `${tokens} tokens and ${cost}`;
