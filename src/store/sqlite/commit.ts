/**
 * Writing one commit: inside the transaction of its call, or as the one statement that it is.
 *
 * C1. Whatever can refuse a commit is asked before its first write, and the first write is its first entry, whose unique
 *     key settles who was there first (I1, I2). So a refused commit leaves nothing to undo, and needs no savepoint.
 * C2. A step that changes nothing but where its run stands is one INSERT; alone in its call it needs no transaction
 *     around it, since the same statement asks who owns the runs.
 */
import type { SQLInputValue } from "node:sqlite";
import { sourceOf, withStarts } from "../commit.ts";
import { type Ground, isThere } from "../forks.ts";
import { copyOf, isDescribedAlike, isSameRun, type KnownRun, KnownRuns } from "../known.ts";
import { isOwnedUnder, type LeaseOwner } from "../lease.ts";
import { type EntryRow, isFinal, type RunHead, type RunName, snapshotsKept } from "../records.ts";
import { aboutOf, headOf } from "../rows.ts";
import type { Commit, CommitOutcome } from "../store.ts";
import { attributeText } from "./find.ts";
import { bury, send } from "./inbox.ts";
import type { Statements } from "./queries.ts";

export const committed: CommitOutcome = Object.freeze({ outcome: "committed" });

export class CommitWriter {
  readonly #statements: Statements;
  /** What is known is known under an epoch: an owner in between may have mended runs. */
  readonly #known = new KnownRuns();
  #epoch = 0;

  readonly #use: { hits: number; misses: number };

  /** `use` counts how often a run that commits was remembered. */
  constructor(statements: Statements, use: { hits: number; misses: number }) {
    this.#statements = statements;
    this.#use = use;
  }

  /** Writes the commit, or changes nothing and says why. */
  write(commit: Commit, lease: LeaseOwner): CommitOutcome {
    const { head, expect, epoch } = commit;
    if (!isOwnedUnder(lease, epoch)) return { outcome: "fenced", epoch: lease.epoch };
    this.knowUnder(epoch);
    const remembered = this.#known.read(head);
    const isRemembered = remembered?.seq === expect;
    // One that begins is nowhere yet.
    if (isRemembered) this.#use.hits++;
    else if (expect > 0) this.#use.misses++;
    const outcome = this.#writeOn(commit, isRemembered ? remembered : this.read(head));
    // What was remembered may be old, and then that is the reason.
    return outcome === committed || !isRemembered ? outcome : this.#writeOn(commit, this.read(head));
  }

  #writeOn(commit: Commit, known: KnownRun | undefined): CommitOutcome {
    const { head, expect, epoch } = commit;
    if ((known?.seq ?? 0) !== expect) return this.#conflict(head);
    const refusal = this.#refuse(commit, known);
    if (refusal !== undefined) return refusal;
    if (!this.#apply(commit, known, epoch)) return this.#conflict(head);
    this.#send(commit);
    return committed;
  }

  /**
   * Writes a bare step (C2) outside any transaction. False if it is not one, or if the statement found something against
   * it: then nothing was written, and `write` finds out what.
   */
  append(commit: Commit): boolean {
    const { head, expect, epoch, entries } = commit;
    const known = epoch === this.#epoch ? this.#known.read(head) : undefined;
    if (known?.seq !== expect || !isBare(commit) || !isSameRun(known.head, head)) return false;
    const { seq, at, digest, bytes } = entries[0] as EntryRow;
    const { changes } = this.#statements.appendEntry.run(known.id, seq, at, digest, bytes, epoch);
    if (changes !== 1) return false;
    this.#use.hits++;
    known.seq = seq;
    return true;
  }

  /** What the database has of a run; remembered. */
  read(name: RunName): KnownRun | undefined {
    const row = this.#statements.readRun.get(name.tenant, name.run);
    if (row === undefined) return undefined;
    this.#known.keep(row.id as number, headOf(row));
    return this.#known.read(name);
  }

  /** The transaction was rolled back: what is remembered of it never happened. */
  forget(): void {
    this.#known.clear();
  }

  /** What is remembered from now on is what the owner of this epoch finds. */
  knowUnder(epoch: number): void {
    if (epoch !== this.#epoch) this.forget();
    this.#epoch = epoch;
  }

  #isAt(name: RunName, seq: number): boolean {
    return (this.read(name)?.seq ?? 0) === seq;
  }

