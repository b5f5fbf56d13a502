/**
 * Backups: copies of a whole store in a folder, each made while the store is written, looked through from end to end, and
 * named only when it was found good. So whatever has the name of a backup is one.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import type { Store } from "../../store/store.ts";
import { type Clock, systemClock } from "../clock.ts";
import { timeOf, timeText } from "../platform/calendar.ts";
import type { Seal } from "../seal.ts";
import { type Verification, verify } from "./verify.ts";

/** How many recovery points stay: the newest ones, and the newest of each of the last hours, days, weeks and months. */
export interface Keep {
  readonly last?: number;
  readonly hourly?: number;
  readonly daily?: number;
  readonly weekly?: number;
  readonly monthly?: number;
}

/** A recovery point. */
export interface Backup {
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface BackupOptions {
  /** An open store. */
  readonly store: Store;
  /** How a copy is opened again, as `sqlite` does. */
  readonly open: (path: string) => Store;
  /** Where backups are; made if it is not there. */
  readonly directory: string;
  readonly keep?: Keep;
  readonly seal?: Seal;
  readonly clock?: Clock;
}

/** What stays unless something is said: a day by the hour, a week by the day, a quarter by the week. */
const usual: Keep = { last: 3, hourly: 24, daily: 7, weekly: 13 };
const extension = ".backup";
const unfinished = ".partial";
/** After so long one that is not finished was broken off: nobody is at it any more. */
const brokenOffMs = 3_600_000;

/** Makes a backup, looks it through and removes those that are not kept any more. Throws BACKUP_UNUSABLE if it is not good. */
export async function backup(options: BackupOptions): Promise<Backup & { readonly verified: Verification }> {
  const { store, directory, clock = systemClock, keep = usual } = options;
  const at = clock.now();
  const path = join(directory, `${nameAt(at)}${extension}`);
  const partial = `${path}${unfinished}`;
  return onDisk(path, async () => {
    mkdirSync(directory, { recursive: true });
    removeFile(partial);
    removeBrokenOff(directory, at);
    await store.backup(partial);
    const verified = await lookThrough(partial, options);
    place(partial, path);
    // By a clock that was set back the one just made may look the oldest.
    for (const old of unkept(listBackups(directory), keep)) if (old.path !== path) removeFile(old.path);
    return { path, at, verified };
  });
}

/** Removes what crashes have left of others: each may be as large as the store, and nobody comes back to it. */
function removeBrokenOff(directory: string, now: number): void {
  for (const name of readdirSync(directory)) {
    const [time = "", rest] = name.split(`${extension}${unfinished}`);
    const isOld = Math.abs(now - timeIn(time)) > brokenOffMs;
    if (rest !== undefined && isOld) rmSync(join(directory, name), { recursive: true, force: true });
  }
}

/** The backups in a folder, the oldest first. */
export function listBackups(directory: string): readonly Backup[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => name.endsWith(extension))
    .map((name) => ({ path: join(directory, name), at: timeIn(name.slice(0, -extension.length)) }))
    .filter(({ at }) => Number.isFinite(at))
    .sort((one, other) => one.at - other.at);
}

export interface RestoreOptions extends Pick<BackupOptions, "open" | "seal"> {
  /** The backup. */
  readonly from: string;
  /** Where the store is to be; nothing may be there. */
  readonly to: string;
}

/** Puts a backup in the place of a store, once a copy of it was found good. Throws BACKUP_UNUSABLE otherwise, and changes nothing. */
export async function restore(options: RestoreOptions): Promise<Verification> {
  const { from, to } = options;
  if (!existsSync(from)) throw unusable(from, "it is not there");
  for (const suffix of ["", "-wal", "-shm"])
    if (existsSync(to + suffix))
      throw unusable(from, `there is something already at ${to}${suffix}; move it away`);
  const partial = `${to}${unfinished}`;
  return onDisk(to, async () => {
    removeFile(partial);
    await cp(from, partial, { recursive: true });
    const verified = await lookThrough(partial, options);
    place(partial, to);
    return verified;
  });
}

/** Does work on files; what the file system has against it is told as of a store. */
async function onDisk<Answer>(path: string, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall } = error as { code?: unknown; syscall?: unknown };
    if (isHoldfastError(error) || typeof code !== "string" || typeof syscall !== "string") throw error;
    throw new HoldfastError(
      "STORE_UNAVAILABLE",
      `${path} cannot be made (${code} on ${syscall}); check the disk, the room on it and the right to write there, then try again`,
      { cause: error, details: { path, code } },
    );
  }
}

/** Opens a copy and looks at all of it; if it is not good it goes. */
async function lookThrough(
  path: string,
  { open, seal }: Pick<BackupOptions, "open" | "seal">,
): Promise<Verification> {
  try {
    const copy = open(path);
    await copy.open();
    try {
      const verified = await verify({ store: copy, ...(seal === undefined ? {} : { seal }) });
      if (verified.problems.length === 0) return verified;
      const [first] = verified.problems;
      const more = verified.problems.length - 1;
      throw unusable(
        path,
        `${first?.kind}: ${first?.problem}${more > 0 ? `, and ${more} more problems` : ""}`,
        {
          problems: verified.problems,
        },
      );
    } finally {
      await copy.close();
    }
  } catch (error) {
    removeFile(path);
    throw error;
  }
}

/** Gives a file, or a folder of files, its name for good. */
function place(from: string, to: string): void {
  if (statSync(from).isDirectory())
    for (const name of readdirSync(from, { recursive: true, encoding: "utf8" })) syncFile(join(from, name));
  syncFile(from);
  renameSync(from, to);
  syncFile(dirname(to));
}

function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function removeFile(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"])
    rmSync(path + suffix, { recursive: true, force: true });
}

/** A time as a file's name: sortable, and without what some file systems cannot have in one. */
const nameAt = (at: number): string => timeText(at).replaceAll(":", "-");
const timeIn = (name: string): number => timeOf(name.replace(/T(\d\d)-(\d\d)-/, "T$1:$2:"));

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Which period a time lies in; weeks begin on a Monday, and months are those of the calendar, in UTC. */
const periods: Readonly<Record<Exclude<keyof Keep, "last">, (at: number) => string>> = {
  hourly: (at) => String(Math.floor(at / hourMs)),
  daily: (at) => String(Math.floor(at / dayMs)),
  weekly: (at) => String(Math.floor((at / dayMs + 3) / 7)),
  monthly: (at) => timeText(at).slice(0, 7),
};

/** Those of the backups, given oldest first, that nothing keeps. */
export function unkept(backups: readonly Backup[], keep: Keep): readonly Backup[] {
  const newest = backups.toReversed();
  const stay = new Set(newest.slice(0, Math.max(1, keep.last ?? 0)));
  for (const [period, of] of Object.entries(periods)) {
    const seen = new Set<string>();
    for (const one of newest) {
      const which = of(one.at);
      if (seen.has(which) || seen.size >= (keep[period as keyof Keep] ?? 0)) continue;
      seen.add(which);
      stay.add(one);
    }
  }
  return backups.filter((one) => !stay.has(one));
}

function unusable(
  path: string,
  problem: string,
  details: Readonly<Record<string, unknown>> = {},
): HoldfastError {
  return new HoldfastError("BACKUP_UNUSABLE", `The backup ${path} cannot be used: ${problem}`, {
    details: { path, ...details },
  });
}
