/** The database as the store asks it: statements by their names, each on its own, and errors in terms of the store. */
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Row } from "../rows.ts";
import { checkServer, inTransaction, type PostgresClient, type PostgresPool, types } from "./connect.ts";
import { corrupt, isUndone, notOpen, storeError } from "./errors.ts";
import { HostsPool } from "./hosts.ts";
import { Kept } from "./kept.ts";
import type { Statements } from "./lease.ts";
import { migrate, quote } from "./migrate.ts";
import type { PostgresOptions } from "./options.ts";
import { createPool } from "./pool.ts";
import { onPrimary, type Queries, queriesFor } from "./queries.ts";
import type { Ask } from "./scan.ts";
import { migrationsInto } from "./schema.ts";

/** From how many connections on a pool can do without one. */
const sparedFrom = 3;

export class Database implements Statements {
  readonly clock: "database" | "caller";
  /** Whether transactions must be on disk when they end. */
  readonly full: boolean;
  /** The schema's name, quoted. */
  readonly schema: string;
  /** What it is called in errors. */
  readonly name: string;
  pool: PostgresPool | undefined;
  /** Where steps are committed that only append: the pool, or one connection of it where it is ours and goes to one server. */
  appending: Pick<PostgresPool, "query"> | undefined;
  /** One more connection, where the pool is ours. */
  #spare: Promise<PostgresPool> | undefined;
  readonly #server: string | PostgresPool;
  readonly #options: PostgresOptions;
  readonly #queries: Queries;

  constructor(server: string | PostgresPool, options: PostgresOptions) {
    const { schema = "holdfast", clock = "database", synchronous = "full" } = options;
    this.#server = server;
    this.#options = options;
    this.clock = clock;
    this.full = synchronous === "full";
    this.schema = quote(schema);
    this.name = `The PostgreSQL store (schema ${schema})`;
    this.#queries = queriesFor(this.schema);
  }

  /** Connects and brings the schema up to date; `moved` is told when another server has taken the place of the one before. */
  async open(moved: () => void): Promise<void> {
    const { schema = "holdfast", partitions = 1 } = this.#options;
    const pool = typeof this.#server === "string" ? await createPool(this.#server, moved) : this.#server;
    this.pool = pool;
    this.appending = typeof this.#server === "string" && !(pool instanceof HostsPool) ? new Kept(pool) : pool;
    try {
      checkServer((await this.ask("readServer", []))[0], this.name, this.full);
      await migrate(pool, schema, migrationsInto(partitions));
    } catch (error) {
      await this.close();
      throw storeError(error, this.name);
    }
  }

  async close(): Promise<void> {
    const pools = [this.pool, this.#spare];
    if (this.appending instanceof Kept) this.appending.close();
    this.appending = undefined;
    this.pool = undefined;
    this.#spare = undefined;
    if (typeof this.#server === "string") for (const pool of pools) await (await pool)?.end();
  }

  /** A connection of the pool, for whoever keeps it; rejects where the pool has hardly one to spare. */
  async connect(): Promise<PostgresClient> {
    if (this.pool === undefined) throw notOpen(this.name);
    const { max = Number.POSITIVE_INFINITY } = this.pool.options ?? {};
    if (max >= sparedFrom) return this.pool.connect();
    throw new HoldfastError(
      "STORE_UNAVAILABLE",
      `${this.name} has a pool of ${max}; give it ${sparedFrom} connections or more, or a URL to listen at`,
    );
  }

  readonly ask = (query: keyof Queries, values: readonly unknown[]): Promise<readonly Row[]> =>
    this.query(onPrimary(this.#queries[query]), values);

  /** As `ask`, for what must not wait until all that waits for a connection has had its turn. */
  readonly askFirst = async (query: keyof Queries, values: readonly unknown[]): Promise<readonly Row[]> => {
    if (this.pool !== undefined && typeof this.#server === "string") this.#spare ??= createPool(this.#server);
    return this.query(onPrimary(this.#queries[query]), values, await this.#spare);
  };

  /** Calls a function that writes; each takes first whether its transaction must be on disk. */
  readonly write = (query: keyof Queries, values: readonly unknown[]): Promise<readonly Row[]> =>
    this.query(this.#queries[query], [this.full, ...values]);

  /** One statement, once more if the database undid it in favour of another. */
  async query(text: string, values: readonly unknown[], pool = this.pool): Promise<readonly Row[]> {
    if (pool === undefined) throw notOpen(this.name);
    for (let attempt = 1; ; attempt++) {
      try {
        return (await pool.query({ text, values: [...values], types })).rows;
      } catch (error) {
        if (!isUndone(error) || attempt >= limits.undoneAttemptsMax) throw storeError(error, this.name);
      }
    }
  }

  /** Several statements that see the same state of the store and take effect together; for tools only. */
  async transact<Answer>(work: (ask: Ask) => Promise<Answer>): Promise<Answer> {
    if (this.pool === undefined) throw notOpen(this.name);
    try {
      return await inTransaction(this.pool, (client) =>
        work(async (text, values) => (await client.query({ text, values: [...values], types })).rows),
      );
    } catch (error) {
      throw storeError(error, this.name);
    }
  }

  /** Reads rows into records; what cannot be read is damage. */
  check<Answer>(read: () => Answer): Answer {
    try {
      return read();
    } catch (error) {
      throw error instanceof SyntaxError || error instanceof RangeError ? corrupt(this.name, error) : error;
    }
  }
}
