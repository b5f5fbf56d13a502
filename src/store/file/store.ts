/**
 * The file store: a directory that people can read. Each run is a JSON file with its journal beside it, each tenant a
 * folder; what is where, `folder.ts` says.
 *
 * It decides as the memory store does, by lending it tables that are files (`tables.ts`); what is left to do here is that
 * a change is whole and certain before anybody is told of it (`session.ts`), and that nobody else uses the directory
 * meanwhile (`lock.ts`). One call is made after the other.
 */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isHoldfastError, isUnavailable } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type {
  ActivityRow,
  ChunkRow,
  ContentRow,
  DeadLetterRow,
  DocumentRow,
  EntryRow,
  InboxRow,
  RunHead,
  RunName,
  SeenKey,
} from "../records.ts";
import type {
  Commit,
  CommitOutcome,
  DueOf,
  EnqueueOutcome,
  KnownCheckpoint,
  Lease,
  LoadedRun,
  RunQuery,
  Store,
} from "../store.ts";
import type { Fork, Mending, RowKind, ScanQuery, SeenDocument, Stored } from "../upkeep.ts";
import { copyDirectory } from "./backup.ts";
import { notOpen, storeError } from "./errors.ts";
import { diskFiles } from "./files.ts";
import { identify, mark } from "./identity.ts";
import { type Lock, takeLock } from "./lock.ts";
import { makeFolder, type Parts, Session } from "./session.ts";

export interface FileStoreOptions {
  /** Where the store is; made by `open` if it is not there. Nothing else may be in it, but for files whose names begin with a dot. */
  readonly directory: string;
}

/** A store of files that people can read, for one process at a time. What it answered survives power loss. */
export function fileStore(options: FileStoreOptions): Store {
  return new FileStore(options);
}

const lockFile = "lock";

export class FileStore implements Store {
  readonly #directory: string;
  readonly #parts: Parts;
  #lock: Lock | undefined;
  /** There is none while the store is closed, and after an error that leaves it in doubt until the next call. */
  #session: Session | undefined;
  /** The calls so far: each begins when the one before is done. */
  #calls: Promise<unknown> = Promise.resolve();

  constructor({ directory }: FileStoreOptions, parts: Partial<Parts> = {}) {
    this.#directory = resolve(directory);
    this.#parts = { files: diskFiles, logBytesMax: limits.intentBytesMax, ...parts };
  }

