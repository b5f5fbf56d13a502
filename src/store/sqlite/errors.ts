/**
 * From SQLite's result codes to the registry's, decided by number and never by text. What is not in the table is a bug
 * of ours and stays as it is.
 */
import { type ErrorCode, HoldfastError } from "../../errors.ts";

/** By primary result code: which of our codes it is, and what happened and what to do, after the file's name. */
const byResult: Readonly<Record<number, { readonly code: ErrorCode; readonly problem: string }>> = {
  1: {
    code: "STORE_CORRUPT",
    problem: "does not have the tables it should have; restore it from a backup",
  },
  3: {
    code: "STORE_UNAVAILABLE",
    problem: "may not be used by this process; give it the right to read and write the file and its folder",
  },
  5: {
    code: "STORE_UNAVAILABLE",
    problem: "is being written by another process that does not finish; try again, or find and stop it",
  },
  6: {
    code: "STORE_UNAVAILABLE",
    problem: "is in use by another statement of this process; try again",
  },
  7: { code: "STORE_UNAVAILABLE", problem: "needs more memory than there is; free some and try again" },
  8: {
    code: "STORE_UNAVAILABLE",
    problem: "can only be read; give this process the right to write the file and its folder",
  },
  10: {
    code: "STORE_UNAVAILABLE",
    problem: "could not be read or written; check the disk it is on, make room if it is full, then try again",
  },
  11: { code: "STORE_CORRUPT", problem: "is damaged; restore it from a backup" },
  13: {
    code: "STORE_UNAVAILABLE",
    problem: "cannot grow: the disk is full. Nothing was changed; make room and try again",
  },
  14: {
    code: "STORE_UNAVAILABLE",
    problem: "cannot be opened; check that its folder exists and that the path is not a folder itself",
  },
  15: { code: "STORE_UNAVAILABLE", problem: "is locked in a way its file system cannot tell; try again" },
  26: {
    code: "STORE_FOREIGN",
    problem: "is not a database, or its first bytes are damaged; give another path, or restore it",
  },
};

/** The HoldfastError for what SQLite threw; anything else as it came. */
export function storeError(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  // An integer beyond what this store writes, or a description of a run that is not JSON.
  if (code === "ERR_OUT_OF_RANGE" || error instanceof SyntaxError) return corrupt(path, error);
  const known = typeof errcode === "number" ? byResult[errcode & 0xff] : undefined;
  if (code !== "ERR_SQLITE_ERROR" || known === undefined) return error;
  return new HoldfastError(known.code, `The store ${path} ${known.problem}`, {
    cause: error,
    details: { path, result: errcode },
  });
}

/**
 * Whether a connection that met this error may be wrong about its own locks or about the log: the disk failed it half-way
 * through something, or a lock is never given up, which may be its own.
 */
export function leavesDoubt(error: unknown): boolean {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" && [5, 10, 15].includes(errcode & 0xff);
}

/** The error for rows that cannot have been written by this store. */
export function corrupt(path: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    "STORE_CORRUPT",
    `The store ${path} holds rows that do not belong together; restore it from a backup`,
    { cause, details: { path } },
  );
}

/** The error for a store that is used before `open` or after `close`. */
export function notOpen(path: string): HoldfastError {
  return new HoldfastError("STORE_UNAVAILABLE", `The store ${path} is not open; call open() first`, {
    details: { path },
  });
}
