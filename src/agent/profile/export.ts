/** All that a profile holds, for the user whose it is. */
import type { Json } from "../../core/json.ts";
import { preference } from "./preference.ts";
import { preferenceAt } from "./preferences.ts";
import { type Consent, entryOf, type Profile, type Row } from "./profile.ts";

export interface ExportedPreference {
  readonly purpose?: string;
  /** What the user said, and when. */
  readonly setting?: { readonly value: Json; readonly at: number };
  /** What was learned: the likeliest value, and how sure that is. */
  readonly learned?: {
    readonly value: Json;
    readonly confidence: number;
    readonly observations: readonly Row[];
  };
  /** What is kept of all observations, as it stands in the profile. */
  readonly sums?: Json;
}

export interface ExportedProfile {
  readonly at: number;
  readonly consents: Readonly<Record<string, Consent>>;
  readonly preferences: Readonly<Record<string, ExportedPreference>>;
}

/** Everything that is held, as plain JSON: settings, what was learned and from what, and what was consented to. */
export function exportProfile(profile: Profile, { now }: { readonly now: number }): ExportedProfile {
  const { definition, state } = profile;
  const keys = new Set([...Object.keys(state.settings), ...Object.keys(state.learned)]);
  const entries = [...keys].map((key): [string, ExportedPreference] => {
    const { purpose } = preferenceAt(definition, key);
    const setting = entryOf(state.settings, key);
    const learned = entryOf(state.learned, key);
    // What is learned is told even where a setting wins over it.
    const { value, confidence } = preference({ definition, state: { ...state, settings: {} } }, key, { now });
    return [
      key,
      {
        ...(purpose === undefined ? {} : { purpose }),
        ...(setting === undefined ? {} : { setting }),
        ...(learned === undefined
          ? {}
          : {
              learned: { value: (value ?? null) as Json, confidence, observations: learned.rows },
              sums: learned.buckets as unknown as Json,
            }),
      },
    ];
  });
  return { at: now, consents: state.consents, preferences: Object.fromEntries(entries) };
}
