/** Outages: the times in which nobody owned a store, for timers that do not run on meanwhile. */
import type { Timer } from "../core/state.ts";
import { type Outage, resumedDue } from "../core/timer.ts";

/** Those that move some of these timers. One that lies ahead was noted by a clock that has been set back since. */
export function outagesMoving(
  outages: readonly Outage[],
  timers: readonly Timer[],
  now: number,
): readonly Outage[] {
  const waiting = timers.filter(({ resume }) => resume !== undefined);
  if (waiting.length === 0) return [];
  const since = Math.min(...waiting.map((timer) => timer.since as number));
  const list = outages.filter(({ until }) => until > since && until <= now);
  return waiting.some((timer) => resumedDue(timer, list).due !== timer.due) ? list : [];
}