  #conflict(name: RunName): CommitOutcome {
    return { outcome: "conflict", run: name.run, seq: this.read(name)?.seq ?? 0 };
  }

  /** What a commit can have against it besides its own position, in the order the port gives. */
  #refuse(commit: Commit, known: KnownRun | undefined): CommitOutcome | undefined {
    const { head, consumed, keys, starts, expect } = commit;
    const isNew = head.fork !== undefined && expect === 0;
    if (consumed.length === 0 && keys.length === 0 && starts.length === 0 && !isNew) return undefined;
    for (const start of withStarts(starts)) if (!this.#isAt(start.head, 0)) return this.#conflict(start.head);
    for (const { id } of consumed) {
      if (known === undefined || this.#statements.hasEvent.get(known.id, id) === undefined)
        return { outcome: "conflict", run: head.run, seq: expect };
    }
    if (!withStarts([commit]).every((one) => this.#hasSource(one)))
      return { outcome: "conflict", run: head.run, seq: expect };
    if (known === undefined) return undefined;
    const seen = keys.find(({ key }) => this.#statements.readKey.get(known.id, key) !== undefined);
    return seen === undefined ? undefined : { outcome: "duplicate", key: seen.key };
  }

  /** Whether what a new run is to stand on is there. */
  #hasSource(commit: Commit): boolean {
    const source = sourceOf(commit);
    return source === undefined || isThere(source, (name) => this.#groundOf(name));
  }

  #groundOf({ tenant, run }: RunName): Ground | undefined {
    const row = this.#statements.readRun.get(tenant, run);
    if (row === undefined) return undefined;
    const isKept = (seq: number) => this.#statements.hasKept.get(row.id as number, seq) !== undefined;
    return { seq: row.seq as number, pruned: row.pruned as number, fork: headOf(row).fork, isKept };
  }

  /** Writes a commit and what begins with it; false, and nothing written, if its first entry is there already. */
  #apply(commit: Commit, known: KnownRun | undefined, epoch: number): boolean {
    const { head, entries, expect } = commit;
    const id = known?.id ?? this.#insertRun(head);
    for (const { seq, at, digest, bytes } of entries) {
      const { changes } = this.#statements.insertEntry.run(id, seq, at, digest, bytes);
      if (changes === 1) continue;
      if (seq === expect + 1) return false;
      throw new Error(`Run ${head.run} has an entry ${seq} but none before it`);
    }
    const ends = known !== undefined && !isFinal(known.head) && isFinal(head);
    if (known !== undefined) this.#describe(known, head);
    this.#writeBeside(commit, id, epoch);
    if (ends) bury(this.#statements, id);
    if (known === undefined) this.#known.keep(id, head);
    else known.seq = head.seq;
    for (const start of commit.starts) this.#apply(start, undefined, epoch);
    return true;
  }

  #insertRun(head: RunHead): number {
    const { tenant, run, subject, machine, status, createdAt, wakeAt, snapshotSeq } = head;
    const { lastInsertRowid } = this.#statements.insertRun.run(
      ...[tenant, run, subject, machine, status, createdAt],
      ...[wakeAt ?? null, snapshotSeq, aboutOf(head), head.fork?.run ?? null, head.fork?.seq ?? null],
    );
    for (const attribute of attributesOf(head)) this.#statements.insertAttribute.run(...attribute);
    return Number(lastInsertRowid);
  }

  /** Brings the run's own row up to date, as far as it changed. */
  #describe(known: KnownRun, head: RunHead): void {
    const before = known.head;
    if (isSameRun(before, head)) return;
    const { subject, machine, status, createdAt, wakeAt, snapshotSeq } = head;
    if (isDescribedAlike(before, head)) {
      this.#statements.updateWake.run(wakeAt ?? null, snapshotSeq, known.id);
    } else {
      this.#statements.updateRun.run(
        ...[subject, machine, status, createdAt],
        ...[wakeAt ?? null, snapshotSeq, aboutOf(head), head.fork?.run ?? null, head.fork?.seq ?? null],
        known.id,
      );
      this.#replaceAttributes(before, head);
      if ((before.status === "active") !== (status === "active")) {
        this.#statements.openInbox.run(openFlag(head), known.id);
        this.#statements.openActivities.run(openFlag(head), known.id);
      }
    }
    known.head = copyOf(head);
  }

  #replaceAttributes(before: RunHead, head: RunHead): void {
    const old = new Map(attributesOf(before).map((row) => [JSON.stringify(row), row]));
    for (const row of attributesOf(head))
      if (!old.delete(JSON.stringify(row))) this.#statements.insertAttribute.run(...row);
    for (const row of old.values()) this.#statements.deleteAttribute.run(...row);
  }

  /** Everything a commit has besides its head and its entries. */
  #writeBeside(commit: Commit, id: number, epoch: number): void {
    const { head, snapshot, contents, consumed, keys, begun, ended } = commit;
    if (snapshot !== undefined) {
      // First what this one replaces, so that it takes its place in the file.
      this.#statements.deleteSnapshots.run(id, snapshotsKept - 1);
      this.#statements.insertSnapshot.run(id, snapshot.seq, snapshot.bytes, snapshot.kept ? 1 : 0);
    }
    for (const { digest, bytes } of contents)
      this.#statements.insertContent.run(head.tenant, head.subject, digest, bytes);
    for (const taken of consumed) {
      const key = this.#statements.deleteEvent.get(id, taken.id)?.key ?? null;
      if (key !== null) this.#statements.updateKey.run(taken.seq, id, key);
    }
    for (const { key, seq } of keys) this.#statements.insertKey.run(id, key, seq);
    for (const { key, activity, attempt, status, dueAt, bytes, report } of begun)
      this.#statements.writeActivity.run(
        ...[id, key, activity, attempt, status, dueAt, epoch, openFlag(head)],
        ...[bytes, report ?? null],
      );
    for (const key of ended) this.#statements.deleteActivity.run(id, key);
  }

  /** Last of all: what begins with this commit can be sent to. */
  #send(commit: Commit): void {
    for (const row of commit.sends) send(this.#statements, row);
    for (const start of commit.starts) this.#send(start);
  }
}

/** Whether a commit is one entry and nothing beside it. */
function isBare(commit: Commit): boolean {
  const { entries, snapshot, contents, consumed, keys, begun, ended, sends, starts } = commit;
  const beside = contents.length + consumed.length + keys.length + begun.length + ended.length;
  return entries.length === 1 && snapshot === undefined && beside + sends.length + starts.length === 0;
}

export const openFlag = ({ status }: RunHead): number => (status === "active" ? 1 : 0);

/** The rows a run is found by. */
export function attributesOf({ tenant, run, createdAt, attributes }: RunHead): SQLInputValue[][] {
  return Object.entries(attributes).map(([name, value]) => {
    return [tenant, name, attributeText(value), createdAt, run];
  });
}
