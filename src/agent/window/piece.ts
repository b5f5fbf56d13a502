/** What windows are put together from: pieces that are taken or left as a whole, and what is asked of a window. */
import { HoldfastError } from "../../errors.ts";
import type { Lineage } from "../thread/lineage.ts";
import type { Message } from "../thread/message.ts";
import { type Entry, type Overlay, openCallsAt } from "../thread/thread.ts";
import { cleared, pending } from "./shorten.ts";
import type { Counter } from "./tokens.ts";

export interface WindowOptions {
  /** Tokens that the messages may take: the model's window without room for its answer and for descriptions of tools. */
  readonly budget: number;
  readonly count: Counter;
  /** The time, in milliseconds since 1970: what is older counts less. */
  readonly now: number;
  /** What the model is told first; besides the system messages of the thread. */
  readonly system?: string | readonly Message[];
  /** The end of the branch to show; the one that is going on unless given. */
  readonly head?: number | null;
  /** How many of the newest units go before everything else; 6 unless given. */
  readonly keepRecent?: number;
  /** Tools whose results may be cleared since they can be called again; none unless given. */
  readonly refetchable?: (tool: string) => boolean;
  /** What a message is worth, 1 for one as good as any; its `metadata.importance` or 1 unless given. */
  readonly importance?: (message: Message) => number;
  /** After how many later messages, and how much time, one is worth half as much; 32 and a day unless given. */
  readonly halfLife?: { readonly messages?: number; readonly ms?: number };
  /** Positions of messages that are wanted if there is room for them, however far back they are; none unless given. */
  readonly wanted?: readonly number[];
  /** Summaries to use; those of the thread unless given. */
  readonly overlays?: readonly Overlay[];
}

/** Something that is taken or left as a whole: a unit in the form it is shown in, or a summary. */
export interface Piece {
  /** Where it stands: the position of its first message. */
  readonly position: number;
  readonly messages: readonly Message[];
  readonly tokens: number;
  readonly overlay?: Overlay;
  readonly cleared?: readonly string[];
  readonly cut?: readonly string[];
}

/** A branch of a thread, and what is asked of its window. */
export interface View {
  readonly lineage: Lineage;
  readonly head: number | null;
  readonly options: Required<Omit<WindowOptions, "head" | "halfLife">> & {
    readonly halfLife: { readonly messages: number; readonly ms: number };
  };
}

/** What pieces take together. */
export const tokensOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { tokens }) => sum + tokens, 0);

/** Units as they were counted, by their last message: what was said stays the same, and so do its pieces. */
const known = new WeakMap<Counter, WeakMap<Message, Piece>>();

function knownBy(count: Counter): WeakMap<Message, Piece> {
  let pieces = known.get(count);
  if (pieces === undefined) {
    pieces = new WeakMap();
    known.set(count, pieces);
  }
  return pieces;
}

/** The unit of a branch between two positions; the newest one's open calls are shown as pending. */
export function unitPiece({ lineage, head, options: { count } }: View, start: number, end: number): Piece {
  const last = lineage.entries[end] as Entry;
  const pieces = knownBy(count);
  const before = pieces.get(last);
  if (before !== undefined && before.position === start) return before;
  const messages: Message[] = [];
  for (let at: number | null = end; at !== null && at >= start; at = (lineage.entries[at] as Entry).after)
    messages.unshift(lineage.entries[at] as Entry);
  const open = end === head ? openCallsAt(lineage, end) : [];
  if (open.length > 0) messages.push(pending(`${last.id}.pending`, last.at, open));
  const piece = { position: start, messages, tokens: countAll(messages, count) };
  if (open.length === 0) pieces.set(last, piece);
  return piece;
}

const countAll = (messages: readonly Message[], count: Counter): number =>
  messages.reduce((sum, message) => sum + count.message(message), 0);

/** Tools whose results a unit has, and the unit with those of some of them cleared, by which. */
interface Forms {
  readonly tools: readonly string[];
  readonly cleared: Map<string, Piece | undefined>;
}

const forms = new WeakMap<Piece, Forms>();

function formsOf(piece: Piece): Forms {
  let found = forms.get(piece);
  if (found === undefined) {
    const parts = piece.messages.flatMap((message) => message.parts);
    const tools = new Set(parts.flatMap((part) => (part.type === "result" ? [part.tool] : [])));
    found = { tools: [...tools], cleared: new Map() };
    forms.set(piece, found);
  }
  return found;
}

/** The unit with the results cleared that may be; undefined if there is nothing to gain. */
export function clearedPiece(piece: Piece, { options: { refetchable, count } }: View): Piece | undefined {
  if (piece.messages.length < 2) return undefined;
  const { tools, cleared: made } = formsOf(piece);
  const chosen = tools.filter(refetchable);
  if (chosen.length === 0) return undefined;
  const key = chosen.join("\n");
  if (!made.has(key)) made.set(key, clear(piece, new Set(chosen), count));
  return made.get(key);
}

function clear(piece: Piece, tools: ReadonlySet<string>, count: Counter): Piece | undefined {
  const calls: string[] = [];
  const messages = piece.messages.map((message) => {
    const form = cleared(message, tools);
    if (form === undefined || count.message(form) >= count.message(message)) return message;
    for (const part of message.parts)
      if (part.type === "result" && tools.has(part.tool)) calls.push(part.call);
    return form;
  });
  return calls.length === 0
    ? undefined
    : { ...piece, messages, tokens: countAll(messages, count), cleared: calls };
}

/** Refuses a window that cannot hold what it must. */
export function refuseSmall({ head, options: { budget } }: View, why: string): never {
  throw new HoldfastError(
    "WINDOW_TOO_SMALL",
    `A window of ${budget} tokens is too small for the branch that ends at position ${head}: ${why}. Give it more room, or say less`,
    { details: { budget, head } },
  );
}
