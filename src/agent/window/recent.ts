/**
 * The recent units of a window: they go before everything else, so they are made to fit. Long results and inputs of calls
 * are cut, all to one length that is no shorter than it must be; only then are the oldest of the units given up.
 */
import type { Entry } from "../thread/thread.ts";
import { type Piece, refuseSmall, tokensOf, unitPiece, type View } from "./piece.ts";
import { cutTo, cuttable } from "./shorten.ts";

/** Nothing is cut to fewer tokens: less would say nothing. */
const cutTokensMin = 48;

/** As many of the recent units, newest first, as fit, and the user's message that the oldest of them answers. */
export function fitRecent(view: View, recent: readonly Piece[], room: number): Piece[] {
  for (let length = recent.length; length > 0; length--) {
    const pieces = withOpening(view, recent.slice(0, length));
    const fitting = fitted(view, pieces, room);
    if (fitting !== undefined) return fitting;
  }
  const least = withOpening(view, recent.slice(0, 1));
  return refuseSmall(
    view,
    `the newest unit and what it answers take ${tokensOf(least)}, ${room} are left for them, and cutting results is not enough`,
  );
}

/** The same pieces after the message of the user that the oldest of them answers. */
function withOpening(view: View, pieces: readonly Piece[]): readonly Piece[] {
  const { entries, places } = view.lineage;
  const oldest = pieces.at(-1) as Piece;
  const user = places[oldest.position]?.user ?? null;
  if (user === null || user === oldest.position || (entries[user] as Entry).role !== "user") return pieces;
  return [...pieces, unitPiece(view, user, user)];
}

/** The pieces within so many tokens, with what is long in them cut; undefined if that is not enough. */
function fitted(view: View, pieces: readonly Piece[], room: number): Piece[] | undefined {
  if (tokensOf(pieces) <= room) return [...pieces];
  let tokensMax = longestKept(view, pieces, tokensOf(pieces) - room);
  while (tokensMax >= cutTokensMin) {
    const short = pieces.map((piece) => cutPiece(view, piece, tokensMax));
    if (tokensOf(short) <= room) return short;
    // Counts of parts need not add up to that of a message; a little less does it then.
    tokensMax = Math.floor(tokensMax * 0.9);
  }
  return undefined;
}

/** To how many tokens everything longer has to be cut to save so many. */
function longestKept({ options: { count } }: View, pieces: readonly Piece[], saving: number): number {
  const sizes = pieces
    .flatMap(({ messages }) => messages.flatMap(({ parts }) => parts.map(cuttable)))
    .flatMap((text) => (text === undefined ? [] : [count.text(text)]))
    .sort((one, other) => other - one);
  let saved = 0;
  for (const [index, size] of sizes.entries()) {
    const next = sizes[index + 1] ?? 0;
    const more = (size - next) * (index + 1);
    if (saved + more >= saving) return Math.floor(size - (saving - saved) / (index + 1));
    saved += more;
  }
  return 0;
}

function cutPiece({ options: { count } }: View, piece: Piece, tokensMax: number): Piece {
  const forms = piece.messages.map((message) => cutTo(message, tokensMax, count));
  const cut = forms.flatMap((form) => form.cut);
  if (cut.length === 0) return piece;
  const messages = forms.map(({ message }) => message);
  const tokens = messages.reduce((sum, message) => sum + count.message(message), 0);
  return { ...piece, messages, tokens, cut: [...new Set(cut)] };
}
