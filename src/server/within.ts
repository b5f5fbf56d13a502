/** Waiting for what a run makes of an event, and no longer than somebody wants to. */
import { limits } from "../limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Handled } from "../runtime/live/live-run.ts";
import type { Receipt } from "../runtime/run.ts";

/** What became of an event; undefined if that takes longer, as with a run that is parked. The event is durable either way. */
export function handledWithin(
  clock: Clock,
  receipt: Receipt,
  ms: number = limits.handledMs,
): Promise<Handled | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Handled | undefined>();
  const cancel = clock.after(ms, () => resolve(undefined));
  receipt
    .handled()
    .then(resolve, reject)
    .finally(() => cancel());
  return promise;
}
