/** Fleets: who is a member, and who runs an activity (invariants 6 and 7). */
import type { Member } from "../../../src/store/fleet.ts";
import type { ActivityRow } from "../../../src/store/records.ts";
import type { Lease } from "../../../src/store/store.ts";
import type { Lent, Model } from "../model.ts";
import type { Report } from "./report.ts";

/** Whether somebody has given a sign of life lately; one that was given by a clock that has been set back since says nothing. */
const isAlive = ({ until, leaseMs }: Lent, now: number): boolean => now < until && until - now <= 2 * leaseMs;

function putOutLapsed({ members }: Model, now: number): void {
  for (const [epoch, lent] of members) if (!isAlive(lent, now)) members.delete(epoch);
}

/** Somebody joined. */
export function enterJoining(
  model: Model,
  [, leaseMs, now]: [string, number, number],
  lease: Lease,
  report: Report,
): void {
  model.isShared = true;
  if (lease.outcome !== "owned") {
    report(8, "nobody may join, and nobody owns the store");
    return;
  }
  if (lease.epoch <= model.epoch) report(7, "a new member has an old epoch");
  putOutLapsed(model, now);
  model.members.set(lease.epoch, { until: now + leaseMs, leaseMs });
  model.epoch = lease.epoch;
  model.outages = lease.outages;
}

/** A member gave a sign of life, and was told who else is there. */
export function enterBeat(
  model: Model,
  [epoch, leaseMs, , now]: [number, number, unknown, number],
  told: readonly Member[] | undefined,
  report: Report,
): void {
  const { members } = model;
  if (members.has(epoch) !== (told !== undefined))
    report(7, `a process was told that it is ${told === undefined ? "no" : "a"} member, and is not so`);
  if (told === undefined) return;
  members.set(epoch, { until: now + leaseMs, leaseMs });
  putOutLapsed(model, now);
  const others = told.map((one) => one.epoch).sort();
  if (others.join() !== [...members.keys()].sort().join())
    report(7, `a member was told of ${others}, and there are ${[...members.keys()]}`);
}

/** A member wants to go on with activities: only those that nobody runs who is there. */
export function enterAdoption(
  model: Model,
  [rows, epoch]: [readonly ActivityRow[], number],
  adopted: readonly boolean[],
  report: Report,
): void {
  rows.forEach((given, index) => {
    const run = model.find(given);
    const row = run?.activities.get(given.key);
    const holder = run?.holders.get(given.key);
    if (adopted[index] !== mayHave(model, given, epoch))
      report(
        6,
        `${given.run}:${given.key} was ${adopted[index] ? "" : "not "}taken over by ${epoch}, and is with ${holder}`,
      );
    if (adopted[index] && row !== undefined) model.record({ ...row, status: "running" }, epoch);
  });
}

/** Whether an activity is there, and is or can be that of whoever has this epoch: nobody else who is there runs it. */
export function mayHave(model: Model, given: ActivityRow, epoch: number): boolean {
  const run = model.find(given);
  const row = run?.activities.get(given.key);
  if (row === undefined || !model.isGood(epoch)) return false;
  const holder = run?.holders.get(given.key) as number;
  return row.status !== "running" || holder === epoch || !model.isGood(holder);
}
