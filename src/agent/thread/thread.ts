/**
 * A thread: the messages of a conversation, as plain JSON in a context. Functions that change one take a draft.
 *
 * T1. Messages are only ever added. Each says what it comes after, so branches share what they have in common, and an
 *     edited or regenerated answer is another branch: nothing that was said is lost.
 * T2. Every message fits where it stands: ids are used once, a result answers an open call of the unit it follows, and
 *     nothing else follows a unit while calls of it are open. So no branch can come to hold what a model refuses.
 * T3. What is refused changes nothing.
 */
import { peek } from "../../core/draft.ts";
import type { Json } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import { addItem, countOf, itemAt, itemsOf } from "../pages.ts";
import { checkMessage } from "./check-message.ts";
import type { Entry, Overlay, Thread } from "./entry.ts";
import { isOnBranch, type Lineage, lineageOf } from "./lineage.ts";
import type { CallPart, Message } from "./message.ts";

export type { Entry, Overlay, Thread };

/** A thread in which nothing was said yet. */
export const emptyThread = (): Thread => ({ pages: [], head: null, overlays: [] });

/** Adds a message to the branch that is going on, and returns its position. */
export function append(thread: Thread, message: Message): number {
  const lineage = lineageOf(thread);
  const { head } = peek(thread);
  checkMessage(message);
  checkNew(lineage, message);
  if (message.role === "tool") checkResults(openCallsAt(lineage, head), message);
  else checkClosed(openCallsAt(lineage, head), message);
  const position = lineage.entries.length;
  addItem(thread.pages, { ...message, after: head });
  thread.head = position;
  return position;
}

/** Goes on after a message as if nothing had followed it yet; what did follow stays as a branch of its own. */
export function branchFrom(thread: Thread, at: string | number): void {
  thread.head = positionOf(thread, at);
}

/** Goes on before a message, to say it differently or to have it generated anew. */
export function branchBefore(thread: Thread, at: string | number): void {
  const position = positionOf(thread, at);
  thread.head = (lineageOf(thread).entries[position] as Entry).after;
}

/** Goes back to the newest branch that a message is on. */
export function switchTo(thread: Thread, at: string | number): void {
  const position = positionOf(thread, at);
  const lineage = lineageOf(thread);
  thread.head = endsOf(lineage).find((end) => isOnBranch(lineage, position, end)) as number;
}

/** How many messages there are, on all branches together. */
export const lengthOf = (thread: Thread): number => countOf(peek(thread).pages);

/** The message at a position, on whatever branch it is. */
export const messageAt = (thread: Thread, position: number): Entry | undefined =>
  itemAt(peek(thread).pages, position);

/** The messages of all branches, by their positions. */
export const allMessages = (thread: Thread): Entry[] => itemsOf(peek(thread).pages);

/** The positions of a branch from its newest message to its first; as far as it is asked. */
export function* positionsBack(thread: Thread, head = peek(thread).head): Generator<number, void> {
  const { entries } = lineageOf(thread);
  for (let at = head; at !== null; at = (entries[at] as Entry).after) yield at;
}

/** The messages of a branch from the newest to the first; as far as they are asked for. */
export function* newestFirst(thread: Thread, head = peek(thread).head): Generator<Entry, void> {
  const { entries } = lineageOf(thread);
  for (const position of positionsBack(thread, head)) yield entries[position] as Entry;
}

/** The messages of a branch in their order: of the one that is going on, or of the one that ends at `head`. */
export const messagesOf = (thread: Thread, head = peek(thread).head): Entry[] =>
  [...newestFirst(thread, head)].reverse();

/** The message of an id and its position, on whatever branch it is. */
export function findMessage(thread: Thread, id: string): { position: number; message: Entry } | undefined {
  const { byId, entries } = lineageOf(thread);
  const position = byId.get(id);
  return position === undefined ? undefined : { position, message: entries[position] as Entry };
}

/** A branch, told by its end. */
export interface ThreadBranch {
  /** The position and the id of its newest message. */
  readonly head: number;
  readonly id: string;
  /** How many messages it has from the first on. */
  readonly length: number;
  /** When its newest message was added. */
  readonly at: number;
  /** Whether it is the one that is going on. */
  readonly active: boolean;
}

