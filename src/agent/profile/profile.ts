/**
 * Profiles: what is known of a user's preferences, as plain JSON, and the functions on a draft that change it.
 *
 * U1. Nothing is learned without consent to its purpose, and withdrawing that forgets all that was learned for it.
 * U2. A setting is what the user said: it wins over whatever is learned, and only the user changes it. As all else, it is given
 *     with consent to its purpose.
 * U3. What is kept of observations does not grow with their number: sums by situation, and the newest few to tell why.
 */
import type { Draft } from "../../core/definition.ts";
import { type Json, put } from "../../core/json.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { type Evidence, type Moments, moments, observed, type Tally, tallies } from "./evidence.ts";
import {
  checkPurpose,
  checkSituation,
  checkValue,
  type PreferenceDefinition,
  type Preferences,
  type ProfileDefinition,
  preferenceAt,
  type Situation,
  termsOf,
} from "./preferences.ts";

/** One thing the user did or said that tells of a preference. */
export interface Observation {
  readonly key: string;
  readonly value: Json;
  /** How much it says; 1 unless given. */
  readonly weight?: number;
  readonly situation?: Situation;
  /** Where it was seen, for whoever asks why. */
  readonly source?: string;
}

/** An observation as it is kept. */
export interface Row {
  readonly value: Json;
  readonly weight: number;
  readonly at: number;
  readonly situation?: Situation;
  readonly source?: string;
}

/** What was learned of one preference. */
export interface Learned {
  /** By situation, as `bucketsOf` names them. */
  readonly buckets: Readonly<Record<string, Evidence<Tally> | Evidence<Moments>>>;
  /** The newest last. */
  readonly rows: readonly Row[];
}

export interface Setting {
  readonly value: Json;
  readonly at: number;
}

export interface Consent {
  readonly given: boolean;
  readonly at: number;
}

export interface ProfileState {
  readonly settings: Readonly<Record<string, Setting>>;
  readonly learned: Readonly<Record<string, Learned>>;
  readonly consents: Readonly<Record<string, Consent>>;
}

/** What a profile may hold, and what it holds. */
export interface Profile<P extends Preferences = Preferences> {
  readonly definition: ProfileDefinition<P>;
  readonly state: ProfileState;
}

/** A profile of whom nothing is known. */
export const emptyProfile: ProfileState = Object.freeze({ settings: {}, learned: {}, consents: {} });

type StateDraft = Draft<ProfileState>;

/** Whether something may be learned for a preference, and given. */
export function isConsented(
  state: ProfileState,
  { purpose }: Pick<PreferenceDefinition, "purpose">,
): boolean {
  return purpose !== undefined && entryOf(state.consents, purpose)?.given === true;
}

/** Throws PREFERENCE_INVALID for an observation the profile cannot learn from. */
export function checkObservation(definition: ProfileDefinition, observation: Observation): void {
  const { key, value, weight = 1, situation } = observation;
  checkValue(definition, key, value);
  checkSituation(definition, situation);
  if (!(weight > 0 && Number.isFinite(weight)))
    throw new HoldfastError(
      "PREFERENCE_INVALID",
      `An observation of ${show(key)} weighs ${weight}; write a number above 0`,
    );
}

/** Learns from an observation; says whether it did, since without consent it does not (U1). */
export function observe(
  state: StateDraft,
  definition: ProfileDefinition,
  { at, ...observation }: Observation & { readonly at: number },
): boolean {
  checkObservation(definition, observation);
  const { key, value, weight = 1, situation = {}, source } = observation;
  const preference = preferenceAt(definition, key);
  if (!isConsented(state, preference)) return false;
  if (entryOf(state.learned, key) === undefined) put(state.learned, key, { buckets: {}, rows: [] });
  const { buckets, rows } = entryOf(state.learned, key) as Draft<Learned>;
  for (const bucket of bucketsOf(definition, situation)) {
    const made = grown(preference, entryOf(buckets, bucket), { value, weight, at });
    put(buckets, bucket, made);
  }
  dropLeast(buckets);
  rows.push({
    ...{ value, weight, at },
    ...(Object.keys(situation).length === 0 ? {} : { situation: { ...situation } }),
    ...(source === undefined ? {} : { source }),
  });
  if (rows.length > limits.evidenceRowsMax) rows.shift();
  return true;
}

function grown(
  preference: PreferenceDefinition,
  before: Evidence<Tally> | Evidence<Moments> | undefined,
  { value, weight, at }: { readonly value: Json; readonly weight: number; readonly at: number },
): Evidence<Tally> | Evidence<Moments> {
  const given = { weight, at, ...termsOf(preference) };
  return preference.type === "number"
    ? observed(moments, before as Evidence<Moments> | undefined, { ...given, value: value as number })
    : observed(tallies, before as Evidence<Tally> | undefined, { ...given, value: String(value) });
}

/** The situations an observation tells of, the most general first: all of them, then those it fits, one name more each time. */
export function bucketsOf(
  { contexts = [] }: ProfileDefinition,
  situation: Situation = {},
): readonly string[] {
  const names = contexts.filter((name) => Object.hasOwn(situation, name));
  return [
    "",
    ...names.map((_, index) =>
      JSON.stringify(names.slice(0, index + 1).map((name) => [name, situation[name]])),
    ),
  ];
}

/** Situations may be many: the one that was longest without news goes. */
function dropLeast(buckets: Draft<Learned["buckets"]>): void {
  const names = Object.keys(buckets);
  if (names.length <= limits.evidenceBucketsMax) return;
  const oldest = names
    .filter((name) => name !== "")
    .reduce((one, other) => ((buckets[other]?.at ?? 0) < (buckets[one]?.at ?? 0) ? other : one));
  delete buckets[oldest];
}

/** Sets a preference, as the user says: from now on that holds, whatever is observed (U2). */
export function setPreference(
  state: StateDraft,
  definition: ProfileDefinition,
  { key, value, at }: { readonly key: string; readonly value: Json; readonly at: number },
): void {
  checkValue(definition, key, value);
  put(state.settings, key, { value, at });
}

/** Takes a setting back: what is learned holds again. */
export function unsetPreference(state: StateDraft, definition: ProfileDefinition, key: string): void {
  preferenceAt(definition, key);
  delete state.settings[key];
}

/** The user agrees that preferences are learned and used for a purpose. */
export function giveConsent(
  state: StateDraft,
  definition: ProfileDefinition,
  { purpose, at }: { readonly purpose: string; readonly at: number },
): void {
  checkPurpose(definition, purpose);
  put(state.consents, purpose, { given: true, at });
}

/** The user does not agree any more: what was learned for the purpose is forgotten (U1). */
export function withdrawConsent(
  state: StateDraft,
  definition: ProfileDefinition,
  { purpose, at }: { readonly purpose: string; readonly at: number },
): void {
  checkPurpose(definition, purpose);
  put(state.consents, purpose, { given: false, at });
  for (const [key, preference] of Object.entries(definition.preferences))
    if (preference.purpose === purpose) delete state.learned[key];
}

/** Forgets everything, settings and consents included. */
export function eraseProfile(state: StateDraft): void {
  Object.assign(state, { settings: {}, learned: {}, consents: {} });
}

/** What a record has under a name of somebody's choice. */
export function entryOf<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
