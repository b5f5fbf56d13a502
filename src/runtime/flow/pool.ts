/** A pool: something of which there is only so much, shared by all that name the same key. */

/** Those of one kind that wait for a pool; `gate.ts` is what they are. */
export interface Waiter {
  /** How many they are. */
  readonly size: number;
  /** Whether this pool would let one of them in now. */
  isFree(pool: Pool, now: number): boolean;
  /** When it would by itself; never, if it takes somebody to leave. */
  freeAt(pool: Pool, now: number): number;
}

export interface Pool {
  /** Those who found it used up, in the order they did. */
  readonly waiting: Set<Waiter>;
  /** How many gates lead to it. */
  gates: number;
  /** Whether it would let in one with the most generous limit now. */
  isFree(now: number): boolean;
  /** Somebody found it used up, or used it while others wait: sees to it that they are told when it is free. */
  watch(now: number): void;
  /** Whether nobody would miss it if it were forgotten and made anew. */
  isForgettable(now: number): boolean;
  /** Stops whatever it waits for. */
  close(): void;
  /** Nobody will miss it: it is closed, and so goes what was kept of it. */
  forget(now: number): void;
}

/** What a gate has in a pool: the pool as it looks from there, with the gate's own limit. */
export interface Claim {
  readonly pool: Pool;
  isFree(now: number): boolean;
  freeAt(now: number): number;
  /** One is let in. */
  take(): Share;
}

/** What one that was let in has of a pool. */
export interface Share {
  /** It begins; false if it was let in too long ago, and must be let in again. */
  begin(now: number): boolean;
  /** It is over, or was before it began. */
  giveBack(): void;
}
