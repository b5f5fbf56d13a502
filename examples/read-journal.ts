/** The runs of the example's store and their journals, read without owning it. */
import { type Entry, openReader, type RunHead, type State } from "holdfast";
import { sqlite } from "holdfast/sqlite";

export interface RunRecord {
  readonly head: RunHead;
  readonly entries: readonly Entry[];
  /** The state after each of them. */
  readonly states: readonly State[];
}

/** All runs of a store, the oldest first. */
export async function readRuns(path: string): Promise<RunRecord[]> {
  const reader = await openReader({ store: sqlite(path) });
  try {
    const records: RunRecord[] = [];
    for await (const head of reader.find()) {
      const entries: Entry[] = [];
      const states: State[] = [];
      for await (const { entry, state } of reader.steps(head.run)) {
        entries.push(entry);
        states.push(state);
      }
      records.unshift({ head, entries, states });
    }
    return records;
  } finally {
    await reader.close();
  }
}
