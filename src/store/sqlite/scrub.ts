/**
 * Overwriting what was deleted. SQLite marks rows as free and leaves their bytes where they are, so the file is written anew with
 * what is left (`VACUUM`), and the write-ahead log is emptied. It takes as long as the file is large, and the process does nothing
 * else meanwhile.
 */
import type { DatabaseSync } from "node:sqlite";
import { HoldfastError } from "../../errors.ts";

export function scrubFile(database: DatabaseSync, path: string): void {
  database.exec("VACUUM");
  const { busy } = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
  if (busy === 0) return;
  throw new HoldfastError(
    "STORE_UNAVAILABLE",
    `The log of ${path} cannot be emptied while somebody reads it; scrub it again once they have done`,
  );
}
