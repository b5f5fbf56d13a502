/**
 * The streams of a run's activities: one file of lines for all of them, in the order they were written. Where each piece
 * stands is read once, when the first one is asked for; the pieces themselves whenever they are wanted.
 */
import type { ChunkRow } from "../records.ts";
import { Fields } from "./fields.ts";
import type { Folder } from "./folder.ts";
import { lineOf, readLines } from "./lines.ts";
import { showChunk } from "./rows.ts";
import { hide } from "./shown.ts";

/** The streams by their activities' keys; there is one for every key. */
export class ChunkStreams extends Map<string, Map<number, ChunkRow>> {
  readonly #folder: Folder;
  readonly #file: string;
  readonly #grow: (bytes: number) => void;
  #bytes: number;
  /** Whether pieces were taken out, so that the file must be written anew. */
  isEdited = false;

  /** `grow` is told how long the file is with each new piece. */
  constructor(folder: Folder, file: string, bytes: number, grow: (bytes: number) => void) {
    super();
    this.#folder = folder;
    this.#file = file;
    this.#bytes = bytes;
    this.#grow = grow;
    if (bytes > 0) this.#readPlaces();
  }

  override get(key: string): Map<number, ChunkRow> {
    const known = super.get(key);
    if (known !== undefined) return known;
    const stream = new Stream(
      (chunk) => this.#append(key, chunk),
      () => {
        this.isEdited = true;
        this.#grow(this.#bytes);
      },
    );
    super.set(key, stream);
    return stream;
  }

  #readPlaces(): void {
    this.#folder.readParts(this.#file, (read) => {
      for (const { at, text } of readLines(read, 0, this.#bytes)) {
        const fields = new Fields(JSON.parse(text));
        const place = { at, length: Buffer.byteLength(text) };
        const stream = this.get(fields.text("key")) as Stream;
        stream.restore(this.#chunkAt(fields.count("offset"), fields.number("attempt"), place));
      }
    });
  }

  #append(key: string, chunk: ChunkRow): ChunkRow {
    const line = showChunk(key, chunk);
    const place = { at: this.#bytes, length: Buffer.byteLength(lineOf(line)) - 1 };
    this.#bytes = this.#folder.append(this.#file, this.#bytes, [line]);
    this.#grow(this.#bytes);
    return this.#chunkAt(chunk.offset, chunk.attempt, place);
  }

  /** All pieces, as lines of a file. */
  lines(): readonly object[] {
    return [...this].flatMap(([key, stream]) => [...stream.values()].map((chunk) => showChunk(key, chunk)));
  }

  /** A piece whose bytes are read when they are looked at. */
  #chunkAt(offset: number, attempt: number, place: { at: number; length: number }): ChunkRow {
    const folder = this.#folder;
    const file = this.#file;
    return {
      offset,
      attempt,
      get bytes() {
        return folder.readParts(file, (read) =>
          hide(JSON.parse(read(place.at, place.length).toString("utf8"))),
        );
      },
    };
  }
}

class Stream extends Map<number, ChunkRow> {
  readonly #append: (chunk: ChunkRow) => ChunkRow;
  readonly #removed: () => void;

  constructor(append: (chunk: ChunkRow) => ChunkRow, removed: () => void) {
    super();
    this.#append = append;
    this.#removed = removed;
  }

  override set(offset: number, chunk: ChunkRow): this {
    return super.set(offset, this.#append(chunk));
  }

  override delete(offset: number): boolean {
    this.#removed();
    return super.delete(offset);
  }

  /** Puts in a piece that is in the file already. */
  restore(chunk: ChunkRow): void {
    super.set(chunk.offset, chunk);
  }
}
