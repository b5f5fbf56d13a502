/** From whatever version a schema has to this one: forward only, all or nothing, and never somebody else's. */
import { HoldfastError } from "../../errors.ts";
import type { PostgresClient, PostgresPool } from "./connect.ts";
import { inTransaction, types } from "./connect.ts";
import { type Migration, migrations, program } from "./schema.ts";

/** The name as SQL writes it. */
export function quote(schema: string): string {
  return `"${schema.replaceAll('"', '""')}"`;
}

/** Until the transaction ends nobody else who asks for this changes what the schema is made of. */
export async function lockSchema(client: PostgresClient, schema: string): Promise<void> {
  await client.query({
    text: "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
    values: [`${program} ${schema}`],
  });
}

/** Brings the schema to the newest version in one transaction, one process at a time; if it has it, nothing is changed. */
export async function migrate(
  pool: PostgresPool,
  schema: string,
  steps: readonly Migration[] = migrations,
): Promise<void> {
  if ((await identify(pool, schema, steps.length)) === steps.length) return;
  await inTransaction(pool, async (client) => {
    await lockSchema(client, schema);
    // Another process may have migrated, even further, between the first look and the lock.
    const version = await identify(client, schema, steps.length);
    if (!(await hasSchema(client, schema)))
      await client.query({ text: `CREATE SCHEMA IF NOT EXISTS ${quote(schema)}` });
    for (const step of steps.slice(version)) await client.query({ text: step(quote(schema)) });
    await client.query({ text: `UPDATE ${quote(schema)}.store_version SET version = ${steps.length}` });
  });
}

/**
 * The version of the store in a schema, 0 where there is none; changes nothing. Throws STORE_FOREIGN for a schema that
 * another program uses and STORE_NEWER for a later version's.
 */
export async function identify(
  on: Pick<PostgresClient, "query">,
  schema: string,
  newest: number = migrations.length,
): Promise<number> {
  const { rows } = await on.query({ text: relations, values: [schema], types });
  const [found] = rows as { used: boolean; ours: boolean }[];
  if (!found?.used) return 0;
  const version = found.ours ? await readVersion(on, schema) : undefined;
  if (version === undefined) {
    throw new HoldfastError(
      "STORE_FOREIGN",
      `The schema ${schema} belongs to another program; give the store a schema of its own`,
      { details: { schema } },
    );
  }
  if (version > newest) {
    throw new HoldfastError(
      "STORE_NEWER",
      `The store in schema ${schema} has version ${version} and this Holdfast knows ${newest}; use the newer Holdfast that wrote it`,
      { details: { schema, version, newest } },
    );
  }
  return version;
}

/** Whether there is anything in the schema, and a table that has the columns our version stands in. */
const relations = `
  SELECT count(*) > 0 AS used, coalesce(bool_or(c.relname = 'store_version' AND EXISTS (
      SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'program')), false) AS ours
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`;

async function readVersion(on: Pick<PostgresClient, "query">, schema: string): Promise<number | undefined> {
  const text = `SELECT version FROM ${quote(schema)}.store_version WHERE program = '${program}'`;
  const { rows } = await on.query({ text, types });
  return rows[0]?.version as number | undefined;
}

async function hasSchema(client: PostgresClient, schema: string): Promise<boolean> {
  const text = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
  return (await client.query({ text, values: [schema], types })).rows.length > 0;
}
