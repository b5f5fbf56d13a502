/**
 * Windows: what a model sees of a thread, within a budget of tokens. The thread is only read.
 *
 * W1. No call without its result and no result without its call: units are taken or left whole. The newest unit's open
 *     calls are shown as pending.
 * W2. System messages are always in it, the newest unit too, with the user's message it answers; as many of the recent
 *     units as fit.
 * W3. It is within the budget by the counter it is given, or WINDOW_TOO_SMALL is thrown.
 * W4. Its messages are those of the branch in their order. What is shortened is marked, and listed in `left`.
 * W5. It looks at as many messages as could fit, however long the thread is, and at its overlays.
 */
import { peek } from "../../core/draft.ts";
import { HoldfastError } from "../../errors.ts";
import { ancestorAt, isOnBranch, type Lineage, lineageOf } from "../thread/lineage.ts";
import type { Message } from "../thread/message.ts";
import { type Entry, openCallsAt, type Thread } from "../thread/thread.ts";
import { beforeOverlay, overlayMessage, overlaysOn, spanOf } from "./overlay.ts";
import {
  clearedPiece,
  type Piece,
  refuseSmall,
  tokensOf,
  unitPiece,
  type View,
  type WindowOptions,
} from "./piece.ts";
import { fitRecent } from "./recent.ts";

export interface Window {
  readonly messages: readonly Message[];
  readonly tokens: number;
  /** The positions of the messages of the thread that are in it, and the ids of the summaries. */
  readonly positions: readonly number[];
  readonly overlays: readonly string[];
  /** What the model does not see as it was said. */
  readonly left: {
    /** Messages that are not shown and for which no summary stands. */
    readonly dropped: number;
    /** Messages for which a summary stands. */
    readonly summarised: number;
    /** Calls whose results were cleared, were cut short, and are not there yet. */
    readonly cleared: readonly string[];
    readonly cut: readonly string[];
    readonly pending: readonly string[];
  };
}

/** The messages of a thread for a model; see the invariants above. */
export function buildWindow(thread: Thread, options: WindowOptions): Window {
  const head = options.head === undefined ? peek(thread).head : options.head;
  const view: View = { lineage: lineageOf(thread), head, options: withDefaults(options, thread) };
  const { budget } = view.options;
  const system = systemPieces(view);
  const room = budget - tokensOf(system);
  if (room < 0) refuseSmall(view, `its system messages alone take ${tokensOf(system)}`);
  const { recent, older } = gather(view, room);
  const newest = recent.length === 0 ? [] : fitRecent(view, recent, room);
  const kept = fill(view, older, newest, room - tokensOf(newest));
  const pieces = [...system, ...newest, ...kept].sort((one, other) => one.position - other.position);
  return {
    messages: pieces.flatMap(({ messages }) => messages),
    tokens: tokensOf(pieces),
    positions: pieces.flatMap((piece) => positionsIn(view, piece)),
    overlays: pieces.flatMap(({ overlay }) => overlay?.id ?? []),
    left: leftOf(view, pieces),
  };
}

/** The positions of what a piece shows of the thread. */
function positionsIn({ lineage }: View, { position, messages, overlay }: Piece): number[] {
  if (position < 0 || overlay !== undefined) return [];
  return messages.flatMap((message) => (isPending(message) ? [] : (lineage.byId.get(message.id) ?? [])));
}

/** Whether a message only says that there is no result yet; the metadata of what people say is their own. */
const isPending = ({ role, metadata }: Message): boolean => role === "tool" && metadata?.pending === true;

const day = 86_400_000;
/** Marked messages that are looked for however far back they are; who marks more has marked none. */
const markedMax = 64;

function withDefaults(options: WindowOptions, thread: Thread): View["options"] {
  const { halfLife = {}, keepRecent = 6 } = options;
  if (!(options.budget > 0))
    throw new HoldfastError(
      "WINDOW_TOO_SMALL",
      `A window of ${options.budget} tokens has no room for anything`,
    );
  return {
    system: [],
    refetchable: () => false,
    wanted: [],
    importance: worthOf,
    overlays: peek(peek(thread).overlays),
    ...options,
    keepRecent: Math.max(1, keepRecent),
    halfLife: { messages: 32, ms: day, ...halfLife },
  };
}

