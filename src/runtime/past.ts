/** Reading what is stored of a run: its entries, its newest checkpoint, and the activities under way there. */
import type { ActivityEffect } from "../core/effect.ts";
import type { Json } from "../core/json.ts";
import { decode, decodeSized } from "../store/codec.ts";
import { contentsOf, unpack } from "../store/content.ts";
import { type Entry, foldEntries, genesis, openEntry, readEntry } from "../store/journal.ts";
import type { ActivityRow, EntryRow, RunHead, RunName } from "../store/records.ts";
import type { LoadedRun, Store } from "../store/store.ts";
import { fetchContents } from "./contents.ts";
import type { Owner, Seal } from "./seal.ts";

/** A packed value as it was stored: `{ body, texts, places }`. */
interface Rebuilt {
  readonly state: Json;
  readonly digest: string;
  /** Its large texts, by digest. */
  readonly contents: ReadonlyMap<string, string>;
  /** How much there was to read: of the snapshot before compression, as `LiveRun` has it, and of the entries after it. */
  readonly snapshotBytes: number;
  readonly entryBytes: number;
}

/** Entries that are read at a time. */
const pageSize = 100;

export class Past {
  readonly #store: Store;
  readonly #seal: Seal;

  constructor(store: Store, seal: Seal) {
    this.#store = store;
    this.#seal = seal;
  }

  /** Entries of a run in order, from a checkpoint on; each is checked against the chain. */
  async *entries(head: RunHead, from = 1): AsyncGenerator<Entry> {
    let digest = await this.#digestBefore(head, from);
    for (let seq = from; ; ) {
      const rows = await this.#store.readJournal(head, seq, pageSize);
      if (rows.length === 0) return;
      yield* await this.#open(rows, digest, head);
      const last = rows.at(-1) as EntryRow;
      digest = last.digest;
      seq = last.seq + 1;
    }
  }

  /** The entry at a checkpoint that exists. */
  async entry(head: RunHead, seq: number): Promise<Entry> {
    const rows = await this.#store.readJournal(head, seq, 1);
    const [entry] = await this.#open(rows, await this.#digestBefore(head, seq), head);
    return entry as Entry;
  }

  async #digestBefore(head: RunHead, seq: number): Promise<string> {
    if (seq === 1) return genesis;
    const [before] = await this.#store.readJournal(head, seq - 1, 1);
    return before?.digest ?? genesis;
  }

  async #open(rows: readonly EntryRow[], previous: string, head: RunHead): Promise<Entry[]> {
    const what = nameOf(head);
    const binding = { open: (bytes: Uint8Array) => this.#seal.open(bytes, head) };
    let digest = previous;
    const packed = rows.map((row) => {
      const opened = openEntry(row, digest, binding, what);
      digest = row.digest;
      return opened;
    });
    const texts = await fetchContents(this.#store, this.#seal, head, packed.flatMap(contentsOf));
    const contents = { read: (wanted: string) => texts.get(wanted), keep: () => "" };
    return packed.map((one) => readEntry(one, { contents }, what));
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
    const wanted = [...(first === undefined ? [] : contentsOf(first.state)), ...packed.flatMap(contentsOf)];
    const texts = await fetchContents(this.#store, this.#seal, head, wanted);
    const contents = { read: (one: string) => texts.get(one), keep: () => "" };
    const state = foldEntries(
      first === undefined ? null : unpack(first.state, contents, `snapshot ${snapshot?.seq} of ${what}`),
      packed.map((one) => readEntry(one, { contents }, what)),
    );
    return {
      ...{ state, digest, contents: texts },
      snapshotBytes: saved?.size ?? 0,
      entryBytes: entries.reduce((sum, { bytes }) => sum + bytes.length, 0),
    };
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
  /** Packed. */
  readonly state: Json;
}

const nameOf = ({ run }: RunName): string => `the run ${JSON.stringify(run)}`;
