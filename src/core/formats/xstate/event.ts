/**
 * Events between XState and here. There the payload lies beside `type`, here it is `data`:
 * `{ type: "pay", amount: 5 }` is `{ type: "pay", data: { amount: 5 } }`. The platform's own events have other names.
 */
import type { Event } from "../../event.ts";
import type { Json, JsonObject } from "../../json.ts";
import { isParts, type XStateEvent } from "./source.ts";

/** An event of XState as one of a run. A payload that is a single `data` and no object is the payload itself. */
export function fromXStateEvent(event: XStateEvent): { readonly type: string; readonly data?: Json } {
  const { type, ...fields } = event;
  const keys = Object.keys(fields).filter((key) => fields[key] !== undefined);
  if (keys.length === 0) return { type };
  if (keys.length === 1 && keys[0] === "data" && !isParts(fields.data))
    return { type, data: fields.data as Json };
  return { type, data: fields as JsonObject };
}

/** A payload as XState's events carry it: fields of an object side by side, anything else as `data`. */
export function toXStateEvent(type: string, data: unknown): XStateEvent {
  if (data === undefined) return { type };
  return isParts(data) ? { ...data, type } : { type, data };
}

/** The names of a machine's own events on both sides. */
export class EventNames {
  /** XState's name by ours. */
  readonly #theirs = new Map<string, string>();
  readonly #ours = new Map<string, string>();

  /** Says that the platform's event of this name is XState's of that. */
  pair(ours: string, theirs: string): void {
    this.#theirs.set(ours, theirs);
    this.#ours.set(theirs, ours);
  }

  /** A key of `on`, read as one of ours; undefined if XState has events of that name and we do not. */
  key(descriptor: string): string | undefined {
    const known = this.#ours.get(descriptor);
    if (known !== undefined) return known;
    for (const [theirs, ours] of prefixes)
      if (descriptor.startsWith(theirs)) return ours + descriptor.slice(theirs.length);
    return descriptor.startsWith("xstate.") && descriptor !== routeType ? undefined : descriptor;
  }

  /** A key of `on` as XState has it; undefined for events that it does not raise. */
  theirKey(descriptor: string): string | undefined {
    const known = this.#theirs.get(descriptor);
    if (known !== undefined) return known;
    for (const [theirs, ours] of prefixes)
      if (descriptor.startsWith(ours)) return theirs + descriptor.slice(ours.length);
    return /^(error|unknown)\./.test(descriptor) ? undefined : descriptor;
  }

  /** An event of XState as handlers here know it. */
  back(event: XStateEvent): Event {
    const { type } = event;
    const kind = "platform";
    if (type === "xstate.init") return withData({ type: "start", kind }, event.input);
    for (const [theirs, ours] of prefixes.slice(0, 2)) {
      if (!type.startsWith(theirs)) continue;
      const invokeId = type.slice(theirs.length);
      return withData({ type: ours + invokeId, kind, invokeId }, event.output ?? event.error);
    }
    const known = this.#ours.get(type);
    if (known === undefined) return fromXStateEvent(event);
    return withData({ type: known, kind }, event.output);
  }

  /** An event as XState's code knows it. */
  event({ type, kind, data, invokeId }: Event): XStateEvent {
    if (kind !== "platform") return toXStateEvent(type, data);
    if (type === "start") return { type: "xstate.init", input: data };
    if (invokeId !== undefined && type === `done.invoke.${invokeId}`)
      return { type: `xstate.done.actor.${invokeId}`, output: data, actorId: invokeId };
    if (invokeId !== undefined && type === `error.invoke.${invokeId}`)
      return { type: `xstate.error.actor.${invokeId}`, error: data, actorId: invokeId };
    const theirs = this.#theirs.get(type);
    if (theirs === undefined) return toXStateEvent(type, data);
    return type.startsWith("done.state.") ? { type: theirs, output: data } : { type: theirs };
  }
}

function withData(event: Event, data: unknown): Event {
  return data === undefined ? event : { ...event, data: data as Json };
}

export const routeType = "xstate.route";

const prefixes = [
  ["xstate.done.actor.", "done.invoke."],
  ["xstate.error.actor.", "error.invoke."],
  ["xstate.done.state.", "done.state."],
  ["xstate.after.", "after."],
] as const;
