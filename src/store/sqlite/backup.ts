/**
 * The copy of a whole store while others write it.
 *
 * SQLite's online backup begins anew whenever another connection writes between two of its steps, so with steps of a few
 * pages it never ends under a steady writer. Here it is one step: a reader of the write-ahead log, which neither waits for
 * writers nor makes them wait, in a thread of its own. The log grows meanwhile, and shrinks again after it.
 */
import { existsSync, rmSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { HoldfastError } from "../../errors.ts";
import { corrupt } from "./errors.ts";
import { integrityOf } from "./integrity.ts";

/** More pages than any file has. */
const allPages = 2 ** 31 - 1;

export async function copyTo(path: string, destination: string): Promise<void> {
  if (existsSync(destination)) {
    throw new HoldfastError(
      "STORE_UNAVAILABLE",
      `The store ${path} cannot be copied to ${destination}: there is something already`,
      { details: { path, destination } },
    );
  }
  const source = new DatabaseSync(path, { readOnly: true });
  try {
    await backup(source, destination, { rate: allPages });
    const problem = await integrityOf(destination);
    if (problem !== undefined) throw corrupt(destination, problem);
  } catch (error) {
    for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(destination + suffix, { force: true });
    throw error;
  } finally {
    source.close();
  }
}
