/** What news say of the runs of a list: of those that are shown, how they stand now; of new ones, how many there are. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { RunSummary, StepNews } from "../data/contract.ts";
import { atMostEvery, useNews } from "../data/live.ts";
import type { ListSearch } from "../search.ts";

export interface FreshRuns {
  readonly latest: ReadonlyMap<string, StepNews>;
  readonly count: number;
  readonly forget: () => void;
}

/** Whether a run that is not in the list would be. Attributes are left to the server: such a list only counts what it was asked for. */
function matches(
  { status, machine, subject, waiting, stuck, attribute }: ListSearch,
  news: StepNews,
): boolean {
  return (
    stuck !== true &&
    attribute === undefined &&
    (status === undefined || status === news.status) &&
    (machine === undefined || machine === news.machine) &&
    (subject === undefined || subject === news.subject) &&
    (waiting === undefined || news.needsPerson)
  );
}

export function useFreshRuns(search: ListSearch, runs: readonly RunSummary[]): FreshRuns {
  const shown = useMemo(() => new Set(runs.map(({ run }) => run)), [runs]);
  const newest = runs[0]?.createdAt ?? 0;
  const latest = useRef(new Map<string, StepNews>());
  const fresh = useRef(new Set<string>());
  const [, draw] = useState(0);
  const redraw = useMemo(() => atMostEvery(250, () => draw((count) => count + 1)), []);
  useNews((news) => {
    if (shown.has(news.run)) latest.current.set(news.run, news);
    else if (news.createdAt >= newest && matches(search, news)) fresh.current.add(news.run);
    else return;
    redraw();
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list has other news.
  useEffect(() => {
    latest.current.clear();
    fresh.current.clear();
  }, [JSON.stringify(search)]);
  const forget = useCallback(() => {
    fresh.current.clear();
    latest.current.clear();
  }, []);
  const count = [...fresh.current].filter((run) => !shown.has(run)).length;
  return { latest: latest.current, count, forget };
}
