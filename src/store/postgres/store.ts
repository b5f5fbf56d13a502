/**
 * The PostgreSQL store: runs in a schema of a database, for as many processes as like to.
 *
 * Every verb is one statement, and each that writes is one call of a function of the schema (`functions.ts`), so a commit
 * of however many items is one round trip and one transaction. No state is kept in connections, save one statement that
 * may be lost (`append.ts`).
 *
 * Q1. If the connection is lost during a commit, the journal is asked what became of it: the entry's digest tells a commit
 *     of ours from anybody else's. A commit that is found is answered `committed`; if none is, STORE_UNAVAILABLE is
 *     thrown, and the same commit can be made again.
 */
import { limits } from "../../limits.ts";
import { checkCommit } from "../commit.ts";
import { copyOf, KnownRuns } from "../known.ts";
import { takeLease } from "../lease.ts";
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
import { chunkOf, deadLetterOf, entryOf, eventOf, headOf, leaseOf, type Row, seenKeyOf } from "../rows.ts";
import type { Commit, CommitOutcome, EnqueueOutcome, Lease, LoadedRun, RunQuery, Store } from "../store.ts";
import {
  type Fork,
  type Mending,
  noBackup,
  type RowKind,
  type ScanQuery,
  type SeenDocument,
  type Stored,
} from "../upkeep.ts";
import { Appending } from "./append.ts";
import { activityRow, Batch, type CommitAnswer, eventRow } from "./commit.ts";
import { checkServer, createPool, inTransaction, type PostgresPool, types } from "./connect.ts";
import { corrupt, isLost, isUndone, notOpen, storeError } from "./errors.ts";
import { findQuery } from "./find.ts";
import { loadedRunOf, stateOf } from "./load.ts";
import { mendAll } from "./mend.ts";
import { migrate, quote } from "./migrate.ts";
import type { PostgresOptions } from "./options.ts";
import { Pieces } from "./pieces.ts";
import { type Queries, queriesFor } from "./queries.ts";
import { type Ask, scan } from "./scan.ts";
import { migrationsInto } from "./schema.ts";

export type { PostgresClient, PostgresPool } from "./connect.ts";
export type { PostgresOptions } from "./options.ts";

/** A store in a PostgreSQL database, given by its URL or by a pool of `pg`, which then stays open when the store is closed. */
export function postgres(urlOrPool: string | PostgresPool, options: PostgresOptions = {}): Store {
  return new PostgresStore(urlOrPool, options);
}

class PostgresStore implements Store {
  readonly #server: string | PostgresPool;
  readonly #schema: string;
  readonly #full: boolean;
  readonly #clock: "database" | "caller";
  readonly #partitions: number;
  readonly #queries: Queries;
  readonly #appending: Appending;
  /** What is known of runs, under the epoch of the last commit. */
  readonly #known = new KnownRuns();
  #epoch = 0;
  #pool: PostgresPool | undefined;

  constructor(server: string | PostgresPool, options: PostgresOptions) {
    const { schema = "holdfast", clock = "database", synchronous = "full", partitions = 1 } = options;
    this.#server = server;
    this.#schema = schema;
    this.#full = synchronous === "full";
    this.#clock = clock;
    this.#partitions = partitions;
    this.#queries = queriesFor(quote(schema));
    this.#appending = new Appending(quote(schema));
  }

