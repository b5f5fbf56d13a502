/**
 * Who shares a store: the decisions behind `join` and `beat`, the same in every store that has them. A lease is about
 * liveness only, for members as for owners (`lease.ts`).
 */
import type { Member } from "./fleet.ts";
import { isFresh, isHeld, type LeaseRow, withOutages } from "./lease.ts";

export interface MemberRow extends Member {
  /** When it joined or last gave a sign of life. */
  readonly from: number;
  readonly until: number;
}

/** The lease of the whole store, which nobody has while there are members, and those. */
export interface Register {
  readonly lease: LeaseRow;
  readonly members: readonly MemberRow[];
}

/** The register after one more has joined, as the last of the members; undefined while somebody owns the whole store. */
export function join(
  { lease, members }: Register,
  worker: string,
  leaseMs: number,
  now: number,
  told: (time: number) => number = (time) => time,
): Register | undefined {
  if (isHeld(lease, now)) return undefined;
  const epoch = lease.epoch + 1;
  const stay = members.filter((member) => isAlive(member, now));
  const sign = { isLeaving: false, slots: 0, running: 0, waiting: 0 };
  const joined = { epoch, worker, from: now, until: now + leaseMs, ...sign };
  const left = leftBy({ lease, members }, stay);
  const isOutage = stay.length === 0 && !isFresh(left);
  const outage = isOutage ? [{ from: told(left.from), until: told(now) }] : [];
  const outages = withOutages(lease.outages, outage, told(now));
  return { lease: { ...left, owner: undefined, epoch, outages }, members: [...stay, joined] };
}

/** The lease once only these are left: it tells when the last sign of life of anybody else was. */
export function leftBy({ lease, members }: Register, stay: readonly MemberRow[]): LeaseRow {
  const gone = members.filter((member) => !stay.includes(member));
  return { ...lease, from: gone.reduce((last, { from }) => Math.max(last, from), lease.from) };
}

export function isAlive({ from, until }: MemberRow, now: number): boolean {
  return isHeld({ owner: "a member", from, until }, now);
}

/** As others are told of it. */
export function memberOf({ epoch, worker, isLeaving, slots, running, waiting }: MemberRow): Member {
  return { epoch, worker, isLeaving, slots, running, waiting };
}
