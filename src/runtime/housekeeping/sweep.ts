/** Deleting the rows of what was removed, a few at a time, so that whoever writes waits for a few at most. */
import type { Store } from "../../store/store.ts";
import { type Clock, systemClock } from "../clock.ts";

/** Rows that are deleted at a time: some milliseconds. */
const batchSize = 500;

export interface SweepOptions {
  readonly store: Store;
  readonly clock?: Clock;
  /** Milliseconds between two batches, in which others write; as soon as nothing else is to do, unless given. */
  readonly pauseMs?: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

/** Deletes all there is to delete; says how many rows that were. */
export async function sweep({ store, clock = systemClock, pauseMs, signal }: SweepOptions): Promise<number> {
  const pause = (): Promise<void> =>
    new Promise((resume) => {
      if (pauseMs === undefined) clock.soon(resume);
      else clock.after(pauseMs, resume);
    });
  let swept = 0;
  for (let rows = 1; rows > 0 && !signal?.aborted; ) {
    rows = await store.sweep(batchSize);
    swept += rows;
    if (rows > 0) await pause();
  }
  return swept;
}
