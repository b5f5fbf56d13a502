/**
 * The bytes of many rows as one parameter. The driver writes an array of bytes as text, twice as long and escaped; one
 * value goes over as it is.
 */

/** Where a row's bytes stand, counted from one as SQL does. */
export interface Piece {
  readonly offset: number;
  readonly size: number;
}

export class Pieces {
  readonly #pieces: Uint8Array[] = [];
  #size = 0;

  add(bytes: Uint8Array): Piece {
    const offset = this.#size + 1;
    this.#pieces.push(bytes);
    this.#size += bytes.length;
    return { offset, size: bytes.length };
  }

  all(): Buffer {
    return Buffer.concat(this.#pieces, this.#size);
  }
}
