/** The inbox: decisions that wait for a person. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { client } from "./client.ts";
import type { Decision, Verdict } from "./contract.ts";
import { atMostEvery, useNews } from "./live.ts";
import { queryClient } from "./query-client.ts";

export function useInbox() {
  const readAgain = useMemo(
    () => atMostEvery(400, () => void queryClient.invalidateQueries({ queryKey: ["inbox"] })),
    [],
  );
  useNews(({ needsPerson, run }) => {
    const isListed = queryClient
      .getQueryData<readonly Decision[]>(["inbox"])
      ?.some((decision) => decision.run === run);
    if (needsPerson || isListed) readAgain();
  });
  return useQuery({
    queryKey: ["inbox"],
    queryFn: async ({ signal }) => (await client.inbox.list({ limit: 200 }, { signal })).decisions,
  });
}

export interface Decided {
  readonly run: string;
  readonly decision: string;
  readonly verdict: Verdict;
  readonly note?: string;
  readonly input?: unknown;
}

/** Decides, and takes what was decided out of the list at once. */
export const useDecide = () =>
  useMutation({
    mutationFn: (given: Decided) => client.inbox.decide(given as Parameters<typeof client.inbox.decide>[0]),
    onSuccess: (_, { run, decision }) => {
      queryClient.setQueryData<readonly Decision[]>(["inbox"], (before) =>
        before?.filter((one) => one.run !== run || one.decision !== decision),
      );
      void queryClient.invalidateQueries({ queryKey: ["inbox"] });
      void queryClient.invalidateQueries({ queryKey: ["run", run] });
    },
  });
