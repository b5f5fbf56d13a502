/**
 * One run and its files: `<run>.json` with all of it that changes, `<run>.journal.jsonl`, its snapshots and the streams of
 * its activities. What changes is in memory and goes into intents as it changes; the rest is read when it is asked for.
 */
import { isHoldfastError } from "../../errors.ts";
import type { StoredRun } from "../memory/tables.ts";
import {
  type ActivityRow,
  type ChunkRow,
  type InboxRow,
  isFinal,
  type RunHead,
  type SnapshotRow,
} from "../records.ts";
import { ChunkStreams } from "./chunk-streams.ts";
import { Fields } from "./fields.ts";
import { type Folder, places } from "./folder.ts";
import type { RunChange } from "./intent.ts";
import { JournalFile } from "./journal-file.ts";
import { activityOf, eventOf, headOf, seenKeyOf, showActivity, showEvent, showSnapshot } from "./rows.ts";
import { hide } from "./shown.ts";
import { showState } from "./state.ts";
import { type Changes, Tracked } from "./tracked.ts";

export class FileRun implements StoredRun {
  readonly inbox: Tracked<string, InboxRow>;
  readonly seen: Tracked<string, number | undefined>;
  readonly activities: Tracked<string, { readonly row: ActivityRow; readonly epoch: number }>;
  readonly entries: JournalFile;
  /** Whether an intent of the log has told the whole run. */
  isLogged = false;
  /** How large its file was when it was last written. */
  fileBytes = 0;
  readonly #folder: Folder;
  readonly #tell: () => void;
  #head: RunHead;
  #pruned = 0;
  #chunkBytes = 0;
  #snapshots: readonly SnapshotRow[] = [];
  #streams: ChunkStreams | undefined;

