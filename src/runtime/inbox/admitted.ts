/** Events as users hand them in, looked at before a run hears of them. */
import { admitEvent } from "../../core/admit.ts";
import { type Event, sentBy } from "../../core/event.ts";
import { showValue } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import { checkActor, checkName } from "../name.ts";
import type { Outgoing } from "../run.ts";

/** An event that was looked at, and its key. */
export interface Admitted {
  readonly event: Event;
  readonly key: string | undefined;
}

/** Throws EVENT_INVALID, NOT_JSON or NAME_INVALID. */
export function admit(event: Event, key: string | undefined, by: string | undefined): Admitted {
  if (key !== undefined) checkName("key", key);
  checkActor(by);
  return { event: admitEvent(sentBy(event, by)), key };
}

/** All of a batch, each looked at before any is used; throws as for one. */
export function admitAll(events: readonly Outgoing[]): readonly Admitted[] {
  if (!Array.isArray(events)) {
    throw new HoldfastError(
      "EVENT_INVALID",
      `sendAll takes a list of events, [{ type, data }], not ${showValue(events)}`,
    );
  }
  return events.map((given: Outgoing | null) => {
    const { type, data, key, by } = given ?? ({} as Partial<Outgoing>);
    return admit({ type: type as string, ...(data === undefined ? undefined : { data }) }, key, by);
  });
}
