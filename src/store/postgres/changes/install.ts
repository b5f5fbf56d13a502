/**
 * Putting triggers on tables and taking them away: one process at a time, all of them or none, and nothing is touched that
 * is as it should be, since a trigger cannot be made while others write to its table.
 */
import { HoldfastError } from "../../../errors.ts";
import type { Row } from "../../rows.ts";
import { inTransaction, type PostgresClient, type PostgresPool, type Query, types } from "../connect.ts";
import { storeError } from "../errors.ts";
import { lockSchema, quote } from "../migrate.ts";
import { postgres } from "../store.ts";
import { type TableRule, type Trigger, triggersOf } from "./rule.ts";
import { channelOf, outboxMark, outboxStatements, removalStatements } from "./schema.ts";

/** How long others may have to wait for us while we wait for a table. */
const lockTimeout = "5s";

/** A trigger that is there. */
interface Installed {
  readonly rule: string;
  readonly fingerprint: string;
  readonly name: string;
  /** Its table, quoted. */
  readonly table: string;
}

/** A table that a rule names, quoted. */
interface Placed {
  readonly rule: TableRule;
  readonly table: string;
}

/**
 * Makes the outbox and the triggers of these rules; those that are there and the same stay as they are. Triggers of other
 * rules are left alone: they may be another program's. Gives each rule's table, quoted. Throws RULE_INVALID, and then
 * nothing has changed.
 */
export async function installRules(
  pool: PostgresPool,
  schema: string,
  rules: readonly TableRule[],
): Promise<ReadonlyMap<string, string>> {
  // The schema becomes a store's, so that a store which is opened in it later does not take it for somebody else's.
  await postgres(pool, { schema, synchronous: "server" }).open();
  return told(schema, async () => {
    const placed = await placeAll(pool, rules);
    if (!(await isInPlace(pool, schema, placed))) {
      await inTransaction(pool, async (client) => {
        await lock(client, schema);
        await makeOutbox(client, schema);
        const installed = await readInstalled(client, schema);
        for (const one of placed) await placeTriggers(client, schema, one, installed);
      });
    }
    return new Map(placed.map(({ rule, table }) => [rule.name, table]));
  });
}

/** Takes the triggers of these rules away, or of all, and with `discard` what is in the outbox for them; what is empty then goes too. */
export async function removeRules(
  pool: PostgresPool,
  schema: string,
  { rules, discard = false }: { readonly rules?: readonly string[]; readonly discard?: boolean } = {},
): Promise<void> {
  await told(schema, () =>
    inTransaction(pool, async (client) => {
      await lock(client, schema);
      if (!(await hasOutbox(client, schema))) return;
      const installed = await readInstalled(client, schema);
      const leaving = installed.filter(({ rule }) => rules === undefined || rules.includes(rule));
      for (const { name, table } of leaving)
        await client.query({ text: `DROP TRIGGER ${quote(name)} ON ${table}` });
      if (discard) await discardAll(client, schema, rules);
      const isUsed = leaving.length < installed.length || !(await isEmpty(client, schema));
      if (!isUsed) for (const text of removalStatements(quote(schema))) await client.query({ text });
    }),
  );
}

async function discardAll(
  client: PostgresClient,
  schema: string,
  rules: readonly string[] | undefined,
): Promise<void> {
  for (const table of ["table_change", "failed_change"])
    await client.query({
      text: `DELETE FROM ${quote(schema)}.${table} WHERE $1::text[] IS NULL OR rule = ANY ($1)`,
      values: [rules ?? null],
    });
}

async function isEmpty(client: PostgresClient, schema: string): Promise<boolean> {
  const here = quote(schema);
  const text = `SELECT NOT EXISTS (SELECT 1 FROM ${here}.table_change)
    AND NOT EXISTS (SELECT 1 FROM ${here}.failed_change) AS empty`;
  return (await client.query({ text, types })).rows[0]?.empty as boolean;
}

/** Keeps others from setting up the same schema, and gives up where a table is not free. */
async function lock(client: PostgresClient, schema: string): Promise<void> {
  await client.query({ text: `SET LOCAL lock_timeout = '${lockTimeout}'` });
  await lockSchema(client, schema);
}

async function makeOutbox(client: PostgresClient, schema: string): Promise<void> {
  if ((await readMark(client, schema)) === outboxMark) return;
  const statements = outboxStatements(quote(schema), channelOf(schema));
  for (const text of statements) await client.query({ text });
}

