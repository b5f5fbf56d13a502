/** A memory store that several runtimes of a process share: the reference model of fleets. */
import type { Fleet, KeyName, KeyUse, Member, Sign, Taken, Turns } from "../fleet.ts";
import { isAlive, join, leftBy, memberOf } from "../members.ts";
import type { ActivityRow, InboxRow, RunName } from "../records.ts";
import { shardOf } from "../shard.ts";
import type { Heard, Hint, Signals } from "../signals.ts";
import type { Lease } from "../store.ts";
import { type TurnRow, takeTurns } from "../turns.ts";
import { dueRuns, nextTime } from "./due.ts";
import { mayHave } from "./held.ts";
import { copy, inOrder, nameOf } from "./kept.ts";
import type { StoredRun, Tables } from "./tables.ts";

export class MemoryFleet implements Fleet {
  readonly signals: Signals = new MemorySignals();
  readonly #tables: Tables;
  #turns: readonly TurnRow[] = [];

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  async join(worker: string, leaseMs: number, now: number): Promise<Lease> {
    const joined = join(this.#tables, worker, leaseMs, now);
    const { owner, epoch, until } = this.#tables.lease;
    if (joined === undefined) return { outcome: "taken", owner: owner as string, epoch, until };
    Object.assign(this.#tables, joined);
    const { lease } = joined;
    return { outcome: "owned", epoch: lease.epoch, until: now + leaseMs, outages: lease.outages };
  }

  async beat(
    epoch: number,
    leaseMs: number,
    sign: Sign,
    now: number,
  ): Promise<readonly Member[] | undefined> {
    const { members } = this.#tables;
    if (!members.some((member) => member.epoch === epoch)) return undefined;
    const renewed = members.map((member) =>
      member.epoch === epoch ? { ...member, ...sign, from: now, until: now + leaseMs } : member,
    );
    this.#keep(renewed, (member) => member.epoch === epoch || isAlive(member, now));
    return this.#tables.members.map(memberOf);
  }

  async leave(epoch: number, now: number): Promise<void> {
    const last = this.#tables.members.map((member) =>
      member.epoch === epoch ? { ...member, from: now } : member,
    );
    this.#keep(last, (member) => member.epoch !== epoch);
  }

  #keep(members: Tables["members"], stays: (member: Tables["members"][number]) => boolean): void {
    const stay = members.filter(stays);
    this.#tables.lease = leftBy({ lease: this.#tables.lease, members }, stay);
    this.#tables.members = stay;
  }

  async due(
    shards: readonly number[],
    now: number,
    limit: number,
    since = Number.POSITIVE_INFINITY,
  ): Promise<readonly RunName[]> {
    return dueRuns(this.#runsOf(shards), now, limit, (epoch) => !this.#isMember(epoch), since);
  }

  async nextDue(shards: readonly number[], after: number): Promise<number | undefined> {
    return nextTime(this.#runsOf(shards), after);
  }

  async adopt(rows: readonly ActivityRow[], epoch: number): Promise<readonly boolean[]> {
    return rows.map(({ tenant, run, key, attempt }) => {
      const activities = this.#tables.runs.get(nameOf({ tenant, run }))?.activities;
      const found = activities?.get(key);
      if (found?.row.attempt !== attempt || !mayHave(this.#tables, found, epoch)) return false;
      activities?.set(key, { row: { ...found.row, status: "running" }, epoch });
      return true;
    });
  }

  async takeTurns(uses: readonly KeyUse[], epoch: number): Promise<readonly Turns[] | undefined> {
    if (!this.#isMember(epoch)) return undefined;
    return uses.map((use) => {
      const taken = takeTurns(
        this.#turns.filter((row) => this.#isMember(row.epoch)),
        use,
        epoch,
      );
      this.#turns = taken.rows;
      return taken.turns;
    });
  }

  async readSeqs(names: readonly RunName[]): Promise<readonly number[]> {
    return names.map((name) => this.#tables.runs.get(nameOf(name))?.head.seq ?? 0);
  }

  async readInboxes(names: readonly RunName[], limit: number): Promise<readonly (readonly InboxRow[])[]> {
    const inboxes = names.map((name) => this.#tables.runs.get(nameOf(name))?.inbox.values() ?? []);
    return copy(inboxes.map((rows) => inOrder(rows).slice(0, limit)));
  }

  async readTaken(events: readonly KeyName[]): Promise<readonly (Taken | undefined)[]> {
    return copy(events.map((event) => this.#taken(event)));
  }

  #taken({ tenant, run, key }: KeyName): Taken | undefined {
    const { seen, entries } = this.#tables.runs.get(nameOf({ tenant, run })) ?? {};
    if (seen?.has(key) !== true) return undefined;
    const seq = seen.get(key);
    if (seq === undefined) return {};
    const [before, entry] = [seq - 1, seq].map((at) => entries?.read(at, at, 1)[0]);
    return { seq, ...(entry && { entry }), ...(before && { previous: before.digest }) };
  }

  #runsOf(shards: readonly number[]): StoredRun[] {
    const wanted = new Set(shards);
    return [...this.#tables.runs.values()].filter(({ head }) => wanted.has(shardOf(head)));
  }

  #isMember(epoch: number): boolean {
    return this.#tables.members.some((member) => member.epoch === epoch);
  }
}

/** Signals within a process: heard at once, before anything else that is waiting. */
class MemorySignals implements Signals {
  readonly #listeners = new Set<Heard>();

  async send(given: readonly Hint[], from: number): Promise<void> {
    const names = given.length === 0 ? undefined : given;
    for (const heard of this.#listeners)
      void Promise.resolve().then(() => this.#listeners.has(heard) && heard(names, from));
  }

  async listen(heard: Heard): Promise<() => Promise<void>> {
    this.#listeners.add(heard);
    return async () => void this.#listeners.delete(heard);
  }
}
