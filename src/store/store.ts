/**
 * The store port: where runs live. Few verbs, each atomic; adapters only persist, every decision is made before.
 *
 * I1. A commit is all or nothing, and survives power loss once it is answered `committed`.
 * I2. A commit applies only on the checkpoint it was made from (`expect`) and only for the owner of the shard
 *     (`epoch`): a stale worker cannot write.
 * I3. The checkpoints of a run have no gaps, and an entry is never changed. Only from the first one on can they be removed,
 *     and what is left begins with a snapshot (`pruneJournal`).
 * I4. An accepted event stays in the inbox until the commit of the step that consumed it, or becomes a dead letter when
 *     its run ends first.
 * I5. Nothing is seen of another tenant's, whatever is asked for.
 *
 * Names and keys are well-formed text without NUL, checked before they come here; wherever text is put in order, it is
 * by code point. Times and priorities are any finite numbers and come back exactly.
 *
 * Expected outcomes are returned; a store that cannot be reached or does not keep its word throws a HoldfastError with
 * a STORE_ code. Times come in with the calls: a store has no clock of its own unless its database has.
 */
import type { Outage } from "../core/timer.ts";
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
  RunStatus,
  SeenKey,
  SnapshotRow,
} from "./records.ts";
import type { Upkeep } from "./upkeep.ts";

/** Everything one run changes with one or more consecutive steps; `checkCommit` says what makes it well formed. */
export interface Commit {
  /** The checkpoint this was made from; 0 for a run that must not exist yet. */
  readonly expect: number;
  readonly epoch: number;
  /** The head as it will be; its `seq`, `digest` and `updatedAt` are those of the newest entry. */
  readonly head: RunHead;
  /** One per step and at least one, `expect + 1` first: a head never changes without a new checkpoint. */
  readonly entries: readonly EntryRow[];
  /** A store keeps the `snapshotsKept` newest of a run, and all that are `kept`. */
  readonly snapshot: SnapshotRow | undefined;
  readonly contents: readonly ContentRow[];
  /** Inbox rows these steps consumed, each with the checkpoint of its step; each must still be there. */
  readonly consumed: readonly { readonly id: string; readonly seq: number }[];
  /** Keys of events that never were in the inbox, since sender and step shared this commit. */
  readonly keys: readonly Required<SeenKey>[];
  /** Activities begun, then the keys of those that are settled or cancelled; one can be both. */
  readonly begun: readonly ActivityRow[];
  readonly ended: readonly string[];
  /**
   * Events for this or other runs, delivered with this commit or not at all. One for a run that ended or never was
   * becomes a dead letter, unless it is expendable; so does whatever waits in the inbox of a run that ends here, and
   * its keys are then as if they had never been seen.
   */
  readonly sends: readonly InboxRow[];
  /** Child runs that begin with this commit or not at all: each a commit of its own from checkpoint 0. */
  readonly starts: readonly Commit[];
}

/**
 * Unless it is `committed`, nothing was changed, for the first of these reasons. `fenced`: somebody else owns the runs
 * now, or nobody does. `conflict`: this run (or one that was to begin) is at another checkpoint, 0 where there is none,
 * or an event it consumed or the checkpoint it was to be forked from is gone. `duplicate`: one of `keys` was seen before.
 */
export type CommitOutcome =
  | { readonly outcome: "committed" }
  | { readonly outcome: "fenced"; readonly epoch: number }
  | { readonly outcome: "conflict"; readonly run: string; readonly seq: number }
  | { readonly outcome: "duplicate"; readonly key: string };

/**
 * `missing`: there is no such run. `duplicate`: it has seen an event of that key, or one of that id waits. `ended`: its
 * status is final and it takes no more; a repeat of what it took before is still a duplicate.
 */
export type EnqueueOutcome = "accepted" | "duplicate" | "missing" | "ended";

/** A checkpoint of a run whose state somebody has: the digest tells the journal that led there from any other. */
export interface KnownCheckpoint {
  readonly seq: number;
  readonly digest: string;
}

/** All it takes to go on with a run. */
export interface LoadedRun {
  readonly head: RunHead;
  /** The newest one; a run may have none, since its first entry sets the whole state. */
  readonly snapshot: SnapshotRow | undefined;
  /** The entries after the snapshot (all of them, if there is none), up to the head. */
  readonly entries: readonly EntryRow[];
  /** The checkpoint that was known, if this builds upon it: there is no snapshot then, and the entries are those after it. */
  readonly since?: number;
  /** The first `limits.inboxLoadedMax`: the highest priority first, then by id. */
  readonly inbox: readonly InboxRow[];
  /** By key. */
  readonly activities: readonly ActivityRow[];
}

export interface RunQuery {
  readonly tenant: string;
  readonly subject?: string;
  readonly machine?: string;
  readonly status?: RunStatus;
  readonly createdFrom?: number;
  readonly createdBefore?: number;
  /** Attributes that must equal these values. */
  readonly attributes?: Readonly<Record<string, Attribute>>;
  /** Newest first, by `createdAt` and then by name; at most so many, after this place in that order. */
  readonly limit: number;
  readonly after?: Pick<RunHead, "createdAt" | "run">;
}

/** Whose due runs are meant, and since when or longer they have had something to do; any unless given. */
export interface DueOf {
  readonly tenant: string;
  readonly since?: number;
}

