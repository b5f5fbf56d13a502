/** Reading what is stored of a run: its entries, its newest checkpoint, and the activities under way there. */
import type { ActivityEffect } from "../../core/effect.ts";
import { type Json, showValue } from "../../core/json.ts";
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import { decode, decodeSized } from "../../store/codec.ts";
import { contentsOf, unpack } from "../../store/content.ts";
import type { Taken } from "../../store/fleet.ts";
import { type Entry, foldEntry, genesis, openEntry, readEntry, readPatches } from "../../store/journal.ts";
import type { ActivityRow, EntryRow, RunHead, RunName } from "../../store/records.ts";
import type { LoadedRun, Store } from "../../store/store.ts";
import { unknownRunError } from "../name.ts";
import type { Owner, Seal } from "../seal.ts";
import { fetchContents } from "./contents.ts";

/** A run at its newest checkpoint, as it was rebuilt. */
export interface Rebuilt {
  readonly state: Json;
  readonly digest: string;
  /** Its large texts, by digest. */
  readonly contents: ReadonlyMap<string, string>;
  /** How much there was to read: of the snapshot before compression, as `LiveRun` has it, and of the entries after it. */
  readonly snapshotBytes: number;
  readonly entryBytes: number;
  /** Of the entries since a snapshot that is kept. */
  readonly keptBytes: number;
}

/** Entries that are read at a time. */
const pageSize = 100;

/** A run, and whose it is. */
type RunOf = RunName & Owner;

export class Past {
  readonly #store: Store;
  readonly #seal: Seal;

  constructor(store: Store, seal: Seal) {
    this.#store = store;
    this.#seal = seal;
  }

  /** Entries of a run in order, from a checkpoint on; each is checked against the chain. */
  async *entries(head: RunHead, from = 1): AsyncGenerator<Entry> {
    let digest: string | undefined;
    for (let seq = from; ; ) {
      const rows = await this.#store.readJournal(head, seq, pageSize);
      const [first] = rows;
      if (first === undefined) return;
      digest ??= await this.#digestBefore(head, first.seq);
      yield* this.#open(rows, digest, head);
      const last = rows.at(-1) as EntryRow;
      digest = last.digest;
      seq = last.seq + 1;
    }
  }

