/** Databases for tests, each of its own on the server that all of them share. */
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import pg from "pg";
import { inject } from "vitest";
import { type PostgresOptions, postgres } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import type { Answer } from "./setup.ts";

export interface Database {
  readonly url: string;
  /** The folder of the server's socket. */
  readonly socketFolder: string;
  readonly pool: pg.Pool;
  /** Runs a statement as somebody who looks on. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

/** An empty database. Throws what to install if no server can be had. */
export async function createDatabase(): Promise<Database> {
  const answer = await ask(inject("postgresPort"));
  if ("problem" in answer) throw new Error(answer.problem);
  const { socketFolder } = answer;
  const urlOf = (name: string): string =>
    `postgres://holdfast@localhost/${name}?host=${encodeURIComponent(socketFolder)}`;
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await once(urlOf("postgres"), `CREATE DATABASE ${name}`);
  const url = urlOf(name);
  const pool = createPool(url);
  return {
    url,
    socketFolder,
    pool,
    query: async (text, values) => (await pool.query(text, values)).rows,
    drop: async () => {
      await pool.end();
      await once(urlOf("postgres"), `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** A pool of `pg`. Its connections may still be closing when their database goes, which is nobody's fault. */
export function createPool(url: string, max = 10): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max });
  pool.on("error", () => {});
  return pool;
}

/** Returns once so many connections to the database wait for a lock, or when it is no use to wait for that. */
export async function waiters(
  { query }: Database,
  wanted: number,
  isVain: () => boolean = () => false,
): Promise<void> {
  const text = `SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  for (let count = 0; count < wanted && !isVain(); ) count = (await query(text))[0]?.count as number;
}

/**
 * A store that is empty, and how to come back to it: all that the conformance suite and other suites need. One at a time,
 * since they share a schema: making one takes longer than most tests.
 */
export async function openStore(
  { pool, query }: Database,
  options: PostgresOptions = {},
): Promise<{ store: Store; reopen(): Promise<Store>; dispose(): Promise<void> }> {
  const create = async (): Promise<Store> => {
    const store = postgres(pool, { clock: "caller", ...options });
    await store.open();
    return store;
  };
  let store = await create();
  await query(empty);
  const reopen = async (): Promise<Store> => {
    await store.close();
    store = await create();
    return store;
  };
  return { store, reopen, dispose: () => store.close() };
}

/** Stores on one place, and when they have nothing more to do. */
export interface FreshStores {
  (): Store;
  /** Returns once no call is under way and none follows at once: a server takes time that a virtual clock does not see. */
  settled(): Promise<void>;
}

/** Stores on one place that is emptied when the first of them is opened, for suites that make stores before they need them. */
export function freshStores(database: () => Database, options: PostgresOptions = {}): FreshStores {
  let isFresh = true;
  let underWay = 0;
  const create = (): Store => {
    const { pool, query } = database();
    const store = postgres(pool, { clock: "caller", shared: false, ...options });
    const verbs: Record<string | symbol, unknown> = {
      open: async () => {
        await store.open();
        if (isFresh) await query(empty);
        isFresh = false;
      },
    };
    return new Proxy(store, {
      get: (_, name: keyof Store) => {
        const verb = (verbs[name] ?? store[name]) as ((...given: unknown[]) => Promise<unknown>) | undefined;
        if (verb === undefined) return undefined;
        return (...given: unknown[]) => {
          underWay++;
          return verb.apply(store, given).finally(() => underWay--);
        };
      },
    });
  };
  const settled = async (): Promise<void> => {
    for (let turns = 0; turns < 5; turns++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (underWay > 0) turns = 0;
    }
  };
  return Object.assign(create, { settled });
}

const empty = [
  ...["run", "attribute", "entry", "snapshot", "content", "inbox", "seen_key", "dead_letter", "activity"],
  ...["chunk", "document", "removal"],
]
  .map((table) => `DELETE FROM holdfast.${table};`)
  .concat("DELETE FROM holdfast.lease WHERE id = 2;")
  .concat("UPDATE holdfast.document_removed SET version = 0;")
  .concat("UPDATE holdfast.lease SET owner = NULL, epoch = 0, taken_at = 0, until = 0, outages = '[]'")
  .join("\n");

async function once(url: string, text: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

async function ask(port: number): Promise<Answer> {
  let said = "";
  for await (const piece of connect(port, "127.0.0.1")) said += piece;
  return JSON.parse(said);
}
