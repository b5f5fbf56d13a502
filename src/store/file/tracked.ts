/** A map that knows which of its keys were changed, so that a change can be written without the rest. */

/** What became of some keys of a map: the values they have now, and the keys that are gone. */
export interface Changes<Key, Row> {
  readonly set: readonly Row[];
  readonly gone: readonly Key[];
}

export class Tracked<Key, Value> extends Map<Key, Value> {
  readonly #touched = new Set<Key>();
  readonly #tell: () => void;

  /** `tell` is called with every change. */
  constructor(tell: () => void) {
    super();
    this.#tell = tell;
  }

  override set(key: Key, value: Value): this {
    this.#touch(key);
    return super.set(key, value);
  }

  override delete(key: Key): boolean {
    this.#touch(key);
    return super.delete(key);
  }

  override clear(): void {
    for (const key of this.keys()) this.#touch(key);
    super.clear();
  }

  /** What was changed since this was last asked, or everything there is. */
  take<Row>(whole: boolean, rowOf: (value: Value, key: Key) => Row): Changes<Key, Row> {
    const set: Row[] = [];
    const gone: Key[] = [];
    for (const key of whole ? this.keys() : this.#touched) {
      if (this.has(key)) set.push(rowOf(this.get(key) as Value, key));
      else gone.push(key);
    }
    this.#touched.clear();
    return { set, gone };
  }

  /** Puts back what `take` told of, without telling of it. */
  restore(values: Iterable<readonly [Key, Value]>, gone: readonly Key[]): void {
    for (const [key, value] of values) super.set(key, value);
    for (const key of gone) super.delete(key);
  }

  #touch(key: Key): void {
    this.#touched.add(key);
    this.#tell();
  }
}
