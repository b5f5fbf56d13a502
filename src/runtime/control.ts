/**
 * Control: the platform's own events, with which a run is ended, parked, brought back or told of an outage. Each is a
 * step with an entry like any other, so the journal shows who did what to a run.
 */
import { cancelEvent, type Event } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";

/** Ends a child; `origin`, the run that invoked it, does not want to hear of it any more. */
export const cancelChildEvent = (origin: string): Event => ({ ...cancelEvent(), origin });

/** Puts the run aside for a person; `refused` is the checkpoint of the result it could not take. */
export const parkEvent = (error: JsonObject, refused?: number): Event => ({
  type: "park",
  kind: "platform",
  data: refused === undefined ? { error } : { error, refused },
});

/** Why a run is put aside with this event. */
export function parkReason(event: Event): JsonObject | undefined {
  if (event.type !== "park" || !isControl(event)) return undefined;
  return (event.data as { readonly error: JsonObject }).error;
}

/** Brings a parked run back, with the result it could not take, if that is why it was parked. */
export const retryEvent = (result: Event | undefined): Event => ({
  type: "retry",
  kind: "platform",
  ...(result === undefined ? {} : { data: { result: result as unknown as JsonObject } }),
});

/** The result that a run which comes back is to be given again. */
export function refusedResult(event: Event): Event | undefined {
  if (event.type !== "retry" || !isControl(event)) return undefined;
  return (event.data as { result?: Event } | undefined)?.result;
}

const controls: ReadonlySet<string> = new Set(["start", "cancel", "resume", "park", "retry"]);

/** Whether an event is one of control: the machine has no say in it, and also a parked run takes it. */
export function isControl({ type, kind, invocation }: Event): boolean {
  return kind === "platform" && invocation === undefined && controls.has(type);
}