  async open(): Promise<void> {
    if (this.#pool !== undefined) return;
    const pool = typeof this.#server === "string" ? await createPool(this.#server) : this.#server;
    this.#pool = pool;
    try {
      checkServer((await this.#ask("readServer", []))[0], this.#name, this.#full);
      await migrate(pool, this.#schema, migrationsInto(this.#partitions));
    } catch (error) {
      await this.close();
      throw storeError(error, this.#name);
    }
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    if (typeof this.#server === "string") await pool?.end();
  }

  async own(worker: string, leaseMs: number, now: number): Promise<Lease> {
    for (;;) {
      const [row] = await this.#ask("readLease", []);
      const lease = leaseOf(row as Row);
      const clock = this.#clock === "database" ? (row?.now as number) : now;
      /** From the lease's clock to the caller's. */
      const told = (time: number): number => time + (now - clock);
      const taken = takeLease(lease, worker, leaseMs, clock, told);
      if (taken === undefined) {
        const { owner, epoch, until } = lease;
        return { outcome: "taken", owner: owner as string, epoch, until: told(until) };
      }
      const { epoch, from, until, outages } = taken;
      const terms = [worker, epoch, from, until, JSON.stringify(outages)];
      const written = await this.#write("writeLease", [JSON.stringify(lease), ...terms]);
      // Somebody else was faster: the lease is another one now.
      if (!written[0]?.written) continue;
      return { outcome: "owned", epoch, until: told(until), outages };
    }
  }

  async release(worker: string, epoch: number, now: number | undefined): Promise<void> {
    if (this.#clock === "database" && now !== undefined)
      await this.#write("releaseLeaseNow", [worker, epoch]);
    else await this.#write("releaseLease", [worker, epoch, now ?? null]);
  }

  async commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    commits.forEach(checkCommit);
    if (commits.length === 0) return [];
    const [{ epoch }] = commits as [Commit];
    // An owner in between may have mended runs.
    if (epoch !== this.#epoch) this.#known.clear();
    this.#epoch = epoch;
    const batch = new Batch(commits, this.#known);
    try {
      if (await this.#append(batch)) return batch.outcomes({ refused: null, ids: null });
      const [row] = await this.#write("commit", batch.parameters());
      const outcomes = batch.outcomes(row?.answer as CommitAnswer);
      return await Promise.all(
        outcomes.map((outcome, index) => this.#seen(outcome, commits[index] as Commit)),
      );
    } catch (error) {
      if (!isLost((error as Error).cause)) throw error;
      return this.#resolve(commits, error);
    }
  }

  /** Commits the short way if it leads there; whether it did. */
  async #append(batch: Batch): Promise<boolean> {
    const appended = batch.appended();
    if (appended === undefined || this.#pool === undefined) return false;
    try {
      return await this.#appending.append(this.#pool, this.#full, appended);
    } catch (error) {
      throw storeError(error, this.#name);
    }
  }

  /** A run that was known and is gone may have begun anew under its name; it is not known any more. */
  async #seen(outcome: CommitOutcome, commit: Commit): Promise<CommitOutcome> {
    const { head, expect } = commit;
    const isGone =
      outcome.outcome === "conflict" && outcome.seq === 0 && outcome.run === head.run && expect > 0;
    if (!isGone) return outcome;
    const seq = (await this.readHead(head))?.seq ?? 0;
    return seq === expect ? ((await this.commit([commit]))[0] as CommitOutcome) : { ...outcome, seq };
  }

  /** What became of commits whose answer was lost (Q1). They were one transaction, so one that is there tells of all. */
  async #resolve(commits: readonly Commit[], lost: unknown): Promise<readonly CommitOutcome[]> {
    const names = JSON.stringify(commits.map(({ head: { tenant, run, seq } }) => ({ tenant, run, seq })));
    // The server may still be at it, and holds the runs until it is done.
    await this.#ask("awaitRuns", [names]);
    const rows = await this.#ask("readDigests", [names]);
    const isThere = commits.map(({ head }, index) => rows[index]?.digest === head.digest);
    if (!isThere.includes(true)) throw lost;
    // The others were refused, so nothing of them was written, and asking again tells why.
    const others = await this.commit(commits.filter((_, index) => !isThere[index]));
    let next = 0;
    return isThere.map((there) => (there ? { outcome: "committed" } : (others[next++] as CommitOutcome)));
  }

  async enqueue(rows: readonly InboxRow[]): Promise<readonly EnqueueOutcome[]> {
    if (rows.length === 0) return [];
    const pieces = new Pieces();
    const events = JSON.stringify(rows.map((row) => eventRow(row, pieces)));
    const [answer] = await this.#write("enqueue", [events, pieces.all()]);
    return answer?.outcomes as EnqueueOutcome[];
  }

  async due(now: number, limit: number): Promise<readonly RunName[]> {
    const rows = await this.#ask("due", [now, limit]);
    return rows.map(({ tenant, run }) => ({ tenant: tenant as string, run: run as string }));
  }

  async nextDue(after: number): Promise<number | undefined> {
    const [row] = await this.#ask("nextDue", [after]);
    return (row?.at as number | null) ?? undefined;
  }

  async readKeys(name: RunName, keys: readonly string[]): Promise<readonly SeenKey[]> {
    return (await this.#ask("readKeys", [name.tenant, name.run, keys])).map(seenKeyOf);
  }

  async readHead(name: RunName): Promise<RunHead | undefined> {
    const [row] = await this.#ask("readRun", [name.tenant, name.run]);
    return row && this.#check(() => headOf(row));
  }

  async load(name: RunName): Promise<LoadedRun | undefined> {
    const rows = await this.#ask("load", [name.tenant, name.run, limits.inboxLoadedMax]);
    const loaded = this.#check(() => loadedRunOf(name, rows));
    if (loaded === undefined) return undefined;
    this.#known.keep(loaded.id, loaded.run.head);
    return { ...loaded.run, head: copyOf(loaded.run.head) };
  }

  async readInbox(name: RunName, limit: number): Promise<readonly InboxRow[]> {
    const rows = await this.#ask("readInbox", [name.tenant, name.run, limit]);
    return rows.map((row) => eventOf(name, row));
  }

  async readAt(name: RunName, seq: number): Promise<Pick<LoadedRun, "snapshot" | "entries"> | undefined> {
    const rows = await this.#ask("readAt", [name.tenant, name.run, seq]);
    return rows.length === 0 ? undefined : this.#check(() => stateOf(rows, seq));
  }

  async readJournal(name: RunName, from: number, limit: number): Promise<readonly EntryRow[]> {
    return (await this.#ask("readJournal", [name.tenant, name.run, from, limit])).map(entryOf);
  }

  async readContents(
    tenant: string,
    subject: string,
    digests: readonly string[],
  ): Promise<readonly ContentRow[]> {
    const rows = await this.#ask("readContents", [tenant, subject, digests]);
    return rows.map(({ digest, bytes }) => ({ digest: digest as string, bytes: bytes as Uint8Array }));
  }

  async findRuns(query: RunQuery): Promise<readonly RunHead[]> {
    const { text, values } = findQuery(quote(this.#schema), query);
    const rows = await this.#query(text, values);
    return this.#check(() => rows.map(headOf));
  }

  async recordActivities(rows: readonly ActivityRow[], epoch: number): Promise<readonly boolean[]> {
    if (rows.length === 0) return [];
    const pieces = new Pieces();
    const activities = JSON.stringify(rows.map((row) => activityRow(row, pieces)));
    const [answer] = await this.#write("recordActivities", [epoch, activities, pieces.all()]);
    return answer?.recorded as boolean[];
  }

  async readDeadLetters(tenant: string, after: number, limit: number): Promise<readonly DeadLetterRow[]> {
    return (await this.#ask("readDeadLetters", [tenant, after, limit])).map(deadLetterOf);
  }

  async removeDeadLetter(tenant: string, number: number): Promise<boolean> {
    const [row] = await this.#write("removeDeadLetter", [tenant, number]);
    return row?.removed as boolean;
  }

  async appendChunks(
    name: RunName,
    key: string,
    chunks: readonly ChunkRow[],
    epoch: number,
  ): Promise<boolean> {
    const pieces = new Pieces();
    const rows = chunks.map(({ offset, attempt, bytes }) => ({
      place: offset,
      attempt,
      ...pieces.add(bytes),
    }));
    const given = [epoch, name.tenant, name.run, key, JSON.stringify(rows), pieces.all()];
    const [answer] = await this.#write("appendChunks", given);
    return answer?.appended as boolean;
  }

  async readChunks(name: RunName, key: string, from: number, limit: number): Promise<readonly ChunkRow[]> {
    return (await this.#ask("readChunks", [name.tenant, name.run, key, from, limit])).map(chunkOf);
  }

  async readDocument(tenant: string, name: string): Promise<DocumentRow | undefined> {
    const [row] = await this.#ask("readDocument", [tenant, name]);
    return row && { version: row.version as number, bytes: row.bytes as Uint8Array };
  }

  async writeDocument(tenant: string, name: string, expect: number, bytes: Uint8Array): Promise<boolean> {
    const [row] = await this.#write("writeDocument", [tenant, name, expect, Buffer.from(bytes)]);
    return row?.written as boolean;
  }

  async removeDocument(tenant: string, name: string, expect: number): Promise<boolean> {
    const [row] = await this.#write("removeDocument", [tenant, name, expect]);
    return row?.removed as boolean;
  }

  async removeRuns(
    names: readonly RunName[],
    epoch: number,
    seen: readonly SeenDocument[] = [],
  ): Promise<readonly boolean[]> {
    if (names.length === 0) return [];
    const named = JSON.stringify(names.map(({ tenant, run }) => ({ tenant, run })));
    const [row] = await this.#write("removeRuns", [epoch, named, JSON.stringify(seen)]);
    return row?.removed as boolean[];
  }

  async readForks({ tenant, run }: RunName): Promise<readonly Fork[]> {
    return (await this.#ask("readForks", [tenant, run])).map(
      (row) => ({ tenant, ...row }) as unknown as Fork,
    );
  }

  async pruneJournal(
    { tenant, run }: RunName,
    seq: number,
    epoch: number,
    seen: readonly SeenDocument[] = [],
  ): Promise<boolean> {
    const [row] = await this.#write("pruneJournal", [epoch, tenant, run, seq, JSON.stringify(seen)]);
    return row?.pruned as boolean;
  }

  async sweep(limit: number): Promise<number> {
    const [row] = await this.#write("sweep", [limit]);
    return row?.swept as number;
  }

  async backup(): Promise<void> {
    throw noBackup(this.#name, "use pg_dump or the archive of its server");
  }

  scan<Kind extends RowKind>(kind: Kind, query: ScanQuery): Promise<readonly Stored<Kind>[]> {
    return this.#transact((ask) => scan(ask, quote(this.#schema), kind, query));
  }

  mend(changes: readonly Mending[], epoch: number): Promise<boolean> {
    return this.#transact((ask) => mendAll(ask, quote(this.#schema), changes, epoch));
  }

  /** Several statements that see the same state of the store and take effect together; for tools only. */
  async #transact<Answer>(work: (ask: Ask) => Promise<Answer>): Promise<Answer> {
    if (this.#pool === undefined) throw notOpen(this.#name);
    try {
      return await inTransaction(this.#pool, (client) =>
        work(async (text, values) => (await client.query({ text, values: [...values], types })).rows),
      );
    } catch (error) {
      throw storeError(error, this.#name);
    }
  }

  #ask(query: keyof Queries, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#query(this.#queries[query], values);
  }

  /** Calls a function that writes; each takes first whether its transaction must be on disk. */
  #write(query: keyof Queries, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#query(this.#queries[query], [this.#full, ...values]);
  }

  /** One statement, once more if the database undid it in favour of another. */
  async #query(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    if (this.#pool === undefined) throw notOpen(this.#name);
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#pool.query({ text, values: [...values], types })).rows;
      } catch (error) {
        if (!isUndone(error) || attempt >= limits.undoneAttemptsMax) throw storeError(error, this.#name);
      }
    }
  }

  /** Reads rows into records; what cannot be read is damage. */
  #check<Answer>(read: () => Answer): Answer {
    try {
      return read();
    } catch (error) {
      throw error instanceof SyntaxError || error instanceof RangeError ? corrupt(this.#name, error) : error;
    }
  }

  get #name(): string {
    return `The PostgreSQL store (schema ${this.#schema})`;
  }
}
