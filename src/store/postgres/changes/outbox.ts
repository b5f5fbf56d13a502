/**
 * The outbox of table changes, from the side of whoever delivers them.
 *
 * O1. Numbers become visible out of order, since each is given inside its own transaction. So nobody remembers how far they
 *     have come: a change is there until it is settled, and what is there is taken from the lowest number on.
 * O2. Changes to one row of a table are numbered in the order of their commits, since the second waits for the first.
 * O3. Whose turn it is only saves work. Two who deliver at once both go from low to high, and a run takes a key once.
 */
import type { JsonObject } from "../../../core/json.ts";
import { limits } from "../../../limits.ts";
import type { Row } from "../../rows.ts";
import { type PostgresPool, types } from "../connect.ts";
import { isUndone, storeError } from "../errors.ts";
import { quote } from "../migrate.ts";
import { readRow } from "./columns.ts";
import type { Operation } from "./rule.ts";
import { channelOf } from "./schema.ts";

/** Bytes that are taken at a time, unless a single change has more. */
const bytesMax = 16 * 1024 * 1024;

/** A change as it was noted. */
export interface NotedChange {
  readonly number: number;
  readonly rule: string;
  readonly operation: Operation;
  /** The time of its transaction, in microseconds since 1970. A number may come back after a restore, but not with its time. */
  readonly atMicros: number;
  readonly old: JsonObject | null;
  readonly new: JsonObject | null;
}

export interface FailedRow extends NotedChange {
  /** In milliseconds since 1970. */
  readonly failedAt: number;
  readonly reason: JsonObject;
}

export type Taken =
  | { readonly outcome: "empty" }
  | { readonly outcome: "theirs"; readonly holder: string; readonly forMs: number }
  | { readonly outcome: "ours"; readonly changes: readonly NotedChange[] };

export interface Counted {
  readonly rule: string;
  readonly waiting: number;
  readonly failed: number;
}

export interface OutboxOptions {
  readonly pool: PostgresPool;
  readonly schema: string;
  /** The quoted tables of the rules whose changes are taken. */
  readonly tables: ReadonlyMap<string, string>;
}

export class Outbox {
  readonly #pool: PostgresPool;
  readonly #schema: string;
  readonly #tables: ReadonlyMap<string, string>;
  readonly #rules: readonly string[];
  /** Those with the same rules take turns. */
  readonly #turn: string;

  constructor({ pool, schema, tables }: OutboxOptions) {
    this.#pool = pool;
    this.#schema = schema;
    this.#tables = tables;
    this.#rules = [...tables.keys()].sort();
    this.#turn = JSON.stringify(this.#rules);
  }

