/** Runs that have something to do and that nobody has taken up. */
import { limits } from "../limits.ts";
import { fleetOf } from "../store/fleet.ts";
import { shardCount } from "../store/shard.ts";
import type { Store } from "../store/store.ts";

export const allShards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard);

/** How many there are, counted no further than `limits.dueCountedMax`; undefined while the store cannot tell. */
export async function countDue(store: Store): Promise<number | undefined> {
  const now = Date.now();
  const max = limits.dueCountedMax;
  try {
    const fleet = fleetOf(store);
    return (await (fleet === undefined ? store.due(now, max) : fleet.due(allShards, now, max))).length;
  } catch {
    return undefined;
  }
}
