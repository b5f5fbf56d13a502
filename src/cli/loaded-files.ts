/** The files that a module was loaded from, and what was in them: what else is written beside them is nobody's change. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";

export class LoadedFiles {
  readonly #digests = new Map<string, string | undefined>();

  /** A file is about to be read: what is in it now counts as known. */
  add(path: string): void {
    this.#digests.set(path, digestOf(path));
  }

  /** Takes over what others know, as of a module that could not be loaded to its end. */
  join(others: LoadedFiles): void {
    for (const [path, digest] of others.#digests) this.#digests.set(path, digest);
  }

  get paths(): readonly string[] {
    return [...this.#digests.keys()];
  }

  get folders(): ReadonlySet<string> {
    return new Set(this.paths.map((path) => dirname(path)));
  }

  /** Whether there is something else in one of them than was known; that is known from now on. */
  takeChange(): boolean {
    let isChanged = false;
    for (const [path, before] of this.#digests) {
      const digest = digestOf(path);
      if (digest === before) continue;
      this.#digests.set(path, digest);
      isChanged = true;
    }
    return isChanged;
  }
}

/** Undefined for a file that is not there, as between the two steps in which an editor replaces it. */
function digestOf(path: string): string | undefined {
  try {
    return hash("sha256", readFileSync(path));
  } catch {
    return undefined;
  }
}
