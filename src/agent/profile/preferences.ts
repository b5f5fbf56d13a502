/** What a profile may hold: its preferences by name, each of a type, and how each is learned. */
import { durationMs } from "../../core/duration.ts";
import type { Json } from "../../core/json.ts";
import { nearest } from "../../core/nearest.ts";
import { show, someOf } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";

interface Learning {
  /** What it is learned for. It is learned and given with the user's consent to that; one without a purpose is only ever set. */
  readonly purpose?: string;
  /** After how long an observation counts half; 30 days unless given. */
  readonly halfLife?: number | string;
  /** The same for what is compared with it to see a change; a sixth of `halfLife` unless given. */
  readonly recentHalfLife?: number | string;
  /** How many observations not knowing counts for; 2 unless given. */
  readonly prior?: number;
  /** How sure it must be to apply, from 0 to 1; 0.5 unless given. */
  readonly applyAbove?: number;
}

/** Yes or no. */
export interface Flag extends Learning {
  readonly type: "flag";
}

/** One of several values. */
export interface Category<Value extends string = string> extends Learning {
  readonly type: "category";
  readonly values: readonly Value[];
}

/** A number. */
export interface Quantity extends Learning {
  readonly type: "number";
  /** How far off is still right. */
  readonly tolerance: number;
  readonly min?: number;
  readonly max?: number;
}

export type PreferenceDefinition = Flag | Category | Quantity;
export type Preferences = Readonly<Record<string, PreferenceDefinition>>;

/** The value of a preference. */
export type PreferenceValue<Given> = Given extends Flag
  ? boolean
  : Given extends Category<infer Value>
    ? Value
    : Given extends Quantity
      ? number
      : never;

export interface ProfileDefinition<P extends Preferences = Preferences> {
  readonly preferences: P;
  /** What observations may be told apart by, the most general first; such as `["channel", "task"]`. */
  readonly contexts?: readonly string[];
}

/** Where something was observed, or is to be applied: by the names under `contexts`. */
export type Situation = Readonly<Record<string, string>>;

/** How a preference is learned, with nothing left open. */
export interface Terms {
  readonly halfLifeMs: number;
  readonly recentHalfLifeMs: number;
  readonly prior: number;
  readonly applyAbove: number;
}

/** How a preference is learned, with nothing left open. */
export function termsOf(preference: PreferenceDefinition): Terms {
  const { halfLife = "30 days", recentHalfLife, prior = 2, applyAbove = 0.5 } = preference;
  const halfLifeMs = durationMs(halfLife);
  const recentHalfLifeMs = recentHalfLife === undefined ? halfLifeMs / 6 : durationMs(recentHalfLife);
  return { halfLifeMs, recentHalfLifeMs, prior, applyAbove };
}

/** The values a preference can have, as they are counted; none for numbers. */
export function countedValues(preference: PreferenceDefinition): readonly string[] {
  if (preference.type === "flag") return ["true", "false"];
  return preference.type === "category" ? preference.values : [];
}

/** A counted value as it is given. */
export function givenValue(preference: PreferenceDefinition, counted: string): Json {
  return preference.type === "flag" ? counted === "true" : counted;
}

/** The preference of a name; throws PREFERENCE_INVALID with the nearest one. */
export function preferenceAt({ preferences }: ProfileDefinition, key: string): PreferenceDefinition {
  const found = Object.hasOwn(preferences, key) ? preferences[key] : undefined;
  if (found !== undefined) return found;
  throw unknownName("preference", key, Object.keys(preferences));
}

/** Throws PREFERENCE_INVALID for a purpose that no preference is learned for. */
export function checkPurpose({ preferences }: ProfileDefinition, purpose: string): void {
  const purposes = Object.values(preferences).flatMap(({ purpose: one }) => one ?? []);
  if (!purposes.includes(purpose)) throw unknownName("purpose", purpose, [...new Set(purposes)]);
}

/** Throws PREFERENCE_INVALID for a value that the preference cannot have. */
export function checkValue(definition: ProfileDefinition, key: string, value: unknown): void {
  const preference = preferenceAt(definition, key);
  const problem = problemOf(preference, value);
  if (problem !== undefined) throw invalid(`The preference ${show(key)} is ${show(value)}; ${problem}`);
}

function problemOf(preference: PreferenceDefinition, value: unknown): string | undefined {
  switch (preference.type) {
    case "flag":
      return typeof value === "boolean" ? undefined : "write true or false";
    case "category":
      if (preference.values.includes(value as string)) return undefined;
      return `there are ${someOf(preference.values)}`;
    case "number": {
      const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = preference;
      const fits = Number.isFinite(value) && (value as number) >= min && (value as number) <= max;
      return fits ? undefined : `write a number from ${min} to ${max}`;
    }
  }
}

/** Throws PREFERENCE_INVALID for a situation told by names the profile does not tell situations apart by. */
export function checkSituation({ contexts = [] }: ProfileDefinition, situation: Situation | undefined): void {
  for (const [name, value] of Object.entries(situation ?? {})) {
    if (!contexts.includes(name)) throw unknownName("context", name, contexts);
    if (typeof value !== "string") throw invalid(`The context ${show(name)} is ${show(value)}; write text`);
  }
}

/** Throws PREFERENCE_INVALID for a definition that cannot be meant. */
export function checkDefinition(definition: ProfileDefinition): void {
  for (const [key, preference] of Object.entries(definition.preferences)) {
    const { halfLifeMs, recentHalfLifeMs, prior, applyAbove } = termsOf(preference);
    const where = `The preference ${show(key)}`;
    if (!["flag", "category", "number"].includes(preference.type))
      throw invalid(`${where} is of the type ${show(preference.type)}; write flag, category or number`);
    if (!(halfLifeMs > recentHalfLifeMs && recentHalfLifeMs > 0))
      throw invalid(
        `${where} has half-lives of ${halfLifeMs} and ${recentHalfLifeMs} ms; the recent one is the shorter`,
      );
    if (!(prior > 0 && Number.isFinite(prior)))
      throw invalid(`${where} has a prior of ${prior}; write a number above 0`);
    if (!(applyAbove >= 0 && applyAbove < 1))
      throw invalid(`${where} applies above ${applyAbove}; write a number from 0 to 1`);
    if (preference.type === "category" && new Set(preference.values).size < 2)
      throw invalid(`${where} has the values ${show(preference.values)}; give two at least`);
    if (preference.type === "number" && !(preference.tolerance > 0))
      throw invalid(`${where} has a tolerance of ${show(preference.tolerance)}; write a number above 0`);
  }
}

function unknownName(what: string, name: string, names: readonly string[]): HoldfastError {
  const meant = typeof name === "string" ? nearest(name, names) : undefined;
  const fix = meant === undefined ? `there are ${someOf(names)}` : `did you mean ${show(meant)}?`;
  return invalid(`The profile has no ${what} ${show(name)}; ${fix}`);
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("PREFERENCE_INVALID", message);
}
