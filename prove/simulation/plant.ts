/**
 * Changes production sources as they are loaded, and nothing on the disk: so bugs can be planted without a switch for
 * them anywhere in the product. A text that does not stand exactly once in its file is an error: what no longer fits
 * must not pass for planted.
 */
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

export interface Change {
  /** The path of the source, from the project's top. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const top = new URL("../../", import.meta.url).href;

/** From now on these files are loaded changed. */
export function plant(changes: readonly Change[]): void {
  registerHooks({
    load(url, context, next) {
      const wanted = changes.filter(({ file }) => url === `${top}${file}`);
      const loaded = next(url, context);
      if (wanted.length === 0) return loaded;
      const text = wanted.reduce(change, String(loaded.source));
      return { ...loaded, source: text };
    },
  });
}

/** The text with one change; throws if it does not fit. */
export function change(text: string, { file, find, replace }: Change): string {
  const places = text.split(find).length - 1;
  if (places !== 1) throw new Error(`${fileURLToPath(`${top}${file}`)} has ${places} times: ${find}`);
  return text.replace(find, () => replace);
}

/** The bug of a name, of those there are. */
export function bugCalled<Bug extends { readonly name: string }>(bugs: readonly Bug[], name: string): Bug {
  const bug = bugs.find((one) => one.name === name);
  if (bug !== undefined) return bug;
  throw new Error(`There is no bug ${name}; there are ${bugs.map((one) => one.name).join(", ")}`);
}

/** Arguments with which Node loads a module that plants the bug of a name, before its script. */
export function importing(planted: URL, bug: string): string[] {
  planted.searchParams.set("bug", bug);
  return ["--import", planted.href];
}
