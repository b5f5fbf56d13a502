/**
 * Every system call of the store: all that changes the disk, and in which order, passes through here. What is written
 * is certain once it was synced, a name once its folder was; nothing here syncs by itself.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";

export interface Files {
  /** Puts bytes at a place of a file, which ends after them; makes the file if it is not there. */
  writeAt(path: string, at: number, bytes: Uint8Array): void;
  /** Gives a file these bytes: whoever reads it finds the old or the new ones. */
  replace(path: string, bytes: Uint8Array): void;
  /** The same, with the new bytes made sure of first: after a crash, too, it is the old or the new ones. */
  replaceSynced(path: string, bytes: Uint8Array): void;
  /** Removes a file, if it is there. */
  remove(path: string): void;
  makeFolder(path: string): void;
  /** Makes sure of what is in a file. */
  sync(path: string): void;
  /** Makes sure of what is in many files, in any order: several at a time, so that the disk can make one effort of them. */
  syncAll(paths: readonly string[]): Promise<void>;
  /** Makes sure of the names in a folder. */
  syncFolder(path: string): void;
}

/** More than the threads that Node has for it, so that none of them waits. */
const syncsAtATime = 16;

/** What a file is called until it has all its bytes. */
export const unfinished = ".tmp";

export const diskFiles: Files = {
  writeAt: (path, at, bytes) =>
    use(openOrMake(path), (file) => {
      writeAll(file, bytes, at);
      if (fstatSync(file).size > at + bytes.length) ftruncateSync(file, at + bytes.length);
    }),
  replace: (path, bytes) => {
    use(openSync(`${path}${unfinished}`, "w"), (file) => writeAll(file, bytes, 0));
    renameSync(`${path}${unfinished}`, path);
  },
  replaceSynced: (path, bytes) => {
    use(openSync(`${path}${unfinished}`, "w"), (file) => {
      writeAll(file, bytes, 0);
      fsyncSync(file);
    });
    renameSync(`${path}${unfinished}`, path);
  },
  remove: (path) => rmSync(path, { force: true }),
  makeFolder: (path) => {
    mkdirSync(path);
  },
  sync: (path) => use(openSync(path, "r+"), fsyncSync),
  syncAll: async (paths) => {
    let next = 0;
    const syncSome = async (): Promise<void> => {
      while (next < paths.length) {
        const file = await open(paths[next++] as string, "r+");
        await file.sync().finally(() => file.close());
      }
    };
    await Promise.all(Array.from({ length: syncsAtATime }, syncSome));
  },
  syncFolder: (path) => {
    try {
      use(openSync(path, "r"), fsyncSync);
    } catch (error) {
      // Windows has no way to do it, and needs none.
      if (!["EISDIR", "EPERM"].includes(codeOf(error))) throw error;
    }
  },
};

function use<Answer>(file: number, work: (file: number) => Answer): Answer {
  try {
    return work(file);
  } finally {
    closeSync(file);
  }
}

function openOrMake(path: string): number {
  return unlessMissing(() => openSync(path, "r+")) ?? openSync(path, "w+");
}

function writeAll(file: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(file, bytes, done, bytes.length - done, at + done);
}

/** The bytes of a file; undefined if it is not there. */
export function readWhole(path: string): Buffer | undefined {
  return unlessMissing(() => readFileSync(path));
}

/** The names in a folder, in order; none if it is not there. */
export function listFolder(path: string): readonly string[] {
  return (unlessMissing(() => readdirSync(path)) ?? []).sort();
}

/** How many bytes a file has; 0 if it is not there. */
export function sizeOf(path: string): number {
  return unlessMissing(() => statSync(path).size) ?? 0;
}

/** Reads so many bytes at a place of a file; fewer at its end. */
export type ReadPart = (at: number, length: number) => Buffer;

/** Opens a file to be read in parts, as long as the work takes. */
export function readParts<Answer>(path: string, work: (read: ReadPart) => Answer): Answer {
  return use(openSync(path, "r"), (file) =>
    work((at, length) => {
      const bytes = Buffer.allocUnsafe(length);
      let done = 0;
      for (let more = -1; more !== 0 && done < length; done += more)
        more = readSync(file, bytes, done, length - done, at + done);
      return bytes.subarray(0, done);
    }),
  );
}

function unlessMissing<Answer>(read: () => Answer): Answer | undefined {
  try {
    return read();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

export function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code);
}
