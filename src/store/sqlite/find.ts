/**
 * The query behind `findRuns`. Its text depends only on which filters there are: everything asked for is bound, the
 * names of attributes included. Each form is answered from an index that has the order of the result.
 */
import type { SQLInputValue } from "node:sqlite";
import type { Attribute, RunName } from "../records.ts";
import type { RunQuery } from "../store.ts";
import { newestEntry, runColumns, type Statements } from "./queries.ts";

export interface FindQuery {
  readonly sql: string;
  readonly values: Record<string, SQLInputValue>;
}

/** An attribute's value as it is stored: 1, "1" and true are different values. */
export function attributeText(value: Attribute): string {
  return JSON.stringify(value);
}

export function findQuery(query: RunQuery): FindQuery {
  const { tenant, subject, machine, status, createdFrom, createdBefore, after, limit } = query;
  const [first, ...others] = Object.entries(query.attributes ?? {});
  const values: Record<string, SQLInputValue> = { tenant, limit };
  const conditions: string[] = [];
  /** The index that leads: the first attribute's, or one of the run's own. */
  const lead = first === undefined ? "r" : "a";
  const require = (condition: string, bound: Record<string, SQLInputValue>): void => {
    conditions.push(condition);
    Object.assign(values, bound);
  };
  require(`${lead}.tenant = :tenant`, {});
  if (first !== undefined)
    require("a.name = :name AND a.value = :value", { name: first[0], value: attributeText(first[1]) });
  if (others.length > 0)
    require(hasOthers, {
      others: JSON.stringify(others.map(([name, value]) => [name, attributeText(value)])),
    });
  if (subject !== undefined) require("r.subject = :subject", { subject });
  // A subject has few runs, so its index leads; the plus keeps the others from being chosen instead.
  const plus = subject === undefined ? "" : "+";
  if (machine !== undefined) require(`${plus}r.machine = :machine`, { machine });
  if (status !== undefined) require(`${plus}r.status = :status`, { status });
  if (createdFrom !== undefined) require(`${lead}.created_at >= :createdFrom`, { createdFrom });
  if (createdBefore !== undefined) require(`${lead}.created_at < :createdBefore`, { createdBefore });
  if (after !== undefined)
    require(`(${lead}.created_at, ${lead}.run) < (:afterCreatedAt, :afterRun)`, {
      ...{ afterCreatedAt: after.createdAt, afterRun: after.run },
    });
  const from =
    first === undefined ? "run r" : "attribute a CROSS JOIN run r ON r.tenant = a.tenant AND r.run = a.run";
  const sql = `SELECT ${runColumns} FROM ${from} CROSS JOIN entry e ON ${newestEntry}
    WHERE ${conditions.join(" AND ")} ORDER BY ${lead}.created_at DESC, ${lead}.run DESC LIMIT :limit`;
  return { sql, values };
}

const hasOthers = `NOT EXISTS (SELECT 1 FROM json_each(:others) w WHERE NOT EXISTS (
  SELECT 1 FROM attribute o WHERE o.tenant = a.tenant AND o.name = w.value ->> 0 AND o.value = w.value ->> 1
    AND o.created_at = a.created_at AND o.run = a.run))`;

/** The number of a run. */
export function findId(statements: Statements, { tenant, run }: RunName): number | undefined {
  return statements.readRunStatus.get(tenant, run)?.id as number | undefined;
}