const worthOf = ({ metadata }: Message): number =>
  typeof metadata?.importance === "number" ? metadata.importance : 1;

/** The system messages: those given first, then those of the branch. */
function systemPieces({ lineage, head, options: { system, count, now } }: View): Piece[] {
  const given: readonly Message[] =
    typeof system === "string"
      ? [{ id: "system", role: "system", at: now, parts: [{ type: "text", text: system }] }]
      : system;
  const pieces: Piece[] = [];
  let at = head === null ? null : (lineage.places[head]?.system ?? null);
  while (at !== null) {
    const message = lineage.entries[at] as Entry;
    pieces.unshift({ position: at, messages: [message], tokens: count.message(message) });
    at = message.after === null ? null : (lineage.places[message.after]?.system ?? null);
  }
  const first = given.map((message) => ({
    position: -1,
    messages: [message],
    tokens: count.message(message),
  }));
  return [...first, ...pieces];
}

/** The branch from its end back: the recent units, and what comes before them as far as it might fit. */
function gather(view: View, room: number): { recent: Piece[]; older: Piece[] } {
  const { lineage, head, options } = view;
  const overlays = overlaysOn(lineage, options.overlays, head);
  const recent: Piece[] = [];
  const older: Piece[] = [];
  let least = 0;
  let at = head;
  while (at !== null && least <= 2 * room) {
    const overlay = recent.length < options.keepRecent ? undefined : overlays.get(at);
    if (overlay !== undefined) {
      const message = overlayMessage(overlay);
      const tokens = options.count.message(message);
      older.push({ position: overlay.from, messages: [message], tokens, overlay });
      least += tokens;
      at = beforeOverlay(lineage, overlay);
      continue;
    }
    const end: number = at;
    const start = startOfUnit(lineage, end);
    at = (lineage.entries[start] as Entry).after;
    if (lineage.entries[start]?.role === "system") continue;
    const piece = unitPiece(view, start, end);
    (recent.length < options.keepRecent ? recent : older).push(piece);
    least += shortest(piece, view);
  }
  return { recent, older: [...older, ...markedBefore(view, [...recent, ...older])] };
}

/** Units with messages that are wanted, or marked as important, and stand further back, or where a summary stands for them. */
function markedBefore(view: View, pieces: readonly Piece[]): Piece[] {
  const { lineage, head, options } = view;
  if (head === null) return [];
  const taken = new Set(pieces.flatMap(({ position, overlay }) => (overlay === undefined ? [position] : [])));
  const found: Piece[] = [];
  const wanted = options.wanted.filter((position) => isOnBranch(lineage, position, head));
  for (const at of [...wanted.slice(-markedMax), ...markedOn(lineage, head)]) {
    const start = startOfUnit(lineage, at);
    if (taken.has(start) || lineage.entries[start]?.role === "system") continue;
    taken.add(start);
    found.push(unitPiece(view, start, endOfUnit(lineage, at, head)));
  }
  return found;
}

/** The positions of marked messages on a branch, newest first. */
function markedOn({ places, entries }: Lineage, head: number): number[] {
  const found: number[] = [];
  let at = places[head]?.marked ?? null;
  while (at !== null && found.length < markedMax) {
    found.push(at);
    const { after } = entries[at] as Entry;
    at = after === null ? null : (places[after]?.marked ?? null);
  }
  return found;
}

/** The last message of a unit on the branch that ends at `head`. */
function endOfUnit(lineage: Lineage, position: number, head: number): number {
  const depth = (at: number) => (lineage.places[at] as { depth: number }).depth;
  let end = position;
  while (end !== head) {
    const next = ancestorAt(lineage, head, depth(end) + 1);
    if (lineage.entries[next]?.role !== "tool") break;
    end = next;
  }
  return end;
}

