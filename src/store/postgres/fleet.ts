/** The processes that share a PostgreSQL store: members by rows of the table of leases, and hints by NOTIFY. */
import type { Fleet, Member, Sign } from "../fleet.ts";
import { join, type MemberRow, type Register } from "../members.ts";
import type { ActivityRow, RunName } from "../records.ts";
import { leaseOf, type Row } from "../rows.ts";
import type { Signals } from "../signals.ts";
import type { Lease } from "../store.ts";
import type { Queries } from "./queries.ts";

type Statement = (query: keyof Queries, values: readonly unknown[]) => Promise<readonly Row[]>;

/** What a fleet needs of its store. `write`: functions that are told first whether to wait for the disk. */
export interface FleetWorld {
  readonly ask: Statement;
  readonly write: Statement;
  readonly clock: "database" | "caller";
  readonly signals: Signals;
}

export class PostgresFleet implements Fleet {
  readonly signals: Signals;
  readonly #world: FleetWorld;

  constructor(world: FleetWorld) {
    this.#world = world;
    this.signals = world.signals;
  }

  async join(worker: string, leaseMs: number, now: number): Promise<Lease> {
    for (;;) {
      const { register, clock } = registerOf(await this.#world.ask("readRegister", []), this.#given(now));
      /** From the database's clock to the caller's. */
      const told = (time: number): number => time + (now - clock);
      const joined = join(register, worker, leaseMs, clock, told);
      if (joined === undefined) {
        const { owner, epoch, until } = register.lease;
        return { outcome: "taken", owner: owner as string, epoch, until: told(until) };
      }
      const { epoch, from, outages } = joined.lease;
      const stay = joined.members.slice(0, -1).map((member) => member.epoch);
      const terms = [clock, clock + leaseMs, JSON.stringify(signOf(joined.members.at(-1) as MemberRow))];
      const given = [JSON.stringify(register.lease), epoch, from, JSON.stringify(outages), stay, worker];
      const [row] = await this.#world.write("join", [...given, ...terms]);
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
    const rows = await this.#world.ask("beat", given);
    if (rows.length === 0) return undefined;
    return rows.map((row) => ({
      ...(JSON.parse(row.sign as string) as Sign),
      epoch: row.epoch as number,
      worker: row.worker as string,
    }));
  }

  async leave(epoch: number, now: number): Promise<void> {
    await this.#world.write("leave", [epoch, this.#given(now)]);
  }

  async due(
    shards: readonly number[],
    now: number,
    limit: number,
    since = Number.POSITIVE_INFINITY,
  ): Promise<readonly RunName[]> {
    const rows = await this.#world.ask("dueIn", [shards, since, now, limit]);
    return rows.map(({ tenant, run }) => ({ tenant: tenant as string, run: run as string }));
  }

  async nextDue(shards: readonly number[], after: number): Promise<number | undefined> {
    const [row] = await this.#world.ask("nextDueIn", [shards, after]);
    return (row?.at as number | null) ?? undefined;
  }

  async adopt(rows: readonly ActivityRow[], epoch: number): Promise<readonly boolean[]> {
    if (rows.length === 0) return [];
    const named = JSON.stringify(rows.map(({ tenant, run, key }) => ({ tenant, run, key })));
    const [row] = await this.#world.write("adopt", [epoch, named]);
    return row?.adopted as boolean[];
  }

  async readSeqs(names: readonly RunName[]): Promise<readonly number[]> {
    const named = JSON.stringify(names.map(({ tenant, run }) => ({ tenant, run })));
    return (await this.#world.ask("readSeqs", [named])).map(({ seq }) => seq as number);
  }

  /** The caller's time, where leases are measured by that. */
  #given(now: number): number | null {
    return this.#world.clock === "caller" ? now : null;
  }
}

/** Who is there, and what time it is by the clock that leases are measured by. */
export function registerOf(
  rows: readonly Row[],
  given: number | null,
): { readonly register: Register; readonly clock: number } {
  const [first, ...others] = rows as [Row, ...Row[]];
  const members = others.map((row): MemberRow => {
    const { epoch, owner, taken_at: from, until } = row;
    const sign = JSON.parse(row.sign as string) as Sign;
    return { ...sign, epoch, worker: owner, from, until } as MemberRow;
  });
  return { register: { lease: leaseOf(first), members }, clock: given ?? (first.now as number) };
}

const signOf = ({ isLeaving, slots, running, waiting }: Sign): Sign => ({
  ...{ isLeaving, slots, running, waiting },
});
