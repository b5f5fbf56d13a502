/**
 * The PostgreSQL store: runs in a schema of a database, for as many processes as like to.
 *
 * Every verb is one statement, and each that writes is one call of a function of the schema (`functions.ts`), so a commit
 * of however many items is one round trip and one transaction. No state is kept in connections, save one statement that
 * may be lost (`append.ts`).
 *
 * Q1. If the connection is lost during a commit, the journal is asked what became of it: the entry's digest tells a commit
 *     of ours from anybody else's, but for a member that took the very same step, as of a timer in the same millisecond.
 *     That matters only to activities, and whose those are their epoch tells. A commit that is found is answered
 *     `committed`; if none is, STORE_UNAVAILABLE is thrown, and the same commit can be made again.
 */
import { limits } from "../../limits.ts";
import { checkCommit } from "../commit.ts";
import type { Fleet } from "../fleet.ts";
import { copyOf, KnownRuns } from "../known.ts";
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
import { chunkOf, deadLetterOf, entryOf, eventOf, headOf, seenKeyOf } from "../rows.ts";
import type { Search, SearchingStore } from "../search.ts";
import { allShards } from "../shard.ts";
import type {
  Commit,
  CommitOutcome,
  DueOf,
  EnqueueOutcome,
  KnownCheckpoint,
  Lease,
  LoadedRun,
  RunQuery,
} from "../store.ts";
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
import type { PostgresPool } from "./connect.ts";
import { Database } from "./database.ts";
import { isLost, storeError } from "./errors.ts";
import { findQuery } from "./find.ts";
import { PostgresFleet } from "./fleet.ts";
import { own } from "./lease.ts";
import { loadedRunOf, stateOf } from "./load.ts";
import { mendAll } from "./mend.ts";
import { checkPostgres, type PostgresOptions } from "./options.ts";
import { Pieces } from "./pieces.ts";
import { createClient } from "./pool.ts";
import { onPrimary } from "./queries.ts";
import { scan } from "./scan.ts";
import { PostgresSearch } from "./search.ts";
import { noSignals, PostgresSignals } from "./signals.ts";

export type { PostgresClient, PostgresPool } from "./connect.ts";
export type { PostgresOptions } from "./options.ts";

/**
 * A store in a PostgreSQL database, given by its URL or by a pool of `pg`, which then stays open when the store is closed.
 * Throws OPTIONS_INVALID for what cannot be meant.
 */
export function postgres(urlOrPool: string | PostgresPool, options: PostgresOptions = {}): SearchingStore {
  checkPostgres(urlOrPool, options);
  return new PostgresStore(urlOrPool, options);
}

class PostgresStore implements SearchingStore {
  declare readonly fleet?: Fleet;
  readonly search: Search;
  readonly #database: Database;
  readonly #appending: Appending;
  /** What is known of runs, under the epoch of the last commit. */
  readonly #known = new KnownRuns();
  #epoch = 0;

  constructor(server: string | PostgresPool, options: PostgresOptions) {
    const database = new Database(server, options);
    this.#database = database;
    this.search = new PostgresSearch(database);
    this.#appending = new Appending(database.schema);
    const { schema = "holdfast", shared = true, listen } = options;
    if (!shared) return;
    const connect = () => (typeof listen === "string" ? createClient(listen) : database.connect());
    const { ask } = database;
    const signals = listen === false ? noSignals : new PostgresSignals(schema, { ask, connect });
    this.fleet = new PostgresFleet(database, signals);
  }

