/**
 * The memory store: the reference model the others are compared with. Plain maps and lists, and no cleverness: each verb
 * is written as the port describes it, checks everything before it changes anything, and runs without a pause, so it is
 * atomic (I1). Rows are copied on the way in and frozen copies go out: nobody shares what is kept. Nothing survives the
 * process.
 */
import { limits } from "../../limits.ts";
import { checkCommit, sourceOf, withStarts } from "../commit.ts";
import { type Ground, isThere } from "../forks.ts";
import { isOwnedUnder, type LeaseRow, takeLease } from "../lease.ts";
import { isAlive, leftBy } from "../members.ts";
import {
  type ActivityRow,
  type ChunkRow,
  type ContentRow,
  type DeadLetterRow,
  type DocumentRow,
  type EntryRow,
  type InboxRow,
  isFinal,
  type RunHead,
  type RunName,
  type SeenKey,
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
import {
  type Fork,
  type Mending,
  noBackup,
  type RowKind,
  type ScanQuery,
  type SeenDocument,
  type Stored,
} from "../upkeep.ts";
import { findDue, nextTime } from "./due.ts";
import { MemoryFleet } from "./fleet.ts";
import { mayHave } from "./held.ts";
import {
  compareText,
  copy,
  fits,
  inOrder,
  lose,
  nameOf,
  newestFirst,
  stateAt,
  stateSince,
  withoutOld,
} from "./kept.ts";
import { mend } from "./mend.ts";
import { forksOf, isAsSeen, prune, removeRun, sweep } from "./remove.ts";
import { scan } from "./scan.ts";
import { memoryTables, type StoredRun, type Tables } from "./tables.ts";

export interface MemoryOptions {
  /** Several runtimes share it, as they would a database. */
  readonly shared?: boolean;
}

/** A store for tests and for runs that may be forgotten: it keeps everything in this process. */
export function memory({ shared = false }: MemoryOptions = {}): Store {
  const tables = memoryTables();
  const store = new MemoryStore(tables);
  return shared ? Object.assign(store, { fleet: new MemoryFleet(tables) }) : store;
}

/** The store over these tables. Each verb is done with them when its promise is returned; one that throws may be half done. */
export class MemoryStore implements Store {
  readonly #tables: Tables;

  constructor(tables: Tables = memoryTables()) {
    this.#tables = tables;
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {}

  async own(worker: string, leaseMs: number, now: number): Promise<Lease> {
    const { lease, members } = this.#tables;
    const member = members.find((one) => isAlive(one, now));
    if (member !== undefined) return { ...takenBy(member), owner: member.worker };
    const taken = takeLease(leftBy(this.#tables, []), worker, leaseMs, now);
    if (taken === undefined) return { ...takenBy(lease), owner: lease.owner as string };
    this.#tables.lease = taken;
    this.#tables.members = [];
    return { outcome: "owned", epoch: taken.epoch, until: taken.until, outages: taken.outages };
  }

  async release(worker: string, epoch: number, now: number | undefined): Promise<void> {
    const lease = this.#tables.lease;
    if (lease.owner === worker && lease.epoch === epoch)
      this.#tables.lease = { ...lease, owner: undefined, from: now ?? lease.from };
  }

  async commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    commits.forEach(checkCommit);
    return commits.map((commit) => {
      const refusal = this.#refuse(commit);
      if (refusal !== undefined) return refusal;
      this.#write(commit);
      this.#send(commit);
      return { outcome: "committed" };
    });
  }

  /** Why a commit may not be written, in the order the port gives. */
  #refuse(commit: Commit): CommitOutcome | undefined {
    const { head, consumed, keys, epoch } = commit;
    if (!this.#isGood(epoch)) return { outcome: "fenced", epoch: this.#tables.lease.epoch };
    for (const { head, expect } of withStarts([commit])) {
      const seq = this.#find(head)?.head.seq ?? 0;
      if (seq !== expect) return { outcome: "conflict", run: head.run, seq };
    }
    const { inbox, seen } = this.#find(head) ?? this.#tables.createRun(head);
    if (!consumed.every(({ id }) => inbox.has(id)))
      return { outcome: "conflict", run: head.run, seq: commit.expect };
    if (withStarts([commit]).some((one) => !this.#hasSource(one)))
      return { outcome: "conflict", run: head.run, seq: commit.expect };
    const repeated = keys.find(({ key }) => seen.has(key));
    return repeated === undefined ? undefined : { outcome: "duplicate", key: repeated.key };
  }

  /** Whether what a new run is to stand on is there. */
  #hasSource(commit: Commit): boolean {
    const source = sourceOf(commit);
    return source === undefined || isThere(source, (name) => this.#groundOf(name));
  }

  #groundOf(name: RunName): Ground | undefined {
    const run = this.#find(name);
    if (run === undefined) return undefined;
    const { head, pruned, snapshots } = run;
    const isKept = (seq: number) => snapshots.some((one) => one.kept && one.seq <= seq);
    return { seq: head.seq, pruned, fork: head.fork, isKept };
  }

  #write(commit: Commit): void {
    const { head, entries, snapshot, contents, consumed, keys, begun, ended, epoch } = commit;
    const run = this.#find(head) ?? this.#tables.createRun(head);
    this.#tables.runs.set(nameOf(head), run);
    run.head = copy(head);
    run.entries.append(copy(entries));
    if (snapshot !== undefined) run.snapshots = withoutOld([...run.snapshots, copy(snapshot)]);
    for (const content of contents) {
      const place = JSON.stringify([head.tenant, head.subject, content.digest]);
      if (!this.#tables.contents.has(place)) this.#tables.contents.set(place, copy(content));
    }
    for (const { id, seq } of consumed) {
      const key = run.inbox.get(id)?.key;
      if (key !== undefined) run.seen.set(key, seq);
      run.inbox.delete(id);
    }
    for (const { key, seq } of keys) run.seen.set(key, seq);
    for (const row of begun) run.activities.set(row.key, { row: copy(row), epoch });
    for (const key of ended) run.activities.delete(key);
    if (isFinal(head)) this.#bury(run);
    for (const start of commit.starts) this.#write({ ...start, epoch });
  }

  #send(commit: Commit): void {
    for (const { sends } of withStarts([commit]))
      for (const row of sends) {
        // It may be mended yet, and the sender is not to wait for that.
        const isDamaged = this.#tables.damaged?.has(nameOf(row)) === true;
        const outcome = isDamaged ? "missing" : this.#deliver(row);
        if (outcome === "missing" || outcome === "ended") lose(this.#tables, row, outcome);
      }
  }

  /** Nobody will take what waits any more, so its keys are as if they had never been seen. */
  #bury(run: StoredRun): void {
    for (const row of inOrder(run.inbox.values())) {
      if (row.key !== undefined) run.seen.delete(row.key);
      lose(this.#tables, row, "ended");
    }
    run.inbox.clear();
  }

  async enqueue(rows: readonly InboxRow[]): Promise<readonly EnqueueOutcome[]> {
    return rows.map((row) => this.#deliver(row));
  }

  #deliver(row: InboxRow): EnqueueOutcome {
    const run = this.#find(row);
    if (run === undefined) return "missing";
    if (run.inbox.has(row.id) || (row.key !== undefined && run.seen.has(row.key))) return "duplicate";
    if (isFinal(run.head)) return "ended";
    run.inbox.set(row.id, copy(row));
    if (row.key !== undefined) run.seen.set(row.key, undefined);
    return "accepted";
  }

  async due(now: number, limit: number, of?: DueOf): Promise<readonly RunName[]> {
    return findDue(this.#tables, { now, limit, of });
  }

  async nextDue(after: number): Promise<number | undefined> {
    return nextTime(this.#tables.runs.values(), after);
  }

  async readKeys(name: RunName, keys: readonly string[]): Promise<readonly SeenKey[]> {
    const seen = this.#find(name)?.seen ?? new Map<string, number | undefined>();
    return copy(
      keys
        .filter((key) => seen.has(key))
        .map((key) => {
          const seq = seen.get(key);
          return seq === undefined ? { key } : { key, seq };
        }),
    );
  }

  async readHead(name: RunName): Promise<RunHead | undefined> {
    return copy(this.#find(name)?.head);
  }

  async load(name: RunName, known?: KnownCheckpoint): Promise<LoadedRun | undefined> {
    const run = this.#find(name);
    if (run === undefined) return undefined;
    const state = (known && stateSince(run, known)) ?? stateAt(run, run.head.seq);
    const inbox = inOrder(run.inbox.values()).slice(0, limits.inboxLoadedMax);
    const activities = [...run.activities.values()]
      .map(({ row }) => row)
      .sort((one, other) => compareText(one.key, other.key));
    return copy({ head: run.head, ...state, inbox, activities });
  }

  async readInbox(name: RunName, limit: number): Promise<readonly InboxRow[]> {
    return copy(inOrder(this.#find(name)?.inbox.values() ?? []).slice(0, limit));
  }

  async readAt(name: RunName, seq: number): Promise<Pick<LoadedRun, "snapshot" | "entries"> | undefined> {
    const run = this.#find(name);
    const isThere = run !== undefined && seq >= Math.max(1, run.pruned) && seq <= run.head.seq;
    return isThere ? copy(stateAt(run, seq)) : undefined;
  }

  async readJournal(name: RunName, from: number, limit: number): Promise<readonly EntryRow[]> {
    return copy(this.#find(name)?.entries.read(from, Number.POSITIVE_INFINITY, limit) ?? []);
  }

  async readContents(
    tenant: string,
    subject: string,
    digests: readonly string[],
  ): Promise<readonly ContentRow[]> {
    return copy(
      digests.flatMap((digest) => this.#tables.contents.get(JSON.stringify([tenant, subject, digest])) ?? []),
    );
  }

  async findRuns(query: RunQuery): Promise<readonly RunHead[]> {
    const { after, limit } = query;
    return copy(
      [...this.#tables.runs.values()]
        .map(({ head }) => head)
        .filter((head) => fits(head, query) && (after === undefined || newestFirst(after, head) < 0))
        .sort(newestFirst)
        .slice(0, limit),
    );
  }

  async recordActivities(rows: readonly ActivityRow[], epoch: number): Promise<readonly boolean[]> {
    return rows.map((row) => {
      const activities = this.#find(row)?.activities;
      const found = activities?.get(row.key);
      if (found === undefined || !mayHave(this.#tables, found, epoch)) return false;
      activities?.set(row.key, { row: copy(row), epoch });
      return true;
    });
  }

  async readDeadLetters(tenant: string, after: number, limit: number): Promise<readonly DeadLetterRow[]> {
    const letters = [...this.#tables.deadLetters.values()].filter((row) => row.tenant === tenant);
    return copy(letters.filter(({ number }) => number > after).slice(0, limit));
  }

  async removeDeadLetter(tenant: string, number: number): Promise<boolean> {
    return this.#tables.deadLetters.get(number)?.tenant === tenant && this.#tables.deadLetters.delete(number);
  }

  async appendChunks(
    name: RunName,
    key: string,
    chunks: readonly ChunkRow[],
    epoch: number,
  ): Promise<boolean> {
    const run = this.#find(name);
    if (run === undefined || !this.#isGood(epoch)) return false;
    const stream = run.chunks.get(key) ?? new Map<number, ChunkRow>();
    run.chunks.set(key, stream);
    for (const chunk of chunks) if (!stream.has(chunk.offset)) stream.set(chunk.offset, copy(chunk));
    return true;
  }

  async readChunks(name: RunName, key: string, from: number, limit: number): Promise<readonly ChunkRow[]> {
    const stream = this.#find(name)?.chunks.get(key) ?? new Map<number, ChunkRow>();
    const chunks = [...stream.values()].sort((one, other) => one.offset - other.offset);
    return copy(chunks.filter(({ offset }) => offset >= from).slice(0, limit));
  }

  async readDocument(tenant: string, name: string): Promise<DocumentRow | undefined> {
    return copy(this.#tables.documents.get(JSON.stringify([tenant, name])));
  }

  async writeDocument(tenant: string, name: string, expect: number, bytes: Uint8Array): Promise<boolean> {
    const place = JSON.stringify([tenant, name]);
    if ((this.#tables.documents.get(place)?.version ?? 0) !== expect) return false;
    const before = expect === 0 ? this.#tables.documentsRemoved : expect;
    this.#tables.documents.set(place, copy({ version: before + 1, bytes }));
    return true;
  }

  async removeDocument(tenant: string, name: string, expect: number): Promise<boolean> {
    const place = JSON.stringify([tenant, name]);
    if (this.#tables.documents.get(place)?.version !== expect) return false;
    this.#tables.documents.delete(place);
    this.#tables.documentsRemoved = Math.max(this.#tables.documentsRemoved, expect);
    return true;
  }

  async removeRuns(
    names: readonly RunName[],
    epoch: number,
    seen: readonly SeenDocument[] = [],
  ): Promise<readonly boolean[]> {
    const may = this.#isGood(epoch) && isAsSeen(this.#tables, seen);
    return names.map((name) => may && removeRun(this.#tables, name));
  }

  async readForks(name: RunName): Promise<readonly Fork[]> {
    return copy(forksOf(this.#tables, name));
  }

  async pruneJournal(
    name: RunName,
    seq: number,
    epoch: number,
    seen: readonly SeenDocument[] = [],
  ): Promise<boolean> {
    const may = this.#isGood(epoch) && isAsSeen(this.#tables, seen);
    return may && prune(this.#tables, name, seq);
  }

  async sweep(limit: number): Promise<number> {
    return sweep(this.#tables, limit);
  }

  async backup(): Promise<void> {
    throw noBackup("The memory store", "it keeps nothing that could outlive the process");
  }

  async scan<Kind extends RowKind>(kind: Kind, query: ScanQuery): Promise<readonly Stored<Kind>[]> {
    return copy(scan(this.#tables, kind, query));
  }

  async mend(changes: readonly Mending[], epoch: number): Promise<boolean> {
    const isAllowed = changes.every(({ change }) => change === "lease");
    if (!isAllowed && !this.#isGood(epoch)) return false;
    for (const change of changes) mend(this.#tables, change);
    this.#tables.lease = { ...this.#tables.lease, owner: undefined };
    return true;
  }

  #isGood(epoch: number): boolean {
    return isOwnedUnder(this.#tables.lease, epoch, this.#tables.members);
  }

  #find(name: RunName): StoredRun | undefined {
    return this.#tables.runs.get(nameOf(name));
  }
}

const takenBy = ({ epoch, until }: Pick<LeaseRow, "epoch" | "until">) =>
  ({ outcome: "taken", epoch, until }) as const;
