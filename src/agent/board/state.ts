/**
 * What a board holds: plain JSON, in the context of its run. It grows with what is on the board now and not with what has
 * been: what has been is in the journal.
 */
import type { Json } from "../../core/json.ts";

/** What stands under a key. */
export interface Standing {
  value: Json;
  /** The number of the change that made it; numbers count all changes of the board, so none comes twice. */
  version: number;
  /** The agent that wrote it, and when, in milliseconds since 1970. */
  by: string;
  at: number;
}

/** A write that waits for a review. */
export interface PendingReview {
  id: string;
  key: string;
  value: Json;
  by: string;
  at: number;
  /** The version it was written for; what stood there when it came was another. */
  ifVersion: number;
  /** That other version. Writes that have waited since before it was kept have none. */
  stood?: number;
  /** The token it came with, if it did. */
  fence?: number;
}

/** Leases that were given together, under one token. */
export interface Grant {
  token: number;
  names: string[];
  by: string;
  until: number;
}

/** An agent that waits for leases: all of them at once. */
export interface Waiter {
  names: string[];
  by: string;
  /** How long it wants them for. */
  ms: number;
  /** When it gives up; null for never. */
  until: number | null;
  /** Where its answer goes. */
  to: string;
}

export type VoteRule = "majority" | "weighted" | "ranked";
export type TieRule = "first" | "reject" | "chair";

/** One voter's ballot: the options it is for, the best one first; none if it abstains. */
export interface Ballot {
  by: string;
  choice: string[];
}

export interface Proposal {
  id: string;
  question: string;
  options: string[];
  voters: { name: string; weight: number }[];
  rule: VoteRule;
  quorum: number;
  tie: TieRule;
  chair: string | null;
  isChangeable: boolean;
  /** When it ends at the latest; null for when everybody has voted. */
  closesAt: number | null;
  by: string;
  at: number;
  ballots: Ballot[];
  /** When it ended; null while it is open. */
  closedAt: number | null;
}

/** An answer that is due to somebody who asked. */
export interface Reply {
  to: string;
  data: Json;
}

export interface BoardState {
  /** The number of the newest change. */
  version: number;
  entries: Record<string, Standing>;
  reviews: PendingReview[];
  grants: Grant[];
  /** Those who wait, the one who has waited longest first. */
  queue: Waiter[];
  /** The newest token: those to come are higher, whatever they are for. */
  token: number;
  /** Open ones, and the newest of those that have ended. */
  proposals: Proposal[];
  /** How many reviews and proposals there have been: their ids are made of it. */
  count: number;
  /** When it is to be woken next; null for never. */
  wakeAt: number | null;
  /** Answers that this step owes: none are left when it has ended. */
  outbox: Reply[];
}

export const emptyBoard = (): BoardState => ({
  version: 0,
  entries: {},
  reviews: [],
  grants: [],
  queue: [],
  token: 0,
  proposals: [],
  count: 0,
  wakeAt: null,
  outbox: [],
});

/** Who asks, when, and where the answer goes. */
export interface Asker {
  readonly by: string;
  readonly at: number;
  readonly to: string | undefined;
}
