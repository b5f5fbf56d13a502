/**
 * Evidence with forgetting: what was observed, as a few numbers that stand for all of it.
 *
 * An observation of weight w at time t counts w · 2^(−(now − t) / half-life). Sums of such terms need only themselves and
 * the time they were last brought up to, so nothing is recomputed as time passes: they are looked at with a time, and
 * decay then. It does not matter in which order observations come, late ones included.
 */

/** Counts by value; of numbers, the weight, the mean, and the weighted sum of squares around it. */
export interface Tally {
  readonly counts: Readonly<Record<string, number>>;
}
export interface Moments {
  readonly weight: number;
  readonly mean: number;
  readonly squares: number;
}

/** What was observed of one preference in one situation, forgotten at two speeds, as it counted at `at`. */
export interface Evidence<Sum> {
  readonly at: number;
  readonly lasting: Sum;
  readonly recent: Sum;
}

/** How sums of a kind decay and grow. */
export interface Arithmetic<Sum, Value> {
  readonly none: Sum;
  scale(sum: Sum, factor: number): Sum;
  add(sum: Sum, value: Value, weight: number): Sum;
}

/** How much is left after a while. */
export function left(ageMs: number, halfLifeMs: number): number {
  return 2 ** (-ageMs / halfLifeMs);
}

export const tallies: Arithmetic<Tally, string> = {
  none: { counts: {} },
  scale: ({ counts }, factor) => ({
    counts: Object.fromEntries(Object.entries(counts).map(([value, count]) => [value, count * factor])),
  }),
  add: ({ counts }, value, weight) => {
    // A value may be called as something that every object has.
    const before = Object.hasOwn(counts, value) ? (counts[value] as number) : 0;
    return { counts: { ...counts, [value]: finite(before + weight) } };
  },
};

export const moments: Arithmetic<Moments, number> = {
  none: { weight: 0, mean: 0, squares: 0 },
  scale: ({ weight, mean, squares }, factor) => ({
    weight: weight * factor,
    mean,
    squares: squares * factor,
  }),
  // Welford's way with weights: it stays exact where the squares of large numbers would cancel out.
  add: (sum, value, weight) => join(sum, { weight, mean: value, squares: 0 }),
};

/** Two sets of observations as one. What would be too large for a number is the largest one, which JSON can hold. */
export function join(one: Moments, other: Moments): Moments {
  if (other.weight === 0) return one;
  if (one.weight === 0) return other;
  const weight = finite(one.weight + other.weight);
  const apart = finite(other.mean - one.mean);
  const share = other.weight / weight;
  return {
    weight,
    mean: one.mean + apart * share,
    squares: finite(one.squares + other.squares + finite(apart * apart) * one.weight * share),
  };
}

const finite = (value: number): number => Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, value));

export interface HalfLives {
  readonly halfLifeMs: number;
  readonly recentHalfLifeMs: number;
}

/** The evidence with one observation more, whenever that was made. */
export function observed<Sum, Value>(
  { none, scale, add }: Arithmetic<Sum, Value>,
  before: Evidence<Sum> | undefined,
  {
    value,
    weight,
    at,
    halfLifeMs,
    recentHalfLifeMs,
  }: HalfLives & {
    readonly value: Value;
    readonly weight: number;
    readonly at: number;
  },
): Evidence<Sum> {
  const known = before ?? { at, lasting: none, recent: none };
  const upTo = Math.max(known.at, at);
  const grown = (sum: Sum, halfLife: number) =>
    add(scale(sum, left(upTo - known.at, halfLife)), value, weight * left(upTo - at, halfLife));
  return {
    at: upTo,
    lasting: grown(known.lasting, halfLifeMs),
    recent: grown(known.recent, recentHalfLifeMs),
  };
}

/** The evidence as it counts at a time. What was observed after that time counts as if it were new. */
export function evidenceAt<Sum, Value>(
  { scale }: Arithmetic<Sum, Value>,
  evidence: Evidence<Sum>,
  { now, halfLifeMs, recentHalfLifeMs }: HalfLives & { readonly now: number },
): Evidence<Sum> {
  const ageMs = Math.max(0, now - evidence.at);
  return {
    at: Math.max(now, evidence.at),
    lasting: scale(evidence.lasting, left(ageMs, halfLifeMs)),
    recent: scale(evidence.recent, left(ageMs, recentHalfLifeMs)),
  };
}
