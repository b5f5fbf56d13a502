/** How many may be under way at a time. Where one key has several limits, all count and each keeps to its own. */
import type { Claim, Pool, Waiter } from "./pool.ts";
import type { ConcurrencyUse } from "./request.ts";

export class Concurrency implements Pool {
  readonly waiting = new Set<Waiter>();
  gates = 0;
  #used = 0;
  #limitMax = 0;

  claim({ limit }: ConcurrencyUse): Claim {
    this.#limitMax = Math.max(this.#limitMax, limit);
    return {
      pool: this,
      isFree: () => this.#used < limit,
      freeAt: () => Number.POSITIVE_INFINITY,
      take: () => {
        this.#used++;
        return { begin: () => true, giveBack: () => void this.#used-- };
      },
    };
  }

  isFree(): boolean {
    return this.#used < this.#limitMax;
  }

  /** Whoever leaves tells those who wait. */
  watch(): void {}

  isForgettable(): boolean {
    return this.#used === 0 && this.gates === 0;
  }

  close(): void {}

  forget(): void {}
}
