/**
 * Where the memory store has its rows: maps and lists. A store that keeps rows elsewhere, but decides everything as the
 * memory store does, lends it tables of its own that look the same (`../file`).
 */
import { type LeaseRow, unowned } from "../lease.ts";
import type { MemberRow } from "../members.ts";
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
  /** Who shares the store, by epoch. */
  members: readonly MemberRow[];
  /** Dead letters so far: the number of the newest, be it removed or not. */
  lettersLost: number;
  readonly deadLetters: Map<number, DeadLetterRow>;
  readonly runs: Map<string, StoredRun>;
  /** Runs of which the row is damaged, where that can be: `runs` throws for them, and tools look at what is left. */
  readonly damaged?: DamagedRuns;
  readonly contents: Contents;
  readonly documents: Pick<Map<string, DocumentRow>, "get" | "set" | "delete" | "keys">;
  /** The highest version of a document that was removed. */
  documentsRemoved: number;
  /** What was removed and is not swept yet, the oldest first. */
  removals: readonly Removal[];
  /** A run that has nothing yet. It is kept once it is put among the others. */
  createRun(head: RunHead): StoredRun;
}

/** By name, as in `runs`. */
export interface DamagedRuns extends Pick<Map<string, DamagedRun>, "get" | "has" | "values"> {
  /** Takes one for whole, with what is left of it: somebody mends it. */
  heal(name: string): void;
}

export interface DamagedRun {
  readonly run: StoredRun;
  readonly problem: string;
}

export interface Contents extends Pick<Map<string, ContentRow>, "get" | "has" | "set" | "delete" | "keys"> {
  /** The places of those that a subject has. */
  of(tenant: string, subject: string): readonly string[];
}

/** What was removed: a subject whose contents may go, and how many rows there are to sweep besides. */
export interface Removal {
  readonly tenant: string;
  readonly subject: string | undefined;
  readonly rows: number;
}

export interface StoredRun {
  head: RunHead;
  readonly entries: Entries;
  /** Entries up to here were pruned. */
  pruned: number;
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
  /** Takes out those of these checkpoints, both included. */
  drop(from: number, upTo: number): void;
  /** Puts one in the place of that at its checkpoint. */
  put(row: EntryRow): void;
  /** All that there are, by their checkpoints; `read` throws STORE_CORRUPT for one that is damaged. */
  scan(): readonly { readonly seq: number; readonly read: () => EntryRow }[];
}

/** Tables in this process, and nowhere else. */
export function memoryTables(): Tables {
  return {
    lease: unowned,
    members: [],
    lettersLost: 0,
    deadLetters: new Map(),
    runs: new Map(),
    contents: new ContentMap(),
    documents: new Map(),
    documentsRemoved: 0,
    removals: [],
    createRun: (head) => ({
      head,
      entries: new EntryList(),
      pruned: 0,
      snapshots: [],
      inbox: new Map(),
      seen: new Map(),
      activities: new Map(),
      chunks: new Map(),
    }),
  };
}

class ContentMap extends Map<string, ContentRow> implements Contents {
  of(tenant: string, subject: string): readonly string[] {
    return [...this.keys()].filter((place) => {
      const [owner, whose] = JSON.parse(place) as [string, string];
      return owner === tenant && whose === subject;
    });
  }
}

class EntryList implements Entries {
  #rows: EntryRow[] = [];

  append(rows: readonly EntryRow[]): void {
    this.#rows.push(...rows);
  }

  read(from: number, upTo: number, limit: number): readonly EntryRow[] {
    return this.#rows.filter(({ seq }) => seq >= from && seq <= upTo).slice(0, limit);
  }

  drop(from: number, upTo: number): void {
    this.#rows = this.#rows.filter(({ seq }) => seq < from || seq > upTo);
  }

  put(row: EntryRow): void {
    this.#rows = replaced(this.#rows, row);
  }

  scan(): readonly { readonly seq: number; readonly read: () => EntryRow }[] {
    return this.#rows.map((row) => ({ seq: row.seq, read: () => row }));
  }
}

/** Rows with another one in the place of that at its checkpoint. */
export function replaced<Row extends { readonly seq: number }>(rows: readonly Row[], row: Row): Row[] {
  return [...rows.filter(({ seq }) => seq !== row.seq), row].sort((one, other) => one.seq - other.seq);
}
