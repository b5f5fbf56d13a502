/** The overview: how it goes, from what this process has counted and what the store tells by its indexes. */
import { limits } from "../limits.ts";
import { bucketsMs, type Measured } from "../runtime/profile/measure.ts";
import { personAttribute } from "../runtime/registry.ts";
import type { Latency, Overview, ServerOverview } from "./contract/operations.ts";
import { dueRuns } from "./due.ts";
import { workersOf } from "./workers.ts";
import type { World } from "./world.ts";

/** That of a tenant; `isWhole`: with what is told of the server as a whole. */
export async function overviewOf(world: World, tenant: string, isWhole: boolean): Promise<Overview> {
  const { clock, tally, store } = world;
  const now = clock.now();
  const due = await dueRuns(store, now, { tenant });
  const [oldest] = due;
  const most = limits.dueCountedMax;
  const parked = await store.findRuns({ tenant, status: "parked", limit: most });
  const attributes = { [personAttribute]: true };
  const asking = await store.findRuns({ tenant, status: "active", attributes, limit: most });
  const letters = await store.readDeadLetters(tenant, 0, most);
  return {
    ...{ at: now, since: tally.since, throughput: tally.throughput(tenant) },
    queue: {
      ...{ due: due.length, isMore: due.length >= most },
      oldestMs: oldest === undefined ? 0 : Math.max(0, now - (await dueSince(world, oldest))),
    },
    timerLagMs: tally.timerLagMs(tenant),
    runs: {
      ...{ parked: parked.length, needPerson: asking.length, deadLetters: letters.length },
      isMore: [parked, asking, letters].some(({ length }) => length >= most),
    },
    failures: tally.failures(tenant),
    ...(isWhole ? { server: await serverOf(world) } : {}),
  };
}

async function serverOf(world: World): Promise<ServerOverview> {
  const { tally, runtime, sinks } = world;
  const profile = runtime.profile();
  const commits = profile?.store.commit;
  const bytes = await world.storeBytes();
  return {
    latency: {
      requests: tally.requests.read(),
      ...(profile === undefined
        ? {}
        : { steps: latencyOf(profile.steps), queue: latencyOf(profile.queue.events) }),
      ...(commits === undefined ? {} : { commits: latencyOf(commits) }),
      ...(profile === undefined ? {} : { activities: latencyOf(sumOf(Object.values(profile.activities))) }),
    },
    ...{ workers: workersOf(world), streams: sinks.size },
    store: { kind: world.storeKind, ...(bytes === undefined ? {} : { bytes }) },
  };
}

/** Since when a run has had something to do: its timer was due, or else it was changed last. */
async function dueSince({ store, clock }: World, name: { tenant: string; run: string }): Promise<number> {
  const head = await store.readHead(name);
  return head?.wakeAt ?? head?.updatedAt ?? clock.now();
}

const none: Measured = { count: 0, totalMs: 0, maxMs: 0, buckets: [] };

const sumOf = (all: readonly Measured[]): Measured =>
  all.reduce(
    (sum, one) => ({
      ...{ count: sum.count + one.count, totalMs: sum.totalMs + one.totalMs },
      maxMs: Math.max(sum.maxMs, one.maxMs),
      buckets: one.buckets.map((count, index) => count + (sum.buckets[index] ?? 0)),
    }),
    none,
  );

/** Percentiles out of buckets: between the ends of the one that a rank falls into, by its place there. */
export function latencyOf({ count, maxMs, buckets }: Measured): Latency {
  const at = (share: number): number => {
    const rank = count * share;
    let before = 0;
    for (const [index, size] of buckets.entries()) {
      const from = index === 0 ? 0 : (bucketsMs[index - 1] as number);
      const to = Math.min(bucketsMs[index] ?? maxMs, maxMs);
      if (before + size >= rank && size > 0) return from + Math.max(0, to - from) * ((rank - before) / size);
      before += size;
    }
    return maxMs;
  };
  return { count, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: maxMs };
}
