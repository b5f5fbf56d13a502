/**
 * How many may begin within a period: a sliding window, exact. Of any `perMs` milliseconds, the first counted and the
 * last not, no more than `limit` begin in them: one begins only if the start `limit` places back lies at least `perMs`
 * back. (A bucket of tokens that fills while nobody comes would let twice as many through.)
 *
 * One that was let in and has not begun yet counts as if it began now, so however long that takes, the window holds; but one for
 * which it takes longer than its allowance is good for must be let in again. What others who are there have reserved they may begin
 * as long as that is good: it counts as begun then, which may lie ahead.
 */
import type { Clock } from "../clock.ts";
import { type Allowance, goodForMs } from "./allowance.ts";
import type { Claim, Pool, Share, Waiter } from "./pool.ts";
import type { RateUse } from "./request.ts";

/** How long to wait before a store that cannot be reached is asked again. */
const unavailableMs = 1_000;

export class Rate implements Pool {
  readonly waiting = new Set<Waiter>();
  gates = 0;
  readonly #clock: Clock;
  readonly #allowance: Allowance;
  readonly #isShared: boolean;
  readonly #freed: (pool: Pool) => void;
  /** When the last ones began, in order. */
  #starts: number[] = [];
  /** Those let in that have not begun. */
  #pending = 0;
  /** What the most generous of those who use it has; of the stricter ones each keeps to its own. */
  #limitMax = 0;
  #perMsMin = Number.POSITIVE_INFINITY;
  #perMsMax = 0;
  #isRead = false;
  /** Whether the store is being asked, for what it knows or for more. */
  #asking = false;
  #stopTimer: (() => void) | undefined;
  #closed = false;

  /** `isShared`: others reserve of it as well. `freed` is called when those who wait may look again. */
  constructor(
    { clock, allowance, isShared }: { clock: Clock; allowance: Allowance; isShared: boolean },
    freed: (pool: Pool) => void,
  ) {
    this.#clock = clock;
    this.#allowance = allowance;
    this.#isShared = isShared;
    this.#freed = freed;
  }

  claim({ limit, perMs }: RateUse): Claim {
    this.#limitMax = Math.max(this.#limitMax, limit);
    this.#perMsMin = Math.min(this.#perMsMin, perMs);
    this.#perMsMax = Math.max(this.#perMsMax, perMs);
    return {
      pool: this,
      isFree: (now) => this.#isFree(limit, perMs, now),
      freeAt: (now) => this.#freeAt(limit, perMs, now),
      take: () => this.#take(),
    };
  }

  #take(): Share {
    this.#pending++;
    const until = this.#allowance.use();
    let hasBegun = false;
    return {
      begin: (now) => {
        // Whoever comes after a crash counts it as begun by then.
        if (now > until) return false;
        hasBegun = true;
        this.#begin(now);
        return true;
      },
      giveBack: () => {
        if (!hasBegun) this.#pending--;
      },
    };
  }

  isFree(now: number): boolean {
    return this.#isFree(this.#limitMax, this.#perMsMin, now);
  }

  #isFree(limit: number, perMs: number, now: number): boolean {
    return this.#isRead && this.#freeAt(limit, perMs, now) <= now && this.#allowance.has(now);
  }

  /** When the window would let one more begin; never, while too many are about to. */
  #freeAt(limit: number, perMs: number, now: number): number {
    this.#follow(now);
    const room = limit - this.#pending;
    if (room <= 0) return Number.POSITIVE_INFINITY;
    const start = this.#starts[this.#starts.length - room];
    return start === undefined ? now : start + perMs;
  }

  /** A clock that was set back takes the past with it: what has begun keeps its distances, the last one began now. */
  #follow(now: number): void {
    const ahead = (this.#starts.at(-1) ?? now) - now;
    if (ahead > this.#aheadMsMax()) this.#starts = this.#starts.map((start) => start - ahead);
  }

  /** How far ahead somebody else may begin what is reserved. */
  #aheadMsMax(): number {
    return this.#isShared ? goodForMs(this.#perMsMax) : 0;
  }

  #begin(now: number): void {
    this.#follow(now);
    this.#pending--;
    this.#starts.push(now);
    if (this.#isShared) this.#starts.sort((one, other) => one - other);
    if (this.#starts.length >= 2 * this.#limitMax)
      this.#starts.splice(0, this.#starts.length - this.#limitMax);
    if (this.waiting.size > 0 && !this.isFree(now)) this.watch(now);
  }

  watch(now: number): void {
    if (this.#asking || this.#closed) return;
    if (!this.#isRead) {
      void this.#ask(() => this.#read());
      return;
    }
    const at = this.#freeAt(this.#limitMax, this.#perMsMin, now);
    if (at === Number.POSITIVE_INFINITY) return;
    if (at > now) this.#ringIn(at - now);
    else if (!this.#allowance.has(now)) void this.#ask(() => this.#reserve());
    else {
      // There is some left for the generous, and those who wait are stricter.
      let soonest = Number.POSITIVE_INFINITY;
      for (const waiter of this.waiting) soonest = Math.min(soonest, waiter.freeAt(this, now));
      if (Number.isFinite(soonest)) this.#ringIn(soonest - now);
    }
  }

  #ringIn(ms: number): void {
    this.#stopTimer?.();
    this.#stopTimer = this.#clock.after(ms, () => {
      this.#stopTimer = undefined;
      this.#freed(this);
    });
  }

  async #ask(question: () => Promise<void>): Promise<void> {
    this.#asking = true;
    try {
      await question();
    } catch {
      await new Promise<void>((resolve) => void this.#clock.after(unavailableMs, resolve));
    }
    this.#asking = false;
    if (!this.#closed) this.#freed(this);
  }

  /** Whatever was reserved before counts as begun, as late as it can have been. */
  async #read(): Promise<void> {
    const known = await this.#allowance.read();
    const now = this.#clock.now();
    // Where nobody can say what was used, it was everything, just now.
    const chunks = known ?? [{ count: this.#limitMax, until: now }];
    const latest = now + this.#aheadMsMax();
    const starts = chunks.flatMap(({ count, until }) => Array<number>(count).fill(Math.min(until, latest)));
    this.#starts = starts.sort((one, other) => one - other);
    this.#isRead = true;
  }

  async #reserve(): Promise<void> {
    // Somebody else has reserved as well: what they did counts too.
    const reserved = await this.#allowance.reserve(this.#limitMax, this.#perMsMax, this.#clock.now());
    if (!reserved) this.#isRead = false;
  }

  isForgettable(now: number): boolean {
    if (this.gates > 0 || this.#pending > 0 || this.#asking) return false;
    return (this.#starts.at(-1) ?? Number.NEGATIVE_INFINITY) <= now - this.#perMsMax;
  }

  close(): void {
    this.#closed = true;
    this.#stopTimer?.();
  }

  /** Nobody counts what was begun any more. A document that cannot be removed now is left to the housekeeper. */
  forget(now: number): void {
    this.close();
    this.#allowance.remove(now).catch(() => {});
  }
}
