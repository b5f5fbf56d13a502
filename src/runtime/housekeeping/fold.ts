/**
 * Folding a run's journal again, from its first entry to its last, without running anything: every entry is checked
 * against the chain and every snapshot against the state the entries lead to.
 *
 * F1. Where an entry is damaged in what stands beside its bytes only (its digest, its time, its number), the bytes and the
 *     chain tell what it must be: it can be mended, and nothing is lost.
 * F2. Where an entry is gone, folding goes on from the next snapshot that can be read; `good` is the newest checkpoint that
 *     was reached.
 * F3. A snapshot counts if the entry after it follows its digest, or if the run's row tells of it: one of another run, or
 *     under a number that is not its own, is readable as well.
 */
import { isDeepStrictEqual } from "node:util";
import type { ActivityEffect } from "../../core/effect.ts";
import type { Json } from "../../core/json.ts";
import { contentsOf } from "../../store/content.ts";
import { chain, type Entry, foldEntry, genesis, openEntry, readEntry } from "../../store/journal.ts";
import type { EntryRow, SnapshotRow, Spending } from "../../store/records.ts";
import type { Mending, Stored } from "../../store/upkeep.ts";
import { addSpending } from "../budget.ts";
import { fetchContents } from "../live/contents.ts";
import type { Owner } from "../seal.ts";
import { type Finding, type Premises, reasonOf, rowsOf } from "./finding.ts";
import type { Known, OpenedSnapshot } from "./snapshots.ts";

/** A checkpoint that was reached, and what the entries on the way tell of it. */
export interface Good extends Known {
  readonly at: number;
  readonly hash: string;
  /** The checkpoint that folding began from: 0, or that of a snapshot. */
  readonly base: number;
  /** What the last word of control said of it, since then. */
  readonly parked: boolean | undefined;
  /** The time of the entry with which it ended. */
  readonly completedAt: number | undefined;
  readonly spent: Spending | undefined;
  /** The activities that were asked for since then, by key. */
  readonly asked: Map<string, { readonly effect: ActivityEffect; readonly at: number }>;
}

export interface Folded {
  readonly problems: Finding[];
  /** What puts entries right that are damaged beside their bytes. */
  readonly mendings: Mending[];
  readonly good: Good | undefined;
  /** The first entry that is gone and what came before the damage, if there is any. */
  readonly broken: { readonly seq: number; readonly before: Good | undefined } | undefined;
  /** The highest checkpoint that was ever told of. */
  readonly last: number;
  /** Entries that were read well. */
  readonly entries: number;
  /** States that were reached at snapshots that cannot be read. */
  readonly missing: readonly Known[];
}

export interface Journal {
  /** The run's place, and whose it is. */
  readonly run: string;
  readonly owner: Owner;
  readonly pruned: number;
  /** The newest snapshot that the run's row tells of. */
  readonly snapshotSeq: number;
  /** What the first entry stands on; undefined if that is gone. */
  readonly base: Known | undefined;
  readonly snapshots: readonly OpenedSnapshot[];
}

export async function fold(premises: Premises, journal: Journal): Promise<Folded> {
  const folding = new Folding(premises, journal);
  let page: Stored<"entry">[] = [];
  for await (const stored of rowsOf(premises.store, "entry", journal.run)) {
    page.push(stored);
    if (page.length < 100) continue;
    await folding.take(page);
    page = [];
  }
  await folding.take(page);
  return folding.end();
}

class Folding {
  readonly #premises: Premises;
  readonly #journal: Journal;
  readonly #problems: Finding[] = [];
  readonly #mendings: Mending[] = [];
  readonly #missing: Known[] = [];
  readonly #strays: Stored<"entry">[] = [];
  readonly #dropped = new Set<string>();
  /** Where folding stands; undefined while it is broken. */
  #now: Good | undefined;
  #best: Good | undefined;
  #broken: Folded["broken"];
  #expected: number;
  #last: number;
  #entries = 0;

  constructor(premises: Premises, journal: Journal) {
    this.#premises = premises;
    this.#journal = journal;
    this.#now = journal.base && beginAt(journal.base);
    this.#best = journal.pruned > 0 && journal.base?.state !== null ? this.#now : undefined;
    this.#expected = journal.pruned + 1;
    this.#last = journal.pruned;
  }

