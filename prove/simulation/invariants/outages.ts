/** Outages: a new owner notes them before it goes on, and timers move as their policies say (invariants 9 and 24). */
import type { Outage, State } from "holdfast";
import { decode } from "../../../src/store/codec.ts";
import type { Lease } from "../../../src/store/store.ts";
import { goesBack, type Model, type ModelEntry, type ModelRun, type Owed } from "../model.ts";
import { type Moving, moveBy } from "../moving.ts";
import type { Report } from "./report.ts";

/** The outage that ends with this lease, if there is one; a renewal changes nothing. */
export function owedAfter(lease: Lease, now: number, before: Owed | undefined): Owed | undefined {
  if (lease.outcome !== "owned") return before;
  const { epoch, aliveAt } = lease;
  if (aliveAt === undefined) return before?.epoch === epoch ? before : undefined;
  return aliveAt < now ? { epoch, from: aliveAt, until: now } : undefined;
}

/** The list of outages was written; unless a clock was set, none that was noted before is missing. */
export function noteOutages(model: Model, bytes: Uint8Array, jumped: boolean, report: Report): void {
  const before = model.outages;
  model.outages = decode(bytes, "the outages") as unknown as Outage[];
  if (!jumped && !before.every(({ from }, place) => model.outages[place]?.from === from))
    report(24, "outages that were noted are gone");
  const { owed } = model;
  const last = model.outages.at(-1);
  if (owed !== undefined && last?.from === owed.from && last.until >= owed.until) model.owed = undefined;
}

/** Nothing is committed by an owner that has not noted what went before. */
export function checkNoted({ owed }: Model, epoch: number, report: Report): void {
  if (owed?.epoch === epoch)
    report(24, `the outage from ${owed.from} to ${owed.until} was not noted before the first commit`);
}

/** The outages that an entry tells its run of. */
function toldOf({ event, at }: ModelEntry): readonly Outage[] {
  if (event.kind !== "platform") return [];
  if (event.type === "resume") return (event.data as unknown as { outages: Outage[] }).outages;
  if (event.type !== "retry") return [];
  return [{ from: (event.data as { parkedAt: number }).parkedAt, until: at }];
}

/** A run is told only of outages that were. */
export function checkTold({ outages }: Model, entry: ModelEntry, what: string, report: Report): void {
  if (entry.event.kind !== "platform" || entry.event.type !== "resume") return;
  for (const { from, until } of toldOf(entry))
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
      for (const outage of toldOf(told)) moveBy(moving, outage, resume, ms);
  if (timer.due !== moving.due) report(24, `${what} was due at ${timer.due}, and should be at ${moving.due}`);
  // A clock that was set says nothing certain of how long nobody was there.
  // What was before it was set again is in the time it was given then.
  const outages = again === undefined ? model.outages : model.outages.filter(({ until }) => until > set.at);
  const missed = !jumped && resume && outages.find((outage) => moveBy({ ...moving }, outage, resume, ms));
  if (missed) report(24, `${what} fires without having heard of the outage from ${missed.from}`);
}
