/**
 * The copy of a store's directory, made while nobody changes it. It has its name only once it is whole and certain, so
 * what a crash leaves of one is nobody's store.
 */
import { existsSync, readdirSync } from "node:fs";
import { cp, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HoldfastError } from "../../errors.ts";
import { type Files, unfinished } from "./files.ts";

export async function copyDirectory(
  directory: string,
  destination: string,
  lockFile: string,
  files: Files,
): Promise<void> {
  if (existsSync(destination)) throw cannotCopy(directory, destination, "there is something already");
  const copy = `${destination}${unfinished}`;
  const isLock = (path: string) => dirname(path) === directory && basename(path).startsWith(lockFile);
  try {
    await rm(copy, { recursive: true, force: true });
    await cp(directory, copy, { recursive: true, filter: (path) => !isLock(path) });
    const entries = readdirSync(copy, { recursive: true, withFileTypes: true });
    const pathsOf = (kept: typeof entries) => kept.map(({ parentPath, name }) => join(parentPath, name));
    await files.syncAll(pathsOf(entries.filter((entry) => entry.isFile())));
    for (const path of [...pathsOf(entries.filter((entry) => entry.isDirectory())), copy])
      files.syncFolder(path);
    await rename(copy, destination);
    files.syncFolder(dirname(destination));
  } catch (error) {
    await rm(copy, { recursive: true, force: true }).catch(() => {});
    throw cannotCopy(directory, destination, (error as Error).message, error);
  }
}

function cannotCopy(directory: string, destination: string, why: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    "STORE_UNAVAILABLE",
    `The store ${directory} cannot be copied to ${destination}: ${why}`,
    { cause, details: { directory, destination } },
  );
}
