/** Keeping house: what may be removed, pruned and expired, and what must be by the end (invariant 29). */
import { durationMs } from "../../../src/core/duration.ts";
import { isControl } from "../../../src/runtime/control.ts";
import type { Held, Hold, RetentionRule } from "../../../src/runtime/housekeeping/index.ts";
import type { RunName } from "../../../src/store/records.ts";
import type { SeenDocument } from "../../../src/store/upkeep.ts";
import type { Ledger } from "../ledger.ts";
import { hasEnded, type Model, type ModelEntry, type ModelRun } from "../model.ts";
import type { House } from "../traits.ts";
import type { Report } from "./report.ts";
import { isSame } from "./same.ts";

/** One time that a process applies the rules of the house: what it cannot say it did not know. */
export interface Tidy {
  readonly life: number;
  /** What was held when it began, and where each run stood. */
  readonly holds: readonly Hold[];
  readonly seqs: ReadonlyMap<string, number>;
  /** The wall clock then. */
  readonly from: number;
  isOver: boolean;
}

export function tidyOf(model: Model, life: number, from: number): Tidy {
  const seqs = new Map([...model.runs].map(([name, { head }]) => [name, head.seq]));
  return { life, holds: model.holds, seqs, from, isOver: false };
}

export const nameOfHold = (held: Held): string => {
  if ("run" in held) return `the run ${held.run}`;
  return "subject" in held ? `the subject ${held.subject}` : "everything";
};

/** Whether a run is held, and by one of these. */
function isHeld(
  model: Model,
  { head: { run, subject } }: ModelRun,
  { holds }: Pick<Tidy, "holds"> = model,
): boolean {
  const keeps = (one: Hold) =>
    "everything" in one || ("run" in one && one.run === run) || ("subject" in one && one.subject === subject);
  // What was released and is held anew since is another hold.
  return holds.some((one) => keeps(one) && model.holds.some((still) => isSame(one, still)));
}

const fits = ({ head }: ModelRun, { machine, status }: RetentionRule): boolean =>
  (machine === undefined || head.machine === machine) && (status === undefined || head.status === status);

/** Whether a rule wants a run gone, of which others were there and some are gone by now. */
function isUnwanted(others: readonly ModelRun[], run: ModelRun, rule: RetentionRule, now: number): boolean {
  const { olderThan, keep = 0 } = rule;
  const { completedAt, updatedAt, createdAt } = run.head;
  if (!fits(run, rule) || !hasEnded(run.head)) return false;
  if (olderThan !== undefined && (completedAt ?? updatedAt) >= now - durationMs(olderThan)) return false;
  const newer = others.filter(
    (one) => one !== run && hasEnded(one.head) && fits(one, rule) && one.head.createdAt >= createdAt,
  );
  return newer.length >= keep;
}

const hasLivingParent = (model: Model, { head: { parent } }: ModelRun): boolean => {
  const found = parent && model.find(parent);
  return found !== undefined && !hasEnded(found.head);
};

interface HouseWorld {
  readonly model: Model;
  readonly house: House | undefined;
  readonly furthest: number;
  readonly report: Report;
}

/** A run is about to be removed by a process that tidies. */
export function checkRemoval(
  run: ModelRun,
  tidy: Tidy | undefined,
  { model, house, furthest, report }: HouseWorld,
): void {
  const { run: name } = run.head;
  const all = [...model.runs.values(), ...model.removed.values()];
  if (tidy === undefined || !house?.retain.some((rule) => isUnwanted(all, run, rule, furthest)))
    report(29, `${name} is removed, and no rule wants it gone`);
  // However late it was put: there is no moment between the look at the holds and the removal.
  if (isHeld(model, run)) report(29, `${name} is held, and is removed`);
  if (hasLivingParent(model, run)) report(29, `${name} is removed, and who started it goes on`);
}

/** Entries of a run are about to be pruned by a process that tidies. */
export function checkPruning(
  run: ModelRun,
  seq: number,
  tidy: Tidy | undefined,
  { model, house, furthest, report }: HouseWorld,
): void {
  const { run: name, status, seq: newest } = run.head;
  // By a clock that was set back it may be of a later time than what came after it: it is as old as that at least.
  const at = Math.min(...run.entries.slice(seq - 1).map((entry) => entry.at));
  if (tidy === undefined || !house?.prune.some((rule) => at < furthest - durationMs(rule.olderThan)))
    report(29, `${name} is pruned up to ${seq}, and no rule says so`);
  if (isHeld(model, run)) report(29, `${name} is held, and is pruned`);
  if (status === "parked" && tidy?.seqs.get(name) === newest)
    report(29, `${name} is parked, and is pruned up to ${seq}`);
}

