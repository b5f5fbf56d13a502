/**
 * Overlays: summaries that stand for messages of a branch in windows. They are kept in the thread beside the messages,
 * which stay, so a better summary can be made at any time, and a branch that leaves inside one sees the messages again.
 */
import { peek } from "../../core/draft.ts";
import { HoldfastError } from "../../errors.ts";
import { isOnBranch, type Lineage, lineageOf } from "../thread/lineage.ts";
import type { Message } from "../thread/message.ts";
import { type Entry, type Overlay, openCallsAt, type Thread } from "../thread/thread.ts";

/** Adds a summary to a thread. It must stand for whole units of one branch: nothing in it may be half a unit. */
export function addOverlay(thread: Thread, overlay: Overlay): void {
  const problem = problemOf(lineageOf(thread), overlay) ?? idProblem(thread, overlay);
  if (problem !== undefined)
    throw new HoldfastError(
      "OVERLAY_INVALID",
      `The summary ${JSON.stringify(overlay.id)} cannot stand for positions ${overlay.from} to ${overlay.to}: ${problem}`,
      { details: { overlay: overlay.id } },
    );
  thread.overlays.push(overlay);
}

function idProblem(thread: Thread, { id }: Overlay): string | undefined {
  if (typeof id !== "string" || id === "") return "it has no id";
  return peek(peek(thread).overlays).some((known) => known.id === id) ? "its id is used already" : undefined;
}

function problemOf(lineage: Lineage, { from, to, text, at }: Overlay): string | undefined {
  const { entries } = lineage;
  if (entries[from] === undefined || entries[to] === undefined) return "there are no such messages";
  if (!isOnBranch(lineage, from, to)) return "they are not on one branch in this order";
  if (entries[from]?.role === "tool") return "it begins with results of a call before it";
  if (openCallsAt(lineage, to).length > 0) return "it ends with calls whose results come after it";
  if (typeof text !== "string" || text.trim() === "") return "it says nothing";
  return Number.isFinite(at) ? undefined : "its time is no number of milliseconds";
}

/** The overlays that stand on the branch that ends at `head`, by the position of their last message; the widest of equals. */
export function overlaysOn(
  lineage: Lineage,
  overlays: readonly Overlay[],
  head: number | null,
): Map<number, Overlay> {
  const found = new Map<number, Overlay>();
  for (const overlay of overlays) {
    const other = found.get(overlay.to);
    if (!isOnBranch(lineage, overlay.to, head)) continue;
    // Of two for the same stretch the later one is the better: it was made knowing the other.
    if (other === undefined || overlay.from <= other.from) found.set(overlay.to, overlay);
  }
  return found;
}

/** How many messages an overlay stands for. */
export const spanOf = ({ places }: Lineage, { from, to }: Overlay): number =>
  (places[to]?.depth ?? 0) - (places[from]?.depth ?? 0) + 1;

const shown = new WeakMap<Overlay, Message>();

/**
 * An overlay as a message of a window. It is a user's, not the system's: what it sums up was said by anybody, and must not
 * gain weight by that.
 */
export function overlayMessage(overlay: Overlay): Message {
  const known = shown.get(overlay);
  if (known !== undefined) return known;
  const text = `[Summary of earlier messages]\n${overlay.text}\n[End of the summary]`;
  const message: Message = {
    id: overlay.id,
    role: "user",
    at: overlay.at,
    parts: [{ type: "text", text }],
    metadata: { overlay: overlay.id },
  };
  shown.set(overlay, message);
  return message;
}

/** The message before the first that an overlay stands for. */
export const beforeOverlay = ({ entries }: Lineage, { from }: Overlay): number | null =>
  (entries[from] as Entry).after;
