/**
 * What is true of a run at a checkpoint. It never changes, so it is read once. A read that was outrun by another is
 * aborted; until the newest is there, what was shown before stays. Once the moment rests its neighbours are read too, so
 * that a step to either side shows at once.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { forgetBeyond } from "./forget.ts";
import { queryClient } from "./query-client.ts";

/** A checkpoint among those that there are. */
export interface Checkpoint {
  readonly run: string;
  readonly first: number;
  readonly last: number;
  readonly at: number;
}

/** Longer than between two steps of a key that is held, shorter than one looks before the next press. */
const restMs = 150;
/** Of each kind, of which a large one may have megabytes; more than one goes back and forth. */
const keptMax = 50;

export function useAt<Report>(
  what: string,
  { run, first, last, at }: Checkpoint,
  read: (at: number, signal: AbortSignal) => Promise<Report>,
) {
  const optionsOf = (seq: number) => ({
    queryKey: [what, run, seq],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) => read(seq, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
  });
  const query = useQuery({ ...optionsOf(at), enabled: at > 0, placeholderData: keepPreviousData });
  const isThere = query.isSuccess && !query.isPlaceholderData;
  // biome-ignore lint/correctness/useExhaustiveDependencies: how it is read is another function at every drawing, and always the same.
  useEffect(() => {
    if (!isThere) return undefined;
    const rest = window.setTimeout(() => {
      for (const seq of [at - 1, at + 1])
        if (seq >= first && seq <= last) void queryClient.prefetchQuery(optionsOf(seq));
      forgetBeyond(keptMax, [what, run]);
    }, restMs);
    return () => window.clearTimeout(rest);
  }, [what, run, first, last, at, isThere]);
  return query;
}

/** Whether something of a run's past is on its way. How the run stands now is not of it. */
export const isReading = (run: string): boolean =>
  queryClient.isFetching({ predicate: ({ queryKey: [what, of] }) => of === run && what !== "run" }) > 0;
