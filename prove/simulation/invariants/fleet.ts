/** Fleets: who is a member, who sees to which runs, and who runs an activity (invariants 6 and 7). */
import type { Member } from "../../../src/store/fleet.ts";
import type { ActivityRow } from "../../../src/store/records.ts";
import { shardCount } from "../../../src/store/shard.ts";
import type { Lease } from "../../../src/store/store.ts";
import type { Life } from "../life.ts";
import type { Lent, Model, ModelRun } from "../model.ts";
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
    // Whoever goes on from a row that is not the newest makes an attempt again that was made.
    const isNewest = row?.attempt === given.attempt;
    if (adopted[index] !== (isNewest && mayHave(model, given, epoch)))
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

/** A tool is about to begin in a member: the activity must be that one's, or two may run it and neither know. */
export function checkHolder(
  { isShared }: Model,
  run: ModelRun,
  key: string,
  life: Life,
  report: Report,
): void {
  if (!isShared) return;
  const [row, holder] = [run.activities.get(key), run.holders.get(key)];
  const what = `${run.head.run}:${key} begins with ${life.epoch}`;
  if (life.isClient) report(6, `${what}, which is a client`);
  else if (holder !== life.epoch || row?.status !== "running")
    report(6, `${what}, and is ${row?.status} with ${holder}`);
}

/** How long it takes until a member has heard of another, or is none any more and the others know. */
const knownMs = 4_000;

/** Who sees to which shards, as members ask what is due in theirs, and since when there are these members. */
export class Homes {
  readonly #asked = new Map<number, { readonly shards: readonly number[]; readonly at: number }>();
  #members: readonly Pick<Member, "epoch" | "isLeaving">[] = [];
  #since = 0;

  /** A member asked for what is due in the shards it sees to. */
  asked(epoch: number, shards: readonly number[], steady: number): void {
    this.#asked.set(epoch, { shards, at: steady });
  }

  /** These are the members, as one of them was told. */
  noted(members: readonly Member[], steady: number): void {
    const key = (all: readonly Pick<Member, "epoch" | "isLeaving">[]) =>
      all.map(({ epoch, isLeaving }) => `${epoch} ${isLeaving}`).join();
    if (key(members) !== key(this.#members)) this.#since = steady;
    this.#members = members;
  }

  /** Once all have asked who know of each other, every shard is seen to, and by one of them. */
  check(report: Report): void {
    const asked = this.#members
      .filter(({ isLeaving }) => !isLeaving)
      .map(({ epoch }) => this.#asked.get(epoch));
    const isKnown = asked.every((one) => one !== undefined && one.at >= this.#since + knownMs);
    if (asked.length === 0 || !isKnown) return;
    const seen = asked.flatMap((one) => one?.shards ?? []);
    if (new Set(seen).size < seen.length) report(7, "two members see to the same runs");
    if (new Set(seen).size < shardCount) report(7, "there are runs that no member sees to");
  }
}
