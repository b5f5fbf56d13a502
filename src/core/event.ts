/**
 * Events, and every name the platform reserves. An event is `{ type, data }` plus an envelope that only the
 * platform fills in. Reserved types are made and recognised here and nowhere else.
 */
import type { Json, JsonObject } from "./json.ts";
import type { Outage } from "./timer.ts";

/** Where an event came from: absent for events from outside, `internal` when raised, `platform` when the core made it. */
export type EventKind = "internal" | "platform";

export interface Event {
  readonly type: string;
  readonly data?: Json;
  readonly kind?: EventKind;
  /** Who sent it: the id of a principal, where that is known. */
  readonly by?: string;
  /** The id of the send that made it, or that failed. */
  readonly sendId?: string;
  /** The address to answer to, and how. */
  readonly origin?: string;
  readonly originType?: string;
  /** The invocation it comes from: its name, and the key that tells this incarnation from an earlier one. */
  readonly invokeId?: string;
  readonly invocation?: string;
  /** The key of the timer that fired it. */
  readonly timer?: string;
  /** Where the sender waits for a reply; absent when it asked for none. */
  readonly replyTo?: string;
  /** The message as it arrived, where it came through a foreign protocol. */
  readonly raw?: string;
}

/** What authors give: the events of their machine as a union of `{ type, data }`. */
export interface EventShape {
  readonly type: string;
  readonly data?: unknown;
}

/** The event as somebody sent it, where that is known. */
export const sentBy = (event: Event, by: string | undefined): Event =>
  by === undefined ? event : { ...event, by };

export const startEvent = (input: Json | undefined): Event =>
  input === undefined
    ? { type: "start", kind: "platform" }
    : { type: "start", kind: "platform", data: input };

/** The event that ends a run from outside; with a reason, as failed. */
export const cancelEvent = (reason?: JsonObject): Event =>
  reason === undefined
    ? { type: "cancel", kind: "platform" }
    : { type: "cancel", kind: "platform", data: reason };

/** The event that tells a run when nobody was there to run it. */
export const resumeEvent = (outages: readonly Outage[]): Event => ({
  type: "resume",
  kind: "platform",
  data: { outages: outages.map(({ from, until }) => ({ from, until })) },
});

/** The event with which a run goes back to a checkpoint. */
export const rollbackEvent = (to: number): Event => ({ type: "rollback", kind: "platform", data: { to } });

/** The event with which a fork begins. */
export const forkEvent = (run: string, seq: number): Event => ({
  type: "fork",
  kind: "platform",
  data: { run, seq },
});

/** The event with which a run goes from one version of its machine to another. */
export const migrateEvent = (from: number, to: number): Event => ({
  type: "migrate",
  kind: "platform",
  data: { from, to },
});

export const doneStateType = (stateName: string): string => `done.state.${stateName}`;
export const doneInvokeType = (invokeId: string): string => `done.invoke.${invokeId}`;
export const errorInvokeType = (invokeId: string): string => `error.invoke.${invokeId}`;
export const unknownInvokeType = (invokeId: string): string => `unknown.invoke.${invokeId}`;
export const afterType = (path: string, index: number): string => `after.${path}.${index}`;
/** The child that undoes a run's activities: its id in the run, and the name of its machine. */
export const compensationId = "compensation";
export const compensationName = (machine: string): string => `${machine}/${compensationId}`;
/** A map over a list ended well, or did not; and what brings an item to its worker. */
export const doneMapType = (name: string): string => `done.map.${name}`;
export const errorMapType = (name: string): string => `error.map.${name}`;
export const itemType = (name: string): string => `item.map.${name}`;
/** Whether a handler's key means what only the platform announces, whoever writes it. */
export const isMapType = (type: string): boolean => /^(done|error)\.map\./.test(type);
export const executionErrorType = "error.execution";
export const communicationErrorType = "error.communication";

/** How an activity or a child machine ended: the event its parent takes. */
export function settledEvent(
  invocation: { readonly id: string; readonly key: string },
  result: { readonly output?: Json } | { readonly error: Json } | { readonly unknown: Json },
): Event {
  const envelope = { kind: "platform", invokeId: invocation.id, invocation: invocation.key } as const;
  if ("error" in result) return { type: errorInvokeType(invocation.id), data: result.error, ...envelope };
  if ("unknown" in result)
    return { type: unknownInvokeType(invocation.id), data: result.unknown, ...envelope };
  const type = doneInvokeType(invocation.id);
  return result.output === undefined ? { type, ...envelope } : { type, data: result.output, ...envelope };
}

/** Whether an event says that the invocation it comes from is done, and has not failed. */
export function settlesWell({ type, invokeId }: Event): boolean {
  return invokeId !== undefined && type === doneInvokeType(invokeId);
}

/** Whether an event ends the invocation it comes from. */
export function settles(event: Event): boolean {
  return (
    event.invokeId !== undefined &&
    (event.type === doneInvokeType(event.invokeId) ||
      event.type === errorInvokeType(event.invokeId) ||
      event.type === unknownInvokeType(event.invokeId))
  );
}

/** How event keys are read: `exact` is Holdfast's own rule, `scxml` the prefix rule of SCXML documents. */
export type Matching = "exact" | "scxml";

/**
 * Whether a descriptor takes an event type. Exact: `a` takes only `a`; `a.*` takes `a` and whatever starts with `a.`;
 * `*` takes all. SCXML: `a` already means `a.*`. https://www.w3.org/TR/scxml/#EventDescriptors
 */
export function descriptorMatches(descriptor: string, type: string, matching: Matching): boolean {
  if (descriptor === "*" || descriptor === type) return true;
  const wildcard = descriptor.endsWith(".*");
  if (!wildcard && matching === "exact") return false;
  const prefix = wildcard ? descriptor.slice(0, -2) : descriptor.replace(/\.$/, "");
  return type === prefix || type.startsWith(`${prefix}.`);
}
