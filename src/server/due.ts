/** Runs that have something to do and that nobody has taken up. */
import { limits } from "../limits.ts";
import { fleetOf } from "../store/fleet.ts";
import type { RunName } from "../store/records.ts";
import { allShards } from "../store/shard.ts";
import type { DueOf, Store } from "../store/store.ts";

/** Those of a tenant, oldest need first and no more than `limits.dueCountedMax`; what others have due hides none of them. */
export function dueRuns(store: Store, now: number, of: DueOf): Promise<readonly RunName[]> {
  return store.due(now, limits.dueCountedMax, of);
}

/** The same of all tenants together. */
function allDueRuns(store: Store, now: number): Promise<readonly RunName[]> {
  const fleet = fleetOf(store);
  const max = limits.dueCountedMax;
  return fleet === undefined ? store.due(now, max) : fleet.due(allShards, now, max);
}

/** How many there are, whoever's; undefined while the store cannot tell. */
export async function countDue(store: Store, now: number): Promise<number | undefined> {
  try {
    return (await allDueRuns(store, now)).length;
  } catch {
    return undefined;
  }
}
