/** How often each principal, or each address without one, may ask: a bucket of tokens each, filled at a steady rate. */
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";

export interface Rate {
  /** Requests a second, over time. */
  readonly perSecond: number;
  /** How many at once, after a rest. */
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

export class Rates {
  readonly #rate: Rate;
  readonly #what: string;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, what = "requests") {
    this.#rate = rate;
    this.#what = what;
  }

  /** Takes a token; throws RATE_EXCEEDED if there is none. */
  take(holder: string, now: number): void {
    const { perSecond, burst } = this.#rate;
    const bucket = this.#buckets.get(holder) ?? this.#add(now);
    // The one that was asked last stands last, so that the first is the one to forget.
    this.#buckets.delete(holder);
    this.#buckets.set(holder, bucket);
    // A clock that was set back gives nothing and takes nothing.
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1_000) * perSecond);
    bucket.at = now;
    if (bucket.tokens < 1)
      throw new HoldfastError(
        "RATE_EXCEEDED",
        `More than ${perSecond} ${this.#what} a second; wait a little between them`,
        { details: { retryAfterS: Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)) } },
      );
    bucket.tokens--;
  }

  #add(now: number): Bucket {
    // Whoever has been away longest has a full bucket, and loses nothing.
    const oldest = this.#buckets.keys().next().value;
    if (this.#buckets.size >= limits.ratedHoldersMax && oldest !== undefined) this.#buckets.delete(oldest);
    return { tokens: this.#rate.burst, at: now };
  }
}
