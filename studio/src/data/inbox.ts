/** The inbox: decisions that wait for a person. */
import { type InfiniteData, useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { client } from "./client.ts";
import type { Decision, InboxPage, Verdict } from "./contract.ts";
import { atMostEvery, useNews } from "./live.ts";
import { lookAgain, lookAgainAt, queryClient } from "./query-client.ts";

const listKey = ["inbox", "list"] as const;
const runKey = (run: string | undefined) => ["inbox", "run", run] as const;
const pageSize = 200;

export interface Inbox {
  /** What was read of it, of the newest runs first; undefined before anything was. */
  readonly decisions: readonly Decision[] | undefined;
  /** Whether more wait than were read. */
  readonly hasMore: boolean;
  readonly readOn: () => void;
  readonly error: Error | null;
}

export function useInbox(): Inbox {
  const readAgain = useMemo(() => atMostEvery(400, () => void lookAgain({ queryKey: ["inbox"] })), []);
  useNews(({ needsPerson, run }) => {
    const isListed = queryClient
      .getQueryData<InfiniteData<InboxPage>>(listKey)
      ?.pages.some(({ decisions }) => decisions.some((decision) => decision.run === run));
    if (needsPerson || isListed || queryClient.getQueryData(runKey(run)) !== undefined) readAgain();
  });
  const list = useInfiniteQuery({
    queryKey: listKey,
    queryFn: ({ pageParam, signal }) =>
      client.inbox.list({ limit: pageSize, ...(pageParam === "" ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
  });
  const { data, error, hasNextPage: hasMore, isFetching, fetchNextPage } = list;
  const decisions = useMemo(() => data?.pages.flatMap((page) => page.decisions), [data]);
  return { decisions, hasMore, error, readOn: () => void (isFetching || fetchNextPage()) };
}

/** What one run asks, wherever in the list that would be; nothing of a run that is not there. */
export const useDecisionsOf = (run: string | undefined) =>
  useQuery({
    queryKey: runKey(run),
    queryFn: async ({ signal }): Promise<readonly Decision[]> => {
      try {
        return (await client.inbox.list({ run: run as string }, { signal })).decisions;
      } catch (error) {
        if ((error as { readonly code?: string }).code !== "RUN_UNKNOWN") throw error;
        return [];
      }
    },
    enabled: run !== undefined,
    staleTime: 0,
    gcTime: 0,
  });

export interface Decided {
  readonly run: string;
  readonly decision: string;
  readonly verdict: Verdict;
  readonly note?: string;
  readonly input?: unknown;
}

/** Decides, tells so, and takes what was decided out of the list at once. */
export const useDecide = (onDecided: () => void) =>
  useMutation({
    mutationFn: (given: Decided) => client.inbox.decide(given as Parameters<typeof client.inbox.decide>[0]),
    onSuccess: (_, { run, decision }) => {
      // First: whoever shows it is gone with what is taken out.
      onDecided();
      const left = (before: readonly Decision[]) =>
        before.filter((one) => one.run !== run || one.decision !== decision);
      queryClient.setQueryData<InfiniteData<InboxPage>>(
        listKey,
        (before) =>
          before && {
            ...before,
            pages: before.pages.map((page) => ({ ...page, decisions: left(page.decisions) as Decision[] })),
          },
      );
      queryClient.setQueryData<readonly Decision[]>(runKey(run), (before) => before && left(before));
      void lookAgain({ queryKey: ["inbox"] });
      void lookAgainAt(run);
    },
  });