  /** `tell` is called with the run whenever it changes. */
  constructor(head: RunHead, folder: Folder, tell: (run: FileRun) => void) {
    this.#head = head;
    this.#folder = folder;
    this.#tell = () => tell(this);
    this.inbox = new Tracked(this.#tell);
    this.seen = new Tracked(this.#tell);
    this.activities = new Tracked(this.#tell);
    const range = () => ({ first: this.#pruned + 1, last: this.#head.seq });
    this.entries = new JournalFile(folder, this.#journalFile, range, this.#tell);
  }

  get head(): RunHead {
    return this.#head;
  }

  set head(head: RunHead) {
    this.#head = head;
    // Nobody streams to a run that has ended, so where its pieces are need not be remembered.
    if (isFinal(head) && !this.#streams?.isEdited) this.#streams = undefined;
    this.#tell();
  }

  get pruned(): number {
    return this.#pruned;
  }

  set pruned(seq: number) {
    this.#pruned = seq;
    this.#tell();
  }

  get snapshots(): readonly SnapshotRow[] {
    return this.#snapshots;
  }

  set snapshots(rows: readonly SnapshotRow[]) {
    const before = new Map(this.#snapshots.map((row) => [row.seq, row]));
    for (const row of rows) {
      const known = before.get(row.seq);
      // Only one that is new is looked into: those that stay need not be read.
      if (known !== row && (known === undefined || Buffer.compare(known.bytes, row.bytes) !== 0))
        this.#folder.put(this.#snapshotFile(row.seq), showSnapshot(row));
      before.delete(row.seq);
    }
    for (const seq of before.keys()) this.#folder.remove(this.#snapshotFile(seq));
    this.#snapshots = rows.map(({ seq, kept }) => this.#snapshotAt(seq, kept === true));
    this.#tell();
  }

  get chunks(): Map<string, Map<number, ChunkRow>> {
    this.#streams ??= new ChunkStreams(this.#folder, this.#chunkFile, this.#chunkBytes, (bytes) => {
      this.#chunkBytes = bytes;
      this.#tell();
    });
    return this.#streams;
  }

  /** Where its `<run>.json` is. */
  get file(): string {
    return `${this.#place}.json`;
  }

  get #place(): string {
    return places.run(this.#head.tenant, this.#head.run);
  }

  get #journalFile(): string {
    return `${this.#place}.journal.jsonl`;
  }

  get #chunkFile(): string {
    return `${this.#place}.chunks.jsonl`;
  }

  #snapshotFile(seq: number): string {
    return `${this.#place}.snapshot-${seq}.json`;
  }

  /**
   * A snapshot whose bytes are read when they are looked at. There are none in a file that is damaged or gone: whoever
   * wants them finds that out as with any other bytes, and goes by the journal.
   */
  #snapshotAt(seq: number, isKept: boolean): SnapshotRow {
    const folder = this.#folder;
    const name = this.#snapshotFile(seq);
    return {
      seq,
      ...(isKept && { kept: true }),
      get bytes() {
        try {
          return folder.need(name, hide);
        } catch (error) {
          if (isHoldfastError(error)) return new Uint8Array();
          throw error;
        }
      },
    };
  }

  /** What changed since this was last asked; everything, if the log has not told it yet. */
  takeChange(): RunChange {
    this.entries.settle();
    if (this.#streams?.isEdited) {
      this.#chunkBytes = this.#folder.rewrite(this.#chunkFile, this.#streams.lines());
      this.#streams = undefined;
    }
    const whole = !this.isLogged;
    this.isLogged = true;
    return this.#changeOf(whole);
  }

  #changeOf(whole: boolean): RunChange {
    return {
      whole,
      head: this.#head,
      files: {
        journalBytes: this.entries.bytes,
        chunkBytes: this.#chunkBytes,
        pruned: this.#pruned,
        snapshots: this.#snapshots.map(({ seq }) => seq),
        kept: this.#snapshots.flatMap(({ seq, kept }) => (kept ? seq : [])),
      },
      inbox: this.inbox.take(whole, showEvent),
      activities: this.activities.take(whole, showActivity),
      keys: this.seen.take(whole, (seq, key) => (seq === undefined ? { key } : { key, seq })),
    };
  }

  /** The text of its file, once all changes were taken: the whole run, and its state for people. */
  show(): string {
    const { head, files, inbox, activities, keys } = this.#changeOf(true);
    const state = showState(this, this.#folder);
    const shown = { head, state, inbox: inbox.set, activities: activities.set, files };
    // There may be thousands of keys: one on a line.
    const rows = keys.set.map((row) => `\n    ${JSON.stringify(row)}`).join(",");
    return `${JSON.stringify(shown, null, 2).slice(0, -2)},\n  "keys": [${rows}${rows && "\n  "}]\n}\n`;
  }

  /** Removes all its files. */
  remove(): void {
    this.entries.remove();
    if (this.#chunkBytes > 0) this.#folder.remove(this.#chunkFile);
    for (const { seq } of this.#snapshots) this.#folder.remove(this.#snapshotFile(seq));
    this.#folder.remove(this.file);
  }

  /** Its files of lines, and how long each must be. */
  get lengths(): ReadonlyMap<string, number> {
    return new Map([
      [this.#journalFile, this.entries.bytes],
      [this.#chunkFile, this.#chunkBytes],
    ]);
  }

  /** Makes a change that was told by `takeChange` or, as the whole, by `show`. */
  restore({ head, files, inbox, activities, keys }: RunChange): void {
    this.#head = headOf(head);
    const extents = new Fields(files);
    this.entries.restore(extents.count("journalBytes"));
    this.#pruned = extents.count("pruned");
    this.#chunkBytes = extents.count("chunkBytes");
    const kept = new Set(extents.list("kept"));
    this.#snapshots = extents.list("snapshots").map((seq) => this.#snapshotAt(seq as number, kept.has(seq)));
    const name = this.#head;
    const events = inbox.set.map((value) => eventOf(name, value));
    this.inbox.restore(
      events.map((row) => [row.id, row]),
      inbox.gone,
    );
    const begun = activities.set.map((value) => activityOf(name, value));
    this.activities.restore(
      begun.map((activity) => [activity.row.key, activity]),
      activities.gone,
    );
    const seen = keys.set.map(seenKeyOf);
    this.seen.restore(
      seen.map(({ key, seq }) => [key, seq]),
      keys.gone,
    );
  }
}

/** A run's file as the change that makes it. */
export function wholeChange(file: unknown): RunChange {
  const fields = new Fields(file);
  const rowsOf = (name: string): Changes<string, object> => ({
    set: fields.list(name) as readonly object[],
    gone: [],
  });
  return {
    whole: true,
    head: fields.object("head"),
    files: fields.object("files"),
    inbox: rowsOf("inbox"),
    activities: rowsOf("activities"),
    keys: rowsOf("keys"),
  };
}