  async open(): Promise<void> {
    // A server that was not in step when it was promoted may have fewer entries than are known.
    if (this.#database.pool === undefined) await this.#database.open(() => this.#known.clear());
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  own(worker: string, leaseMs: number, now: number): Promise<Lease> {
    return own(this.#database, worker, leaseMs, now);
  }

  async release(worker: string, epoch: number, now: number | undefined): Promise<void> {
    if (this.#database.clock === "database" && now !== undefined)
      await this.#database.write("releaseLeaseNow", [worker, epoch]);
    else await this.#database.write("releaseLease", [worker, epoch, now ?? null]);
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
      const [row] = await this.#database.write("commit", batch.parameters());
      const outcomes = batch.outcomes(row?.answer as CommitAnswer);
      return await Promise.all(
        outcomes.map((outcome, index) => this.#seen(outcome, commits[index] as Commit)),
      );
    } catch (error) {
      if (!isLost((error as Error).cause)) throw error;
      this.#known.clear();
      return this.#resolve(commits, error);
    }
  }

  /** Commits the short way if it leads there; whether it did. */
  async #append(batch: Batch): Promise<boolean> {
    const appended = batch.appended();
    const { appending, full, name } = this.#database;
    if (appended === undefined || appending === undefined) return false;
    try {
      return await this.#appending.append(appending, full, appended);
    } catch (error) {
      throw storeError(error, name);
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
    const names = JSON.stringify(
      commits.map((commit) => {
        const { tenant, run, seq } = commit.head;
        return { tenant, run, seq, begun: begunBy(commit) };
      }),
    );
    // The server may still be at it, and holds the runs until it is done.
    await this.#database.ask("awaitRuns", [names]);
    const rows = await this.#database.ask("readDigests", [names, (commits[0] as Commit).epoch]);
    const isThere = commits.map(({ head }, index) => rows[index]?.digest === head.digest && rows[index].ours);
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
    const query = hasRepeats(rows) ? "enqueue" : "enqueueDistinct";
    const [answer] = await this.#database.write(query, [events, pieces.all()]);
    return answer?.outcomes as EnqueueOutcome[];
  }

  async due(now: number, limit: number, of?: DueOf): Promise<readonly RunName[]> {
    const { tenant: whose, since = Number.POSITIVE_INFINITY } = of ?? {};
    const rows = await (whose === undefined
      ? this.#database.ask("due", [now, limit, allShards])
      : this.#database.ask("dueOf", [whose, since, Math.min(now, since), limit]));
    return rows.map(({ tenant, run }) => ({ tenant: tenant as string, run: run as string }));
  }

  async nextDue(after: number): Promise<number | undefined> {
    const [row] = await this.#database.ask("nextDue", [after]);
    return (row?.at as number | null) ?? undefined;
  }

  async readKeys(name: RunName, keys: readonly string[]): Promise<readonly SeenKey[]> {
    return (await this.#database.ask("readKeys", [name.tenant, name.run, keys])).map(seenKeyOf);
  }

  async readHead(name: RunName): Promise<RunHead | undefined> {
    const [row] = await this.#database.ask("readRun", [name.tenant, name.run]);
    return row && this.#database.check(() => headOf(row));
  }

  async load(name: RunName, known?: KnownCheckpoint): Promise<LoadedRun | undefined> {
    const asked = [name.tenant, name.run, limits.inboxLoadedMax];
    const rows =
      known === undefined
        ? await this.#database.ask("load", asked)
        : await this.#database.ask("loadSince", [...asked, known.seq, known.digest]);
    const loaded = this.#database.check(() => loadedRunOf(name, rows));
    if (loaded === undefined) return undefined;
    this.#known.keep(loaded.id, loaded.run.head);
    return { ...loaded.run, head: copyOf(loaded.run.head) };
  }

  async readInbox(name: RunName, limit: number): Promise<readonly InboxRow[]> {
    const rows = await this.#database.ask("readInbox", [name.tenant, name.run, limit]);
    return rows.map((row) => eventOf(name, row));
  }

  async readAt(name: RunName, seq: number): Promise<Pick<LoadedRun, "snapshot" | "entries"> | undefined> {
    const rows = await this.#database.ask("readAt", [name.tenant, name.run, seq]);
    return rows.length === 0 ? undefined : this.#database.check(() => stateOf(rows, seq));
  }

  async readJournal(name: RunName, from: number, limit: number): Promise<readonly EntryRow[]> {
    return (await this.#database.ask("readJournal", [name.tenant, name.run, from, limit])).map(entryOf);
  }

  async readContents(
    tenant: string,
    subject: string,
    digests: readonly string[],
  ): Promise<readonly ContentRow[]> {
    const rows = await this.#database.ask("readContents", [tenant, subject, digests]);
    return rows.map(({ digest, bytes }) => ({ digest: digest as string, bytes: bytes as Uint8Array }));
  }

  async findRuns(query: RunQuery): Promise<readonly RunHead[]> {
    const { text, values } = findQuery(this.#database.schema, query);
    const rows = await this.#database.query(onPrimary(text), values);
    return this.#database.check(() => rows.map(headOf));
  }

  async recordActivities(rows: readonly ActivityRow[], epoch: number): Promise<readonly boolean[]> {
    if (rows.length === 0) return [];
    const pieces = new Pieces();
    const activities = JSON.stringify(rows.map((row) => activityRow(row, pieces)));
    const [answer] = await this.#database.write("recordActivities", [epoch, activities, pieces.all()]);
    return answer?.recorded as boolean[];
  }

  async readDeadLetters(tenant: string, after: number, limit: number): Promise<readonly DeadLetterRow[]> {
    return (await this.#database.ask("readDeadLetters", [tenant, after, limit])).map(deadLetterOf);
  }

  async removeDeadLetter(tenant: string, number: number): Promise<boolean> {
    const [row] = await this.#database.write("removeDeadLetter", [tenant, number]);
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
    const [answer] = await this.#database.write("appendChunks", given);
    return answer?.appended as boolean;
  }

  async readChunks(name: RunName, key: string, from: number, limit: number): Promise<readonly ChunkRow[]> {
    return (await this.#database.ask("readChunks", [name.tenant, name.run, key, from, limit])).map(chunkOf);
  }

  async readDocument(tenant: string, name: string): Promise<DocumentRow | undefined> {
    const [row] = await this.#database.ask("readDocument", [tenant, name]);
    return row && { version: row.version as number, bytes: row.bytes as Uint8Array };
  }

  async writeDocument(tenant: string, name: string, expect: number, bytes: Uint8Array): Promise<boolean> {
    const [row] = await this.#database.write("writeDocument", [tenant, name, expect, Buffer.from(bytes)]);
    return row?.written as boolean;
  }

  async removeDocument(tenant: string, name: string, expect: number): Promise<boolean> {
    const [row] = await this.#database.write("removeDocument", [tenant, name, expect]);
    return row?.removed as boolean;
  }

  async removeRuns(
    names: readonly RunName[],
    epoch: number,
    seen: readonly SeenDocument[] = [],
  ): Promise<readonly boolean[]> {
    if (names.length === 0) return [];
    const named = JSON.stringify(names.map(({ tenant, run }) => ({ tenant, run })));
    const [row] = await this.#database.write("removeRuns", [epoch, named, JSON.stringify(seen)]);
    return row?.removed as boolean[];
  }

  async readForks({ tenant, run }: RunName): Promise<readonly Fork[]> {
    return (await this.#database.ask("readForks", [tenant, run])).map(
      (row) => ({ tenant, ...row }) as unknown as Fork,
    );
  }

  async pruneJournal(
    { tenant, run }: RunName,
    seq: number,
    epoch: number,
    seen: readonly SeenDocument[] = [],
  ): Promise<boolean> {
    const [row] = await this.#database.write("pruneJournal", [epoch, tenant, run, seq, JSON.stringify(seen)]);
    return row?.pruned as boolean;
  }

  async sweep(limit: number): Promise<number> {
    const [row] = await this.#database.write("sweep", [limit]);
    return row?.swept as number;
  }

  async backup(): Promise<void> {
    throw noBackup(this.#database.name, "use pg_dump or the archive of its server");
  }

  scan<Kind extends RowKind>(kind: Kind, query: ScanQuery): Promise<readonly Stored<Kind>[]> {
    return this.#database.transact((ask) =>
      scan((text, values) => ask(onPrimary(text), values), this.#database.schema, kind, query),
    );
  }

  mend(changes: readonly Mending[], epoch: number): Promise<boolean> {
    return this.#database.transact((ask) => mendAll(ask, this.#database.schema, changes, epoch));
  }
}

/** The activities that begin with a commit, and with those of its children. */
function begunBy({ begun, starts }: Commit): Pick<ActivityRow, "tenant" | "run" | "key">[] {
  const own = begun.map(({ tenant, run, key }) => ({ tenant, run, key }));
  return [...own, ...starts.flatMap(begunBy)];
}

/** Whether two events for one run have the same id or key: whether the later one is taken depends on the earlier one. */
function hasRepeats(rows: readonly InboxRow[]): boolean {
  const seen = new Set<string>();
  let count = 0;
  for (const { tenant, run, id, key } of rows) {
    seen.add(JSON.stringify([tenant, run, { id }]));
    if (key !== undefined) seen.add(JSON.stringify([tenant, run, { key }]));
    count += key === undefined ? 1 : 2;
  }
  return seen.size < count;
}
