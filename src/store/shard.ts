/**
 * The shard of a run: a slice of all runs, of which one worker at a time is the owner. It follows from the run's name and
 * never changes, so everybody finds it without asking, in any process and in SQL.
 */
import { hash } from "node:crypto";
import type { RunName } from "./records.ts";

/** How many there are. Fixed for good: it is in every key of a store, and every worker must mean the same by it. */
export const shardCount = 256;

/** All of them. */
export const allShards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard);

/** A step asks three times for the shard of its run, by the same name, and the sum costs as much as the entry's. */
const known = new WeakMap<RunName, number>();

/**
 * The shard of a run, from 0 to `shardCount - 1`: the first byte of the SHA-256 of its tenant and name, the tenant's
 * length in code points before them so that no two pairs are one text. PostgreSQL computes the same in `shard_of`.
 */
export function shardOf(name: RunName): number {
  let shard = known.get(name);
  if (shard === undefined) {
    const { tenant, run } = name;
    shard = hash("sha256", `${codePoints(tenant)}:${tenant}${run}`, "buffer")[0] as number;
    known.set(name, shard);
  }
  return shard;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
