/** Finding the runs that have something to do. */
import type { RunName } from "../records.ts";
import type { Row } from "../rows.ts";
import type { DueOf } from "../store.ts";
import type { Statements } from "./queries.ts";

/**
 * The runs with the oldest needs. Each kind of need comes from an index in its own order and is read no further than to
 * `limit` different runs: a run among the oldest of all is among the oldest of its kind.
 */
export function findDue(
  statements: Statements,
  { now, limit, of }: { readonly now: number; readonly limit: number; readonly of: DueOf | undefined },
): RunName[] {
  // Most often there is nothing, which one statement can tell.
  if (statements.hasDue.get(now)?.due === 0) return [];
  const sources = of === undefined ? ofAll(statements, now) : ofTenant(statements, now, of);
  const needs = new Map<string, { readonly name: RunName; readonly need: number }>();
  for (const source of sources) addOldest(needs, source(), limit);
  return [...needs.values()]
    .sort((one, other) => one.need - other.need)
    .slice(0, limit)
    .map(({ name }) => name);
}

const ever = Number.POSITIVE_INFINITY;

type Sources = readonly (() => Iterable<Row>)[];

const ofAll = (statements: Statements, now: number): Sources => [
  () => statements.dueEvents.iterate(),
  () => statements.dueTimers.iterate(now),
  () => statements.dueActivities.iterate(now),
  () => statements.orphanedActivities.iterate(),
];

/** Through the same indexes: so it takes as long as others have due runs before its own, and hides none behind them. */
const ofTenant = (statements: Statements, now: number, { tenant, since = ever }: DueOf): Sources => [
  () => statements.dueEventsOf.iterate(since, tenant),
  () => statements.dueTimersOf.iterate(Math.min(now, since), tenant),
  () => statements.dueActivitiesOf.iterate(Math.min(now, since), tenant),
  () => statements.orphanedActivitiesOf.iterate(since, tenant),
];

function addOldest(
  needs: Map<string, { readonly name: RunName; readonly need: number }>,
  rows: Iterable<Row>,
  limit: number,
): void {
  const seen = new Set<string>();
  for (const row of rows) {
    const name: RunName = { tenant: row.tenant as string, run: row.run as string };
    const need = row.need as number;
    const place = JSON.stringify([name.tenant, name.run]);
    const known = needs.get(place);
    if (known === undefined || need < known.need) needs.set(place, { name, need });
    seen.add(place);
    if (seen.size >= limit) return;
  }
}

/** When the next timer or waiting activity after a time is due. */
export function nextDue(statements: Statements, after: number): number | undefined {
  return (statements.nextDue.get(after)?.at as number | null) ?? undefined;
}
