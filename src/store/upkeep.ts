/**
 * The part of the port that keeps house: removing what is not wanted any more, looking at all there is, mending what is
 * damaged, and copying the whole. Nothing of it is needed to step runs.
 *
 * U1. What is removed is gone for every reader at once, however large it is; its rows are deleted later, a few at a time
 *     (`sweep`), so that nobody waits for them.
 * U2. Only what has ended can be removed, and nothing that a fork stands on.
 * U3. What was decided by a document is not done once that says something else: a hold that was put in between counts.
 */
import { HoldfastError } from "../errors.ts";
import type { LeaseRow } from "./lease.ts";
import type {
  ActivityRow,
  Attribute,
  ChunkRow,
  ContentRow,
  DeadLetterRow,
  DocumentRow,
  EntryRow,
  InboxRow,
  RunHead,
  RunName,
  SeenKey,
  SnapshotRow,
} from "./records.ts";

/**
 * A run that was forked from another. It stands on the state of its source unless it has a kept snapshot of its own, and no
 * run that was forked from it before that one stands on it.
 */
export interface Fork extends RunName {
  /** The checkpoint of its source. */
  readonly seq: number;
  readonly stands: boolean;
}

/** A document that something was decided by: the version it had then, 0 where there was none. */
export interface SeenDocument {
  readonly tenant: string;
  readonly name: string;
  readonly version: number;
}

/** A run's row as it is stored: the head without its position, which stands in the newest entry. */
export interface StoredHead extends Omit<RunHead, "seq" | "digest" | "updatedAt"> {
  /** Entries up to here were pruned. */
  readonly pruned: number;
}

/** What there is a row of, by the word for it. */
export interface StoredRows {
  readonly run: StoredHead;
  readonly entry: EntryRow;
  readonly snapshot: SnapshotRow;
  readonly inbox: Omit<InboxRow, keyof RunName>;
  readonly key: SeenKey;
  readonly activity: Omit<ActivityRow, keyof RunName>;
  readonly attribute: { readonly name: string; readonly value: Attribute };
  readonly chunk: ChunkRow & { readonly key: string };
  readonly content: ContentRow & { readonly tenant: string; readonly subject: string };
  readonly document: DocumentRow & { readonly tenant: string; readonly name: string };
  readonly letter: DeadLetterRow;
  readonly lease: LeaseRow;
}

export type RowKind = keyof StoredRows;

/** The kinds of rows that belong to a run. */
export const runKinds = ["entry", "snapshot", "inbox", "key", "activity", "attribute", "chunk"] as const;
export type RunRowKind = (typeof runKinds)[number];

/** A row, and where it stands: a text that only the store understands, good until the row is written. */
export interface Stored<Kind extends RowKind> {
  readonly place: string;
  /** Undefined where there is no making sense of it. */
  readonly row: StoredRows[Kind] | undefined;
  /** What is wrong with it as far as the store can tell. */
  readonly problem?: string;
}

export interface ScanQuery {
  /** Of a run, by its place; null for rows that belong to no run there is. All, where rows belong to none. */
  readonly of?: string | null;
  /** After this place. */
  readonly after?: string;
  readonly limit: number;
}

/** One change of `mend`. Rows are named by their kind and place, runs by their place. */
export type Mending =
  | { readonly change: "remove"; readonly kind: RowKind; readonly place: string }
  /**
   * Sets a run to a head: its row, its attributes and what is marked by its status. Entries, snapshots and keys above
   * `head.seq` go; what `fork`, `parent` and the rest of the row said before is replaced. `pruned`: where the journal
   * begins, should the row be wrong about it.
   */
  | { readonly change: "set"; readonly run: string; readonly head: RunHead; readonly pruned?: number }
  /**
   * Gives a run that has no entries those that belong to no run, with all that stands beside them, if they are of one:
   * what was damaged is the number that held them together.
   */
  | { readonly change: "rejoin"; readonly run: string }
  /** Removes a run with all it has. What waits in its inbox becomes dead letters, unless it is expendable. */
  | { readonly change: "forget"; readonly run: string }
  /** Puts an entry in the place of the one at its checkpoint. */
  | { readonly change: "entry"; readonly run: string; readonly entry: EntryRow }
  /** Puts a snapshot in the place of the one at its checkpoint. */
  | { readonly change: "snapshot"; readonly run: string; readonly snapshot: SnapshotRow }
  /** Puts an activity in the place of the one of its key, for whoever comes next to take up. */
  | { readonly change: "activity"; readonly run: string; readonly activity: ActivityRow }
  /** Puts a content in the place of the one of its digest. */
  | {
      readonly change: "content";
      readonly tenant: string;
      readonly subject: string;
      readonly content: ContentRow;
    }
  /** Puts a document in the place of the one of its name. */
  | {
      readonly change: "document";
      readonly tenant: string;
      readonly name: string;
      readonly bytes: Uint8Array;
    }
  | { readonly change: "key"; readonly run: string; readonly key: SeenKey }
  /** Puts the entries up to a checkpoint away, whatever stands on them. */
  | { readonly change: "prune"; readonly run: string; readonly seq: number }
  /** A lease that nobody has, under a higher epoch than any there was. */
  | { readonly change: "lease" };

export interface Upkeep {
  /**
   * Removes runs, one after the other, if the epoch is good and the documents are as they were seen; says of each whether
   * it did. Not there, active, parked, or the source of a fork that stands on it: it did not. The name is free from then
   * on. Contents of its subject go once no run of the subject is left.
   */
  removeRuns(
    names: readonly RunName[],
    epoch: number,
    seen?: readonly SeenDocument[],
  ): Promise<readonly boolean[]>;
  /** The runs that were forked from this one, by name. */
  readForks(name: RunName): Promise<readonly Fork[]>;
  /**
   * Removes the entries of a run up to a checkpoint, itself included, if the epoch is good and the documents are as they
   * were seen; says whether it did. There must be a snapshot of that checkpoint, which is kept for good from then on and
   * holds the digest that the next entry follows; it must lie before the newest one, and no fork may stand on an earlier
   * one.
   */
  pruneJournal(name: RunName, seq: number, epoch: number, seen?: readonly SeenDocument[]): Promise<boolean>;
  /** Deletes rows of what was removed and pruned, about so many; says how many. 0: there is nothing left to delete. */
  sweep(limit: number): Promise<number>;
  /**
   * Copies the whole store, as it is at one moment, to a place that must be free, while others go on writing; the copy
   * was looked at before it is told of. Throws STORE_UNSUPPORTED where a store has other means for that.
   */
  backup(destination: string): Promise<void>;

  /** All rows of a kind in the order of their places, whoever's they are; rows of what was removed are not seen. For tools. */
  scan<Kind extends RowKind>(kind: Kind, query: ScanQuery): Promise<readonly Stored<Kind>[]>;
  /**
   * Makes changes, all of them or none; says whether it did. They are made if the epoch is good, or if all there is to
   * change is the lease. The right to step runs ends with it: whoever has it must take it again, and reads anew. For tools.
   */
  mend(changes: readonly Mending[], epoch: number): Promise<boolean>;
}

/** A store with files of its own, in which the bytes of rows that were deleted are left. */
export interface Scrubbing {
  /** Overwrites them; whoever steps waits meanwhile. */
  scrub(): Promise<void>;
}

/** The error of a store that leaves backups to other means. */
export function noBackup(store: string, reason: string): HoldfastError {
  return new HoldfastError("STORE_UNSUPPORTED", `${store} makes no backups: ${reason}`);
}