  async take(page: readonly Stored<"entry">[]): Promise<void> {
    for (const stored of page) {
      const row = stored.row as EntryRow;
      if (row.seq < this.#expected) this.#strays.push(stored);
      else await this.#takeRow(stored, row);
    }
  }

  async #takeRow(stored: Stored<"entry">, row: EntryRow): Promise<void> {
    if (this.#isUsed(stored)) return;
    if (row.seq > this.#expected && (await this.#fill(row.seq, stored.place))) return;
    this.#resume(row.seq - 1);
    this.#last = Math.max(this.#last, row.seq);
    this.#expected = row.seq + 1;
    if (this.#now === undefined) return;
    await this.#step(row, stored.place);
  }

  /** One row after the checkpoint where folding stands. */
  async #step(row: EntryRow, place: string | undefined): Promise<void> {
    const now = this.#now as Good;
    try {
      const { entry, mended } = await this.#read(row, now.digest);
      const after = follow(now, entry, mended.digest, this.#sinceKept(now) + row.bytes.length);
      this.#now = after;
      this.#best = after;
      this.#entries++;
      if (mended !== row) {
        const problem = "what stands beside its bytes is not what they tell";
        this.#problems.push({ kind: "entry", seq: row.seq, ...(place && { place }), problem });
        this.#mendings.push({ change: "entry", run: this.#journal.run, entry: mended });
      }
      this.#compare(after);
    } catch (error) {
      this.#break(row.seq, reasonOf(error));
    }
  }

  /** Bytes of entries since the last snapshot that is kept for good, be it the one here. */
  #sinceKept({ seq, since }: Good): number {
    return this.#journal.snapshots.some(({ stored: { row } }) => row?.seq === seq && row.kept) ? 0 : since;
  }

  /** The entry in a row, and the row as it should be. */
  async #read(row: EntryRow, previous: string): Promise<{ entry: Entry; mended: EntryRow }> {
    const { store, seal } = this.#premises;
    const { owner } = this.#journal;
    const binding = { open: (bytes: Uint8Array) => seal.open(bytes, owner) };
    const digest = chain(previous, row.bytes);
    const packed = openEntry({ ...row, digest }, previous, binding, "the run");
    const texts = await fetchContents(store, seal, owner, contentsOf(packed));
    const contents = { read: (one: string) => texts.get(one), keep: () => "" };
    const entry = readEntry(packed, { contents }, `entry ${row.seq}`);
    if (entry.at === row.at && digest === row.digest) return { entry, mended: row };
    if (digest !== row.digest && !(await this.#fitsBefore(row.seq, digest)))
      throw new Error(`Entry ${row.seq} does not match its digest: it was changed after it was written`);
    return { entry, mended: { ...row, at: entry.at, digest } };
  }

  /** Whether what comes after an entry follows this digest; nothing after it does not speak against it. */
  async #fitsBefore(seq: number, digest: string): Promise<boolean> {
    const { run, snapshots } = this.#journal;
    const snapshot = snapshots.find(({ known }) => known?.seq === seq)?.known;
    if (snapshot !== undefined) return snapshot.digest === digest;
    for await (const { row } of rowsOf(this.#premises.store, "entry", run))
      if (row?.seq === seq + 1) return chain(digest, row.bytes) === row.digest;
    // The digest before it may be wrong instead, if it comes from a snapshot.
    const now = this.#now as Good;
    return now.seq > now.base || now.base === this.#journal.pruned;
  }

  /** A snapshot at this checkpoint must hold this state, and one of this state must stand here. */
  #compare(now: Good): void {
    const { run, snapshots } = this.#journal;
    const here = snapshots.find(({ stored }) => stored.row?.seq === now.seq);
    if (here?.problem !== undefined) this.#missing.push(now);
    else if (here?.known !== undefined && here.known.digest !== now.digest) this.#dropSnapshot(here);
    else if (here?.known !== undefined && !isDeepStrictEqual(here.known.state, now.state)) {
      this.#missing.push(now);
      const problem = "it is not the state that the journal leads to";
      this.#problems.push({ kind: "snapshot", seq: now.seq, place: here.stored.place, problem });
    }
    const strayed = snapshots.find(({ known }) => known?.digest === now.digest && known.seq !== now.seq);
    if (strayed === undefined) return;
    this.#dropSnapshot(strayed);
    const snapshot = { ...(strayed.stored.row as SnapshotRow), seq: now.seq };
    this.#mendings.push({ change: "snapshot", run, snapshot });
  }

  #dropSnapshot({ stored: { place, row } }: OpenedSnapshot): void {
    if (this.#dropped.has(place)) return;
    this.#dropped.add(place);
    const seq = row?.seq as number;
    this.#problems.push({ kind: "snapshot", seq, place, problem: "it is not of this checkpoint" });
    this.#mendings.push({ change: "remove", kind: "snapshot", place });
  }

  /**
   * Entries are gone from here up to another: one of them may stand under a number that is not its own. Says whether it
   * was the one at this place.
   */
  async #fill(until: number, place?: string): Promise<boolean> {
    while (this.#expected < until && this.#now !== undefined) {
      const seq = this.#expected;
      const found = await this.#findStray(seq);
      if (found === undefined) {
        this.#break(seq, `entry ${seq} is not there`);
        break;
      }
      const row = { ...(found.row as EntryRow), seq };
      this.#problems.push({
        kind: "entry",
        seq,
        place: found.place,
        problem: "it stands under another number",
      });
      this.#mendings.push({ change: "remove", kind: "entry", place: found.place });
      this.#mendings.push({ change: "entry", run: this.#journal.run, entry: row });
      this.#expected++;
      this.#last = Math.max(this.#last, seq);
      await this.#step(row, undefined);
      if (found.place === place) return true;
    }
    return false;
  }

