/**
 * The moment of a run that the page shows: the newest one, which moves on with it, or a checkpoint that was gone to. All
 * panes take it from here, so they cannot disagree.
 */
import { useCallback, useMemo } from "react";
import { type Lit, litBy } from "../chart/lit.ts";
import type { Chart, JournalEntry } from "../data/contract.ts";
import { useBounds, useEntries } from "../data/journal.ts";
import { usePlace } from "./place.ts";
import { useIsQuick } from "./quick.ts";

export interface Moment {
  readonly run: string;
  readonly first: number;
  readonly last: number;
  /** The checkpoint that is shown. */
  readonly at: number;
  /** Whether it is the newest one, and moves on with the run. */
  readonly isLive: boolean;
  /** Whether it is passed by quickly. Then nothing is animated, and nothing is read but what is in sight. */
  readonly isQuick: boolean;
  readonly entry: JournalEntry | undefined;
  readonly before: JournalEntry | undefined;
  /** Goes to a checkpoint; to the newest one without one. */
  readonly goTo: (seq: number | undefined) => void;
}

export function useMoment(run: string): Moment {
  const [place, move] = usePlace();
  const { first, last } = useBounds(run);
  const at = Math.max(Math.min(place ?? last, last), Math.min(first, last));
  const isLive = place === undefined || place >= last;
  const isQuick = useIsQuick(place);
  const entries = useEntries(run, [at - 1, at], last);
  const goTo = useCallback(
    (seq: number | undefined) => move(seq === undefined || seq >= last ? undefined : Math.max(first, seq)),
    [move, first, last],
  );
  const entry = entries.get(at);
  const before = entries.get(at - 1);
  return useMemo(
    () => ({ run, first, last, at, isLive, isQuick, entry, before, goTo }),
    [run, first, last, at, isLive, isQuick, entry, before, goTo],
  );
}

/** What the moment lights in the chart. */
export function useLit(
  chart: Chart | undefined,
  { entry, before, isLive }: Moment,
  now: readonly string[],
): Lit {
  return useMemo(
    () =>
      litBy(
        chart,
        entry,
        before?.configuration ?? (entry?.seq === 1 ? [] : undefined),
        entry?.configuration ?? (isLive ? now : []),
      ),
    [chart, entry, before, isLive, now],
  );
}
