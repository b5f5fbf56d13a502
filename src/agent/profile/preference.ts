/**
 * What a user prefers, how sure that is, and why: computed when somebody asks, for the time they ask about.
 *
 * Of values that are counted, the counts are those of a Dirichlet distribution (of yes and no: a Beta), with `prior`
 * observations spread evenly beforehand. The share of a value is then Beta distributed, with a mean m of n observations,
 * and what decides is its lower bound: m − 1.645 · √(m(1 − m)/(n + 1)), which 95 % of a normal distribution lie above.
 *
 * Of numbers, the variance of the mean is v/n, and by Chebyshev's inequality the true mean is within the tolerance t
 * with a probability of at least 1 − v/(n t²), whatever the distribution: that is the bound.
 *
 * A situation begins with what holds in the more general one, as if that were so many observations of its own: eight at
 * most, so that a few contrary ones make it doubt and some more change it.
 */
import type { Json } from "../../core/json.ts";
import { type Evidence, evidenceAt, join, left, type Moments, moments, tallies } from "./evidence.ts";
import {
  countedValues,
  givenValue,
  type PreferenceDefinition,
  type Preferences,
  type PreferenceValue,
  preferenceAt,
  type Quantity,
  type Situation,
  type Terms,
  termsOf,
} from "./preferences.ts";
import { bucketsOf, entryOf, isConsented, type Learned, type Profile, type Row } from "./profile.ts";

/**
 * What it stands on. `setting`: the user said so. `evidence`: it was observed. `none`: nothing was. `withheld`: there is no
 * consent to its purpose.
 */
export type Basis = "setting" | "evidence" | "none" | "withheld";

/** An observation and what it counts now. */
export interface WeighedRow extends Row {
  readonly countsNow: number;
}

export interface Preference<Value = Json> {
  /** The likeliest value, or the user's own; undefined if nothing is known or may be told. */
  readonly value: Value | undefined;
  /** The lower bound of what it stands for, from 0 to 1; 1 of a setting. */
  readonly confidence: number;
  /** Whether it is sure enough to go by. */
  readonly applies: boolean;
  readonly basis: Basis;
  /** The observations it stands on, the newest first, as far as they are kept. */
  readonly why: readonly WeighedRow[];
  /** Of values that are counted, how likely each is. */
  readonly shares?: Readonly<Record<string, number>>;
}

export interface AskOptions {
  /** What time it is, in milliseconds since 1970. */
  readonly now: number;
  readonly situation?: Situation;
}

/** How cautious a bound is, in standard deviations: 95 % of a normal distribution lie above it. */
const caution = 1.645;
/** How many observations the more general situation counts for at most. */
const inheritedMax = 8;

const nothing = { value: undefined, confidence: 0, applies: false, why: [] } as const;

/** What a user prefers at a time, in a situation. */
export function preference<P extends Preferences, Key extends keyof P & string>(
  { definition, state }: Profile<P>,
  key: Key,
  options: AskOptions,
): Preference<PreferenceValue<P[Key]>> {
  const found = preferenceAt(definition, key);
  if (found.purpose !== undefined && !isConsented(state, found)) return { ...nothing, basis: "withheld" };
  const setting = entryOf(state.settings, key);
  if (setting !== undefined) {
    const value = setting.value as PreferenceValue<P[Key]>;
    return { value, confidence: 1, applies: true, basis: "setting", why: [] };
  }
  const learned = entryOf(state.learned, key);
  if (learned === undefined) return { ...nothing, basis: "none" };
  const told = { learned, ...options, buckets: bucketsOf(definition, options.situation) };
  const answer = found.type === "number" ? measured(found, told) : counted(found, told);
  return answer as unknown as Preference<PreferenceValue<P[Key]>>;
}

interface Told extends AskOptions {
  readonly learned: Learned;
  readonly buckets: readonly string[];
}

function counted(found: PreferenceDefinition, told: Told): Preference {
  const { applyAbove } = termsOf(found);
  const { shares, strength } = posterior(found, told);
  const [best, share] = Object.entries(shares).reduce((one, other) => (other[1] > one[1] ? other : one));
  const confidence = Math.max(0, share - caution * Math.sqrt((share * (1 - share)) / (strength + 1)));
  return {
    ...{ value: givenValue(found, best), confidence, applies: confidence > applyAbove, basis: "evidence" },
    ...{ why: rowsOf(found, told), shares },
  };
}

/** How likely each value is, and of how many observations that is. */
export function posterior(
  found: PreferenceDefinition,
  { learned, buckets, now }: Told,
  side: "lasting" | "recent" = "lasting",
): { readonly shares: Readonly<Record<string, number>>; readonly strength: number } {
  const terms = termsOf(found);
  const values = countedValues(found);
  let shares: Readonly<Record<string, number>> = Object.fromEntries(
    values.map((value) => [value, 1 / values.length]),
  );
  let strength = terms.prior;
  for (const { counts } of sumsOf(tallies, learned, { buckets, now, terms, side })) {
    const inherited = Math.min(strength, Math.max(terms.prior, inheritedMax));
    const countOf = (value: string) => entryOf(counts, value) ?? 0;
    const total = inherited + values.reduce((sum, value) => sum + countOf(value), 0);
    shares = Object.fromEntries(
      values.map((value) => [value, (inherited * (shares[value] as number) + countOf(value)) / total]),
    );
    strength = total;
  }
  return { shares, strength };
}

function measured(found: Quantity, told: Told): Preference {
  const { prior, applyAbove } = termsOf(found);
  const { weight, mean, squares } = estimate(found, told);
  const allowed = found.tolerance ** 2;
  const variance = (squares + prior * allowed) / (weight + prior);
  const confidence = Math.max(0, 1 - variance / (weight * allowed));
  return {
    ...{ value: mean, confidence, applies: confidence > applyAbove, basis: "evidence" },
    why: rowsOf(found, told),
  };
}

/** The mean, and of how much; a situation begins with some of what is known of the more general one. */
export function estimate(
  found: Quantity,
  { learned, buckets, now }: Told,
  side: "lasting" | "recent" = "lasting",
): Moments {
  return sumsOf(moments, learned, { buckets, now, terms: termsOf(found), side }).reduce(
    (general, special) => {
      const share = Math.min(1, inheritedMax / general.weight);
      return join(special, moments.scale(general, share));
    },
  );
}

/** The evidence of each situation that has some, the most general first. */
function sumsOf<Sum>(
  arithmetic: { readonly none: Sum } & Parameters<typeof evidenceAt<Sum, never>>[0],
  { buckets: kept }: Learned,
  {
    buckets,
    now,
    terms,
    side,
  }: { buckets: readonly string[]; now: number; terms: Terms; side: "lasting" | "recent" },
): readonly Sum[] {
  return buckets.flatMap((bucket) => {
    const evidence = entryOf(kept, bucket) as Evidence<Sum> | undefined;
    return evidence === undefined ? [] : [evidenceAt(arithmetic, evidence, { now, ...terms })[side]];
  });
}

function rowsOf(found: PreferenceDefinition, { learned, now, situation = {} }: Told): readonly WeighedRow[] {
  const { halfLifeMs } = termsOf(found);
  const fits = (row: Row) =>
    Object.entries(row.situation ?? {}).every(([name, value]) => (situation[name] ?? value) === value);
  return learned.rows
    .filter(fits)
    .toReversed()
    .map((row) => ({ ...row, countsNow: row.weight * left(Math.max(0, now - row.at), halfLifeMs) }));
}