/**
 * The right to step runs until `until`; `epoch` grows with every new owner. `outages`: the times in which nobody was there,
 * each from when an owner last renewed its lease, or gave it back, until the next one took it; the newest
 * `limits.outagesMax`, in order.
 */
export type Lease =
  | {
      readonly outcome: "owned";
      readonly epoch: number;
      readonly until: number;
      readonly outages: readonly Outage[];
    }
  | { readonly outcome: "taken"; readonly owner: string; readonly epoch: number; readonly until: number };

/** How often something that is remembered was of use, and how often it had to be looked up. */
export interface CacheUse {
  readonly hits: number;
  readonly misses: number;
}

/** A store that remembers some of what it has, and tells those who measure of what use that is, by name. */
export interface Remembering {
  caches(): Readonly<Record<string, CacheUse>>;
}

export interface Store extends Upkeep {
  /** Prepares the store: makes or migrates its schema. Throws STORE_NEWER if it was written by a newer version. */
  open(): Promise<void>;
  close(): Promise<void>;

  /** Takes or renews the right to step runs, as `lease.ts` decides. The same worker keeps its epoch until another one takes the lease. */
  own(worker: string, leaseMs: number, now: number): Promise<Lease>;
  /** Gives the right back, if this worker has it under this epoch. Without a time it is done for one that is known to be gone. */
  release(worker: string, epoch: number, now: number | undefined): Promise<void>;

  /**
   * Commits each item on its own (I1, I2), together in one flush. Outcomes stand in the order of the items. A run is in
   * one call at most once; what one item sends to, or forks from, a run that another begins or ends may find it before or
   * after that. Throws VALUE_UNSTORABLE if one of them has something that cannot be kept; then none was made.
   */
  commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]>;
  /** Puts events into inboxes (I4). Outcomes stand in the order of the rows. */
  enqueue(rows: readonly InboxRow[]): Promise<readonly EnqueueOutcome[]>;
  /**
   * Active runs that have something to do: an event waits, a timer or a waiting activity is due, or an activity is
   * running that was recorded under an older epoch, or by somebody who is no member any more, so that whoever ran it is gone.
   * Oldest need first. `of`: those of one tenant, however many others have; for whoever looks after its runs.
   */
  due(now: number, limit: number, of?: DueOf): Promise<readonly RunName[]>;
  /** The earliest time after this one at which a timer or a waiting activity of an active run is due. */
  nextDue(after: number): Promise<number | undefined>;

  /** Those of the keys that the run has seen, in the order asked for. */
  readKeys(name: RunName, keys: readonly string[]): Promise<readonly SeenKey[]>;

  readHead(name: RunName): Promise<RunHead | undefined>;
  /**
   * Everything needed to step the run. Whoever has its state at a checkpoint says so by `known`: the answer then builds upon
   * it (`since`), if the journal has that checkpoint with that digest and there is no newer snapshot. If not, all is as ever.
   */
  load(name: RunName, known?: KnownCheckpoint): Promise<LoadedRun | undefined>;
  /** The events that wait, in the order of `load`. */
  readInbox(name: RunName, limit: number): Promise<readonly InboxRow[]>;
  /** The newest snapshot at or before a checkpoint, if one is kept, and the entries after it up to there. Undefined if it never was, or was pruned. */
  readAt(name: RunName, seq: number): Promise<Pick<LoadedRun, "snapshot" | "entries"> | undefined>;
  /** Entries in order, from a checkpoint (itself included) on, or from the first one that was not pruned. */
  readJournal(name: RunName, from: number, limit: number): Promise<readonly EntryRow[]>;
  /** Those that are there, in the order asked for. */
  readContents(tenant: string, subject: string, digests: readonly string[]): Promise<readonly ContentRow[]>;
  findRuns(query: RunQuery): Promise<readonly RunHead[]>;

  /**
   * Replaces rows of activities that are not settled, in one flush, if the epoch is good; says of each whether it did. A row
   * that is running under another epoch that is good is left as it is: somebody else has that activity.
   */
  recordActivities(rows: readonly ActivityRow[], epoch: number): Promise<readonly boolean[]>;

  /** Events that found no run to take them, in the order they were lost; at most so many, after the one of this number. */
  readDeadLetters(tenant: string, after: number, limit: number): Promise<readonly DeadLetterRow[]>;
  /** Removes one; says whether it was there. */
  removeDeadLetter(tenant: string, number: number): Promise<boolean>;

  /**
   * Adds pieces to an activity's stream, if the epoch is good and the run is there; says whether they were. A piece whose
   * offset is there already is left out.
   */
  appendChunks(name: RunName, key: string, chunks: readonly ChunkRow[], epoch: number): Promise<boolean>;
  /** Pieces in order, from an offset (itself included) on. */
  readChunks(name: RunName, key: string, from: number, limit: number): Promise<readonly ChunkRow[]>;

  readDocument(tenant: string, name: string): Promise<DocumentRow | undefined>;
  /**
   * Writes a document if its version is still `expect` (0: it is new); says whether it did. The next version is one more,
   * and the first one is higher than any that was ever removed: no version comes twice.
   */
  writeDocument(tenant: string, name: string, expect: number, bytes: Uint8Array): Promise<boolean>;
  /** Removes a document if its version is still `expect`; says whether it did. */
  removeDocument(tenant: string, name: string, expect: number): Promise<boolean>;
}
