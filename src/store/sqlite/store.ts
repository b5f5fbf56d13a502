/**
 * The SQLite store: one file, one writer, and nothing to install.
 *
 * SQLite is synchronous, so every verb is done by the time its promise is returned, and the process does nothing else
 * meanwhile. Each write is one transaction: `commit` makes one of however many items it is given, which is what makes
 * group commit pay. The file may be read and its inboxes filled by other processes; stepping runs takes the lease.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { limits } from "../../limits.ts";
import { checkCommit } from "../commit.ts";
import { copyOf } from "../known.ts";
import { isOwnedUnder } from "../lease.ts";
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
import { activityOf, chunkOf, deadLetterOf, headOf, seenKeyOf } from "../rows.ts";
import type { Search, SearchingStore } from "../search.ts";
import type {
  Commit,
  CommitOutcome,
  DueOf,
  EnqueueOutcome,
  KnownCheckpoint,
  Lease,
  LoadedRun,
  Remembering,
  RunQuery,
} from "../store.ts";
import type { Fork, Mending, RowKind, ScanQuery, Scrubbing, SeenDocument, Stored } from "../upkeep.ts";
import { copyTo } from "./backup.ts";
import { CommitWriter, committed } from "./commit.ts";
import { connect, type SqliteOptions } from "./connect.ts";
import { isAsSeen, readDocument, removeDocument, writeDocument } from "./document.ts";
import { findDue, nextDue } from "./due.ts";
import { leavesDoubt, notOpen, storeError } from "./errors.ts";
import { findId, findQuery } from "./find.ts";
import { deliver, readInbox } from "./inbox.ts";
import { own, readOwner } from "./lease.ts";
import { LogRoom } from "./log-room.ts";
import { mend } from "./mend.ts";
import { prepareQueries, type Statements } from "./queries.ts";
import { forksOf, prune, removeRun, sweep } from "./remove.ts";
import { scan } from "./scan.ts";
import { scrubFile } from "./scrub.ts";
import { sqliteSearch, type Transact } from "./search.ts";
import { entryOf, stateAt, stateSince } from "./state.ts";

export type { SqliteOptions } from "./connect.ts";

/** A store in a file, made by `open` if it is not there. What it answered survives power loss, unless told otherwise. */
export function sqlite(path: string, options: SqliteOptions = {}): SearchingStore {
  return new SqliteStore(path, options);
}

/** What there is while the file is open. */
interface Connection {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly writer: CommitWriter;
  /** The forms of `findRuns` used so far, by their text. */
  readonly finds: Map<string, StatementSync>;
  readonly room: LogRoom;
}

class SqliteStore implements SearchingStore, Remembering, Scrubbing {
  readonly search: Search;
  readonly #path: string;
  readonly #options: SqliteOptions;
  readonly #use = { hits: 0, misses: 0 };
  #isOpen = false;
  /** There is none while the store is closed, and after an error that leaves it in doubt until the next call. */
  #connection: Connection | undefined;

