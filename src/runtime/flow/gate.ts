/**
 * A gate: the queue of all that need the same of the same pools. Whether one of them may start depends on the pools and
 * not on which of them it is, so a gate is open or shut as a whole, and one that is shut holds up nobody elsewhere.
 */
import { FairQueue, type Waiting } from "./fair-queue.ts";
import type { Claim, Pool, Waiter } from "./pool.ts";

export class Gate<Entry extends Waiting> implements Waiter {
  readonly queue = new FairQueue<Entry>();
  readonly claims: readonly Claim[];
  readonly name: string;
  /** The pool that shuts it. */
  shutBy: Pool | undefined;
  /** Whose turn it is here, while they wait for a slot. */
  offered: Entry | undefined;

  constructor(claims: readonly Claim[], name: string) {
    this.claims = claims;
    this.name = name;
    for (const { pool } of claims) pool.gates++;
  }

  get size(): number {
    return this.queue.size;
  }

  /** The pool that would let nobody in now. */
  emptyPool(now: number): Pool | undefined {
    return this.claims.find((claim) => !claim.isFree(now))?.pool;
  }

  isFree(pool: Pool, now: number): boolean {
    return this.#claim(pool).isFree(now);
  }

  freeAt(pool: Pool, now: number): number {
    return this.#claim(pool).freeAt(now);
  }

  #claim(pool: Pool): Claim {
    return this.claims.find((claim) => claim.pool === pool) as Claim;
  }

  /** Nobody is left here. */
  close(): void {
    for (const { pool } of this.claims) pool.gates--;
  }
}
