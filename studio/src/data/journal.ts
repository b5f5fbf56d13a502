/**
 * A run's journal, read by pages of a hundred as they are looked at, so that a run of 100,000 steps opens as fast as one of
 * ten. A full page never changes; the last one is read again when news come. A page that one has left before it came is not
 * waited for, and of those that came a bounded number is kept.
 */
import { type UseQueryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { client } from "./client.ts";
import type { JournalEntry, JournalPage } from "./contract.ts";
import { forgetBeyond } from "./forget.ts";
import { atMostEvery, useNews } from "./live.ts";
import { lookAgainAt } from "./query-client.ts";

export const entriesPerPage = 100;
/** Of 100,000 steps there are a thousand pages; these are about the last ones that were looked at. */
const keptMax = 60;
const pageOf = (seq: number): number => Math.floor((seq - 1) / entriesPerPage);

const optionsOf = (run: string, page: number, last: number): UseQueryOptions<JournalPage> => {
  const isFull = (page + 1) * entriesPerPage <= last;
  return {
    // The last page has another key for each newest step, and shows what it had until it is there.
    queryKey: ["journal", run, page, isFull ? "full" : last],
    queryFn: async ({ signal }) => {
      const from = page * entriesPerPage + 1;
      const read = await client.runs.journal({ run, from, limit: entriesPerPage }, { signal });
      forgetBeyond(keptMax, ["journal"]);
      return read;
    },
    staleTime: Number.POSITIVE_INFINITY,
    // Of a run that moves fast there would soon be thousands of last pages.
    gcTime: isFull ? 300_000 : 5_000,
    placeholderData: (before: JournalPage | undefined) => before,
  };
};

/** The entries from one checkpoint to another, as far as they are there yet. */
export function useEntries(run: string, span: readonly [from: number, to: number], last: number) {
  const [from, to] = span;
  const first = pageOf(Math.max(1, from));
  const pages = Math.max(0, pageOf(Math.max(1, Math.min(to, last))) - first + 1);
  const queries = useQueries({
    queries: Array.from({ length: last === 0 ? 0 : pages }, (_, index) =>
      optionsOf(run, first + index, last),
    ),
  });
  const stamp = queries.map(({ dataUpdatedAt, data }) => `${dataUpdatedAt}:${data?.last ?? 0}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list of queries is a new one at every drawing; the stamp tells when one changed.
  return useMemo(() => {
    const entries = new Map<number, JournalEntry>();
    for (const { data } of queries) for (const entry of data?.entries ?? []) entries.set(entry.seq, entry);
    return entries;
  }, [stamp, run, first]);
}

/** The first and the newest checkpoint, kept true by news. */
export function useBounds(run: string): { readonly first: number; readonly last: number } {
  const bounds = useQuery({
    queryKey: ["run", run, "bounds"],
    queryFn: async ({ signal }) => {
      const { first, last } = await client.runs.journal({ run, limit: 1 }, { signal });
      return { first, last };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const catchUp = useMemo(() => atMostEvery(150, () => void lookAgainAt(run)), [run]);
  useNews((news) => {
    if (news.run === run) catchUp();
  });
  // What happened while nobody listened is caught up with.
  useEffect(() => void lookAgainAt(run), [run]);
  return bounds.data ?? { first: 1, last: 0 };
}
