/**
 * The shard of a run: a slice of all runs, of which one worker at a time is the owner. It follows from the run's name and
 * never changes, so everybody finds it without asking, in any process and in SQL.
 */
import { hash } from "node:crypto";
import type { RunName } from "./records.ts";

/** How many there are. Fixed for good: it is in every key of a store, and every worker must mean the same by it. */
export const shardCount = 256;

/**
 * The shard of a run, from 0 to `shardCount - 1`: the first byte of the SHA-256 of its tenant and name, the tenant's
 * length in code points before them so that no two pairs are one text. PostgreSQL computes the same in `shard_of`.
 */
export function shardOf({ tenant, run }: RunName): number {
  return hash("sha256", `${codePoints(tenant)}:${tenant}${run}`, "buffer")[0] as number;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
