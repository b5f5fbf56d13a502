/**
 * Fleets: what a store has for processes that share it.
 *
 * F1. A member has an epoch as an owner of the whole store has (I2), from the same counter. While it is a member its writes
 *     are good; one that was put out is fenced for good, and can only join anew.
 * F2. There are members, or there is an owner: whoever would be the other is refused while a lease of theirs is good.
 * F3. Who may write a run is decided by its checkpoint alone. Members divide between them who sees to what (`homes.ts`), and
 *     may for a moment not agree on that.
 */
import type { ActivityRow, EntryRow, InboxRow, RunName } from "./records.ts";
import type { Signals } from "./signals.ts";
import type { Lease, Store } from "./store.ts";

/** What a member says of itself with every sign of life. */
export interface Sign {
  /** It takes nothing new, and is about to leave. */
  readonly isLeaving: boolean;
  /** How many activities it can run at a time, how many are running, and how many wait for their turn. */
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
}

export interface Member extends Sign {
  readonly epoch: number;
  readonly worker: string;
}

/** What a member uses of a key under one of its limits, and how many more turns it wants. */
export interface KeyUse {
  readonly key: string;
  readonly limit: number;
  /** How many it has: those it was given and does not name are given back. */
  readonly held: number;
  readonly wanted: number;
}

export interface Turns {
  /** How many it has now beyond those it held. */
  readonly given: number;
  /** Whether another member waits for one that it could have. */
  readonly isWanted: boolean;
}

/** An event by its key, which its run has seen or not. */
export interface KeyName extends RunName {
  readonly key: string;
}

/** What became of an event that its run has seen. */
export interface Taken {
  /** The checkpoint of the step that consumed it; none while it waits. */
  readonly seq?: number;
  /** The entry there, and the digest of the one before it, unless they were pruned. */
  readonly entry?: EntryRow;
  readonly previous?: string;
}

export interface Fleet {
  /** Joins those who share the store; `taken` while somebody owns all of it. An outage is a time in which there was no member. */
  join(worker: string, leaseMs: number, now: number): Promise<Lease>;
  /**
   * Renews a member's lease, puts out those whose leases have lapsed, and says who is left, by epoch. Undefined if the member
   * itself is not there any more.
   */
  beat(epoch: number, leaseMs: number, sign: Sign, now: number): Promise<readonly Member[] | undefined>;
  leave(epoch: number, now: number): Promise<void>;
  /**
   * As the store's own, of the runs of these shards. Whoever runs an activity is gone if it is no member. `since`: only those
   * that have had something to do since then or longer.
   */
  due(shards: readonly number[], now: number, limit: number, since?: number): Promise<readonly RunName[]>;
  nextDue(shards: readonly number[], after: number): Promise<number | undefined>;
  /**
   * Takes over activities that are not settled, for whoever has this epoch: those that wait, those it has already, and those of
   * somebody who is no member any more. One of which another attempt was recorded since its row was read is left as it is:
   * whoever goes on from that row would make the attempt again. Says of each whether it has it now; nothing else of a row is
   * changed.
   */
  adopt(rows: readonly ActivityRow[], epoch: number): Promise<readonly boolean[]>;
  /**
   * Gives turns of keys to the member of this epoch. Of a key no more are given than the limit they are wanted under says, all
   * counted that members have under whatever limit. What each use says it holds is what counts from then on, so a call whose
   * answer was lost can be made again. Whoever is given fewer than it wants waits from then on, until a use that wants none.
   * Members that have waited longer come first, each with one; who was given some, or gave some back, comes last. What a
   * member has, it has until it is none any more. Undefined if it is not there any more.
   */
  takeTurns(uses: readonly KeyUse[], epoch: number): Promise<readonly Turns[] | undefined>;
  /** The newest checkpoint of each run, 0 where there is none. */
  readSeqs(names: readonly RunName[]): Promise<readonly number[]>;
  /** The events that wait for each run, as `readInbox` tells of one; none where there is no such run. */
  readInboxes(names: readonly RunName[], limit: number): Promise<readonly (readonly InboxRow[])[]>;
  /** What became of each event; undefined where its run has not seen its key, or there is no such run. */
  readTaken(events: readonly KeyName[]): Promise<readonly (Taken | undefined)[]>;
  readonly signals: Signals;
}

/** A store that several processes share; one process at a time may use any other. */
export interface SharedStore extends Store {
  readonly fleet: Fleet;
}

/** What a store has for processes that share it; undefined if it is for one at a time. */
export function fleetOf(store: Store): Fleet | undefined {
  return "fleet" in store ? (store as SharedStore).fleet : undefined;
}