/** A run that nobody cancelled ended because nobody came back to it: that was so when somebody tidied. */
export function checkExpiry(
  run: ModelRun,
  { event, seq }: ModelEntry,
  ledger: Ledger,
  tidies: readonly Tidy[],
  { model, house, furthest, report }: HouseWorld,
): void {
  const { run: name, parent, machine } = run.head;
  if (!isControl(event) || event.type !== "cancel" || event.data !== undefined) return;
  if (parent !== undefined || ledger.cancelling.has(name)) return;
  const rule = house?.expire.find((one) => one.machine === machine);
  const idle = rule === undefined ? Number.POSITIVE_INFINITY : durationMs(rule.idleFor);
  const wasIdle = ({ seqs }: Tidy) => {
    const last = run.entries[(seqs.get(name) ?? 0) - 1];
    return last !== undefined && last.seq < seq && last.at < furthest - idle;
  };
  const asked = tidies.filter(wasIdle);
  if (asked.length === 0) report(29, `${name} is cancelled, and nobody asked for it`);
  else if (asked.every((tidy) => isHeld(model, run, tidy))) report(29, `${name} is held, and is expired`);
}

/** The house was tidied in fine weather, and nothing went on meanwhile: all that may go is gone. */
export function checkTidied(tidy: Tidy, { model, house, report }: HouseWorld): void {
  const left = [...model.runs.values()];
  const { from, seqs } = tidy;
  for (const run of left) {
    const { run: name, machine, status, updatedAt, createdAt, completedAt } = run.head;
    // By a clock that was set back it ended before it began: then it counts from its beginning.
    if (isHeld(model, run) || (completedAt ?? updatedAt) < createdAt) continue;
    const rule = house?.expire.find((one) => one.machine === machine);
    if (rule !== undefined && status === "active" && updatedAt < from - durationMs(rule.idleFor))
      report(29, `${name} has been idle since ${updatedAt}, and is not expired`);
    // Of two that began in the same moment either may be the newer one; what ended since was none of the newest then.
    const certain = left.filter(
      ({ head }) => head.createdAt !== run.head.createdAt && head.seq === seqs.get(head.run),
    );
    const isFree = model.standing(run.head).length === 0 && !hasLivingParent(model, run);
    if (isFree && house?.retain.some((one) => isUnwanted(certain, run, one, from)))
      report(29, `${name} should be gone, and is there`);
  }
}

/** The list of holds was written: all that were acknowledged are in it, and none that was taken back. */
export function checkHolds({ holds }: Model, ledger: Ledger, report: Report): void {
  const found = new Set(holds.map(nameOfHold));
  for (const [name, state] of ledger.holds) {
    if (state === "held" && !found.has(name)) report(29, `${name} is held, and its hold is gone`);
    if (state === "released" && found.has(name)) report(29, `${name} was released, and its hold is back`);
    found.delete(name);
  }
  for (const name of found) report(29, `${name} is held, and nobody asked for it`);
}

/** What the store is asked: the names, the epoch, and what was decided by. */
export type Removing = [readonly RunName[], number, (readonly SeenDocument[])?];
export type Pruning = [RunName, number, number, (readonly SeenDocument[])?];

/** The store was asked to remove runs: only what has ended goes, and nothing that a fork stands on. The names of those gone. */
export function enterRemovals(
  model: Model,
  [names, epoch, seen = []]: Removing,
  removed: readonly boolean[],
  report: Report,
): string[] {
  const gone: string[] = [];
  names.forEach((name, index) => {
    const run = model.find(name);
    const isEnded = run !== undefined && hasEnded(run.head);
    const may = model.isGood(epoch) && model.isAsSeen(seen);
    const wanted = may && isEnded && model.standing(name).length === 0;
    if (removed[index] !== wanted)
      report(29, `${name.run} should ${wanted ? "" : "not "}have been removed by the store`);
    if (removed[index] !== true || run === undefined) return;
    model.remove(name);
    gone.push(name.run);
  });
  return gone;
}

/** The store was asked to prune a run: only what lies before a snapshot goes, and nothing that a fork stands on. */
export function enterPruning(
  model: Model,
  [name, seq, epoch, seen = []]: Pruning,
  pruned: boolean,
  report: Report,
): void {
  const run = model.find(name);
  const wanted =
    model.isGood(epoch) &&
    model.isAsSeen(seen) &&
    run !== undefined &&
    seq > run.pruned &&
    seq < run.head.seq &&
    run.snapshots.some((one) => one.seq === seq) &&
    model.standing(name).every(({ head }) => (head.fork?.seq ?? 0) >= seq);
  if (pruned !== wanted)
    report(29, `${name.run} should ${wanted ? "" : "not "}have been pruned up to ${seq} by the store`);
  if (pruned) model.prune(name, seq);
}
