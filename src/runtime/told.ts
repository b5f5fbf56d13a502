/** What was told of, so that what goes on happening is not told again and again. */

/** Of how many it is remembered; after that all are news again, which is better than to remember for ever. */
const toldMax = 1_000;

export class Told {
  readonly #last = new Map<string, string>();

  /** Whether this is not what was told last under the name. From now on it is. */
  isNews(name: string, what = ""): boolean {
    if (this.#last.get(name) === what) return false;
    if (this.#last.size >= toldMax) this.#last.clear();
    this.#last.set(name, what);
    return true;
  }

  forget(name: string): void {
    this.#last.delete(name);
  }
}
