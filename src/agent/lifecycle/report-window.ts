/** The window a model saw, told from what was remembered of it: the branch from its beginning on, stretch by stretch. */
import { lineageOf } from "../thread/lineage.ts";
import { newestFirst, type Overlay, type Thread } from "../thread/thread.ts";
import { isWithin, type SeenWindow } from "./seen.ts";

/** Messages of a branch that follow each other, by the positions of the first and the last, and how many they are. */
export interface Stretch {
  /** `shown` as they were said or shortened; `summarised` by the summary; `left` out. */
  readonly how: "shown" | "summarised" | "left";
  readonly from: number;
  readonly to: number;
  readonly messages: number;
  /** The id of the summary that stood for them. */
  readonly summary?: string;
}

export interface WindowReport extends Pick<SeenWindow, "at" | "head" | "budget" | "tokens" | "system"> {
  /** The whole branch as it was then, in its order. */
  readonly stretches: readonly Stretch[];
  readonly left: {
    readonly dropped: number;
    readonly summarised: number;
    /** Calls whose results were cleared, whose input or result was cut, and that had no result yet. */
    readonly cleared: readonly string[];
    readonly cut: readonly string[];
    readonly pending: readonly string[];
  };
}

export function reportWindow(thread: Thread, seen: SeenWindow): WindowReport {
  const { at, head, budget, tokens, system, cut, pending, dropped, summarised, summaries } = seen;
  const { byId } = lineageOf(thread);
  const used = thread.overlays.filter(({ id }) => summaries.includes(id));
  const cleared: string[] = [];
  const stretches: Stretch[] = [];
  for (const entry of newestFirst(thread, head)) {
    const position = byId.get(entry.id) as number;
    const isShown = isWithin(seen.shown, position);
    const overlay = isShown ? undefined : used.find(({ from, to }) => from <= position && position <= to);
    extend(stretches, position, isShown ? "shown" : overlay);
    if (!isShown || !isWithin(seen.cleared, position)) continue;
    for (const part of entry.parts)
      if (part.type === "result" && seen.clearedTools.includes(part.tool)) cleared.unshift(part.call);
  }
  return {
    ...{ at, head, budget, tokens, system, stretches: stretches.reverse() },
    left: { dropped, summarised, cleared, cut, pending },
  };
}

/** From the newest message back: one more of the last stretch, or one before it. */
function extend(stretches: Stretch[], position: number, by: "shown" | Overlay | undefined): void {
  const how = by === undefined ? "left" : by === "shown" ? by : "summarised";
  const summary = typeof by === "object" ? { summary: by.id } : {};
  const last = stretches.at(-1);
  if (last !== undefined && last.how === how && last.summary === summary.summary)
    stretches[stretches.length - 1] = { ...last, from: position, messages: last.messages + 1 };
  else stretches.push({ how, from: position, to: position, messages: 1, ...summary });
}
