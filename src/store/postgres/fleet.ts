/** The processes that share a PostgreSQL store: members by rows of the table of leases, and hints by NOTIFY. */
import type { Fleet, KeyName, KeyUse, Member, Sign, Taken, Turns } from "../fleet.ts";
import { join, type MemberRow } from "../members.ts";
import type { ActivityRow, InboxRow, RunName } from "../records.ts";
import { entryOf, eventOf, type Row } from "../rows.ts";
import type { Signals } from "../signals.ts";
import type { Lease } from "../store.ts";
import { givenTo, readRegister, type Statements } from "./lease.ts";

export class PostgresFleet implements Fleet {
  readonly signals: Signals;
  readonly #statements: Statements;

  constructor(statements: Statements, signals: Signals) {
    this.#statements = statements;
    this.signals = signals;
  }

  async join(worker: string, leaseMs: number, now: number): Promise<Lease> {
    for (;;) {
      const { register, clock, told } = await readRegister(this.#statements, now);
      const joined = join(register, worker, leaseMs, clock, told);
      if (joined === undefined) {
        const { owner, epoch, until } = register.lease;
        return { outcome: "taken", owner: owner as string, epoch, until: told(until) };
      }
      const { epoch, from, outages } = joined.lease;
      const stay = joined.members.slice(0, -1).map((member) => member.epoch);
      const terms = [clock, clock + leaseMs, JSON.stringify(signOf(joined.members.at(-1) as MemberRow))];
      const given = [JSON.stringify(register.lease), epoch, from, JSON.stringify(outages), stay, worker];
      const [row] = await this.#statements.write("join", [...given, ...terms]);
      // Somebody else was faster: others are there now.
      if (!row?.written) continue;
      return { outcome: "owned", epoch, until: told(clock + leaseMs), outages };
    }
  }

  async beat(
    epoch: number,
    leaseMs: number,
    sign: Sign,
    now: number,
  ): Promise<readonly Member[] | undefined> {
    const given = [epoch, leaseMs, JSON.stringify(signOf(sign)), this.#given(now)];
    // A process with much to do is alive, however many of its questions wait for a connection.
    const rows = await this.#statements.askFirst("beat", given);
    if (rows.length === 0) return undefined;
    return rows.map((row) => ({
      ...(JSON.parse(row.sign as string) as Sign),
      epoch: row.epoch as number,
      worker: row.worker as string,
    }));
  }

  async leave(epoch: number, now: number): Promise<void> {
    await this.#statements.write("leave", [epoch, this.#given(now)]);
  }

  async due(
    shards: readonly number[],
    now: number,
    limit: number,
    since = Number.POSITIVE_INFINITY,
  ): Promise<readonly RunName[]> {
    const rows = await this.#statements.ask("dueIn", [shards, since, now, limit]);
    return rows.map(({ tenant, run }) => ({ tenant: tenant as string, run: run as string }));
  }

  async nextDue(shards: readonly number[], after: number): Promise<number | undefined> {
    const [row] = await this.#statements.ask("nextDueIn", [shards, after]);
    return (row?.at as number | null) ?? undefined;
  }

  async adopt(rows: readonly ActivityRow[], epoch: number): Promise<readonly boolean[]> {
    if (rows.length === 0) return [];
    const named = JSON.stringify(
      rows.map(({ tenant, run, key, attempt }) => ({ tenant, run, key, attempt })),
    );
    const [row] = await this.#statements.write("adopt", [epoch, named]);
    return row?.adopted as boolean[];
  }

  async takeTurns(uses: readonly KeyUse[], epoch: number): Promise<readonly Turns[] | undefined> {
    const named = JSON.stringify(uses.map(({ key, limit, held, wanted }) => ({ key, limit, held, wanted })));
    const [row] = await this.#statements.write("takeTurns", [epoch, named]);
    return (row?.turns as Turns[] | null) ?? undefined;
  }

  async readSeqs(names: readonly RunName[]): Promise<readonly number[]> {
    return (await this.#statements.ask("readSeqs", [named(names)])).map(({ seq }) => seq as number);
  }

  async readInboxes(names: readonly RunName[], limit: number): Promise<readonly (readonly InboxRow[])[]> {
    const inboxes = names.map((): InboxRow[] => []);
    for (const row of await this.#statements.ask("readInboxes", [named(names), limit])) {
      const place = (row.place as number) - 1;
      inboxes[place]?.push(eventOf(names[place] as RunName, row));
    }
    return inboxes;
  }

  async readTaken(events: readonly KeyName[]): Promise<readonly (Taken | undefined)[]> {
    const asked = JSON.stringify(events.map(({ tenant, run, key }) => ({ tenant, run, key })));
    return (await this.#statements.ask("readTaken", [asked])).map(takenOf);
  }

  /** The caller's time, where leases are measured by that. */
  #given(now: number): number | null {
    return givenTo(this.#statements, now);
  }
}

const named = (names: readonly RunName[]): string =>
  JSON.stringify(names.map(({ tenant, run }) => ({ tenant, run })));

function takenOf(row: Row): Taken | undefined {
  const { seen, seq, digest, previous } = row;
  if (seen === null) return undefined;
  return {
    ...(seq === null ? undefined : { seq: seq as number }),
    ...(digest === null ? undefined : { entry: entryOf(row) }),
    ...(previous === null ? undefined : { previous: previous as string }),
  };
}

const signOf = ({ isLeaving, slots, running, waiting }: Sign): Sign => ({
  ...{ isLeaving, slots, running, waiting },
});
