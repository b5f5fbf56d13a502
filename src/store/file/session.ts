/**
 * What there is of a store while it is open: its tables, its log, and the way from one to the other.
 *
 * S1. A change is in the log, synced, before it is in any other file and before anybody is told of it. That is one sync,
 *     however many runs a call changes.
 * S2. Whatever the log asks for is made without syncs: after a crash it is made again from the log. So a file may be torn
 *     as long as the log tells all of it: the first change of a run since the log was emptied tells the whole run, what
 *     is added to a file of lines stands in the log with its place, and other files stand in it whole.
 * S3. The log is emptied after everything it asks for was synced, files first and then the folders with their names.
 * S4. Opening reads everything it needs before it changes anything: what is damaged is found with the files as they were.
 *     Where that is the file of a run, the others go on, and its files stay as they are until somebody mends it.
 */
import { dirname } from "node:path";
import { isHoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { MemoryStore } from "../memory/store.ts";
import type { Store } from "../store.ts";
import { corrupt, takenOver } from "./errors.ts";
import { codeOf, type Files } from "./files.ts";
import { Folder, places } from "./folder.ts";
import type { FileChange, Intent, RunChange, RunRemoval } from "./intent.ts";
import { IntentLog } from "./intent-log.ts";
import { lineOf } from "./lines.ts";
import { letterOf } from "./rows.ts";
import { type FileRun, wholeChange } from "./run-rows.ts";
import { FileTables } from "./tables.ts";

/** A run's file, and no other beside it: no file name has a dot in it. */
const runFile = /^[^.]+\.json$/;

/** What a session works with; tests look on, and have the log emptied more often. */
export interface Parts {
  readonly files: Files;
  readonly logBytesMax: number;
}

export class Session {
  /** Decides; what it changes is certain after the next `flush`. */
  readonly model: Store;
  readonly #files: Files;
  readonly #folder: Folder;
  readonly #tables: FileTables;
  readonly #log: IntentLog;
  /** Runs whose file is older than they are, the oldest first. */
  readonly #behind = new Set<FileRun>();
  readonly #logged = new Set<FileRun>();
  /** What is not certain yet: files that were written, and folders in which names changed. */
  readonly #unsynced = new Set<string>();
  readonly #unsyncedFolders = new Set<string>();
  readonly #folders = new Set<string>();
  /** How many bytes of runs' files may be written now. */
  #allowance = 0;
  #isFlushing = false;

  readonly #logBytesMax: number;

  /** Opens a directory that is a store, and that nobody else has open. */
  static async open(directory: string, parts: Parts): Promise<Session> {
    const session = new Session(directory, parts);
    await session.#recover();
    return session;
  }

  private constructor(directory: string, { files, logBytesMax }: Parts) {
    this.#files = files;
    this.#logBytesMax = logBytesMax;
    this.#folder = new Folder(directory);
    this.#folders.add(directory);
    this.#tables = new FileTables(this.#folder);
    this.model = new MemoryStore(this.#tables);
    this.#log = new IntentLog(this.#folder.at("intents.jsonl"), files);
  }

  async #recover(): Promise<void> {
    const cuts = this.#load(this.#log.read());
    this.#make(this.#folder.take());
    for (const [name, length] of cuts)
      if (this.#folder.size(name) > length) this.#writeAt(name, length, new Uint8Array());
    await this.#sync();
    this.#log.begin();
  }

  /** Reads everything that is kept in memory (S4); says which files of lines are longer than they should be. */
  #load(intents: readonly Intent[]): ReadonlyMap<string, number> {
    for (const { files } of intents) this.#folder.restore(files);
    const told = new Map<string, (RunChange | RunRemoval)[]>();
    for (const change of intents.flatMap(({ runs }) => runs)) {
      const { tenant, run } = "removed" in change ? change.removed : change.head;
      const file = `${places.run(tenant, run)}.json`;
      const changes = told.get(file);
      if (changes === undefined) told.set(file, [change]);
      else changes.push(change);
    }
    const tenants = this.#folder.list(places.tenants);
    const found = tenants.flatMap((tenant) =>
      this.#folder
        .list(places.runs(tenant))
        .filter((name) => runFile.test(name))
        .map((name) => `${places.runs(tenant)}/${name}`),
    );
    for (const file of found) if (!told.has(file)) this.#loadRun(file);
    for (const [file, changes] of told)
      for (const change of changes) this.#folder.check(file, () => this.#restore(change));
    this.#loadLetters();
    this.#loadStore();
    return this.#checkLengths(intents);
  }

  #restore(change: RunChange | RunRemoval): void {
    if (!("removed" in change)) this.#behind.add(this.#tables.restoreRun(change));
    else {
      const gone = this.#tables.restoreRemoval(change.removed);
      if (gone !== undefined) this.#behind.delete(gone);
    }
  }

  #loadRun(file: string): void {
    try {
      const run = this.#folder.need(file, (value) => {
        const change = wholeChange(value);
        const { tenant, run: name } = change.head;
        const own = `${places.run(tenant, name)}.json`;
        if (own !== file) throw corrupt(this.#folder.at(file), `it holds the run of ${own}`);
        return this.#tables.restoreRun(change);
      });
      run.fileBytes = this.#folder.size(file);
    } catch (error) {
      // The others go on; this one is told of when somebody asks for it.
      const isDamage = isHoldfastError(error) && error.code === "STORE_CORRUPT";
      if (!isDamage || !this.#tables.restoreDamaged(file, error)) throw error;
    }
  }

  #loadLetters(): void {
    const letters = this.#folder.letterFiles().map((file) => {
      const row = this.#folder.need(file, letterOf);
      if (places.letter(row.tenant, row.number) === file) return row;
      throw corrupt(this.#folder.at(file), `it holds the dead letter ${row.number} of ${row.tenant}`);
    });
    this.#tables.deadLetters.restore(letters.sort((one, other) => one.number - other.number));
  }

  #loadStore(): void {
    const found = this.#folder.read(places.store, (value) => {
      this.#tables.restoreStore(value);
      return true;
    });
    if (found === undefined && this.#tables.runs.size > 0)
      throw corrupt(this.#folder.at(places.store), "it is not there, and there are runs");
  }

  /** Every file of lines has at least what the log builds upon; what is beyond its end was never told of. */
  #checkLengths(intents: readonly Intent[]): ReadonlyMap<string, number> {
    const begins = new Map<string, number>();
    for (const change of intents.flatMap(({ files }) => files))
      if ("append" in change)
        begins.set(change.append, Math.min(change.at, begins.get(change.append) ?? change.at));
      else if ("remove" in change) begins.set(change.remove, 0);
    const cuts = new Map<string, number>();
    for (const run of this.#tables.runs.values())
      for (const [name, length] of (run as FileRun).lengths) {
        const size = this.#folder.size(name);
        const least = begins.get(name) ?? length;
        if (size < least)
          throw corrupt(this.#folder.at(name), `it has ${size} bytes and should have ${least}`);
        if (size > length) cuts.set(name, length);
      }
    return cuts;
  }

  /** Makes certain what the model changed (S1), then makes the changes. Throws if that is not possible, and is then of no more use. */
  async flush(): Promise<void> {
    const change = this.#tables.take();
    if (change === undefined) return;
    this.#isFlushing = true;
    const { files, runs, changed, removed } = change;
    this.#checkLog();
    const bytes = this.#log.append({ files, runs });
    for (const run of removed) {
      this.#logged.delete(run);
      this.#behind.delete(run);
    }
    for (const run of changed) {
      this.#logged.add(run);
      this.#behind.add(run);
    }
    this.#make(files);
    this.#catchUp(bytes);
    if (this.#log.size >= this.#logBytesMax) await this.checkpoint();
    this.#isFlushing = false;
  }

  /** Whether the tables may have more in them than is certain: a verb or a `flush` did not come to its end. */
  isInDoubt(): boolean {
    return this.#isFlushing || this.#tables.isChanged();
  }

  /** Empties the log (S3). */
  async checkpoint(): Promise<void> {
    if (this.#log.size === 0) return;
    this.#checkLog();
    await this.#sync();
    this.#log.clear();
  }

  /** Throws STORE_OWNED if somebody else has begun a log: the files are theirs now. */
  #checkLog(): void {
    if (!this.#log.isOurs()) throw takenOver(this.#folder.path);
  }

  close(): void {
    this.#log.close();
  }

  async #sync(): Promise<void> {
    for (const run of this.#behind) this.#writeRun(run);
    await this.#files.syncAll(Array.from(this.#unsynced, (name) => this.#folder.at(name)));
    for (const path of this.#unsyncedFolders) this.#files.syncFolder(path);
    this.#unsynced.clear();
    this.#unsyncedFolders.clear();
    for (const run of this.#logged) run.isLogged = false;
    this.#logged.clear();
  }

  #make(changes: readonly FileChange[]): void {
    for (const change of changes) {
      if ("put" in change) this.#replace(change.put, `${JSON.stringify(change.value, null, 2)}\n`);
      else if ("append" in change)
        this.#writeAt(change.append, change.at, Buffer.from(change.lines.map(lineOf).join("")));
      else {
        this.#files.remove(this.#folder.at(change.remove));
        this.#unsynced.delete(change.remove);
        this.#unsyncedFolders.add(dirname(this.#folder.at(change.remove)));
      }
    }
  }

  /**
   * Brings runs' files up to date: each call pays for some bytes, and for as many as it logged. So small files are as new
   * as their runs, and a large one, or a crowd, costs each call no more than that.
   */
  #catchUp(loggedBytes: number): void {
    this.#allowance += limits.runFileBytesPerCall + loggedBytes;
    for (const run of this.#behind) {
      if (run.fileBytes > this.#allowance) return;
      this.#writeRun(run);
      this.#allowance -= run.fileBytes;
    }
    this.#allowance = 0;
  }

  #writeRun(run: FileRun): void {
    run.fileBytes = this.#replace(run.file, run.show());
    this.#behind.delete(run);
  }

  #replace(name: string, text: string): number {
    const bytes = Buffer.from(text);
    this.#files.replace(this.#prepare(name), bytes);
    return bytes.length;
  }

  #writeAt(name: string, at: number, bytes: Uint8Array): void {
    this.#files.writeAt(this.#prepare(name), at, bytes);
  }

  /** The path of a file that is about to be written; its folder is there. */
  #prepare(name: string): string {
    const path = this.#folder.at(name);
    const folder = dirname(path);
    this.#makeFolder(folder);
    this.#unsynced.add(name);
    this.#unsyncedFolders.add(folder);
    return path;
  }

  #makeFolder(path: string): void {
    if (this.#folders.has(path)) return;
    const parent = dirname(path);
    this.#makeFolder(parent);
    makeFolder(path, this.#files);
    this.#unsyncedFolders.add(parent);
    this.#folders.add(path);
  }
}

/** Makes a folder, if it is not there. */
export function makeFolder(path: string, files: Files): void {
  try {
    files.makeFolder(path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}
