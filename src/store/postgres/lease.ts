/** Leases in PostgreSQL: who has the store, and who shares it, read in one statement and written as the ones they were decided on. */
import type { Sign } from "../fleet.ts";
import { takeLease } from "../lease.ts";
import { isAlive, leftBy, type MemberRow, type Register } from "../members.ts";
import { leaseOf, type Row } from "../rows.ts";
import type { Lease } from "../store.ts";
import type { Queries } from "./queries.ts";

type Statement = (query: keyof Queries, values: readonly unknown[]) => Promise<readonly Row[]>;

/** What is asked of the database, and whose clock leases are measured by. `write`: functions that are told first whether to wait for the disk. */
export interface Statements {
  readonly ask: Statement;
  /** For what must not wait behind others. */
  readonly askFirst: Statement;
  readonly write: Statement;
  readonly clock: "database" | "caller";
}

/** Who is there, what time it is by the clock that leases are measured by, and the way from there to the caller's. */
export interface Read {
  readonly register: Register;
  readonly clock: number;
  told(time: number): number;
}

/** The caller's time, where leases are measured by that. */
export function givenTo({ clock }: Pick<Statements, "clock">, now: number): number | null {
  return clock === "caller" ? now : null;
}

export async function readRegister(
  statements: Pick<Statements, "ask" | "clock">,
  now: number,
): Promise<Read> {
  const [first, ...others] = (await statements.ask("readRegister", [])) as [Row, ...Row[]];
  const members = others.map((row): MemberRow => {
    const { epoch, owner, taken_at: from, until } = row;
    const sign = JSON.parse(row.sign as string) as Sign;
    return { ...sign, epoch, worker: owner, from, until } as MemberRow;
  });
  const clock = givenTo(statements, now) ?? (first.now as number);
  return { register: { lease: leaseOf(first), members }, clock, told: (time) => time + (now - clock) };
}

/** Takes or renews the right to step all runs. */
export async function own(
  statements: Statements,
  worker: string,
  leaseMs: number,
  now: number,
): Promise<Lease> {
  for (;;) {
    const { register, clock, told } = await readRegister(statements, now);
    const { lease, members } = register;
    const member = members.find((one) => isAlive(one, clock));
    if (member !== undefined)
      return { outcome: "taken", owner: member.worker, epoch: member.epoch, until: told(member.until) };
    const taken = takeLease(leftBy(register, []), worker, leaseMs, clock, told);
    if (taken === undefined) {
      const { owner, epoch, until } = lease;
      return { outcome: "taken", owner: owner as string, epoch, until: told(until) };
    }
    const { epoch, from, until, outages } = taken;
    const terms = [worker, epoch, from, until, JSON.stringify(outages)];
    const written = await statements.write("ownAll", [JSON.stringify(lease), ...terms]);
    // Somebody else was faster: the lease is another one now.
    if (written[0]?.written) return { outcome: "owned", epoch, until: told(until), outages };
  }
}
