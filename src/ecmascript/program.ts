/** What a machine's sources add up to: its name, what they mention, and the code that may have to run again. */
import type { LocationSource, Origin, ValueSource } from "../core/formats/scxml/source.ts";

/** What code that runs again needs of a session. */
export interface Runner {
  run(text: string, at: Origin): void;
  assign(location: LocationSource, source: ValueSource): void;
  bind(name: string, source: ValueSource, at: Origin): void;
}

/** Code that may make functions. */
export type Source = (runner: Runner) => void;

export class Program {
  name = "";
  /** Whether any code mentions `Date`; if none does, there is none. */
  usesDate = false;
  readonly #sources = new Map<string, Source>();
  readonly #lexicals = new Set<string>();

  /** Remembers a source by its path in the definition, which is how contexts refer to it. */
  add(path: string, source: Source): void {
    this.#sources.set(path, source);
  }

  source(path: string): Source | undefined {
    return this.#sources.get(path);
  }

  /** Looks through code that the machine may run. */
  scan(text: string): void {
    this.usesDate ||= text.includes("Date");
  }

  /** Also looks for names that a script might declare with `let`, `const` or `class`; more than it does is harmless. */
  scanScript(text: string): void {
    this.scan(text);
    if (!/\b(let|const|class)\b/.test(text)) return;
    for (const [name] of text.matchAll(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu)) this.#lexicals.add(name);
  }

  get lexicals(): readonly string[] {
    return [...this.#lexicals];
  }
}