  /** The next changes, in order, if it is the holder's turn; it then is for so long. Where nothing waits, nothing is written. */
  async take(holder: string, turnMs: number, limit: number): Promise<Taken> {
    const turn = [this.#turn, holder, turnMs, this.#rules];
    const [answer] = await this.#ask(takeTurn(quote(this.#schema)), turn);
    if (!answer?.waiting) return { outcome: "empty" };
    if (!answer.ours) {
      const { holder: other, for_ms: forMs } = answer as { holder: string | null; for_ms: number | null };
      return { outcome: "theirs", holder: other ?? "", forMs: Math.max(0, forMs ?? 0) };
    }
    const rows = await this.#ask(readWaiting(quote(this.#schema)), [this.#rules, limit, bytesMax]);
    return { outcome: "ours", changes: await this.#read(rows) };
  }

  /** Forgets what was delivered, and puts aside what failed, with the reason. */
  async settle(
    delivered: readonly number[],
    failed: readonly { readonly number: number; readonly reason: JsonObject }[],
  ): Promise<void> {
    const here = quote(this.#schema);
    const text = `WITH gone AS (DELETE FROM ${here}.table_change WHERE number = ANY ($1) RETURNING *)
      INSERT INTO ${here}.failed_change (number, at, rule, operation, old, new, reason)
        SELECT g.number, g.at, g.rule, g.operation, g.old, g.new, f.reason
        FROM gone g JOIN unnest($2::int8[], $3::json[]) f(number, reason) ON f.number = g.number
        ON CONFLICT (number) DO NOTHING`;
    const numbers = failed.map(({ number }) => number);
    const reasons = failed.map(({ reason }) => JSON.stringify(reason));
    await this.#ask(text, [[...delivered, ...numbers], numbers, reasons]);
  }

  /** Lets the others have their turn. */
  async release(holder: string): Promise<void> {
    const text = `UPDATE ${quote(this.#schema)}.change_turn SET until = clock_timestamp() WHERE holder = $1`;
    await this.#ask(text, [holder]);
  }

  /** Asks to be woken from now on, for so long or until somebody takes a turn. What came before must be looked for again. */
  async sleep(holder: string, forMs: number): Promise<void> {
    const text = `INSERT INTO ${quote(this.#schema)}.change_turn (rules, names, holder, until, asleep_until)
      VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp() + $4 * interval '1 millisecond')
      ON CONFLICT (rules) DO UPDATE SET asleep_until = EXCLUDED.asleep_until`;
    await this.#ask(text, [this.#turn, this.#rules, holder, forMs]);
  }

  /** What failed, in order, of one rule or of all. */
  async readFailed(after: number, limit: number, rule?: string): Promise<readonly FailedRow[]> {
    const text = `SELECT ${columns}, extract(epoch FROM failed_at)::float8 * 1000 AS failed_at, reason
      FROM ${quote(this.#schema)}.failed_change
      WHERE number > $1 AND ($3::text IS NULL OR rule = $3) ORDER BY number LIMIT $2`;
    const rows = await this.#ask(text, [after, limit, rule ?? null]);
    const read = await this.#read(rows);
    return read.map((change, index) => {
      const { failed_at: failedAt, reason } = rows[index] as { failed_at: number; reason: JsonObject };
      return { ...change, failedAt, reason };
    });
  }

  /** Writes another reason why one failed. */
  async failAgain(number: number, reason: JsonObject): Promise<void> {
    const text = `UPDATE ${quote(this.#schema)}.failed_change SET reason = $2, failed_at = now() WHERE number = $1`;
    await this.#ask(text, [number, JSON.stringify(reason)]);
  }

  async removeFailed(number: number): Promise<void> {
    await this.#ask(`DELETE FROM ${quote(this.#schema)}.failed_change WHERE number = $1`, [number]);
  }

  /** How many wait and how many failed, by rule. */
  async count(): Promise<readonly Counted[]> {
    const here = quote(this.#schema);
    const text = `SELECT rule, sum(waiting)::int8 AS waiting, sum(failed)::int8 AS failed FROM (
        SELECT rule, count(*) AS waiting, 0 AS failed FROM ${here}.table_change GROUP BY rule
        UNION ALL SELECT rule, 0, count(*) FROM ${here}.failed_change GROUP BY rule) counted
      GROUP BY rule ORDER BY rule`;
    return (await this.#ask(text, [])) as unknown as readonly Counted[];
  }

  get channel(): string {
    return channelOf(this.#schema);
  }

  /** Says something on the channel, to find out whether it is heard. */
  async notify(text: string): Promise<void> {
    await this.#ask("SELECT pg_notify($1, $2)", [this.channel, text]);
  }

  async #read(rows: readonly Row[]): Promise<readonly NotedChange[]> {
    if (rows.length === 0) return [];
    const exact = await this.#readExact();
    const none: ReadonlySet<string> = new Set();
    return rows.map((row) => {
      const { number, rule, operation, at } = row as { number: number; rule: string } & Row;
      const read = (text: unknown): JsonObject => readRow(text as string, exact.get(rule) ?? none);
      return {
        number,
        rule,
        operation: operation as Operation,
        atMicros: at as number,
        old: operation === "insert" ? null : read(row.old),
        new: operation === "delete" ? null : read(row.new),
      };
    });
  }

  /** The columns that hold bigint or numeric as the tables are now, by rule. */
  async #readExact(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const rows = await this.#ask(exactColumns, [[...this.#tables.keys()], [...this.#tables.values()]]);
    const columnsOf = (rule: string) => rows.filter((row) => row.rule === rule);
    return new Map(
      this.#rules.map((rule) => [rule, new Set(columnsOf(rule).map(({ name }) => name as string))]),
    );
  }

  /** One statement, once more if the database undid it in favour of another. */
  async #ask(text: string, values: unknown[]): Promise<readonly Row[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#pool.query({ text, values, types })).rows;
      } catch (error) {
        if (!isUndone(error) || attempt >= limits.undoneAttemptsMax)
          throw storeError(error, `The outbox of table changes (schema ${this.#schema})`);
      }
    }
  }
}

/** A change, its rows as text: a driver's JSON would have lost digits before anybody looks. */
const columns = `number, rule, operation, (extract(epoch FROM at) * 1000000)::int8 AS at,
  old::text AS old, new::text AS new`;

const takeTurn = (schema: string): string => `
  WITH waiting AS (SELECT EXISTS (SELECT 1 FROM ${schema}.table_change WHERE rule = ANY ($4::text[])) AS present),
  turn AS (
    INSERT INTO ${schema}.change_turn AS t (rules, names, holder, until)
      SELECT $1, $4, $2, clock_timestamp() + $3 * interval '1 millisecond' FROM waiting WHERE present
      ON CONFLICT (rules) DO UPDATE SET holder = EXCLUDED.holder, until = EXCLUDED.until, asleep_until = NULL
        WHERE t.holder = EXCLUDED.holder OR t.until <= clock_timestamp()
      RETURNING 1)
  SELECT present AS waiting, EXISTS (SELECT 1 FROM turn) AS ours, t.holder,
      extract(epoch FROM t.until - clock_timestamp())::float8 * 1000 AS for_ms
    FROM waiting LEFT JOIN ${schema}.change_turn t ON t.rules = $1`;

const readWaiting = (schema: string): string => `
  SELECT ${columns} FROM (
    SELECT *, row_number() OVER in_order AS place,
        sum(coalesce(pg_column_size(old), 0) + coalesce(pg_column_size(new), 0)) OVER in_order AS size
      FROM (SELECT * FROM ${schema}.table_change WHERE rule = ANY ($1) ORDER BY number LIMIT $2) next
      WINDOW in_order AS (ORDER BY number)) measured
    WHERE place = 1 OR size <= $3 ORDER BY number`;

const exactColumns = `
  WITH RECURSIVE part AS (
    SELECT g.rule, a.attname AS name, a.atttypid AS type
      FROM unnest($1::text[], $2::text[]) g(rule, place)
      JOIN pg_attribute a ON a.attrelid = to_regclass(g.place) AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT p.rule, p.name, CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.typelem END
      FROM part p JOIN pg_type t ON t.oid = p.type WHERE t.typtype = 'd' OR t.typcategory = 'A')
  SELECT rule, name FROM part WHERE type IN ('int8'::regtype, 'numeric'::regtype)`;
