/** Finding the runs that have something to do. */
import type { RunName } from "../records.ts";
import type { Row } from "../rows.ts";
import type { Statements } from "./queries.ts";

/**
 * The runs with the oldest needs. Each kind of need comes from an index in its own order and is read no further than to
 * `limit` different runs: a run among the oldest of all is among the oldest of its kind.
 */
export function findDue(statements: Statements, now: number, limit: number): RunName[] {
  const sources = [
    () => statements.dueEvents.iterate(),
    () => statements.dueTimers.iterate(now),
    () => statements.dueActivities.iterate(now),
    () => statements.orphanedActivities.iterate(),
  ];
  const needs = new Map<string, { readonly name: RunName; readonly need: number }>();
  for (const source of sources) addOldest(needs, source(), limit);
  return [...needs.values()]
    .sort((one, other) => one.need - other.need)
    .slice(0, limit)
    .map(({ name }) => name);
}

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
  const next = [statements.nextTimer, statements.nextActivity].map(
    (of) => of.get(after)?.at as number | null,
  );
  return next.filter((time) => time !== null).toSorted((one, other) => one - other)[0];
}
