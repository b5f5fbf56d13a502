/** `node:sqlite` by hand, as both raw contestants use it: durable connections, and transactions shared by one turn. */
import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** A connection whose commits survive power loss. */
export function connect(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5_000 });
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  if (database.prepare("PRAGMA synchronous").get()?.synchronous !== 2)
    throw new Error("SQLite does not sync every commit");
  return database;
}

/** Gives the log of an open database the length that it will have in the end, 1,000 pages and some. */
export function lengthenLog(path: string): void {
  const log = openSync(`${path}-wal`, "r+");
  const { size } = fstatSync(log);
  const zeros = new Uint8Array(Math.max(0, 4_325_376 - size));
  writeSync(log, zeros, 0, zeros.length, size);
  closeSync(log);
}

/**
 * Writes that became ready in one turn of the event loop share a transaction, as a good program would do it by hand.
 * One that is alone is its own transaction, which SQLite makes without being told.
 */
export function groupWrites(database: DatabaseSync): (write: () => void) => Promise<void> {
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  let waiting: { write: () => void; done: () => void }[] = [];
  const flush = () => {
    const group = waiting;
    waiting = [];
    if (group.length > 1) begin.run();
    for (const { write } of group) write();
    if (group.length > 1) commit.run();
    for (const { done } of group) done();
  };
  return (write) =>
    new Promise((done) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ write, done });
    });
}
