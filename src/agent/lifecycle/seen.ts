/**
 * What a model saw when it was asked: kept in the state, so that anybody can tell later, without the agent, what was shown to
 * it and what was left out. Messages are told by their positions, and stretches of them by the first and the last, so that
 * the record stays small beside a long window.
 */
import { lineageOf } from "../thread/lineage.ts";
import type { Entry, Thread } from "../thread/thread.ts";
import type { Window } from "../window/window.ts";

export interface SeenWindow {
  /** When it was put together. */
  readonly at: number;
  /** The position of the newest message then. */
  readonly head: number | null;
  /** How many tokens it could have taken, and took by what was counted. */
  readonly budget: number;
  readonly tokens: number;
  /** What the model was told before the conversation. */
  readonly system: string;
  /** What was shown of the thread: first and last position of each stretch of the branch, one after another. */
  readonly shown: readonly number[];
  /** The ids of the summaries that stood for messages. */
  readonly summaries: readonly string[];
  /** Stretches whose results of these tools were cleared. */
  readonly cleared: readonly number[];
  readonly clearedTools: readonly string[];
  /** Calls whose input or result was cut short, and calls without a result yet. */
  readonly cut: readonly string[];
  readonly pending: readonly string[];
  /** How many messages were left out, and for how many a summary stood. */
  readonly dropped: number;
  readonly summarised: number;
}

/** What an activity tells of a window: what it told of the last one is not said again. */
export type Sight = Omit<SeenWindow, "system"> & { readonly system?: string };

/** What is to be remembered of a window. */
export function sightOf(
  { thread, seen }: { readonly thread: Thread; readonly seen: SeenWindow | null },
  { positions, overlays, tokens, left }: Window,
  more: Pick<SeenWindow, "at" | "budget" | "system">,
): Sight {
  const { entries } = lineageOf(thread);
  const { system, ...rest } = more;
  const isCleared = new Set(left.cleared);
  const results = positions.filter((position) => entries[position]?.role === "tool");
  const clearedTools = new Set<string>();
  const clearedHere = (position: number): boolean => {
    const calls = (entries[position] as Entry).parts.flatMap((part) =>
      part.type === "result" && isCleared.has(part.call) ? [part.tool] : [],
    );
    for (const tool of calls) clearedTools.add(tool);
    return calls.length > 0;
  };
  return {
    ...{ ...rest, head: thread.head, tokens },
    shown: stretches(positions, (position, last) => (entries[position] as Entry).after === last),
    summaries: overlays,
    cleared: clearedStretches(results, clearedHere),
    clearedTools: [...clearedTools].sort(),
    ...{ cut: left.cut, pending: left.pending, dropped: left.dropped, summarised: left.summarised },
    ...(system === seen?.system ? {} : { system }),
  };
}

/** First and last of each stretch of positions in which one follows the other. */
function stretches(positions: readonly number[], follows: (position: number, last: number) => boolean) {
  const ranges: number[] = [];
  for (const position of positions) {
    const last = ranges.at(-1);
    if (last !== undefined && follows(position, last)) ranges[ranges.length - 1] = position;
    else ranges.push(position, position);
  }
  return ranges;
}

/** The stretches of messages with results in which all were cleared. */
function clearedStretches(results: readonly number[], isCleared: (position: number) => boolean): number[] {
  const ranges: number[] = [];
  let isOpen = false;
  for (const position of results) {
    const is = isCleared(position);
    if (is && isOpen) ranges[ranges.length - 1] = position;
    else if (is) ranges.push(position, position);
    isOpen = is;
  }
  return ranges;
}

/** Whether a position is in one of the stretches. */
export function isWithin(ranges: readonly number[], position: number): boolean {
  for (let index = 0; index < ranges.length; index += 2)
    if ((ranges[index] as number) <= position && position <= (ranges[index + 1] as number)) return true;
  return false;
}
