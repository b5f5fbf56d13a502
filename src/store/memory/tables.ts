/**
 * Where the memory store has its rows: maps and lists. A store that keeps rows elsewhere, but decides everything as the
 * memory store does, lends it tables of its own that look the same (`../file`).
 */
import { type LeaseRow, unowned } from "../lease.ts";
import type {
  ActivityRow,
  ChunkRow,
  ContentRow,
  DeadLetterRow,
  DocumentRow,
  EntryRow,
  InboxRow,
  RunHead,
  SnapshotRow,
} from "../records.ts";

/** The tables; a run, a content and a document are each under the JSON of what names them. */
export interface Tables {
  lease: LeaseRow;
  /** Dead letters so far: the number of the newest, be it removed or not. */
  lettersLost: number;
  readonly deadLetters: Map<number, DeadLetterRow>;
  readonly runs: Map<string, StoredRun>;
  readonly contents: Pick<Map<string, ContentRow>, "get" | "has" | "set">;
  readonly documents: Pick<Map<string, DocumentRow>, "get" | "set">;
  /** A run that has nothing yet. It is kept once it is put among the others. */
  createRun(head: RunHead): StoredRun;
}

export interface StoredRun {
  head: RunHead;
  readonly entries: Entries;
  snapshots: readonly SnapshotRow[];
  readonly inbox: Map<string, InboxRow>;
  /** Each key with the checkpoint of the step that took its event; none while that waits. */
  readonly seen: Map<string, number | undefined>;
  readonly activities: Map<string, ActivityOfEpoch>;
  readonly chunks: Map<string, Map<number, ChunkRow>>;
}

/** An activity, and the epoch it was recorded under. */
export interface ActivityOfEpoch {
  readonly row: ActivityRow;
  readonly epoch: number;
}

export interface Entries {
  append(rows: readonly EntryRow[]): void;
  /** Those of these checkpoints, both included, in order; at most so many. */
  read(from: number, upTo: number, limit: number): readonly EntryRow[];
}

/** Tables in this process, and nowhere else. */
export function memoryTables(): Tables {
  return {
    lease: unowned,
    lettersLost: 0,
    deadLetters: new Map(),
    runs: new Map(),
    contents: new Map(),
    documents: new Map(),
    createRun: (head) => ({
      head,
      entries: new EntryList(),
      snapshots: [],
      inbox: new Map(),
      seen: new Map(),
      activities: new Map(),
      chunks: new Map(),
    }),
  };
}

class EntryList implements Entries {
  readonly #rows: EntryRow[] = [];

  append(rows: readonly EntryRow[]): void {
    this.#rows.push(...rows);
  }

  read(from: number, upTo: number, limit: number): readonly EntryRow[] {
    return this.#rows.filter(({ seq }) => seq >= from && seq <= upTo).slice(0, limit);
  }
}
