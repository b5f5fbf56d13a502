/** Outages: a new owner notes them before it goes on, and timers move as their policies say (invariants 9 and 24). */
import { isDeepStrictEqual } from "node:util";
import type { Outage, State } from "holdfast";
import { isControl } from "../../../src/runtime/control.ts";
import type { Lease } from "../../../src/store/store.ts";
import { goesBack, type Model, type ModelEntry, type ModelRun } from "../model.ts";
import { type Moving, moveBy } from "../moving.ts";
import type { Report } from "./report.ts";

/** What parks a run, and what brings it back. */
const turns: ReadonlySet<string> = new Set(["park", "retry", "rollback"]);

type Owned = Extract<Lease, { outcome: "owned" }>;

/** Whoever takes the place of another notes with the lease since when nobody was there; a renewal changes nothing. */
export function checkNoted(model: Model, lease: Owned, now: number, jumped: boolean, report: Report): void {
  const { outages: before, aliveAt, epoch } = model;
  const isOutage = lease.epoch !== epoch && aliveAt !== undefined && aliveAt < now;
  model.outages = lease.outages;
  const noted = isOutage ? [...before, { from: aliveAt, until: now }] : before;
  // A clock that was set says nothing certain of how long nobody was there, nor does a call that was long under way.
  const isBack = jumped || (aliveAt !== undefined && now < aliveAt);
  if (!isBack && !isDeepStrictEqual(lease.outages, noted))
    report(24, `the lease notes ${JSON.stringify(lease.outages)}, and should note ${JSON.stringify(noted)}`);
}

/** The outages that an entry of a run tells it of. */
function toldOf({ event, at, seq }: ModelEntry, { entries }: ModelRun): readonly Outage[] {
  if (event.kind !== "platform") return [];
  if (event.type === "resume") return (event.data as unknown as { outages: Outage[] }).outages;
  if (event.type === "rollback") {
    const turn = entries.findLast(
      (one) => one.seq < seq && turns.has(one.event.type) && isControl(one.event),
    );
    return turn?.event.type === "park" ? [{ from: turn.at, until: at }] : [];
  }
  if (event.type !== "retry") return [];
  return [{ from: (event.data as { parkedAt: number }).parkedAt, until: at }];
}

/** A run is told only of outages that were. */
export function checkTold(
  { outages }: Model,
  run: ModelRun,
  entry: ModelEntry,
  what: string,
  report: Report,
): void {
  if (entry.event.kind !== "platform" || entry.event.type !== "resume") return;
  for (const { from, until } of toldOf(entry, run))
    if (!outages.some((one) => one.from === from && one.until === until))
      report(24, `${what} tells of an outage from ${from} to ${until} that nobody noted`);
}

/** A timer that fires has moved by every outage since it was set, and by nothing else. */
export function checkMoved(
  run: ModelRun,
  entry: ModelEntry,
  before: State,
  what: string,
  { model, jumped, report }: { readonly model: Model; readonly jumped: boolean; readonly report: Report },
): void {
  const timer = before.timers.find(({ key }) => key === entry.event.timer);
  if (timer === undefined || entry.outcome === "refused") return;
  const { key, resume } = timer;
  const place = run.entries.findIndex(({ effects }) =>
    effects.some((one) => one.type === "timer" && one.key === key),
  );
  const set = run.entries[place];
  const effect = set?.effects.find((one) => one.type === "timer" && one.key === key);
  if (set === undefined || effect?.type !== "timer") {
    report(24, `${what} fires what was never set`);
    return;
  }
  const again = goesBack(set) ? set.stepped.state.timers.find((one) => one.key === key) : undefined;
  // One that was set again goes on where it was.
  const moving: Moving = { due: effect.due, since: again?.since ?? set.at };
  const ms = again?.ms ?? effect.due - set.at;
  if (resume !== undefined)
    for (const told of run.entries.slice(place + 1).filter(({ seq }) => seq < entry.seq))
      for (const outage of toldOf(told, run)) moveBy(moving, outage, resume, ms);
  if (timer.due !== moving.due) report(24, `${what} was due at ${timer.due}, and should be at ${moving.due}`);
  // A clock that was set says nothing certain of how long nobody was there.
  // What was before it was set again is in the time it was given then.
  const outages = again === undefined ? model.outages : model.outages.filter(({ until }) => until > set.at);
  const missed =
    !jumped && resume && outages.find((outage) => moveBy({ ...moving }, lately(run, outage), resume, ms));
  if (missed) report(24, `${what} fires without having heard of the outage from ${missed.from}`);
}

/** An outage, without the part of it in which the run took steps: somebody was there, and had yet to renew the lease. */
function lately({ entries }: ModelRun, { from, until }: Outage): Outage {
  const seen = entries.filter(({ at }) => at > from && at < until).at(-1);
  return { from: seen?.at ?? from, until };
}