  constructor(path: string, options: SqliteOptions) {
    this.#path = path;
    this.#options = options;
    const read: Transact = (work) => this.#read(work);
    this.search = sqliteSearch(read, (work) => this.#write(work));
  }

  async open(): Promise<void> {
    this.#connection ??= this.#connect();
    this.#isOpen = true;
  }

  #connect(): Connection {
    try {
      const database = connect(this.#path, this.#options);
      const statements = prepareQueries(database);
      const writer = new CommitWriter(statements, this.#use);
      const room = new LogRoom(database.location() as string, this.#options.synchronous !== "normal");
      return { database, statements, writer, finds: new Map(), room };
    } catch (error) {
      throw storeError(error, this.#path);
    }
  }

  caches(): ReturnType<Remembering["caches"]> {
    return { "known runs": { ...this.#use } };
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#disconnect();
  }

  #disconnect(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.database.close();
  }

  own(worker: string, leaseMs: number, now: number): Promise<Lease> {
    return this.#write(({ statements, writer }) => {
      const lease = own(statements, this.#path, worker, leaseMs, now);
      // What is read from now on is known to the owner, whose first step of a run is then one statement already.
      if (lease.outcome === "owned") writer.knowUnder(lease.epoch);
      return lease;
    });
  }

  release(worker: string, epoch: number, now: number | undefined): Promise<void> {
    return this.#do(({ statements }) => {
      statements.releaseLease.run(now ?? null, worker, epoch);
    });
  }

  async commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    commits.forEach(checkCommit);
    const first = commits[0];
    if (first === undefined) return [];
    const makesRoom = this.#perform(({ room }) => room.isDue());
    if (!makesRoom && commits.length === 1 && this.#perform(({ writer }) => writer.append(first)))
      return [committed];
    return this.#write(({ statements, writer, room }) => {
      if (makesRoom) room.make();
      const owner = readOwner(statements, this.#path);
      return commits.map((commit) => writer.write(commit, owner));
    });
  }

  async enqueue(rows: readonly InboxRow[]): Promise<readonly EnqueueOutcome[]> {
    if (rows.length === 0) return [];
    return this.#write(({ statements }) => rows.map((row) => deliver(statements, row)));
  }

  due(now: number, limit: number, of?: DueOf): Promise<readonly RunName[]> {
    return this.#do(({ statements }) => findDue(statements, { now, limit, of }));
  }

  nextDue(after: number): Promise<number | undefined> {
    return this.#do(({ statements }) => nextDue(statements, after));
  }

  readKeys(name: RunName, keys: readonly string[]): Promise<readonly SeenKey[]> {
    return this.#do(({ statements }) => {
      const id = findId(statements, name);
      if (id === undefined) return [];
      return keys.flatMap((key) => {
        const row = statements.readKey.get(id, key);
        return row === undefined ? [] : seenKeyOf(row);
      });
    });
  }

  readHead(name: RunName): Promise<RunHead | undefined> {
    return this.#do(({ statements }) => {
      const row = statements.readRun.get(name.tenant, name.run);
      return row === undefined ? undefined : headOf(row);
    });
  }

  load(name: RunName, known?: KnownCheckpoint): Promise<LoadedRun | undefined> {
    return this.#read(({ statements, writer }) => {
      const found = writer.read(name);
      if (found === undefined) return undefined;
      const { id, head } = found;
      const since = known && stateSince(statements, this.#path, found, known);
      return {
        head: copyOf(head),
        ...(since ?? stateAt(statements, this.#path, id, head.seq)),
        inbox: readInbox(statements, name, id, limits.inboxLoadedMax),
        activities: statements.readActivities.all(id).map((row) => activityOf(name, row)),
      };
    });
  }

  readInbox(name: RunName, limit: number): Promise<readonly InboxRow[]> {
    return this.#do(({ statements }) => {
      const id = findId(statements, name);
      return id === undefined ? [] : readInbox(statements, name, id, limit);
    });
  }

  readAt(name: RunName, seq: number): Promise<Pick<LoadedRun, "snapshot" | "entries"> | undefined> {
    return this.#read(({ statements }) => {
      const row = statements.readRun.get(name.tenant, name.run);
      const first = Math.max(1, (row?.pruned as number | undefined) ?? 0);
      if (row === undefined || seq < first || seq > (row.seq as number)) return undefined;
      return stateAt(statements, this.#path, row.id as number, seq);
    });
  }

  readJournal(name: RunName, from: number, limit: number): Promise<readonly EntryRow[]> {
    return this.#do(({ statements }) => {
      const row = statements.readRunStatus.get(name.tenant, name.run);
      if (row === undefined) return [];
      const first = Math.max(from, (row.pruned as number) + 1);
      return statements.readEntries.all(row.id as number, first, Number.MAX_SAFE_INTEGER, limit).map(entryOf);
    });
  }

  readContents(tenant: string, subject: string, digests: readonly string[]): Promise<readonly ContentRow[]> {
    return this.#do(({ statements }) =>
      digests.flatMap((digest) => {
        const row = statements.readContent.get(tenant, subject, digest);
        return row === undefined ? [] : { digest, bytes: row.bytes as Uint8Array };
      }),
    );
  }

  findRuns(query: RunQuery): Promise<readonly RunHead[]> {
    return this.#do(({ database, finds }) => {
      const { sql, values } = findQuery(query);
      const statement = finds.get(sql) ?? database.prepare(sql);
      finds.set(sql, statement);
      return statement.all(values).map(headOf);
    });
  }

  async recordActivities(rows: readonly ActivityRow[], epoch: number): Promise<readonly boolean[]> {
    if (rows.length === 0) return [];
    return this.#write(({ statements }) =>
      rows.map(({ tenant, run, key, activity, attempt, status, dueAt, bytes, report }) => {
        const { changes } = statements.recordActivity.run(
          ...[activity, attempt, status, dueAt, epoch, bytes, report ?? null],
          ...[tenant, run, key, epoch],
        );
        return changes === 1;
      }),
    );
  }

  readDeadLetters(tenant: string, after: number, limit: number): Promise<readonly DeadLetterRow[]> {
    return this.#do(({ statements }) =>
      statements.readDeadLetters.all(tenant, after, limit).map(deadLetterOf),
    );
  }

  removeDeadLetter(tenant: string, number: number): Promise<boolean> {
    return this.#do(({ statements }) => statements.deleteDeadLetter.run(tenant, number).changes === 1);
  }

  async appendChunks(
    name: RunName,
    key: string,
    chunks: readonly ChunkRow[],
    epoch: number,
  ): Promise<boolean> {
    return this.#write(({ statements }) => {
      const id = findId(statements, name);
      if (id === undefined || !isOwnedUnder(readOwner(statements, this.#path), epoch)) return false;
      for (const { offset, attempt, bytes } of chunks)
        statements.insertChunk.run(id, key, offset, attempt, bytes);
      return true;
    });
  }

  readChunks(name: RunName, key: string, from: number, limit: number): Promise<readonly ChunkRow[]> {
    return this.#do(({ statements }) => {
      const id = findId(statements, name);
      return id === undefined ? [] : statements.readChunks.all(id, key, from, limit).map(chunkOf);
    });
  }

  readDocument(tenant: string, name: string): Promise<DocumentRow | undefined> {
    return this.#do(({ statements }) => readDocument(statements, tenant, name));
  }

  writeDocument(tenant: string, name: string, expect: number, bytes: Uint8Array): Promise<boolean> {
    return this.#do(({ statements }) => writeDocument(statements, { tenant, name, version: expect }, bytes));
  }

  removeDocument(tenant: string, name: string, expect: number): Promise<boolean> {
    return this.#write(({ statements }) => removeDocument(statements, { tenant, name, version: expect }));
  }

  async removeRuns(
    names: readonly RunName[],
    epoch: number,
    seen: readonly SeenDocument[] = [],
  ): Promise<readonly boolean[]> {
    if (names.length === 0) return [];
    return this.#write(({ statements }) => {
      const may = isOwnedUnder(readOwner(statements, this.#path), epoch) && isAsSeen(statements, seen);
      return names.map((name) => may && removeRun(statements, name));
    });
  }

  readForks(name: RunName): Promise<readonly Fork[]> {
    return this.#do(({ statements }) => forksOf(statements, name));
  }

  pruneJournal(
    name: RunName,
    seq: number,
    epoch: number,
    seen: readonly SeenDocument[] = [],
  ): Promise<boolean> {
    return this.#write(({ statements }) => {
      const may = isOwnedUnder(readOwner(statements, this.#path), epoch) && isAsSeen(statements, seen);
      return may && prune(statements, name, seq);
    });
  }

  sweep(limit: number): Promise<number> {
    return this.#write(({ statements }) => sweep(statements, limit));
  }

  readonly scrub = (): Promise<void> => this.#do(({ database }) => scrubFile(database, this.#path));

  async backup(destination: string): Promise<void> {
    await this.#do(() => {});
    try {
      await copyTo(this.#path, destination);
    } catch (error) {
      throw storeError(error, this.#path);
    }
  }

  scan<Kind extends RowKind>(kind: Kind, query: ScanQuery): Promise<readonly Stored<Kind>[]> {
    return this.#read(({ database }) => scan(database, kind, query));
  }

  mend(changes: readonly Mending[], epoch: number): Promise<boolean> {
    return this.#write(({ database, statements, writer }) => {
      const isLease = changes.every(({ change }) => change === "lease");
      if (!isLease && !isOwnedUnder(readOwner(statements, this.#path), epoch)) return false;
      for (const change of changes) mend(database, statements, change);
      statements.endLease.run();
      writer.forget();
      return true;
    });
  }

  /** A single statement, or several that need not agree. */
  async #do<Answer>(work: (connection: Connection) => Answer): Promise<Answer> {
    return this.#perform(work);
  }

  #perform<Answer>(work: (connection: Connection) => Answer): Answer {
    if (!this.#isOpen) throw notOpen(this.#path);
    this.#connection ??= this.#connect();
    try {
      return work(this.#connection);
    } catch (error) {
      // Another connection looks for itself.
      if (leavesDoubt(error)) this.#disconnect();
      throw storeError(error, this.#path);
    }
  }

  /** Several statements that see the same state of the store. */
  #read<Answer>(work: (connection: Connection) => Answer): Promise<Answer> {
    return this.#transact("beginReading", work);
  }

  /** Several statements that take effect together or not at all. */
  #write<Answer>(work: (connection: Connection) => Answer): Promise<Answer> {
    return this.#transact("begin", work);
  }

  #transact<Answer>(
    begin: "begin" | "beginReading",
    work: (connection: Connection) => Answer,
  ): Promise<Answer> {
    return this.#do((connection) => {
      const { database, statements, writer } = connection;
      statements[begin].run();
      try {
        const answer = work(connection);
        statements.commit.run();
        return answer;
      } catch (error) {
        writer.forget();
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    });
  }
}
