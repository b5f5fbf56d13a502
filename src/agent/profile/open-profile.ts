/**
 * Profiles in use: one run for each user of a tenant, and a handle to it. The run is the user's (its subject), so what
 * erases a user's data finds it. It is found by a singleton's key and not by its id, so that a user who was erased can
 * begin anew.
 */
import type { Json } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { checkName } from "../../runtime/name.ts";
import type { Run, Runtime } from "../../runtime/runtime.ts";
import { whileLive } from "../while-live.ts";
import { type Adapted, adapt } from "./adapt.ts";
import { type Drift, drift } from "./drift.ts";
import { type ExportedProfile, exportProfile } from "./export.ts";
import { type AskOptions, type Preference, preference } from "./preference.ts";
import {
  checkDefinition,
  type PreferenceDefinition,
  type Preferences,
  type PreferenceValue,
  type ProfileDefinition,
  preferenceAt,
} from "./preferences.ts";
import {
  checkObservation,
  isConsented,
  type Observation,
  type Profile,
  type ProfileState,
} from "./profile.ts";
import { type ProfileMachine, profileMachine } from "./profile-machine.ts";

export interface ProfileOptions<P extends Preferences> extends ProfileDefinition<P> {
  readonly id: string;
  /** 1 unless given. */
  readonly version?: number;
  /** After how long without news a profile is erased; never unless given. */
  readonly retention?: number | string;
}

/** A kind of profile, to be given to a runtime. */
export interface ProfileKind<P extends Preferences> {
  readonly machine: ProfileMachine;
  readonly definition: ProfileDefinition<P>;
}

/** A kind of profile of these preferences; throws PREFERENCE_INVALID if they cannot be meant. */
export function defineProfile<
  const Value extends string,
  const P extends Readonly<Record<string, PreferenceDefinition & { readonly values?: readonly Value[] }>>,
>(options: ProfileOptions<P>): ProfileKind<P> {
  const { id, version = 1, retention, preferences, contexts = [] } = options;
  const definition = { preferences, contexts };
  checkDefinition(definition);
  return { machine: profileMachine({ id, version, definition, retention }), definition };
}

type Asked = Partial<AskOptions>;
type Beside = Omit<Observation, "key" | "value"> & {
  /** A repeat of it is the same observation. */
  readonly id?: string;
};

/** A user's profile, as whoever serves the user holds it. Times are those of its clock unless given. */
export interface OpenProfile<P extends Preferences> {
  /** All of it at its newest, for the functions that take a profile. */
  read(): Promise<Profile<P>>;
  preference<Key extends keyof P & string>(
    key: Key,
    options?: Asked,
  ): Promise<Preference<PreferenceValue<P[Key]>>>;
  adapt<Settings extends Readonly<Record<string, unknown>>>(
    rules: Parameters<typeof adapt<P, Settings>>[1],
    options?: Asked,
  ): Promise<Adapted<Settings>>;
  drift(options?: Asked): Promise<readonly Drift<keyof P & string>[]>;
  /** Learns from something the user did; false, and nothing is learned, if there is no consent to that. */
  observe<Key extends keyof P & string>(
    key: Key,
    value: PreferenceValue<P[Key]>,
    beside?: Beside,
  ): Promise<boolean>;
  /** The user says what they prefer. */
  set<Key extends keyof P & string>(key: Key, value: PreferenceValue<P[Key]>): Promise<void>;
  unset(key: keyof P & string): Promise<void>;
  consent(purpose: string): Promise<void>;
  withdraw(purpose: string): Promise<void>;
  export(options?: Asked): Promise<ExportedProfile>;
  /** Forgets everything and ends the run; what is observed next begins a new one. */
  erase(): Promise<void>;
}

export interface OpenProfileOptions {
  readonly user: string;
  readonly tenant?: string;
  readonly clock?: Clock;
}

/** A user's profile; it begins, empty, when it is first asked or told something. */
export function openProfile<P extends Preferences>(
  runtime: Pick<Runtime, "start">,
  { machine, definition }: ProfileKind<P>,
  options: OpenProfileOptions,
): OpenProfile<P> {
  const { user, tenant, clock = systemClock } = options;
  checkName("user", user);
  const place = { singleton: user, subject: user, ...(tenant === undefined ? {} : { tenant }) };
  const run = (): Promise<Run<ProfileState>> => runtime.start(machine, place);
  const read = async (): Promise<Profile<P>> => ({
    definition,
    state: (await (await run()).state()).context,
  });
  const at = (asked: Asked = {}): AskOptions => ({ now: clock.now(), ...asked });
  /** Whether it was taken: what somebody else did first may have made it pointless. */
  const tell = async (type: string, data?: object, key?: string): Promise<boolean> => {
    const event = {
      type,
      ...(data === undefined ? {} : { data: data as Json }),
      ...(key === undefined ? {} : { key }),
    };
    const [receipt] = await whileLive(run, (live) => live.sendAll([event]));
    const { error, outcome } = (await receipt?.handled()) ?? {};
    if (error !== undefined) throw new HoldfastError("PREFERENCE_INVALID", error.message, { cause: error });
    return outcome === "taken";
  };
  return {
    read,
    preference: async (key, asked) => preference(await read(), key, at(asked)),
    adapt: async (rules, asked) => adapt(await read(), rules, at(asked)),
    drift: async (asked) => drift(await read(), at(asked)),
    observe: async (key, value, { id, ...beside } = {}) => {
      const observation = { key, value, ...beside };
      checkObservation(definition, observation);
      // An event that is not taken is in the journal all the same, so it is not even sent.
      if (!isConsented((await read()).state, preferenceAt(definition, key))) return false;
      return tell("observe", observation, id);
    },
    set: async (key, value) => void (await tell("set", { key, value })),
    unset: async (key) => void (await tell("unset", { key })),
    consent: async (purpose) => void (await tell("consent", { purpose })),
    withdraw: async (purpose) => void (await tell("withdraw", { purpose })),
    export: async (asked) => exportProfile(await read(), at(asked)),
    erase: async () => void (await tell("erase")),
  };
}
