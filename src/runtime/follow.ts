/** Following a journal: its entries in order, those that are still to come included, wherever they are made. */
import type { Entry } from "../store/journal.ts";
import type { RunHead, RunName } from "../store/records.ts";
import { hasEnded } from "./live/live-run.ts";
import type { Past } from "./live/past.ts";
import type { Watchers } from "./watchers.ts";

export interface FollowWorld {
  readonly past: Past;
  readonly watchers: Watchers;
  read(name: RunName): Promise<{ readonly head: RunHead }> | { readonly head: RunHead };
}

/** Yields entries from a checkpoint on until the run has ended or the signal says so; then it returns. */
export async function* followJournal(
  world: FollowWorld,
  name: RunName,
  { from, signal }: { readonly from: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<Entry> {
  const aborted = untilAborted(signal);
  let next = from;
  try {
    while (signal?.aborted !== true) {
      const { head } = await world.read(name);
      for await (const entry of world.past.entries(head, next)) {
        yield entry;
        next = entry.seq + 1;
        if (signal?.aborted) return;
      }
      const coming = world.watchers.look(name, (sight) => sight.head.seq >= next || hasEnded(sight));
      const sight = await Promise.race([coming.seen, aborted.told]).finally(coming.cancel);
      if (sight === undefined || sight.head.seq < next) return;
    }
  } finally {
    aborted.cancel();
  }
}

/** Resolves with nothing when a signal is aborted. */
export function untilAborted(signal: AbortSignal | undefined): {
  readonly told: Promise<undefined>;
  cancel(): void;
} {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const hear = () => resolve(undefined);
  signal?.addEventListener("abort", hear);
  return { told: promise, cancel: () => signal?.removeEventListener("abort", hear) };
}
