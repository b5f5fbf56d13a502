/**
 * Control: the platform's own events, with which a run is ended, parked, brought back, pruned or told of an outage. Each is a
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

/**
 * What a run is told when it comes back: since when it was parked and at which checkpoint, and the result it could not
 * take, if that is why.
 */
interface Return {
  readonly parkedAt: number;
  readonly parked: number;
  readonly result?: Event;
  /** How many events it takes until it is parked again. */
  readonly steps?: number;
}

/** Brings a parked run back. */
export const retryEvent = (data: Return): Event => ({
  type: "retry",
  kind: "platform",
  data: data as unknown as JsonObject,
});

/** What a run that comes back with this event is told. */
export function returnOf(event: Event): Return | undefined {
  return event.type === "retry" && isControl(event) ? (event.data as unknown as Return) : undefined;
}

/** Leaves a snapshot of the run at this checkpoint. */
export const snapshotEvent = (): Event => ({ type: "snapshot", kind: "platform" });

/** Whether the commit of this event has a snapshot, whatever that costs. */
export function wantsSnapshot(event: Event): boolean {
  return event.type === "snapshot" && isControl(event);
}

/** Tells that the journal is pruned up to a checkpoint from here on. */
export const pruneEvent = (upTo: number): Event => ({ type: "prune", kind: "platform", data: { upTo } });

const controls: ReadonlySet<string> = new Set([
  ...["start", "cancel", "resume", "park", "retry"],
  ...["rollback", "fork", "migrate", "debug", "snapshot", "prune"],
]);

/** Whether an event is one of control: the machine has no say in it, and also a parked run takes it. */
export function isControl({ type, kind, invocation }: Event): boolean {
  return kind === "platform" && invocation === undefined && controls.has(type);
}