  /** The entry at a checkpoint that exists; throws JOURNAL_PRUNED if it was removed, and RUN_UNKNOWN if the run was. */
  async entry(head: RunHead, seq: number): Promise<Entry> {
    // With the one before it, whose digest it stands on.
    const read = await this.#store.readJournal(head, Math.max(seq - 1, 1), 2);
    const before = read[0]?.seq === seq - 1 ? read[0] : undefined;
    const [row] = read.slice(before === undefined ? 0 : 1);
    if (row !== undefined && row.seq > seq) throw prunedError(head, seq, row.seq);
    if (row === undefined) await this.#checkKept(head, seq);
    const previous = before?.digest ?? (await this.#digestBefore(head, seq));
    const { value } = await this.#open(row === undefined ? [] : [row], previous, head).next();
    return value as Entry;
  }

  /** The entry of the step that took an event, if it was read with that and what it stands on is known. */
  async taken(of: RunOf, { seq, entry, previous }: Taken): Promise<Entry | undefined> {
    const digest = seq === 1 ? genesis : previous;
    if (entry === undefined || digest === undefined) return undefined;
    return (await this.#open([entry], digest, of).next()).value as Entry;
  }

  async #digestBefore(head: RunHead, seq: number): Promise<string> {
    if (seq === 1) return genesis;
    const [before] = await this.#store.readJournal(head, seq - 1, 1);
    if (before?.seq === seq - 1) return before.digest;
    return (await this.base(head, seq - 1))?.digest ?? genesis;
  }

  /** What a journal stands on that was pruned up to a checkpoint: the snapshot there. */
  async base(head: RunHead, seq: number): Promise<{ state: Json; digest: string } | undefined> {
    const at = await this.#store.readAt(head, seq);
    if (at?.snapshot?.seq !== seq) return undefined;
    return this.rebuild({ head, snapshot: at.snapshot, entries: [] });
  }

  /** The entries of these rows; what is damaged is found when its turn comes, and not before. */
  async *#open(rows: readonly EntryRow[], previous: string, head: RunOf): AsyncGenerator<Entry> {
    const what = nameOf(head);
    const binding = { open: (bytes: Uint8Array) => this.#seal.open(bytes, head) };
    const packed: Json[] = [];
    let damage: unknown;
    let digest = previous;
    try {
      for (const row of rows) {
        packed.push(openEntry(row, digest, binding, what));
        digest = row.digest;
      }
    } catch (error) {
      damage = error;
    }
    const texts = await fetchContents(this.#store, this.#seal, head, packed.flatMap(contentsOf));
    const contents = { read: (wanted: string) => texts.get(wanted), keep: () => "" };
    try {
      for (const one of packed) yield readEntry(one, { contents }, what);
      if (damage !== undefined) throw damage;
    } catch (error) {
      throw await this.#explained(error, head, rows[0]?.seq ?? 1);
    }
  }

  /** An error, or the reason why it only looks like damage: what was read has been removed or pruned meanwhile. */
  async #explained(error: unknown, head: RunName, seq: number): Promise<unknown> {
    if (!isCorrupt(error)) return error;
    if ((await this.#store.readHead(head)) === undefined) return unknownRunError(head);
    const [first] = await this.#store.readJournal(head, 1, 1);
    return first !== undefined && first.seq > seq ? prunedError(head, seq, first.seq) : error;
  }

  /** The state that a snapshot and the entries after it lead to, and the chain's digest there. */
  async rebuild({
    head,
    snapshot,
    entries,
  }: Pick<LoadedRun, "head" | "snapshot" | "entries">): Promise<Rebuilt> {
    const what = nameOf(head);
    const binding = { open: (bytes: Uint8Array) => this.#seal.open(bytes, head) };
    const saved =
      snapshot && decodeSized(binding.open(snapshot.bytes), `snapshot ${snapshot.seq} of ${what}`);
    const first = saved?.value as unknown as Saved | undefined;
    let digest = first?.digest ?? genesis;
    const packed = entries.map((row) => {
      const opened = openEntry(row, digest, binding, what);
      digest = row.digest;
      return opened;
    });
    // Where a journal was made to begin anew, its first entry sets the whole state.
    const isFromStart = first === undefined && (entries[0]?.seq ?? 1) === 1;
    const base = isFromStart ? await this.#base(head) : undefined;
    const wanted = [...(first === undefined ? [] : contentsOf(first.state)), ...packed.flatMap(contentsOf)];
    const own = await fetchContents(this.#store, this.#seal, head, wanted);
    const texts = base === undefined ? own : new Map([...base.contents, ...own]);
    const contents = { read: (one: string) => texts.get(one), keep: () => "" };
    const saw =
      first === undefined
        ? (base?.state ?? null)
        : unpack(first.state, contents, `snapshot ${snapshot?.seq} of ${what}`);
    // All at once, so that what many of them change is copied once.
    const state = foldEntry(saw, { patches: packed.flatMap((one) => readPatches(one, { contents }, what)) });
    const entryBytes = entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
    return {
      ...{ state, digest, contents: texts, entryBytes },
      ...{
        snapshotBytes: saved?.size ?? 0,
        keptBytes: (snapshot?.kept ? 0 : (first?.since ?? 0)) + entryBytes,
      },
    };
  }

  /** A run as it was at a checkpoint; throws CHECKPOINT_UNKNOWN or JOURNAL_PRUNED. */
  async at(head: RunHead, seq: number): Promise<Rebuilt> {
    checkSeq(head, seq);
    const found = await this.#store.readAt(head, seq);
    if (found === undefined) await this.#checkKept(head, seq);
    const newest = found?.entries.at(-1)?.seq ?? found?.snapshot?.seq;
    if (found === undefined || newest !== seq) throw unknownCheckpoint(head, seq);
    return this.rebuild({ head, ...found }).catch(async (error: unknown) => {
      throw await this.#explained(error, head, seq);
    });
  }

  /** A run as it was when an activity began: at the step that asked for it, which is this one or one before. */
  async beginning(head: RunHead, key: string, newest: number): Promise<Rebuilt> {
    // Most often nothing was refused since, and it is the first one looked at.
    for (let to = newest, size = 1; to > 0; to -= size, size = pageSize) {
      for await (const { seq, effects } of this.entries(head, Math.max(1, to - size + 1))) {
        if (seq > to) break;
        if (effects.some((effect) => effect.type === "activity" && effect.key === key))
          return this.at(head, seq);
      }
    }
    throw unknownCheckpoint(head, newest);
  }

  /** Throws JOURNAL_PRUNED if the journal begins after an entry, and RUN_UNKNOWN if it is gone. */
  async #checkKept(head: RunName, seq: number): Promise<void> {
    const [first] = await this.#store.readJournal(head, 1, 1);
    if (first === undefined && (await this.#store.readHead(head)) === undefined) throw unknownRunError(head);
    if (first !== undefined && first.seq > seq) throw prunedError(head, seq, first.seq);
  }

  /** The entry of a checkpoint that somebody asked for; throws CHECKPOINT_UNKNOWN or JOURNAL_PRUNED. */
  async checkpoint(head: RunHead, seq: number): Promise<Entry> {
    checkSeq(head, seq);
    return (await this.entry(head, seq)) ?? Promise.reject(unknownCheckpoint(head, seq));
  }

  /** The state before the first entry, and its contents: a fork's journal goes on from a state of its source. */
  async #base(head: RunHead): Promise<Rebuilt | undefined> {
    const { fork } = head;
    return fork && this.at(await this.source(head, fork), fork.seq);
  }

  /** The head of the run that this one was forked from; throws JOURNAL_PRUNED if it was removed. */
  async source({ tenant, run }: RunName, fork: NonNullable<RunHead["fork"]>): Promise<RunHead> {
    const name = { tenant, run: fork.run };
    const head = await this.#store.readHead(name);
    if (head !== undefined && (await this.#isAt(head, fork))) return head;
    const forks = await this.#store.readForks(name);
    // What stands on its own can outlive its source.
    const isFree = forks.some((one) => one.run === run && !one.stands);
    throw new HoldfastError(
      isFree ? "JOURNAL_PRUNED" : "STORE_CORRUPT",
      `${nameOf({ tenant, run })} was forked from ${JSON.stringify(fork.run)}, which is not there any more`,
    );
  }

  /** Whether a run has been at the checkpoint that another one was forked from; where that was pruned, nobody can tell. */
  async #isAt(head: RunHead, { seq, digest }: NonNullable<RunHead["fork"]>): Promise<boolean> {
    if (digest === undefined) return true;
    if (head.seq < seq) return false;
    const [row] = await this.#store.readJournal(head, seq, 1);
    return row?.seq !== seq || row.digest === digest;
  }

  /** What the first entry that is there stands on: the checkpoint before it, and the state there. */
  async origin(head: RunHead): Promise<{ readonly seq: number; readonly state: Json }> {
    const [first] = await this.#store.readJournal(head, 1, 1);
    if (first === undefined || first.seq === 1)
      return { seq: 0, state: (await this.#base(head))?.state ?? null };
    const seq = first.seq - 1;
    return { seq, state: (await this.base(head, seq))?.state ?? null };
  }

  /** Entries of a run from the newest to the oldest, from a checkpoint on; throws JOURNAL_PRUNED on the way if they end too early. */
  async *back(head: RunHead, from: number): AsyncGenerator<Entry> {
    for (let last = from; last > 0; last -= pageSize) {
      const first = Math.max(1, last - pageSize + 1);
      const found = await this.#store.readJournal(head, first, last - first + 1);
      const rows = found.filter(({ seq }) => seq <= last);
      const begin = rows[0]?.seq ?? last + 1;
      const page: Entry[] = [];
      for await (const entry of this.#open(rows, await this.#digestBefore(head, begin), head))
        page.push(entry);
      yield* page.reverse();
      if (begin > first) throw prunedError(head, begin - 1, begin);
    }
  }

  /**
   * The same from the whole journal, where the way over the snapshot is damaged. If the journal is too, the error says
   * which checkpoint is the newest good one.
   */
  async refold(head: RunHead): Promise<Rebuilt> {
    let good = 0;
    let state: Json;
    try {
      const origin = await this.origin(head);
      good = origin.seq;
      state = origin.state;
      for await (const entry of this.entries(head)) {
        state = foldEntry(state, entry);
        good = entry.seq;
      }
      if (good !== head.seq) throw new HoldfastError("STORE_CORRUPT", `Entry ${good + 1} is not there`);
    } catch (cause) {
      if (!isCorrupt(cause)) throw cause;
      throw new HoldfastError(
        "STORE_CORRUPT",
        `${cause.message}. The newest good checkpoint of ${nameOf(head)} is ${good}`,
        { cause, details: { run: head.run, seq: good + 1, good } },
      );
    }
    const digest = await this.#digestBefore(head, head.seq + 1);
    // A snapshot pays at once: there is none to read.
    const much = Number.POSITIVE_INFINITY;
    return { state, digest, contents: new Map(), snapshotBytes: 0, entryBytes: much, keptBytes: much };
  }

  /** What an activity's row asks for. */
  async activity(row: ActivityRow, owner: Owner): Promise<ActivityEffect> {
    const what = `the activity ${row.key} of ${nameOf(row)}`;
    const packed = decode(this.#seal.open(row.bytes, owner), what);
    const texts = await fetchContents(this.#store, this.#seal, owner, contentsOf(packed));
    return unpack(packed, { read: (one) => texts.get(one) }, what) as unknown as ActivityEffect;
  }
}

/** What the bytes of a snapshot hold. */
export interface Saved {
  readonly digest: string;
  /** Bytes of the entries since the last snapshot that is kept for good. */
  readonly since?: number;
  /** Packed. */
  readonly state: Json;
}

function checkSeq(head: RunHead, seq: number): void {
  if (!Number.isSafeInteger(seq) || seq < 1 || seq > head.seq) throw unknownCheckpoint(head, seq);
}

function unknownCheckpoint(head: RunHead, seq: number): HoldfastError {
  return new HoldfastError(
    "CHECKPOINT_UNKNOWN",
    `${nameOf(head)} has no checkpoint ${showValue(seq)}; its newest is ${head.seq}`,
  );
}

function prunedError(head: RunName, seq: number, first: number): HoldfastError {
  return new HoldfastError(
    "JOURNAL_PRUNED",
    `Entry ${seq} of ${nameOf(head)} was pruned: its journal begins with entry ${first}`,
    { details: { run: head.run, seq, first } },
  );
}

/** Whether an error tells of stored bytes that are not what was written. */
export function isCorrupt(error: unknown): error is HoldfastError {
  return isHoldfastError(error) && error.code === "STORE_CORRUPT";
}

const nameOf = ({ run }: RunName): string => `the run ${JSON.stringify(run)}`;
