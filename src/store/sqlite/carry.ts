/**
 * What earlier formats wrote otherwise within their bytes, carried over while a store is migrated. SQL cannot: the bytes
 * are opened, written as they are now, and every later digest of their journals is chained anew.
 *
 * C1. An entry is carried over only if it follows the one before by the chain it was written with. From the first that
 *     does not, and for bytes that are no JSON (sealed by a user's own seal, or damaged), everything stays as it was: whoever
 *     reads such a run is told STORE_CORRUPT, and the other runs are not touched by it.
 * C2. Snapshots of a journal that was chained anew are let go: they name digests of before. The first step makes another.
 */
import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { Json, JsonObject } from "../../core/json.ts";
import { isHoldfastError } from "../../errors.ts";
import { decode, encode, withChecksum } from "../codec.ts";
import { chain, genesis } from "../journal.ts";

/** What is to be done with a store of a version before the migration that leads on from it. */
export const carries: Readonly<Record<number, (database: DatabaseSync) => void>> = {
  1: addChecksums,
  2: addSeqs,
};

interface Row {
  readonly id: number;
  readonly seq: number;
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** The bytes of an entry as they are written now; undefined if it does not follow `previous`. */
type Rewrite = (row: Row, previous: string) => Uint8Array | undefined;

/** The first format had no checksums, and activities were not packed. */
function addChecksums(database: DatabaseSync): void {
  chainAnew(database, ({ bytes, digest }, previous) =>
    chain(previous, bytes) === digest ? carried(() => withChecksum(bytes)) : undefined,
  );
  const packed = (bytes: Uint8Array) => {
    const summed = withChecksum(bytes);
    const value = decode(summed, "an activity");
    return "body" in (value as JsonObject) ? summed : encode({ body: value });
  };
  rewriteAll(database, "inbox", "bytes", withChecksum);
  rewriteAll(database, "activity", "report", withChecksum);
  rewriteAll(database, "activity", "bytes", packed);
}

/** For a few hours entries of version 2 had no seq, and the chain had it instead. */
function addSeqs(database: DatabaseSync): void {
  chainAnew(database, ({ seq, bytes, digest }, previous) => {
    if (chain(previous, bytes) === digest) return bytes;
    const sum = hash("sha256", bytes, "base64url");
    if (hash("sha256", `${previous}${sum}${seq}`, "base64url") !== digest) return undefined;
    return carried(() => {
      const { body, ...rest } = decode(bytes, `entry ${seq}`) as { readonly body: JsonObject };
      return encode({ body: { seq, ...body }, ...rest } as Json);
    });
  });
}

/** Rows at a time: journals may be longer than memory. */
const rowsPerRead = 1_000;

function chainAnew(database: DatabaseSync, rewrite: Rewrite): void {
  const read = database.prepare(
    "SELECT rowid AS id, seq, digest, bytes FROM entry WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",
  );
  const write = database.prepare("UPDATE entry SET digest = ?, bytes = ? WHERE rowid = ?");
  const runs = database.prepare("SELECT id FROM run ORDER BY id").all() as unknown as { id: number }[];
  for (const { id: run } of runs) {
    let [before, now, seq] = [genesis, genesis, 0];
    for (;;) {
      const rows = read.all(run, seq, rowsPerRead) as unknown as Row[];
      const isWhole = rows.every((row) => {
        const bytes = rewrite(row, before);
        if (bytes === undefined) return false;
        before = row.digest;
        now = chain(now, bytes);
        if (now !== row.digest) write.run(now, bytes, row.id);
        seq = row.seq;
        return true;
      });
      if (!isWhole || rows.length < rowsPerRead) break;
    }
    if (now !== before) letGoOfSnapshots(database, run);
  }
}

function letGoOfSnapshots(database: DatabaseSync, run: number): void {
  database.prepare("DELETE FROM snapshot WHERE run_id = ?").run(run);
  database.prepare("UPDATE run SET snapshot_seq = 0 WHERE id = ?").run(run);
}

function rewriteAll(
  database: DatabaseSync,
  table: "inbox" | "activity",
  column: "bytes" | "report",
  rewrite: (bytes: Uint8Array) => Uint8Array,
): void {
  const write = database.prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`);
  const rows = database.prepare(
    `SELECT rowid AS id, ${column} AS bytes FROM ${table} WHERE ${column} IS NOT NULL`,
  );
  for (const { id, bytes } of rows.all() as unknown as Row[]) {
    const now = carried(() => rewrite(bytes));
    if (now !== undefined) write.run(now, id);
  }
}

/** What comes of bytes; undefined if they are not what they were written as, or not ours to read. */
function carried(rewrite: () => Uint8Array): Uint8Array | undefined {
  try {
    return rewrite();
  } catch (error) {
    if (isHoldfastError(error) && error.code === "STORE_CORRUPT") return undefined;
    throw error;
  }
}
