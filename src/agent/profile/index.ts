/** Profiles: what users prefer, from what they do and what they say. Re-exports only. */
export { type Adaptation, type Adapted, adapt } from "./adapt.ts";
export { type Drift, drift } from "./drift.ts";
export { type ExportedPreference, type ExportedProfile, exportProfile } from "./export.ts";
export {
  defineProfile,
  type OpenProfile,
  type OpenProfileOptions,
  openProfile,
  type ProfileKind,
  type ProfileOptions,
} from "./open-profile.ts";
export { type AskOptions, type Basis, type Preference, preference, type WeighedRow } from "./preference.ts";
export type {
  Category,
  Flag,
  PreferenceDefinition,
  Preferences,
  PreferenceValue,
  ProfileDefinition,
  Quantity,
  Situation,
} from "./preferences.ts";
export {
  type Consent,
  emptyProfile,
  eraseProfile,
  giveConsent,
  type Observation,
  observe,
  type Profile,
  type ProfileState,
  setPreference,
  unsetPreference,
  withdrawConsent,
} from "./profile.ts";
