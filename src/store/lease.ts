/**
 * Who may step runs: the decision behind `own`, the same in every store.
 *
 * A lease is about liveness only; the epoch is what keeps an old owner from writing. So when in doubt a lease is taken
 * for lapsed: one that ends too far ahead was given by a clock that has been set back since, and waiting for it could
 * take years.
 */
export interface LeaseRow {
  /** Undefined before the first owner and after a release. */
  readonly owner: string | undefined;
  readonly epoch: number;
  /** When it was taken, last renewed or given back. */
  readonly from: number;
  readonly until: number;
}

/** The lease of a store that nobody has owned yet. */
export const unowned: LeaseRow = { owner: undefined, epoch: 0, from: 0, until: 0 };

/** The lease after this worker has taken or renewed it; undefined while somebody else's is good. */
export function takeLease(
  lease: LeaseRow,
  worker: string,
  leaseMs: number,
  now: number,
): LeaseRow | undefined {
  if (lease.owner !== worker && isHeld(lease, now)) return undefined;
  // Whoever still has it, lapsed or not, was never replaced: nothing it has under way needs to be fenced.
  const epoch = lease.owner === worker ? lease.epoch : lease.epoch + 1;
  return { owner: worker, epoch, from: now, until: now + leaseMs };
}

/** The last sign of life of the owner before, when a worker takes its place; see `Lease` of the port. */
export function aliveBefore(lease: LeaseRow, taken: LeaseRow): number | undefined {
  return lease.epoch === 0 || taken.epoch === lease.epoch ? undefined : lease.from;
}

/** Whether a commit made under this epoch may still be written. A lapsed lease that nobody took is no reason against it. */
export function isOwnedUnder(lease: LeaseRow, epoch: number): boolean {
  return lease.owner !== undefined && lease.epoch === epoch;
}

function isHeld({ owner, from, until }: LeaseRow, now: number): boolean {
  const longest = 2 * (until - from);
  return owner !== undefined && now < until && until - now <= longest;
}
