/** Which runs of the memory store have something to do, and when the next one will. */
import type { RunName } from "../records.ts";
import type { DueOf } from "../store.ts";
import type { StoredRun, Tables } from "./tables.ts";

/** As the store's `due`: whoever is no member is gone, or where there are none whoever came before the owner. */
export function findDue(
  { runs, lease, members }: Tables,
  { now, limit, of }: { readonly now: number; readonly limit: number; readonly of: DueOf | undefined },
): RunName[] {
  const isOrphan = (epoch: number) =>
    members.length === 0 ? epoch < lease.epoch : members.every((member) => member.epoch !== epoch);
  const all = [...runs.values()];
  const asked = of === undefined ? all : all.filter(({ head }) => head.tenant === of.tenant);
  return dueRuns(asked, now, limit, isOrphan, of?.since);
}

/** Active runs that have something to do, the oldest need first. `isOrphan` says whether who runs activities under an epoch is gone. */
export function dueRuns(
  runs: Iterable<StoredRun>,
  now: number,
  limit: number,
  isOrphan: (epoch: number) => boolean,
  since = Number.POSITIVE_INFINITY,
): RunName[] {
  return [...runs]
    .map((run) => ({ run, need: earliest(needsOf(run, now, isOrphan)) }))
    .filter(({ run, need }) => run.head.status === "active" && Number.isFinite(need) && need <= since)
    .sort((one, other) => one.need - other.need)
    .slice(0, limit)
    .map(({ run }) => ({ tenant: run.head.tenant, run: run.head.run }));
}

/** Since when a run has had something to do. */
function needsOf(
  { head, inbox, activities }: StoredRun,
  now: number,
  isOrphan: (epoch: number) => boolean,
): number[] {
  const events = [...inbox.values()].map(({ at }) => at);
  const timers = head.wakeAt === undefined ? [] : [head.wakeAt];
  const waiting = [...activities.values()].filter(({ row }) => row.status === "waiting");
  const orphaned = [...activities.values()].filter(
    ({ row, epoch }) => row.status === "running" && isOrphan(epoch),
  );
  const due = [...timers, ...waiting.map(({ row }) => row.dueAt)].filter((time) => time <= now);
  return [...events, ...due, ...orphaned.map(({ row }) => row.dueAt)];
}

/** The earliest time after this one at which a timer or a waiting activity of an active run is due. */
export function nextTime(runs: Iterable<StoredRun>, after: number): number | undefined {
  const times = [...runs]
    .filter(({ head }) => head.status === "active")
    .flatMap(({ head, activities }) => [
      ...(head.wakeAt === undefined ? [] : [head.wakeAt]),
      ...[...activities.values()].filter(({ row }) => row.status === "waiting").map(({ row }) => row.dueAt),
    ])
    .filter((time) => time > after);
  return times.length === 0 ? undefined : earliest(times);
}

/** One by one: there may be more than a call can have arguments. */
function earliest(times: readonly number[]): number {
  return times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
}