  open(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#lock !== undefined) return;
      try {
        await this.#begin();
      } catch (error) {
        this.#end();
        throw storeError(error, this.#directory);
      }
    });
  }

  async #begin(): Promise<void> {
    // Before anything is written: the directory may be somebody else's.
    identify(this.#directory, lockFile);
    this.#makeDirectory(this.#directory);
    this.#lock = takeLock(`${this.#directory}/${lockFile}`, this.#directory);
    if (!identify(this.#directory, lockFile)) mark(this.#directory, this.#parts.files);
    this.#session = await Session.open(this.#directory, this.#parts);
  }

  #makeDirectory(path: string): void {
    if (existsSync(path)) return;
    this.#makeDirectory(dirname(path));
    makeFolder(path, this.#parts.files);
    this.#parts.files.syncFolder(dirname(path));
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      try {
        await this.#session?.checkpoint();
      } catch (error) {
        // All of it is in the log, and the next opening goes on from there, or has done so.
        if (!isOwned(error) && !isUnavailable(storeError(error, this.#directory))) throw error;
      } finally {
        this.#end();
      }
    });
  }

  #end(): void {
    this.#session?.close();
    this.#session = undefined;
    this.#lock?.release();
    this.#lock = undefined;
  }

  own(worker: string, leaseMs: number, now: number): Promise<Lease> {
    return this.#do((model) => model.own(worker, leaseMs, now));
  }

  release(worker: string, epoch: number, now: number | undefined): Promise<void> {
    return this.#do((model) => model.release(worker, epoch, now));
  }

  commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    return this.#do((model) => model.commit(commits));
  }

  enqueue(rows: readonly InboxRow[]): Promise<readonly EnqueueOutcome[]> {
    return this.#do((model) => model.enqueue(rows));
  }

  due(now: number, limit: number, of?: DueOf): Promise<readonly RunName[]> {
    return this.#do((model) => model.due(now, limit, of));
  }

  nextDue(after: number): Promise<number | undefined> {
    return this.#do((model) => model.nextDue(after));
  }

  readKeys(name: RunName, keys: readonly string[]): Promise<readonly SeenKey[]> {
    return this.#do((model) => model.readKeys(name, keys));
  }

  readHead(name: RunName): Promise<RunHead | undefined> {
    return this.#do((model) => model.readHead(name));
  }

  load(name: RunName, known?: KnownCheckpoint): Promise<LoadedRun | undefined> {
    return this.#do((model) => model.load(name, known));
  }

  readInbox(name: RunName, limit: number): Promise<readonly InboxRow[]> {
    return this.#do((model) => model.readInbox(name, limit));
  }

  readAt(name: RunName, seq: number): Promise<Pick<LoadedRun, "snapshot" | "entries"> | undefined> {
    return this.#do((model) => model.readAt(name, seq));
  }

  readJournal(name: RunName, from: number, limit: number): Promise<readonly EntryRow[]> {
    return this.#do((model) => model.readJournal(name, from, limit));
  }

  readContents(tenant: string, subject: string, digests: readonly string[]): Promise<readonly ContentRow[]> {
    return this.#do((model) => model.readContents(tenant, subject, digests));
  }

  findRuns(query: RunQuery): Promise<readonly RunHead[]> {
    return this.#do((model) => model.findRuns(query));
  }

  recordActivities(rows: readonly ActivityRow[], epoch: number): Promise<readonly boolean[]> {
    return this.#do((model) => model.recordActivities(rows, epoch));
  }

  readDeadLetters(tenant: string, after: number, limit: number): Promise<readonly DeadLetterRow[]> {
    return this.#do((model) => model.readDeadLetters(tenant, after, limit));
  }

  removeDeadLetter(tenant: string, number: number): Promise<boolean> {
    return this.#do((model) => model.removeDeadLetter(tenant, number));
  }

  appendChunks(name: RunName, key: string, chunks: readonly ChunkRow[], epoch: number): Promise<boolean> {
    return this.#do((model) => model.appendChunks(name, key, chunks, epoch));
  }

  readChunks(name: RunName, key: string, from: number, limit: number): Promise<readonly ChunkRow[]> {
    return this.#do((model) => model.readChunks(name, key, from, limit));
  }

  readDocument(tenant: string, name: string): Promise<DocumentRow | undefined> {
    return this.#do((model) => model.readDocument(tenant, name));
  }

  writeDocument(tenant: string, name: string, expect: number, bytes: Uint8Array): Promise<boolean> {
    return this.#do((model) => model.writeDocument(tenant, name, expect, bytes));
  }

  removeDocument(tenant: string, name: string, expect: number): Promise<boolean> {
    return this.#do((model) => model.removeDocument(tenant, name, expect));
  }

  removeRuns(
    names: readonly RunName[],
    epoch: number,
    seen?: readonly SeenDocument[],
  ): Promise<readonly boolean[]> {
    return this.#do((model) => model.removeRuns(names, epoch, seen));
  }

  readForks(name: RunName): Promise<readonly Fork[]> {
    return this.#do((model) => model.readForks(name));
  }

  pruneJournal(name: RunName, seq: number, epoch: number, seen?: readonly SeenDocument[]): Promise<boolean> {
    return this.#do((model) => model.pruneJournal(name, seq, epoch, seen));
  }

  /** The files of what was removed are gone at once; contents go by and by. */
  sweep(limit: number): Promise<number> {
    return this.#do((model) => model.sweep(limit));
  }

  /** Whoever else wants something of the store waits until the copy is there. */
  backup(destination: string): Promise<void> {
    return this.#do(async () => {
      await this.#session?.checkpoint();
      await copyDirectory(this.#directory, resolve(destination), lockFile, this.#parts.files);
    });
  }

  scan<Kind extends RowKind>(kind: Kind, query: ScanQuery): Promise<readonly Stored<Kind>[]> {
    return this.#do((model) => model.scan(kind, query));
  }

  mend(changes: readonly Mending[], epoch: number): Promise<boolean> {
    return this.#do((model) => model.mend(changes, epoch));
  }

  /** One verb: what it changes is certain when its answer is given. */
  #do<Answer>(work: (model: Store) => Promise<Answer>): Promise<Answer> {
    return this.#inTurn(async () => {
      if (this.#lock === undefined) throw notOpen(this.#directory);
      try {
        this.#session ??= await Session.open(this.#directory, this.#parts);
        const answer = await work(this.#session.model);
        await this.#session.flush();
        return answer;
      } catch (error) {
        // Whoever has the directory now is to keep it.
        if (isOwned(error)) this.#end();
        // What is in memory may be more than what is certain: the next call reads it again.
        else if (this.#session?.isInDoubt()) this.#forget();
        throw storeError(error, this.#directory);
      }
    });
  }

  #forget(): void {
    this.#session?.close();
    this.#session = undefined;
  }

  /** A verb takes several turns of the event loop's queue, and nobody may come between its decision and its writing. */
  #inTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const call = this.#calls.then(work);
    this.#calls = call.catch(() => {});
    return call;
  }
}

function isOwned(error: unknown): boolean {
  return isHoldfastError(error) && error.code === "STORE_OWNED";
}