async function placeTriggers(
  client: PostgresClient,
  schema: string,
  { rule, table }: Placed,
  installed: readonly Installed[],
): Promise<void> {
  const wanted = triggersOf(rule, table, schema);
  const isWanted = (one: Installed): boolean =>
    one.table === table && wanted.some(({ name }) => name === one.name);
  for (const one of installed)
    if (one.rule === rule.name && !isWanted(one))
      await client.query({ text: `DROP TRIGGER ${quote(one.name)} ON ${one.table}` });
  for (const trigger of wanted) {
    if (isThere(trigger, table, installed)) continue;
    try {
      // One statement and no more, whatever the condition has in it.
      await client.query({ text: trigger.text, queryMode: "extended" } as Query);
    } catch (error) {
      throw refusal(rule, error);
    }
  }
}

/** Whether nothing has to be done. */
async function isInPlace(pool: PostgresPool, schema: string, placed: readonly Placed[]): Promise<boolean> {
  if ((await readMark(pool, schema)) !== outboxMark) return false;
  const installed = await readInstalled(pool, schema);
  return placed.every(({ rule, table }) => {
    const wanted = triggersOf(rule, table, schema);
    const count = installed.filter((one) => one.rule === rule.name).length;
    return count === wanted.length && wanted.every((trigger) => isThere(trigger, table, installed));
  });
}

const isThere = (trigger: Trigger, table: string, installed: readonly Installed[]): boolean =>
  installed.some(
    ({ name, table: on, fingerprint }) =>
      name === trigger.name && on === table && fingerprint === trigger.fingerprint,
  );

/** Finds the tables, in the order in which all who set up lock them. */
async function placeAll(pool: PostgresPool, rules: readonly TableRule[]): Promise<readonly Placed[]> {
  const placed: Placed[] = [];
  for (const rule of rules) placed.push({ rule, table: await findTable(pool, rule) });
  return placed.sort((one, other) => (one.table < other.table ? -1 : 1));
}

async function findTable(pool: PostgresPool, rule: TableRule): Promise<string> {
  const text = `SELECT format('%I.%I', n.nspname, c.relname) AS found
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)`;
  let rows: readonly Row[];
  try {
    rows = (await pool.query({ text, values: [rule.table], types })).rows;
  } catch (error) {
    throw refusal(rule, error);
  }
  if (rows[0] !== undefined) return rows[0].found as string;
  throw new HoldfastError(
    "RULE_INVALID",
    `The rule ${JSON.stringify(rule.name)} watches ${rule.table}, and there is no such table`,
    { details: { rule: rule.name, table: rule.table } },
  );
}

async function readMark(on: Pick<PostgresClient, "query">, schema: string): Promise<string | undefined> {
  const text = "SELECT obj_description(to_regclass($1), 'pg_class') AS mark";
  const { rows } = await on.query({ text, values: [`${quote(schema)}.table_change`], types });
  return rows[0]?.mark as string | undefined;
}

async function hasOutbox(client: PostgresClient, schema: string): Promise<boolean> {
  return ((await readMark(client, schema)) ?? null) !== null;
}

/** The triggers that are there; those of partitions come with their table's. */
async function readInstalled(
  on: Pick<PostgresClient, "query">,
  schema: string,
): Promise<readonly Installed[]> {
  const text = `SELECT t.tgname AS name, t.tgargs AS given, format('%I.%I', n.nspname, c.relname) AS table
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE t.tgfoid = to_regprocedure($1) AND t.tgparentid = 0`;
  const { rows } = await on.query({ text, values: [`${quote(schema)}.note_change()`], types });
  return rows.map(({ name, given, table }) => {
    const [rule = "", fingerprint = ""] = Buffer.from(given as Uint8Array)
      .toString("utf8")
      .split("\0");
    return { rule, fingerprint, name: name as string, table: table as string };
  });
}

/** What the server has against a rule; what it has against anything else stays as it is. */
function refusal(rule: TableRule, error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message?: unknown };
  // Syntax and names, what triggers cannot do, values that cannot be read. Class 42 has rights in it too.
  const isRefused = typeof code === "string" && /^(42|0A|22)/.test(code);
  if (!isRefused) return error;
  return new HoldfastError(
    "RULE_INVALID",
    `The rule ${JSON.stringify(rule.name)} on ${rule.table} cannot be installed: ${message}`,
    { cause: error, details: { rule: rule.name, table: rule.table, state: code } },
  );
}

async function told<Answer>(schema: string, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error, `The outbox of table changes (schema ${schema})`);
  }
}
