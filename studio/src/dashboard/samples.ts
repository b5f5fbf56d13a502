/** The overview, asked for every two seconds while somebody looks; what it tells of the moment becomes a line over time. */
import { useQuery } from "@tanstack/react-query";
import { client } from "../data/client.ts";
import type { Latency, Overview } from "../data/contract.ts";

export interface Sample {
  readonly at: number;
  readonly due: number;
  readonly oldestMs: number;
  readonly timerLagMs: number;
  /** Nothing where one may not see the server as a whole. */
  readonly latency: Latency | undefined;
}

type Bucket = Overview["throughput"]["buckets"][number];

/** How long a bucket was counted in, in seconds: the first may have begun late, and the last is not over. */
export function secondsOf({ at }: Bucket, { since, at: now, throughput: { bucketMs } }: Overview): number {
  return Math.max(1, (Math.min(now, at + bucketMs) - Math.max(since, at)) / 1_000);
}

const samplesMax = 300;
/** They outlive the page, so that going away and coming back leaves no gap but the time away. */
const kept: Sample[] = [];

const sampleOf = ({ at, queue, timerLagMs, server }: Overview): Sample => ({
  ...{ at, due: queue.due, oldestMs: queue.oldestMs, timerLagMs },
  latency: server?.latency.steps ?? server?.latency.requests,
});

/** Kept as it is read, so that the plots show it as soon as the figures do, and once. */
async function read(signal: AbortSignal): Promise<Overview> {
  const overview = await client.operations.overview({}, { signal });
  kept.push(sampleOf(overview));
  if (kept.length > samplesMax) kept.shift();
  return overview;
}

export function useOverview(): {
  readonly overview: Overview | undefined;
  readonly samples: readonly Sample[];
  readonly error: unknown;
} {
  const { data, error } = useQuery({
    queryKey: ["overview"],
    queryFn: ({ signal }) => read(signal),
    refetchInterval: 2_000,
    staleTime: 1_000,
  });
  return { overview: data, samples: kept, error };
}
