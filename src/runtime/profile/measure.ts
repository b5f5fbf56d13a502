/** A measure: how often something happened and how long it took, in a few numbers however often that is. */

/** The upper ends of the buckets, in milliseconds; what took longer is in one more. */
export const bucketsMs = [0.1, 1, 10, 100, 1_000] as const;

export interface Measured {
  readonly count: number;
  readonly totalMs: number;
  readonly maxMs: number;
  /** How many took at most 0.1, 1, 10, 100 and 1,000 ms and no less than those before, and how many took longer. */
  readonly buckets: readonly number[];
}

export class Measure {
  #count = 0;
  #totalMs = 0;
  #maxMs = 0;
  readonly #buckets: number[] = [...bucketsMs.map(() => 0), 0];

  add(ms: number): void {
    // A clock without a stamp may have been set back.
    const took = Math.max(0, ms);
    this.#count++;
    this.#totalMs += took;
    if (took > this.#maxMs) this.#maxMs = took;
    const found = bucketsMs.findIndex((until) => took <= until);
    const bucket = found < 0 ? bucketsMs.length : found;
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1;
  }

  read(): Measured {
    return {
      ...{ count: this.#count, totalMs: this.#totalMs, maxMs: this.#maxMs },
      buckets: [...this.#buckets],
    };
  }
}

/** Measures by name, each made when something of that name is first measured. */
export class Measures {
  readonly #measures = new Map<string, Measure>();
  readonly #namesMax: number;

  /** Beyond so many names the rest share one: what is measured must not become a burden itself. */
  constructor(namesMax: number) {
    this.#namesMax = namesMax;
  }

  add(name: string, ms: number): void {
    const isFree = this.#measures.has(name) || this.#measures.size < this.#namesMax;
    const known = isFree ? name : others;
    const measure = this.#measures.get(known) ?? new Measure();
    this.#measures.set(known, measure);
    measure.add(ms);
  }

  /** What took longest in all comes first. */
  read(): Readonly<Record<string, Measured>> {
    const measured = [...this.#measures].map(([name, measure]) => [name, measure.read()] as const);
    return Object.fromEntries(measured.sort(([, one], [, other]) => other.totalMs - one.totalMs));
  }
}

/** The name for all that have none of their own. */
export const others = "(others)";

/** How often a cache had what it was asked for. */
export interface HitRate {
  readonly hits: number;
  readonly misses: number;
  /** Of all that were asked for, from 0 to 1; undefined while nobody has asked. */
  readonly rate: number | undefined;
}

export class HitCount {
  #hits = 0;
  #misses = 0;

  hit(): void {
    this.#hits++;
  }

  miss(): void {
    this.#misses++;
  }

  read(): HitRate {
    return rateOf({ hits: this.#hits, misses: this.#misses });
  }
}

export function rateOf({ hits, misses }: Omit<HitRate, "rate">): HitRate {
  return { hits, misses, rate: hits + misses === 0 ? undefined : hits / (hits + misses) };
}
