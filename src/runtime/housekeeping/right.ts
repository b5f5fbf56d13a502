/** The right to change a store: that of the runtime which owns it, or one taken for the time of a tool's work. */
import type { Store } from "../../store/store.ts";
import { type Clock, systemClock } from "../clock.ts";
import { type Ids, systemIds } from "../ids.ts";
import { Ownership } from "../ownership.ts";
import { workerName } from "../worker.ts";

export interface RightOptions {
  readonly store: Store;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** The epoch of the runtime that owns the store. Without it nobody may own it, and the right is taken meanwhile. */
  readonly epoch?: () => number;
}

/** Does work under the right to change a store; throws STORE_OWNED if somebody else has it. */
export async function withRight<Answer>(
  { store, clock = systemClock, ids = systemIds, epoch }: RightOptions,
  work: (epoch: () => number) => Promise<Answer>,
): Promise<Answer> {
  if (epoch !== undefined) return work(epoch);
  const ownership = new Ownership(store, clock, workerName(ids.next()), () => {});
  await ownership.take();
  try {
    return await work(() => ownership.epoch);
  } finally {
    await ownership.giveBack();
  }
}
