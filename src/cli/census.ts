/** Who shares a PostgreSQL store and what is due in it, for those who look on without being one of them. */
import { limits } from "../limits.ts";
import type { MemberRow } from "../store/members.ts";
import { type PostgresClient, type PostgresPool, types } from "../store/postgres/connect.ts";
import { storeError } from "../store/postgres/errors.ts";
import { readRegister } from "../store/postgres/lease.ts";
import { identify, quote } from "../store/postgres/migrate.ts";
import { createPool } from "../store/postgres/pool.ts";
import { type Queries, queriesFor } from "../store/postgres/queries.ts";
import { migrations } from "../store/postgres/schema.ts";
import type { Row } from "../store/rows.ts";
import { allShards } from "../store/shard.ts";

export interface Counted {
  readonly members: readonly MemberRow[];
  /** Who owns the whole store, if somebody does. */
  readonly owner: string | undefined;
  /** The time by the database's clock, which leases are measured by. */
  readonly now: number;
}

export class Census {
  readonly schema: string;
  readonly #pool: PostgresPool;
  readonly #queries: Queries;

  constructor(pool: PostgresPool, schema = "holdfast") {
    this.schema = schema;
    this.#pool = pool;
    this.#queries = queriesFor(quote(schema));
  }

  static async open(url: string, schema?: string): Promise<Census> {
    return new Census(await createPool(url), schema);
  }

  /** The version of the store, 0 where there is none yet; throws STORE_FOREIGN and STORE_NEWER. */
  version(): Promise<number> {
    return identify(this.#pool, this.schema);
  }

  /** Whether the store is there and of the version this program knows, so that it can be asked. */
  async isReady(): Promise<boolean> {
    return (await this.version()) === migrations.length;
  }

  async members(): Promise<Counted> {
    const ask = (...given: Parameters<Census["ask"]>) => this.ask(...given);
    const { register, clock } = await readRegister({ ask, clock: "database" }, 0);
    return { members: register.members, owner: register.lease.owner, now: clock };
  }

  /** Runs that have had something to do for so long, counted no further than `limits.dueCountedMax`. */
  async due(forMs = 0): Promise<number> {
    const now = Date.now();
    return (await this.ask("dueIn", [allShards, now - forMs, now, limits.dueCountedMax])).length;
  }

  /** One of the store's own statements. */
  ask(query: keyof Queries, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.query(this.#queries[query], values);
  }

  async query(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    try {
      return (await this.#pool.query({ text, values: [...values], types })).rows;
    } catch (error) {
      throw storeError(error, `The PostgreSQL store (schema ${this.schema})`);
    }
  }

  /** A connection of its own, to be released. */
  connect(): Promise<PostgresClient> {
    return this.#pool.connect();
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
