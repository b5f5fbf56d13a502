/** Opening the file: what every connection to a store must have set before it is used. */
import { DatabaseSync } from "node:sqlite";
import { showValue } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { identify, migrate } from "./migrate.ts";
import { migrations } from "./schema.ts";

export interface SqliteOptions {
  /**
   * `full`, unless told otherwise: what is committed survives power loss. `normal` survives the end of the process, but a
   * power cut can take back the newest commits; it is many times as fast for single steps.
   */
  readonly synchronous?: "full" | "normal";
}

/** A connection to a store of the newest version. */
export function connect(path: string, { synchronous = "full" }: SqliteOptions = {}): DatabaseSync {
  if (typeof path !== "string" || path.includes("\0")) {
    throw new HoldfastError(
      "OPTIONS_INVALID",
      `Write sqlite(path), the path of a file as text that systems can open: what was given is ${showValue(path)}`,
    );
  }
  const database = new DatabaseSync(path, {
    timeout: limits.busyMsMax,
    enableForeignKeyConstraints: false,
    allowExtension: false,
  });
  try {
    // First of all, since the journal mode is written into the file, and the file may be somebody else's.
    const version = identify(database, path);
    configure(database, path, synchronous);
    if (version !== migrations.length) migrate(database, path);
    // A file that can only be read is told now, not by the first commit.
    database.exec("BEGIN IMMEDIATE; UPDATE lease SET epoch = epoch; ROLLBACK");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function configure(database: DatabaseSync, path: string, synchronous: "full" | "normal"): void {
  const mode = database.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode;
  if (mode !== "wal") {
    throw new HoldfastError(
      "STORE_UNAVAILABLE",
      `The store ${path} cannot have a write-ahead log where it is (journal mode ${mode}); use a file on a local disk`,
      { details: { path, mode } },
    );
  }
  database.exec(`
    PRAGMA synchronous = ${synchronous === "full" ? "FULL" : "NORMAL"};
    PRAGMA fullfsync = ${synchronous === "full" ? "ON" : "OFF"};
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA journal_size_limit = ${limits.logBytesMax};
    PRAGMA cell_size_check = ON;
    PRAGMA trusted_schema = OFF;
  `);
}