function startOfUnit({ entries }: Lineage, end: number): number {
  let start = end;
  while ((entries[start] as Entry).role === "tool" && (entries[start] as Entry).after !== null)
    start = (entries[start] as Entry).after as number;
  return start;
}

const shortest = (piece: Piece, view: View): number => (clearedPiece(piece, view) ?? piece).tokens;

/** What fits of the older pieces: all as they are; else with old results cleared; else those that are worth most. */
function fill(view: View, older: readonly Piece[], newest: readonly Piece[], room: number): readonly Piece[] {
  const taken = new Set(newest.map(({ position }) => position));
  const pieces = older.filter(({ position, overlay }) => overlay !== undefined || !taken.has(position));
  let over = tokensOf(pieces) - room;
  for (let index = pieces.length - 1; index >= 0 && over > 0; index--) {
    const form = clearedPiece(pieces[index] as Piece, view);
    if (form === undefined) continue;
    over -= (pieces[index] as Piece).tokens - form.tokens;
    pieces[index] = form;
  }
  const kept = over <= 0 ? pieces : worthiest(view, pieces, room);
  return withoutLooseEnd(view, kept, newest);
}

function worthiest(view: View, pieces: readonly Piece[], room: number): Piece[] {
  const worths = pieces.map((piece) => ({ piece, worth: retentionOf(view, piece) }));
  // The sort is stable and the newest stand first, so of equals the newer one is kept.
  worths.sort((one, other) => other.worth - one.worth);
  let left = room;
  return worths.flatMap(({ piece }) => {
    if (piece.tokens > left) return [];
    left -= piece.tokens;
    return [piece];
  });
}

/** The logarithm of importance · 2^(−age / halfLife), with age in messages and in time; a summary never ages. */
function retentionOf({ lineage, head, options }: View, { position, messages, overlay }: Piece): number {
  if (overlay !== undefined) return Number.POSITIVE_INFINITY;
  const { importance, halfLife, now } = options;
  let worth = 0;
  for (const message of messages) worth = Math.max(worth, importance(message));
  const later = (lineage.places[head as number]?.depth ?? 0) - (lineage.places[position]?.depth ?? 0);
  const ageMs = Math.max(0, now - (messages[0] as Message).at);
  return Math.log2(worth) - later / halfLife.messages - ageMs / halfLife.ms;
}

/** An answer whose question was left out is left out as well: models expect a user to speak first. */
function withoutLooseEnd(
  { lineage }: View,
  kept: readonly Piece[],
  newest: readonly Piece[],
): readonly Piece[] {
  const openings = [...kept, ...newest].filter(({ messages }) => messages[0]?.role === "user");
  const first = Math.min(...openings.map(({ position }) => position));
  const before = lineage.entries[first]?.after ?? null;
  const isAnswered = before !== null && lineage.places[before]?.user !== null;
  return isAnswered ? kept.filter(({ position }) => position >= first) : kept;
}

function leftOf({ lineage, head }: View, pieces: readonly Piece[]): Window["left"] {
  const overlays = pieces.flatMap(({ overlay }) => overlay ?? []);
  const isCovered = (position: number) => overlays.some(({ from, to }) => from <= position && position <= to);
  let summarised = overlays.reduce((sum, overlay) => sum + spanOf(lineage, overlay), 0);
  let shown = 0;
  for (const { position, messages, overlay } of pieces) {
    if (position < 0 || overlay !== undefined) continue;
    const said = isPending(messages.at(-1) as Message) ? messages.length - 1 : messages.length;
    shown += said;
    if (isCovered(position)) summarised -= said;
  }
  const all = head === null ? 0 : (lineage.places[head]?.depth ?? 0) + 1;
  const open = head === null ? [] : openCallsAt(lineage, head);
  return {
    dropped: all - shown - summarised,
    summarised,
    cleared: pieces.flatMap(({ cleared: calls }) => calls ?? []),
    cut: pieces.flatMap(({ cut }) => cut ?? []),
    pending: open.map(({ id }) => id),
  };
}