  async #findStray(seq: number): Promise<Stored<"entry"> | undefined> {
    const { seal } = this.#premises;
    const { run, owner } = this.#journal;
    const binding = { open: (bytes: Uint8Array) => seal.open(bytes, owner) };
    const { digest } = this.#now as Good;
    for await (const stored of rowsOf(this.#premises.store, "entry", run)) {
      const row = stored.row as EntryRow;
      if (chain(digest, row.bytes) !== row.digest) continue;
      try {
        openEntry({ ...row, seq }, digest, binding, "the run");
        return stored;
      } catch {
        // Another entry's, or damaged as well.
      }
    }
    return undefined;
  }

  #isUsed({ place }: Stored<"entry">): boolean {
    return this.#mendings.some((mending) => mending.change === "remove" && mending.place === place);
  }

  #break(seq: number, problem: string): void {
    this.#problems.push({ kind: "entry", seq, problem });
    this.#broken ??= { seq, before: this.#now && this.#now.seq > 0 ? this.#now : undefined };
    this.#now = undefined;
  }

  /** After a break folding goes on from the newest snapshot at or before this checkpoint, if it lies behind the break. */
  #resume(seq: number): void {
    if (this.#now !== undefined) return;
    this.#broken ??= { seq: this.#expected, before: undefined };
    const known = this.#newestKnown(seq);
    if (known?.seq === seq && known.seq >= this.#broken.seq) this.#now = beginAt(known);
  }

  /** The newest entry may be gone and its snapshot there; a snapshot of no entry that the row does not tell of is not its own. */
  #endAtSnapshot(): void {
    const { snapshots, snapshotSeq } = this.#journal;
    const known = this.#newestKnown(snapshotSeq);
    this.#last = Math.max(this.#last, known?.seq ?? 0);
    if (
      known?.seq === snapshotSeq &&
      known.seq > (this.#best?.seq ?? 0) &&
      known.seq >= (this.#broken?.seq ?? 0)
    ) {
      if (this.#broken === undefined) this.#break(this.#expected, `entry ${this.#expected} is not there`);
      this.#best = beginAt(known);
    }
    for (const snapshot of snapshots) {
      const seq = snapshot.stored.row?.seq ?? 0;
      if (seq > this.#last || seq < Math.max(1, this.#journal.pruned)) this.#dropSnapshot(snapshot);
    }
  }

  #newestKnown(seq: number): Known | undefined {
    return this.#journal.snapshots.findLast(({ known }) => known !== undefined && known.seq <= seq)?.known;
  }

  async end(): Promise<Folded> {
    // The newest entries may be what is gone, or stand elsewhere.
    const stray = this.#now !== undefined && this.#strays.length > 0;
    if (stray) await this.#fill(this.#expected + 1);
    for (const stored of this.#strays) {
      if (this.#isUsed(stored)) continue;
      this.#problems.push({ kind: "entry", place: stored.place, problem: "it has no place in the journal" });
      this.#mendings.push({ change: "remove", kind: "entry", place: stored.place });
    }
    this.#endAtSnapshot();
    return {
      ...{ problems: this.#problems, mendings: this.#mendings, good: this.#best, broken: this.#broken },
      ...{ last: this.#last, entries: this.#entries, missing: this.#missing },
    };
  }
}

function beginAt(known: Known): Good {
  return {
    ...known,
    ...{ at: 0, hash: "", base: known.seq },
    ...{ parked: undefined, completedAt: undefined, spent: undefined, asked: new Map() },
  };
}

/** The checkpoint after an entry. */
function follow(before: Good, entry: Entry, digest: string, since: number): Good {
  const { seq, at, hash, event, effects, spent } = entry;
  const state = foldEntry(before.state, entry);
  const statusOf = (one: Json): unknown => (one as { status?: unknown } | null)?.status;
  const ends = statusOf(before.state) !== statusOf(state) && statusOf(state) !== "active";
  // One list for all checkpoints: the state says which of them are under way.
  for (const effect of effects) if (effect.type === "activity") before.asked.set(effect.key, { effect, at });
  const isControl = event.kind === "platform" && event.invocation === undefined;
  const parked =
    isControl && event.type === "park"
      ? true
      : isControl && ["retry", "rollback"].includes(event.type)
        ? false
        : before.parked;
  return {
    ...{ seq, at, hash, state, digest, since, base: before.base },
    parked: seq === 1 ? false : parked,
    completedAt: ends ? at : before.completedAt,
    spent: spent === undefined ? before.spent : addSpending(before.spent, spent),
    asked: before.asked,
  };
}

/** What a journal stands on that has its first entry. */
export const nothing: Known = { seq: 0, digest: genesis, since: 0, state: null };
