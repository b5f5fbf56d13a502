/** A stretch of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A text, and what is to stand in it instead of some of its stretches, one inside another if need be. */
export class Edits {
  readonly text: string;
  readonly #edits: (Span & { readonly write: () => string })[] = [];

  constructor(text: string) {
    this.text = text;
  }

  /** What `write` gives stands for the stretch. It is asked when the text is written, when all edits are known. */
  replace(span: Span, write: () => string): void {
    const before = this.#edits.findLastIndex((edit) => comesBefore(edit, span));
    this.#edits.splice(before + 1, 0, { start: span.start, end: span.end, write });
  }

  insert(at: number, inserted: string): void {
    this.replace({ start: at, end: at }, () => inserted);
  }

  /** A stretch as it stood. */
  read({ start, end }: Span): string {
    return this.text.slice(start, end);
  }

  /** A stretch with everything inside it replaced. */
  write({ start, end }: Span): string {
    let written = "";
    let from = start;
    for (const edit of this.#edits) {
      if (edit.start < from || edit.end > end) continue;
      written += this.text.slice(from, edit.start) + edit.write();
      from = edit.end;
    }
    return written + this.text.slice(from, end);
  }
}

/** Of what begins at one place, what is inserted comes first, and then what goes around the others. */
function comesBefore(edit: Span, { start, end }: Span): boolean {
  if (edit.start !== start) return edit.start < start;
  return edit.end === start || (end > start && edit.end > end);
}
