/** Opening the file: what every connection to a store must have set before it is used. */
import { statSync } from "node:fs";
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
export function connect(path: string, options: SqliteOptions = {}): DatabaseSync {
  const synchronous = checkedOptions(path, options);
  checkNotEmptied(path);
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

/** How durable commits are to be; throws OPTIONS_INVALID. A word that is not known must not be taken for the weaker one. */
function checkedOptions(path: unknown, options: SqliteOptions | null): "full" | "normal" {
  const usage = (problem: string, given: unknown) =>
    new HoldfastError("OPTIONS_INVALID", `Write sqlite(${problem}: what was given is ${showValue(given)}`);
  if (typeof path !== "string" || path.includes("\0"))
    throw usage("path), the path of a file as text that systems can open", path);
  const { synchronous = "full" } = Object(options) as SqliteOptions;
  if (typeof options !== "object" || options === null || !["full", "normal"].includes(synchronous))
    throw usage('path, { synchronous: "full" or "normal" })', options);
  return synchronous;
}

/** Of an empty file SQLite makes a new database, and throws away the log that would tell that it was another. */
function checkNotEmptied(path: string): void {
  if (bytesOf(path) !== 0 || !bytesOf(`${path}-wal`)) return;
  throw new HoldfastError(
    "STORE_CORRUPT",
    `The store ${path} was cut to no bytes, and its log is still there; restore it from a backup, or move both away to begin anew`,
    { details: { path } },
  );
}

/** How long a file is; undefined where there is none, and where SQLite will say why it cannot be reached. */
function bytesOf(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch {
    return undefined;
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
