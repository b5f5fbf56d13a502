/**
 * Units: an assistant message with all its tool calls, their results and its thinking; any other message alone. Models
 * refuse a call without its result and a result without its call, so nothing splits a unit: windows take whole ones, and
 * what is left open by a crash or a cancelled run is closed with results that say so.
 */
import { peek } from "../../core/draft.ts";
import { lineageOf } from "./lineage.ts";
import type { Message, ResultPart } from "./message.ts";
import { append, type Entry, type OpenCall, openCallsAt, type Thread } from "./thread.ts";

export interface Unit<Kept extends Message = Message> {
  /** In their order: the message that begins it, then the results. */
  readonly messages: readonly Kept[];
}

/** Messages in their order as units. Results that follow no message that begins a unit are a unit of their own. */
export function unitsOf<Kept extends Message>(messages: Iterable<Kept>): Unit<Kept>[] {
  const units: Kept[][] = [];
  for (const message of messages) {
    const last = units.at(-1);
    if (
      message.role === "tool" &&
      last !== undefined &&
      last[0]?.role !== "user" &&
      last[0]?.role !== "system"
    )
      last.push(message);
    else units.push([message]);
  }
  return units.map((unit) => ({ messages: unit }));
}

/** A unit of a branch, with the positions of its messages. */
export interface PlacedUnit extends Unit<Entry> {
  readonly positions: readonly number[];
}

/** The units of a branch from the newest to the first, as far as they are asked for. */
export function* unitsBack(thread: Thread, head = peek(thread).head): Generator<PlacedUnit, void> {
  const { entries } = lineageOf(thread);
  let positions: number[] = [];
  for (let at = head; at !== null; at = (entries[at] as Entry).after) {
    positions.push(at);
    if ((entries[at] as Entry).role === "tool") continue;
    positions.reverse();
    yield { positions, messages: positions.map((position) => entries[position] as Entry) };
    positions = [];
  }
}

/** The calls of the newest unit that have no result yet; those of older units all have one. */
export const openCalls = (thread: Thread): OpenCall[] => openCallsAt(lineageOf(thread), peek(thread).head);

/** Why a call has no result of its own, in words a model understands; any other reason is given as it is. */
export const reasons = {
  interrupted: "The call was interrupted before it gave a result. Nothing of it may be relied on.",
  cancelled: "The call was cancelled before it was made. It did not happen.",
  refused: "The call was not approved. It did not happen.",
  unknown: "It is unknown whether the call happened: look before you make it again.",
} as const;

export interface CloseOptions {
  /** The id of the message with the results. */
  readonly id: string;
  readonly at: number;
  /** One of `reasons` by its name, or the text to give. */
  readonly reason: string;
  /** Only these calls; all open ones unless given. */
  readonly calls?: readonly string[];
}

/** Gives open calls a result that is an error and says why; returns those it closed, none if none were open. */
export function closeOpenCalls(thread: Thread, { id, at, reason, calls }: CloseOptions): OpenCall[] {
  const closed = openCalls(thread).filter((call) => calls?.includes(call.id) ?? true);
  if (closed.length === 0) return closed;
  const output: string = Object.hasOwn(reasons, reason) ? reasons[reason as keyof typeof reasons] : reason;
  append(thread, {
    id,
    at,
    role: "tool",
    parts: closed.map(
      (call): ResultPart => ({ type: "result", call: call.id, tool: call.tool, output, isError: true }),
    ),
  });
  return closed;
}
