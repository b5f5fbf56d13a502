/**
 * Summaries: when one is due, of what, and one that needs no model. A model's is better; so `planSummary` gives what to sum
 * up as plain data, for an activity to ask one, and `addOverlay` takes whatever came of it.
 */
import { peek } from "../../core/draft.ts";
import { lineageOf } from "../thread/lineage.ts";
import type { Entry, Overlay, Thread } from "../thread/thread.ts";
import { type PlacedUnit, unitsBack } from "../thread/unit.ts";
import { extractSummary } from "./extract.ts";
import { addOverlay, beforeOverlay, overlayMessage, overlaysOn } from "./overlay.ts";
import type { Counter } from "./tokens.ts";

export interface SummaryOptions {
  /** The budget of the windows it is for. */
  readonly budget: number;
  readonly count: Counter;
  /** The newest units that no summary stands for; 6 unless given. */
  readonly keepRecent?: number;
  /** A summary is due when more than this share of the budget is taken, 0.75 unless given, */
  readonly due?: number;
  /** and is to stand for so much that this share is left as it was said; 0.4 unless given. */
  readonly leave?: number;
}

/** What a summary is to be made of. */
export interface SummaryPlan {
  /** The positions it will stand for. */
  readonly from: number;
  readonly to: number;
  /** What was said since the summary before, in its order. */
  readonly messages: readonly Entry[];
  /** The summary before, which the new one will take the place of. */
  readonly previous: Overlay | null;
}

/** What to sum up now; undefined as long as the branch fits well enough without. */
export function planSummary(thread: Thread, options: SummaryOptions): SummaryPlan | undefined {
  const { budget, count, keepRecent = 6, due = 0.75, leave = 0.4 } = options;
  const { units, previous } = unsummarised(thread, keepRecent);
  const before = previous === undefined ? 0 : count.message(overlayMessage(previous));
  const sizes = units.map(({ messages }) =>
    messages.reduce((sum, message) => sum + count.message(message), 0),
  );
  let taken = sizes.reduce((sum, size) => sum + size, before);
  if (taken <= due * budget) return undefined;
  // Oldest first, until what is left is small enough; the recent ones stay.
  let end = units.length;
  while (end > keepRecent && taken > leave * budget) taken -= sizes[--end] as number;
  const summed = units.slice(end).reverse();
  const first = summed[0]?.positions[0];
  const last = summed.at(-1)?.positions.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return {
    from: previous?.from ?? first,
    to: last,
    messages: summed.flatMap(({ messages }) => messages),
    previous: previous ?? null,
  };
}

/** The newest units that no summary stands for, newest first, and the summary that comes before them. */
function unsummarised(thread: Thread, keepRecent: number): { units: PlacedUnit[]; previous?: Overlay } {
  const lineage = lineageOf(thread);
  const overlays = overlaysOn(lineage, peek(peek(thread).overlays), peek(thread).head);
  const units: PlacedUnit[] = [];
  for (const unit of unitsBack(thread)) {
    const previous = units.length < keepRecent ? undefined : overlays.get(unit.positions.at(-1) as number);
    if (previous !== undefined) {
      // A summary of the middle of a conversation leaves its beginning to windows as it is.
      return beforeOverlay(lineage, previous) === null ? { units, previous } : { units };
    }
    units.push(unit);
  }
  return { units };
}

/** Sums up without a model if it is time to, and adds the summary to the thread; returns it. */
export function compact(
  thread: Thread,
  { id, now, ...options }: SummaryOptions & { readonly id: string; readonly now: number },
): Overlay | undefined {
  const plan = planSummary(thread, options);
  if (plan === undefined) return undefined;
  const tokens = Math.floor(options.budget * 0.15);
  const text = extractSummary({ ...plan, tokens, count: options.count });
  const overlay: Overlay = { id, from: plan.from, to: plan.to, text, at: now, by: "extract" };
  addOverlay(thread, overlay);
  return overlay;
}
