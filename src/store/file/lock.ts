/**
 * The lock: one process at a time has a directory open. Node cannot lock files, but the SQLite that comes with it does:
 * an exclusive transaction on an empty database is a lock of the operating system's. It ends with its process however
 * that ends, cannot be mistaken for that of a process whose number was given to another one, holds between containers
 * that share a disk, and writes nothing: the file stays empty.
 */
import { DatabaseSync } from "node:sqlite";
import { alreadyOpen, cannotLock } from "./errors.ts";

export interface Lock {
  release(): void;
}

/** Takes the lock in this file, or throws STORE_OWNED at once. */
export function takeLock(path: string, directory: string): Lock {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    // A journal in memory, since the usual one would be a second file.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database?.close();
    throw isBusy(error) ? alreadyOpen(directory) : cannotLock(directory, error);
  }
  const held = database;
  return { release: () => held.close() };
}

function isBusy(error: unknown): boolean {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" && (errcode & 0xff) === 5;
}
