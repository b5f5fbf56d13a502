/**
 * The query behind `findRuns`. Its text depends only on which filters there are: everything asked for is bound, the
 * names of attributes included. Each form can be answered from an index that has the order of the result.
 */
import { hash } from "node:crypto";
import type { Attribute } from "../records.ts";
import type { RunQuery } from "../store.ts";
import { newestEntry, runColumns } from "./queries.ts";

export interface FindQuery {
  readonly text: string;
  readonly values: unknown[];
}

/** Where runs with this attribute are listed, as hexadecimal text; 1, "1" and true are different values. */
export function placeOf(tenant: string, name: string, value: Attribute): string {
  return hash("sha256", JSON.stringify([tenant, name, value]), "hex");
}

export function findQuery(schema: string, query: RunQuery): FindQuery {
  const { tenant, subject, machine, status, createdFrom, createdBefore, after, limit } = query;
  const [first, ...others] = Object.entries(query.attributes ?? {}).map(([name, value]) =>
    placeOf(tenant, name, value),
  );
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const boundTenant = bind(tenant);
  const conditions = [`r.tenant = ${boundTenant}`];
  /** The index that leads: the first attribute's, or one of the run's own. */
  const lead = first === undefined ? "r" : "a";
  if (first === undefined)
    conditions.push(`hashtextextended(r.tenant, 0) = hashtextextended(${boundTenant}, 0)`);
  else conditions.push(`a.place = decode(${bind(first)}, 'hex')`);
  if (others.length > 0)
    conditions.push(`NOT EXISTS (SELECT 1 FROM unnest(${bind(others)}::text[]) w(place) WHERE NOT EXISTS (
      SELECT 1 FROM ${schema}.attribute o WHERE o.run_id = r.id AND o.place = decode(w.place, 'hex')))`);
  const narrow = (column: string, value: string | undefined): void => {
    if (value === undefined) return;
    const bound = bind(value);
    conditions.push(`r.${column} = ${bound}`);
    conditions.push(
      `${schema}.tenant_key(r.tenant, r.${column}) = ${schema}.tenant_key(${boundTenant}, ${bound})`,
    );
  };
  narrow("subject", subject);
  narrow("machine", machine);
  narrow("status", status);
  if (createdFrom !== undefined) conditions.push(`${lead}.created_at >= ${bind(createdFrom)}`);
  if (createdBefore !== undefined) conditions.push(`${lead}.created_at < ${bind(createdBefore)}`);
  if (after !== undefined)
    conditions.push(`(${lead}.created_at, ${lead}.run) < (${bind(after.createdAt)}, ${bind(after.run)})`);
  const from =
    first === undefined ? `${schema}.run r` : `${schema}.attribute a JOIN ${schema}.run r ON r.id = a.run_id`;
  const text = `SELECT ${runColumns} FROM ${from} ${newestEntry(schema)}
    WHERE ${conditions.join(" AND ")} ORDER BY ${lead}.created_at DESC, ${lead}.run DESC LIMIT ${bind(limit)}`;
  return { text, values };
}
