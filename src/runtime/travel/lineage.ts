/** Where a run comes from: a fork goes on from its source, so its story begins there. */
import type { Entry } from "../../store/journal.ts";
import type { RunHead } from "../../store/records.ts";
import type { Past } from "../live/past.ts";

/** A run's own part of a story: its entries, up to the checkpoint where the next part begins. */
export interface Part {
  readonly head: RunHead;
  readonly last: number;
}

/** The parts of a run's story, the oldest first and its own last. */
export async function lineageOf(past: Past, head: RunHead): Promise<readonly Part[]> {
  const parts: Part[] = [{ head, last: head.seq }];
  for (let own = head; own.fork !== undefined; ) {
    const { fork } = own;
    own = await past.source(own, fork);
    parts.unshift({ head: own, last: fork.seq });
  }
  return parts;
}

/** An entry, and whose it is. */
export interface Told {
  readonly run: string;
  readonly entry: Entry;
}

/** A story from so many parts and entries on, in order; throws JOURNAL_PRUNED if one of them is gone. */
export async function* tell(past: Past, parts: readonly Part[], from: number): AsyncGenerator<Told> {
  let first = from;
  for (const { head, last } of parts) {
    if (first <= last) {
      // Where it should begin is asked for first: what is read from a checkpoint on may begin later.
      await past.checkpoint(head, first);
      for await (const entry of past.entries(head, first)) {
        if (entry.seq > last) break;
        yield { run: head.run, entry };
      }
    }
    first = 1;
  }
}

/** A run's story from its end to its beginning, each entry with the head of its run; throws JOURNAL_PRUNED where it comes to what is gone. */
export async function* tellBack(past: Past, run: RunHead): AsyncGenerator<{ head: RunHead; entry: Entry }> {
  for (let part: Part = { head: run, last: run.seq }; ; ) {
    const { head, last } = part;
    for await (const entry of past.back(head, last)) yield { head, entry };
    if (head.fork === undefined) return;
    part = { head: await past.source(head, head.fork), last: head.fork.seq };
  }
}
