/** From preferences to behaviour: settings of a window, an agent or a prompt, each following from one preference. */

import { type AskOptions, type Preference, preference } from "./preference.ts";
import type { Preferences, PreferenceValue } from "./preferences.ts";
import type { Profile } from "./profile.ts";

/** How a setting follows from a preference, and what it is while nothing sure is known. */
export interface Adaptation<P extends Preferences, Key extends keyof P, Value> {
  readonly from: Key;
  readonly to: (value: PreferenceValue<P[Key]>) => Value;
  readonly otherwise: Value;
}

/** The settings, and for each the preference that it follows from. */
export interface Adapted<Settings> {
  readonly settings: Settings;
  readonly because: { readonly [Name in keyof Settings]: Preference };
}

type Adaptations<P extends Preferences, Settings> = {
  readonly [Name in keyof Settings]: { [Key in keyof P]: Adaptation<P, Key, Settings[Name]> }[keyof P];
};

/** Settings that suit a user: each as its preference says, where that is sure enough to go by. */
export function adapt<P extends Preferences, Settings extends Readonly<Record<string, unknown>>>(
  profile: Profile<P>,
  rules: Adaptations<P, Settings>,
  options: AskOptions,
): Adapted<Settings> {
  const because: Record<string, unknown> = {};
  const settings: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const { from, to, otherwise } = rule as Adaptation<P, keyof P & string, unknown>;
    const known = preference(profile, from, options);
    because[name] = known;
    settings[name] = known.applies && known.value !== undefined ? to(known.value) : otherwise;
  }
  return { settings, because } as Adapted<Settings>;
}
