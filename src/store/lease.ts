/**
 * Who may step runs: the decision behind `own`, the same in every store.
 *
 * A lease is about liveness only; the epoch is what keeps an old owner from writing. So when in doubt a lease is taken
 * for lapsed: one that ends too far ahead was given by a clock that has been set back since, and waiting for it could
 * take years.
 *
 * The outages stand in the lease, so that whoever takes it notes the one that ends then and there.
 */
import type { Outage } from "../core/timer.ts";
import { limits } from "../limits.ts";

export interface LeaseRow {
  /** Undefined before the first owner and after a release. */
  readonly owner: string | undefined;
  readonly epoch: number;
  /** When it was taken, last renewed or given back. */
  readonly from: number;
  readonly until: number;
  /** The times in which nobody was there, in order: each from an owner's last sign of life to when the next one came. */
  readonly outages: readonly Outage[];
}

/** The lease of a store that nobody has owned yet. */
export const unowned: LeaseRow = { owner: undefined, epoch: 0, from: 0, until: 0, outages: [] };

/**
 * The lease after this worker has taken or renewed it; undefined while somebody else's is good. `told` leads from the
 * clock of the lease to the worker's, which outages are noted by.
 */
export function takeLease(
  lease: LeaseRow,
  worker: string,
  leaseMs: number,
  now: number,
  told: (time: number) => number = (time) => time,
): LeaseRow | undefined {
  if (lease.owner !== worker && isHeld(lease, now)) return undefined;
  // Whoever still has it, lapsed or not, was never replaced: nothing it has under way needs to be fenced.
  const terms = { owner: worker, from: now, until: now + leaseMs };
  if (lease.owner === worker) return { ...lease, ...terms };
  const before = isFresh(lease) ? [] : [{ from: told(lease.from), until: told(now) }];
  return { ...terms, epoch: lease.epoch + 1, outages: withOutages(lease.outages, before, told(now)) };
}

/**
 * Outages up to now. One that lies ahead was noted by a clock that has been set back since, and one that ends before it
 * begins says nothing of how long nobody was there.
 */
export function withOutages(
  noted: readonly Outage[],
  added: readonly Outage[],
  now: number,
): readonly Outage[] {
  const over = [...noted, ...added].filter(({ from, until }) => from < until && until <= now);
  return over.slice(-limits.outagesMax);
}

/** Whether nobody ever had it, or it was mended: then nobody knows since when nobody was there. */
export function isFresh({ from, until }: LeaseRow): boolean {
  return from === 0 && until === 0;
}

/** Who has it. */
export type LeaseOwner = Pick<LeaseRow, "owner" | "epoch">;

/** Whether a commit made under this epoch may still be written. A lapsed lease that nobody took is no reason against it. */
export function isOwnedUnder(
  lease: LeaseOwner,
  epoch: number,
  members: readonly { readonly epoch: number }[] = [],
): boolean {
  if (lease.owner !== undefined) return lease.epoch === epoch;
  return members.some((member) => member.epoch === epoch);
}

/** Whether somebody has it and it has not lapsed. */
export function isHeld(
  { owner, from, until }: Pick<LeaseRow, "owner" | "from" | "until">,
  now: number,
): boolean {
  const longest = 2 * (until - from);
  return owner !== undefined && now < until && until - now <= longest;
}
