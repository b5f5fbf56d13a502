/** All rows of the store, for tools, damaged ones included. A place is a row's key as JSON. */
import { headOf, type Row } from "../rows.ts";
import { isDescribed, isForkNoted, keyIn, numberIn, storedOf, type Table, tablesWith } from "../tables.ts";
import type { RowKind, ScanQuery, Stored } from "../upkeep.ts";
import { placeOf } from "./find.ts";

/** Asks the database; each with the text and its values. */
export type Ask = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

const shared = tablesWith((column) => `${column}::float8 AS ${column}`);
export const tables = {
  ...shared,
  attribute: { ...shared.attribute, key: ["run_id", "place"] },
};

export async function scan<Kind extends RowKind>(
  ask: Ask,
  schema: string,
  kind: Kind,
  query: ScanQuery,
): Promise<Stored<Kind>[]> {
  if (kind === "attribute") return (await scanAttributes(ask, schema, query)) as Stored<Kind>[];
  const table = tables[kind] as unknown as Table<Kind>;
  const { of, after, limit } = query;
  const { name, key, columns } = table;
  const conditions: string[] = [];
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  if (typeof of === "string") {
    conditions.push(`run_id = ${bind(numberIn(of))}`);
    if (kind === "entry") conditions.push(isThere(schema, name, ">"));
    if (kind === "snapshot") conditions.push(isThere(schema, name, ">="));
  } else if (key[0] === "run_id") conditions.push(isNobodys(schema));
  // Members of a fleet come and go: nothing stands on what is kept of them.
  if (kind === "lease") conditions.push("id = 1");
  if (after !== undefined) conditions.push(`(${key.join(", ")}) > (${keyIn(after).map(bind).join(", ")})`);
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const rows = await ask(
    `SELECT jsonb_build_array(${key.map((column) => `${column}::text`).join(", ")})::text AS place, ${columns.join(", ")}
      FROM ${schema}.${name} ${where} ORDER BY ${key.join(", ")} LIMIT ${bind(limit)}`,
    values,
  );
  if (kind !== "run") return rows.map((row) => storedOf(table, row));
  const beside = await besideOf(ask, schema, rows);
  return rows.map((row) =>
    storedOf(table, row, () => problemOf(row, beside.get(row.place as string) as Row)),
  );
}

/** Rows that wait to be swept are not seen; what lies before the first entry for another reason is. */
const isThere = (schema: string, table: string, beyond: ">" | ">="): string =>
  `((SELECT r.pruned = 0 OR seq ${beyond} r.pruned FROM ${schema}.run r WHERE r.id = ${table}.run_id)
    OR NOT EXISTS (SELECT 1 FROM ${schema}.removal m WHERE m.run_id = ${table}.run_id AND m.until IS NOT NULL))`;

const isNobodys = (schema: string): string =>
  `run_id NOT IN (SELECT id FROM ${schema}.run)
    AND run_id NOT IN (SELECT m.run_id FROM ${schema}.removal m WHERE m.until IS NULL)`;

/** What stands beside the rows of runs, by their places: their attributes, and whether what waits is marked right. */
async function besideOf(ask: Ask, schema: string, rows: readonly Row[]): Promise<ReadonlyMap<string, Row>> {
  const ids = rows.map((row) => numberIn(row.place as string));
  const marked = (table: string): string =>
    `EXISTS (SELECT 1 FROM ${schema}.${table} w WHERE w.run_id = r.id AND w.open <> (r.status = 'active'))`;
  const found = await ask(
    `SELECT jsonb_build_array(r.id::text)::text AS place, ${marked("inbox")} OR ${marked("activity")} AS mismarked,
      (SELECT coalesce(jsonb_agg(encode(a.place, 'hex')), '[]') FROM ${schema}.attribute a
        WHERE a.run_id = r.id AND a.created_at = r.created_at AND a.run = r.run) AS places
      FROM ${schema}.run r WHERE r.id = ANY($1::bigint[])`,
    [ids],
  );
  return new Map(found.map((row) => [row.place as string, row]));
}

function problemOf(row: Row, beside: Row): string | undefined {
  if (!isDescribed(row)) return "its description cannot be read";
  const { tenant, attributes } = headOf(row);
  if (!isForkNoted(row)) return "what it was forked from is not noted as it should be";
  const places = beside.places as readonly string[];
  if (Object.entries(attributes).some(([name, value]) => !places.includes(placeOf(tenant, name, value))))
    return "it is not found by its attributes";
  return beside.mismarked ? "what waits for it is not marked as its status says" : undefined;
}

/** An attribute's row has only sums, so what it stands for is told by its run; those of nobody are what no run tells of. */
async function scanAttributes(
  ask: Ask,
  schema: string,
  { of, after, limit }: ScanQuery,
): Promise<Stored<"attribute">[]> {
  const isOf = typeof of === "string";
  const found: Stored<"attribute">[] = [];
  for (let last = after; found.length < limit; ) {
    const [id, sum] = last === undefined ? ["0", ""] : keyIn(last);
    const rows = await ask(
      `SELECT jsonb_build_array(a.run_id::text, encode(a.place, 'hex'))::text AS place, encode(a.place, 'hex') AS sum,
        r.tenant, r.about, a.created_at = r.created_at AND a.run = r.run AS matches
        FROM ${schema}.attribute a LEFT JOIN ${schema}.run r ON r.id = a.run_id
        WHERE (a.run_id, a.place) > ($1, decode($2, 'hex')) AND ${isOf ? "a.run_id = $4" : "$4::bigint IS NULL"}
          AND NOT EXISTS (SELECT 1 FROM ${schema}.removal m WHERE m.run_id = a.run_id AND m.until IS NULL)
        ORDER BY a.run_id, a.place LIMIT $3`,
      [id, sum, limit, isOf ? numberIn(of) : null],
    );
    for (const row of rows) {
      const told = toldOf(row);
      if (isOf === (told !== undefined)) found.push({ place: row.place as string, row: told });
    }
    last = rows.at(-1)?.place as string | undefined;
    if (rows.length < limit) break;
  }
  return found.slice(0, limit);
}

/** What a run tells of an attribute. */
function toldOf({ tenant, about, sum, matches }: Row): Stored<"attribute">["row"] {
  if (matches !== true || !isDescribed({ about })) return undefined;
  const { attributes } = headOf({ about, wake_at: null });
  const found = Object.entries(attributes).find(
    ([name, value]) => placeOf(tenant as string, name, value) === sum,
  );
  return found && { name: found[0], value: found[1] };
}
