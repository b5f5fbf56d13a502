/**
 * The journal of a run: a file of lines that grows at its end. What is taken out of it or put into it is collected while
 * a call lasts, and then the whole file is written anew; only upkeep does that, and the fewer entries are left, the less
 * there is to write.
 */
import { isHoldfastError } from "../../errors.ts";
import { type Entries, replaced } from "../memory/tables.ts";
import type { EntryRow } from "../records.ts";
import type { Folder } from "./folder.ts";
import { findLine, readLines } from "./lines.ts";
import { entryOf, seqOf, showEntry } from "./rows.ts";

/** An entry as it stands in its line. */
interface EntryLine {
  readonly seq: number;
  readonly text: string;
}

export class JournalFile implements Entries {
  readonly #folder: Folder;
  readonly #file: string;
  /** The checkpoints of the first and the last entry that should be there. */
  readonly #range: () => { readonly first: number; readonly last: number };
  readonly #tell: () => void;
  #bytes = 0;
  #edited: readonly EntryLine[] | undefined;

  constructor(
    folder: Folder,
    file: string,
    range: () => { readonly first: number; readonly last: number },
    tell: () => void,
  ) {
    this.#folder = folder;
    this.#file = file;
    this.#range = range;
    this.#tell = tell;
  }

  /** How long its file is. */
  get bytes(): number {
    return this.#bytes;
  }

  append(rows: readonly EntryRow[]): void {
    this.#bytes = this.#folder.append(this.#file, this.#bytes, rows.map(showEntry));
    this.#tell();
  }

  /** All that should be there are, or it is damaged. A page of them may also end before the damage. */
  read(from: number, upTo: number, limit: number): readonly EntryRow[] {
    const range = this.#range();
    const first = Math.max(range.first, from);
    const count = Math.min(limit, Math.min(upTo, range.last) - first + 1);
    if (count <= 0) return [];
    const entries: EntryRow[] = [];
    try {
      this.#folder.readParts(this.#file, (read) => {
        const start = findLine(read, this.#bytes, first, seqOf);
        for (const { text } of readLines(read, start, this.#bytes)) {
          const wanted = first + entries.length;
          if (entries.length === count || seqOf(text) > wanted) break;
          if (seqOf(text) === wanted) entries.push(entryOf(JSON.parse(text)));
        }
        if (entries.length < count) throw new Error(`the entry ${first + entries.length} is missing`);
      });
    } catch (error) {
      if (limit === Number.POSITIVE_INFINITY || entries.length === 0) throw error;
    }
    return entries;
  }

  drop(from: number, upTo: number): void {
    const lines = this.#lines();
    const left = lines.filter(({ seq }) => seq < from || seq > upTo);
    if (left.length < lines.length) this.#edit(left);
  }

  put(row: EntryRow): void {
    this.#edit(replaced(this.#lines(), { seq: row.seq, text: JSON.stringify(showEntry(row)) }));
  }

  scan(): readonly { readonly seq: number; readonly read: () => EntryRow }[] {
    return this.#lines().map(({ seq, text }) => ({
      seq,
      read: () => this.#folder.check(this.#file, () => entryOf(JSON.parse(text))),
    }));
  }

  #edit(lines: readonly EntryLine[]): void {
    this.#edited = lines;
    this.#tell();
  }

  /** As far as they can be read; a line that does not tell its checkpoint is taken for that after the one before. */
  #lines(): readonly EntryLine[] {
    if (this.#edited !== undefined || this.#bytes === 0) return this.#edited ?? [];
    const lines: EntryLine[] = [];
    try {
      this.#folder.readParts(this.#file, (read) => {
        for (const { text } of readLines(read, 0, this.#bytes))
          lines.push({ seq: checkpointOf(text) ?? (lines.at(-1)?.seq ?? this.#range().first - 1) + 1, text });
      });
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
    }
    return lines;
  }

  /** Makes what was edited a change of the file. A line that is no JSON does not come along: there is nothing to read in it. */
  settle(): void {
    if (this.#edited === undefined) return;
    this.#bytes = this.#folder.rewrite(this.#file, this.#edited.flatMap(jsonIn));
    this.#edited = undefined;
  }

  /** Takes the file for so long. */
  restore(bytes: number): void {
    this.#bytes = bytes;
  }

  /** Removes the file. */
  remove(): void {
    if (this.#bytes > 0) this.#folder.remove(this.#file);
  }
}

function checkpointOf(text: string): number | undefined {
  try {
    return seqOf(text);
  } catch {
    return undefined;
  }
}

function jsonIn({ text }: EntryLine): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}