/** All branches, the one with the newest message first. */
export function branches(thread: Thread): ThreadBranch[] {
  const lineage = lineageOf(thread);
  const { head } = peek(thread);
  return endsOf(lineage).map((end) => {
    const { id, at } = lineage.entries[end] as Entry;
    const length = (lineage.places[end]?.depth ?? 0) + 1;
    return { head: end, id, at, length, active: head !== null && isOnBranch(lineage, head, end) };
  });
}

/** The messages that were said in one place: a message and what was said instead of it on other branches, oldest first. */
export function versionsOf(thread: Thread, at: string | number): Entry[] {
  const { entries, followers } = lineageOf(thread);
  const { after } = entries[positionOf(thread, at)] as Entry;
  return (followers.get(after ?? -1) ?? []).map((position) => entries[position] as Entry);
}

/** The position of a message that is named by its id or its position; MESSAGE_UNKNOWN if there is none. */
export function positionOf(thread: Thread, at: string | number): number {
  const { byId, entries } = lineageOf(thread);
  const position = typeof at === "string" ? byId.get(at) : at;
  if (position !== undefined && entries[position] !== undefined) return position;
  throw new HoldfastError(
    "MESSAGE_UNKNOWN",
    `The thread has no message ${typeof at === "string" ? JSON.stringify(at) : `at position ${at}`}: it has ${entries.length}, on all its branches`,
    { details: { message: at } },
  );
}

/** A call that has no result yet. */
export type OpenCall = Pick<CallPart, "id" | "tool" | "input">;

/** The calls of the unit a branch ends with that have no result on it. */
export function openCallsAt({ entries }: Lineage, head: number | null): OpenCall[] {
  const answered = new Set<string>();
  for (let at = head; at !== null; at = (entries[at] as Entry).after) {
    const { role, parts } = entries[at] as Entry;
    if (role !== "tool")
      return parts.flatMap((part) =>
        part.type === "call" && !answered.has(part.id)
          ? [{ id: part.id, tool: part.tool, input: part.input as Json }]
          : [],
      );
    for (const part of parts) if (part.type === "result") answered.add(part.call);
  }
  return [];
}

/** The positions nothing comes after, newest first. */
const endsOf = ({ ends }: Lineage): number[] => [...ends].sort((one, other) => other - one);

function checkNew({ byId, byCall }: Lineage, message: Message): void {
  if (byId.has(message.id)) refuseKnown("message", message.id, byId.get(message.id));
  for (const part of message.parts)
    if (part.type === "call" && byCall.has(part.id)) refuseKnown("call", part.id, byCall.get(part.id));
}

function refuseKnown(what: string, id: string, position: number | undefined): never {
  throw new HoldfastError(
    "MESSAGE_KNOWN",
    `The thread has a ${what} ${JSON.stringify(id)} already, at position ${position}: give each an id of its own`,
    { details: { id, position } },
  );
}

function checkResults(open: readonly OpenCall[], message: Message): void {
  for (const part of message.parts) {
    if (part.type !== "result") continue;
    const call = open.find(({ id }) => id === part.call);
    if (call !== undefined && call.tool === part.tool) continue;
    const why =
      call === undefined ? "which is not open here" : `which is a call of ${JSON.stringify(call.tool)}`;
    throw new HoldfastError(
      "CALL_UNKNOWN",
      `The message ${JSON.stringify(message.id)} has a result of ${JSON.stringify(part.tool)} for the call ${JSON.stringify(part.call)}, ${why}: ${openText(open)}`,
      { details: { message: message.id, call: part.call } },
    );
  }
}

function checkClosed(open: readonly OpenCall[], message: Message): void {
  if (open.length === 0) return;
  throw new HoldfastError(
    "CALLS_OPEN",
    `The message ${JSON.stringify(message.id)} cannot follow calls without results: ${openText(open)}. Add their results, or close them with closeOpenCalls`,
    { details: { message: message.id, calls: open.map(({ id }) => id) } },
  );
}

const openText = (open: readonly OpenCall[]): string =>
  open.length === 0
    ? "no call is open"
    : `open ${open.length === 1 ? "is" : "are"} ${open.map(({ id, tool }) => `${JSON.stringify(id)} (${tool})`).join(", ")}`;
