/**
 * All rows of the store, for tools, damaged ones included. A place is a row's key as JSON. Whole numbers are read as
 * floating ones: a damaged one may be beyond what can be counted to, and that must not keep the others from being read.
 */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { headOf, type Row } from "../rows.ts";
import { isDescribed, isForkNoted, keyIn, numberIn, storedOf, tablesWith } from "../tables.ts";
import type { RowKind, ScanQuery, Stored, StoredHead } from "../upkeep.ts";
import { attributesOf } from "./commit.ts";

export const tables = tablesWith((column) => `CAST(${column} AS REAL) AS ${column}`);

export function scan<Kind extends RowKind>(
  database: DatabaseSync,
  kind: Kind,
  { of, after, limit }: ScanQuery,
): Stored<Kind>[] {
  if (kind === "attribute") return scanAttributes(database, { of, after, limit }) as Stored<Kind>[];
  const { name, key, columns } = tables[kind];
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  if (typeof of === "string") {
    conditions.push(`run_id = ?`);
    values.push(numberIn(of));
    if (kind === "entry") conditions.push(isThere(name, ">"));
    if (kind === "snapshot") conditions.push(isThere(name, ">="));
  } else if (key[0] === "run_id") {
    conditions.push(
      "run_id NOT IN (SELECT id FROM run) AND run_id NOT IN (SELECT run_id FROM removal WHERE until IS NULL)",
    );
  }
  if (after !== undefined) {
    conditions.push(`(${key.join(", ")}) > (${key.map(() => "?").join(", ")})`);
    values.push(...keyIn(after));
  }
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.map((one) => `(${one})`).join(" AND ")}`;
  const sql = `SELECT ${placeColumn(key)} AS place, ${columns.join(", ")} FROM ${name} ${where}
    ORDER BY ${key.join(", ")} LIMIT ?`;
  return database
    .prepare(sql)
    .all(...values, limit)
    .map((row) => storedOf(tables[kind], row, () => (kind === "run" ? problemOf(database, row) : undefined)));
}

/** Rows that wait to be swept are not seen; what lies before the first entry for another reason is. */
const isThere = (table: string, beyond: ">" | ">="): string =>
  `(SELECT pruned = 0 OR seq ${beyond} pruned FROM run WHERE id = ${table}.run_id)
    OR NOT EXISTS (SELECT 1 FROM removal m WHERE m.run_id = ${table}.run_id AND m.until IS NOT NULL)`;

/** A row's key as JSON. Numbers are written as text, since whole ones may be too large for any of ours, and JSON rounds others. */
const placeColumn = (key: readonly string[]): string =>
  `json_array(${key.map((column) => (texts[column.replace("a.", "")] ?? asItIs)(column)).join(", ")})`;
const asItIs = (column: string): string => column;
const asText = (column: string): string => `CAST(${column} AS TEXT)`;
const texts: Readonly<Record<string, (column: string) => string>> = {
  ...{ run_id: asText, seq: asText, '"offset"': asText, number: asText },
  created_at: (column) => `format('%!.17g', ${column})`,
};

/** Whether what stands in several places of a run is the same in all of them. */
function problemOf(database: DatabaseSync, row: Row): string | undefined {
  if (!isDescribed(row)) return "its description cannot be read";
  const id = numberIn(row.place as string);
  const head = headOf(row);
  if (!isForkNoted(row)) return "what it was forked from is not noted as it should be";
  const listed = database.prepare(
    "SELECT 1 FROM attribute WHERE tenant = ? AND name = ? AND value = ? AND created_at = ? AND run = ?",
  );
  if (attributesOf(head).some((attribute) => listed.get(...attribute) === undefined))
    return "it is not found by its attributes";
  const open = head.status === "active" ? 1 : 0;
  for (const table of ["inbox", "activity"])
    if (database.prepare(`SELECT 1 FROM ${table} WHERE run_id = ? AND open <> ?`).get(id, open) !== undefined)
      return "what waits for it is not marked as its status says";
  return undefined;
}

/** Those of a run are looked up one by one; those of nobody are what no run tells of. */
function scanAttributes(
  database: DatabaseSync,
  { of, after, limit }: { of: ScanQuery["of"]; after: string | undefined; limit: number },
): Stored<"attribute">[] {
  const { key } = tables.attribute;
  const qualified = key.map((column) => `a.${column}`);
  const columns = qualified.join(", ");
  const place = placeColumn(qualified);
  const past = after === undefined ? [] : keyIn(after);
  const beyond = after === undefined ? "" : `(${columns}) > (?, ?, ?, ?, ?)`;
  const found: Stored<"attribute">[] = [];
  const isOf = typeof of === "string";
  const sql = isOf
    ? `SELECT ${place} AS place, ${columns}, r.created_at AS since, r.about FROM run r CROSS JOIN attribute a
        ON a.tenant = r.tenant AND a.run = r.run WHERE r.id = ? ${beyond && `AND ${beyond}`} ORDER BY ${columns}`
    : `SELECT ${place} AS place, ${columns}, r.created_at AS since, r.about FROM attribute a LEFT JOIN run r
        ON r.tenant = a.tenant AND r.run = a.run ${beyond && `WHERE ${beyond}`} ORDER BY ${columns}`;
  for (const row of database.prepare(sql).iterate(...(isOf ? [numberIn(of)] : []), ...past)) {
    if (isTold(row) !== isOf) continue;
    found.push(storedOf(tables.attribute, row));
    if (found.length >= limit) break;
  }
  return found;
}

/** Whether a run tells of an attribute; where there is no telling, it is not said to be nobody's. */
function isTold({ name, value, created_at, since, about }: Row): boolean {
  if (since === null) return false;
  try {
    const { attributes } = JSON.parse(about as string) as Pick<StoredHead, "attributes">;
    return created_at === since && JSON.stringify(attributes[name as string]) === value;
  } catch {
    return true;
  }
}
