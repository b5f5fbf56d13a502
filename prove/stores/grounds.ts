/**
 * The ground that stores stand on: places that are empty, one of each kind. PostgreSQL is a real server; what it and the
 * others write need not survive here, so nothing is synced that does not have to be.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { OpenStore } from "../../src/store/conformance/world.ts";
import { fileStore } from "../../src/store/file/store.ts";
import { memory } from "../../src/store/memory/store.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { type Server, startServer } from "../../test/postgres/server.ts";
import type { Place } from "../../test/runtime/stores.ts";

/** The stores that must do as the memory store does. */
export const rivals = ["SQLite", "file", "PostgreSQL"] as const;
export type StoreName = "memory" | (typeof rivals)[number];

/** A database with the schema in it and nothing else: copying it is faster than making another. */
const template = "holdfast_empty";

export class Grounds {
  readonly #folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "holdfast-stores-"));
  readonly #server: Server;
  #places = 0;

  static async open(): Promise<Grounds> {
    const grounds = new Grounds(await startServer({ fsync: "off", synchronous_commit: "off" }));
    await grounds.#query(`CREATE DATABASE ${template}`);
    const pool = grounds.#pool(template);
    const store = onServer(pool);
    await store.open();
    await store.close();
    await pool.end();
    return grounds;
  }

  private constructor(server: Server) {
    this.#server = server;
  }

  async close(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
    await this.#server.stop();
  }

  /** An empty place for stores of this kind. */
  async place(name: StoreName): Promise<Place> {
    const number = ++this.#places;
    if (name === "memory") {
      const store = memory();
      return { connect: () => store, dispose: async () => {} };
    }
    if (name === "PostgreSQL") return this.#database(`place_${number}`);
    const path = join(this.#folder, String(number));
    const connect = (): Store =>
      name === "file" ? fileStore({ directory: path }) : sqlite(path, { synchronous: "normal" });
    const dispose = async () => {
      for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { recursive: true, force: true });
    };
    return { connect, dispose };
  }

  async #database(name: string): Promise<Place> {
    await this.#query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    const pool = this.#pool(name);
    return {
      connect: () => onServer(pool),
      dispose: async () => {
        await pool.end();
        await this.#query(`DROP DATABASE ${name} WITH (FORCE)`);
      },
    };
  }

  #pool(database: string): pg.Pool {
    const pool = new pg.Pool({ connectionString: this.#server.url(database), max: 4 });
    pool.on("error", () => {});
    return pool;
  }

  async #query(text: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.#server.url("postgres") });
    await client.connect();
    await client.query(text).finally(() => client.end());
  }
}

const onServer = (pool: pg.Pool): Store =>
  postgres(pool, { clock: "caller", synchronous: "server", shared: false });

/** A store on a place, to be opened again and again. */
export async function openOn(place: Place): Promise<OpenStore> {
  let store = place.connect();
  await store.open();
  return {
    store,
    reopen: async () => {
      await store.close();
      store = place.connect();
      await store.open();
      return store;
    },
    dispose: async () => {
      await store.close();
      await place.dispose();
    },
  };
}
