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
  return {
    url,
    socketFolder,
    query: (text, values) => once(url, text, values),
    drop: async () => void (await once(urlOf("postgres"), `DROP DATABASE ${name} WITH (FORCE)`)),
  };
}

let schemas = 0;

/** A store in a schema of its own, and how to come back to it: all that the conformance suite and other suites need. */
export async function openStore(
  database: Database,
  options: PostgresOptions = {},
): Promise<{ store: Store; reopen(): Promise<Store>; dispose(): Promise<void> }> {
  const schema = `s${schemas++}`;
  const create = (): Store => postgres(database.url, { clock: "caller", schema, ...options });
  let store = create();
  await store.open();
  return {
    store,
    reopen: async () => {
      await store.close();
      store = create();
      await store.open();
      return store;
    },
    dispose: () => store.close(),
  };
}

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
