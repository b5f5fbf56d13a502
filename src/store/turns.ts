/**
 * Turns of concurrency keys: the decision behind `takeTurns`, as every store that has it makes it. A database makes it in a
 * function of its own, since it takes a lock and not a second round trip.
 */
import type { KeyUse, Turns } from "./fleet.ts";

/** What a member has of a key under one limit. */
export interface TurnRow {
  readonly key: string;
  readonly limit: number;
  readonly epoch: number;
  readonly held: number;
  /** Its place among those who wait, if it does. */
  readonly since: number | undefined;
}

/** The rows of all members after one of them was given what it may have. */
export function takeTurns(
  rows: readonly TurnRow[],
  { key, limit, held, wanted }: KeyUse,
  epoch: number,
): { readonly rows: readonly TurnRow[]; readonly turns: Turns } {
  const isOwn = (row: TurnRow) => row.key === key && row.epoch === epoch && row.limit === limit;
  const own = rows.find(isOwn);
  const others = rows.filter((row) => row.key === key && !isOwn(row));
  const used = others.reduce((sum, row) => sum + row.held, held);
  const last = 1 + others.reduce((latest, row) => Math.max(latest, row.since ?? 0), own?.since ?? 0);
  // Whoever gives one back comes after those who wait, or it would have every turn again.
  const since = own?.since === undefined || held < own.held ? last : own.since;
  /** Whether one of the others waits, and its own limit would let it in beside so many. */
  const mayEnter = (row: TurnRow, beside: number) => row.since !== undefined && beside < row.limit;
  const before = others.filter((row) => mayEnter(row, used) && (row.since as number) < since).length;
  const given = Math.max(0, Math.min(wanted, limit - used - before));
  const place = given > 0 ? last : since;
  const row: TurnRow = {
    ...{ key, limit, epoch, held: held + given },
    since: given < wanted ? place : undefined,
  };
  const rest = rows.filter((row) => !isOwn(row));
  const isWanted = others.some((row) => mayEnter(row, used + given));
  const isOver = row.held === 0 && row.since === undefined;
  return { rows: isOver ? rest : [...rest, row], turns: { given, isWanted } };
}
