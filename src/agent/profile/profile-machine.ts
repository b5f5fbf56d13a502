/** The machine behind a profile: one run for each user, which learns, is told, and is erased. Pure. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { TransitionParts } from "../../core/definition.ts";
import type { Json } from "../../core/json.ts";
import { defineMachine, type Machine } from "../../core/machine.ts";
import { messageOf } from "../../core/problem.ts";
import { checkPurpose, checkValue, type ProfileDefinition, preferenceAt } from "./preferences.ts";
import {
  checkObservation,
  emptyProfile,
  eraseProfile,
  giveConsent,
  isConsented,
  type Observation,
  observe,
  type ProfileState,
  setPreference,
  unsetPreference,
  withdrawConsent,
} from "./profile.ts";

export type ProfileEvent =
  | { readonly type: "observe"; readonly data: Observation }
  | { readonly type: "set"; readonly data: { readonly key: string; readonly value: Json } }
  | { readonly type: "unset"; readonly data: { readonly key: string } }
  | { readonly type: "consent"; readonly data: { readonly purpose: string } }
  | { readonly type: "withdraw"; readonly data: { readonly purpose: string } }
  | { readonly type: "erase" };

export type ProfileMachine = Machine<ProfileState, ProfileEvent>;

export interface ProfileParts {
  readonly id: string;
  readonly version: number;
  readonly definition: ProfileDefinition;
  /** After how long without news a profile is erased; never unless given. */
  readonly retention: number | string | undefined;
}

export function profileMachine({ id, version, definition, retention }: ProfileParts): ProfileMachine {
  /** News: the state is entered again, so that the time without any begins anew. */
  const news = <Type extends ProfileEvent["type"]>(
    parts: TransitionParts<ProfileState, Extract<ProfileEvent, { readonly type: Type }>>,
  ) => ({ target: "open", reenter: true, ...parts });
  const erased = { target: "erased", update: eraseProfile };
  return defineMachine<ProfileState, ProfileEvent>({
    ...{ id, version, initial: "open", start: emptyProfile },
    events: {
      observe: checkedBy<Observation>((data) => checkObservation(definition, data)),
      set: checkedBy<{ key: string; value: Json }>(({ key, value }) => checkValue(definition, key, value)),
      unset: checkedBy<{ key: string }>(({ key }) => void preferenceAt(definition, key)),
      consent: checkedBy<{ purpose: string }>(({ purpose }) => checkPurpose(definition, purpose)),
      withdraw: checkedBy<{ purpose: string }>(({ purpose }) => checkPurpose(definition, purpose)),
      erase: {},
    },
    states: {
      open: {
        ...(retention === undefined ? {} : { after: [{ delay: retention, ...erased }] }),
        on: {
          observe: news<"observe">({
            guard: ({ context, event }) => isConsented(context, preferenceAt(definition, event.data.key)),
            update: (draft, { event, at }) => observe(draft, definition, { ...event.data, at }),
          }),
          set: news<"set">({
            update: (draft, { event, at }) => setPreference(draft, definition, { ...event.data, at }),
          }),
          unset: news<"unset">({
            update: (draft, { event }) => unsetPreference(draft, definition, event.data.key),
          }),
          consent: news<"consent">({
            update: (draft, { event, at }) => giveConsent(draft, definition, { ...event.data, at }),
          }),
          withdraw: news<"withdraw">({
            update: (draft, { event, at }) => withdrawConsent(draft, definition, { ...event.data, at }),
          }),
          erase: erased,
        },
      },
      erased: { type: "final" },
    },
  });
}

/** A schema of data that a function checks: what it throws is what is wrong. */
function checkedBy<Data>(check: (data: Data) => void): StandardSchemaV1<Data> {
  const validate = (value: unknown): StandardSchemaV1.Result<Data> => {
    try {
      check(value as Data);
      return { value: value as Data };
    } catch (error) {
      return { issues: [{ message: messageOf(error) }] };
    }
  };
  return { "~standard": { version: 1, vendor: "holdfast", validate } };
}
