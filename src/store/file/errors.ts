/** From what the file system says to the registry's codes, decided by its codes and never by text. */
import { HoldfastError } from "../../errors.ts";

const byCode: Readonly<Record<string, string>> = {
  EACCES: "may not be used by this process; give it the right to read and write there",
  EPERM: "may not be used by this process; give it the right to read and write there",
  EROFS: "can only be read; give this process a place it may write to",
  ENOSPC: "cannot grow: the disk is full; make room and try again",
  EDQUOT: "cannot grow: the quota is used up; make room and try again",
  EFBIG: "cannot grow: a file would be larger than it may be; make room and try again",
  EMFILE: "needs another open file, and this process may have no more; close some, or allow it more",
  ENFILE: "needs another open file, and there may be no more; close some",
  ENOTDIR: "is not a folder, or is in something that is none; give another directory",
  ENAMETOOLONG: "is in a folder whose path is too long; give a shorter one",
  ENOENT: "is gone, or a part of it; see who removed it",
};

/** The HoldfastError for what a system call threw; anything else as it came. */
export function storeError(error: unknown, directory: string): unknown {
  if (!(error instanceof Error)) return error;
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (typeof code !== "string" || typeof syscall !== "string") return error;
  const problem = byCode[code] ?? "could not be read or written; check the disk it is on, then try again";
  return new HoldfastError("STORE_UNAVAILABLE", `The store ${directory} ${problem} (${code})`, {
    cause: error,
    details: { directory, code },
  });
}

/** The error for a file that cannot have been written by this store, or not with the others that are there. */
export function corrupt(file: string, problem: unknown): HoldfastError {
  const why = problem instanceof Error ? problem.message : String(problem);
  return new HoldfastError(
    "STORE_CORRUPT",
    `The file ${file} is damaged: ${why}. Nothing was changed; mend it or restore it from a backup`,
    { cause: problem, details: { file } },
  );
}

/** The error for a store that is used before `open` or after `close`. */
export function notOpen(directory: string): HoldfastError {
  return new HoldfastError("STORE_UNAVAILABLE", `The store ${directory} is not open; call open() first`, {
    details: { directory },
  });
}

/** The error for a store that another process, or another store of this one, has open. */
export function alreadyOpen(directory: string): HoldfastError {
  return new HoldfastError(
    "STORE_OWNED",
    `The store ${directory} is open elsewhere, and a directory is used by one process at a time; stop the other one, or use a store that many processes share`,
    { details: { directory } },
  );
}

/** The error for a lock that can be neither taken nor found taken. */
export function cannotLock(directory: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    "STORE_UNAVAILABLE",
    `The store ${directory} cannot be locked; give this process the right to write there, on a disk that can lock files`,
    { cause, details: { directory } },
  );
}

/** The error for a store whose log is not as this process left it. */
export function takenOver(directory: string): HoldfastError {
  return new HoldfastError(
    "STORE_OWNED",
    `The store ${directory} was opened by another process, or its files were taken away; stop the other one and open it again`,
    { details: { directory } },
  );
}
