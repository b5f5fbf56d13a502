/** Payloads: the data of events, as the schemas of the machine that takes them want it. */
import type { Chart } from "./chart.ts";
import type { Event } from "./event.ts";
import { freezeDeep } from "./json.ts";

/** The event with its data as its schema wants it; throws EVENT_INVALID if it does not fit. */
export function admitData({ schemas }: Chart, event: Event): Event {
  const check = schemas?.events.get(event.type);
  if (check === undefined) return event;
  const data = check(event.data);
  if (data === event.data) return event;
  const { data: _, ...rest } = event;
  return freezeDeep(data === undefined ? rest : { ...rest, data });
}
