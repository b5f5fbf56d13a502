/**
 * Deleting the rows of what was removed, a few at a time and with pauses that follow from how long that took, so that
 * whoever writes waits for a few rows at most and has most of the time.
 */
import type { Store } from "../../store/store.ts";
import { type Clock, systemClock } from "../clock.ts";

/** Rows that are deleted at a time: a few milliseconds. */
const batchSize = 200;
/** How long it pauses: so many times as long as it took, and within these bounds, since the clock may be set meanwhile. */
const pauseShare = 3;
const pauseMsMin = 5;
const pauseMsMax = 5_000;

export interface SweepOptions {
  readonly store: Store;
  readonly clock?: Clock;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

/** Deletes all there is to delete; says how many rows that were. */
export async function sweep({ store, clock = systemClock, signal }: SweepOptions): Promise<number> {
  let swept = 0;
  for (let rows = 1; rows > 0 && !signal?.aborted; ) {
    const began = clock.now();
    rows = await store.sweep(batchSize);
    swept += rows;
    const pauseMs = Math.min(Math.max(pauseMsMin, pauseShare * (clock.now() - began)), pauseMsMax);
    if (rows > 0) await new Promise<void>((resume) => clock.after(pauseMs, resume));
  }
  return swept;
}
