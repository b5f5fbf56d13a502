/**
 * Reads the runs of a store and their journals without owning it: whoever owns it may go on meanwhile, and what a killed
 * process left stays as it is. Every entry is checked against the chain of digests on the way.
 */
import { apply, type Entry, type Json, type State } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { Past } from "../src/runtime/past.ts";
import { noSeal } from "../src/runtime/seal.ts";
import type { RunHead } from "../src/store/records.ts";

export interface RunRecord {
  readonly head: RunHead;
  readonly entries: readonly Entry[];
  /** The state after each of them. */
  readonly states: readonly State[];
}

const runsMax = 100;

/** All runs of a store, the oldest first. */
export async function readRuns(path: string): Promise<RunRecord[]> {
  const store = sqlite(path);
  await store.open();
  try {
    const past = new Past(store, noSeal);
    const heads = await store.findRuns({ tenant: "default", limit: runsMax });
    const records: RunRecord[] = [];
    for (const head of heads.toReversed()) {
      const entries: Entry[] = [];
      for await (const entry of past.entries(head)) entries.push(entry);
      records.push({ head, entries, states: statesOf(entries) });
    }
    return records;
  } finally {
    await store.close();
  }
}

/** A state is the one before with the patches of its step. */
function statesOf(entries: readonly Entry[]): State[] {
  let state: Json = null;
  return entries.map(({ patches }) => {
    state = apply(state, patches);
    return state as unknown as State;
  });
}
