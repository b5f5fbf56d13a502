/** From whatever version a database has to this one: forward only, all or nothing, and never somebody else's. */
import type { DatabaseSync } from "node:sqlite";
import { HoldfastError } from "../../errors.ts";
import { carries } from "./carry.ts";
import { applicationId, migrations } from "./schema.ts";

/**
 * The version; throws STORE_FOREIGN for another program's database, STORE_NEWER for a later one's and STORE_CORRUPT for one that
 * has no version any Holdfast writes. Changes nothing.
 */
export function identify(database: DatabaseSync, path: string, newest: number = migrations.length): number {
  const id = readPragma(database, "application_id");
  const version = readPragma(database, "user_version");
  if (id !== applicationId && (id !== 0 || version !== 0 || hasTables(database))) {
    throw new HoldfastError(
      "STORE_FOREIGN",
      `The database ${path} belongs to another program; give the store a path of its own`,
      { details: { path } },
    );
  }
  if (version > newest) {
    throw new HoldfastError(
      "STORE_NEWER",
      `The store ${path} has version ${version} and this Holdfast knows ${newest}; use the newer Holdfast that wrote it`,
      { details: { path, version, newest } },
    );
  }
  if (version < 0) {
    throw new HoldfastError(
      "STORE_CORRUPT",
      `The store ${path} has version ${version}, which no Holdfast writes: it is damaged; restore it from a backup`,
      { details: { path, version } },
    );
  }
  return version;
}

/** Brings a database to the newest version in one transaction; one that has it already is left alone. */
export function migrate(database: DatabaseSync, path: string, steps: readonly string[] = migrations): void {
  if (readPragma(database, "user_version") === steps.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have migrated, even further, between the first look and the lock.
    for (let version = identify(database, path, steps.length); version < steps.length; version++) {
      carries[version]?.(database);
      database.exec(steps[version] as string);
    }
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps.length}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function readPragma(database: DatabaseSync, name: "application_id" | "user_version"): number {
  return database.prepare(`PRAGMA ${name}`).get()?.[name] as number;
}

function hasTables(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== undefined;
}
