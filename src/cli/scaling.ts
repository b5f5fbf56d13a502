/**
 * How many workers there should be, decided from how much there is to do. Nothing is read or started here.
 *
 * S1. More come as soon as they are needed; fewer stay only after it was calm for the whole of a cool-down, and then as many
 *     as were needed at its busiest moment.
 * S2. A load that stays the same changes the number at most once up and once down: what is needed to grow lies below what is
 *     needed to stay, so no number is both too small and too large.
 */

export interface ScalingPolicy {
  readonly min: number;
  readonly max: number;
  /** How many activities one worker runs at a time. */
  readonly slots: number;
  readonly coolDownMs: number;
}

/** What there is to do. */
export interface Demand {
  readonly running: number;
  readonly waiting: number;
  /** Runs with something to do that nobody has taken up. */
  readonly due: number;
}

export interface Scaling {
  readonly wanted: number;
  /** Since when fewer would do, and how many were needed at most since then. */
  readonly calm?: { readonly since: number; readonly most: number };
}

/** Above this share of its slots a fleet grows; below that one it can do with fewer. */
const fullShare = 0.8;
const emptyShare = 0.5;

/** What is wanted next. The times are of any clock, in milliseconds. */
export function scale(scaling: Scaling, demand: Demand, policy: ScalingPolicy, now: number): Scaling {
  const { wanted, calm } = scaling;
  const load = demand.running + demand.waiting + demand.due;
  const within = (count: number): number => Math.min(policy.max, Math.max(policy.min, count));
  const toGrow = within(Math.ceil(load / (policy.slots * fullShare)));
  const toStay = within(Math.ceil(load / (policy.slots * emptyShare)));
  if (toGrow > wanted) return { wanted: toGrow };
  if (toStay >= wanted) return { wanted };
  // A clock that was set back makes the wait begin again.
  const since = calm === undefined || calm.since > now ? now : calm.since;
  const most = Math.max(toStay, calm?.most ?? 0);
  return now - since < policy.coolDownMs ? { wanted, calm: { since, most } } : { wanted: most };
}
