/**
 * Search by words: an index that a store may keep beside its runs. It is made from a run's state and can be made again from
 * it, so it is never the truth: whoever finds something in it looks at the state before telling of it.
 *
 * X1. An index belongs to a run that is active: it is gone with it, and nobody writes one for a run that has ended.
 * X2. Its mark only grows, and says which state it was made from. Whoever writes on another mark than it saw writes nothing:
 *     what comes late can bring nothing back that was removed since.
 * X3. What is removed is gone from the index at once: no word of it is found, nor kept for later.
 */
import type { RunName } from "./records.ts";
import type { Store } from "./store.ts";

/** A text as the index has it: its words, as whoever asks will write them. */
export interface WordsRow {
  readonly id: string;
  readonly words: readonly string[];
}

export interface WordsChange {
  /** The mark this was made on; undefined: all there is goes, and what is put is all there is. */
  readonly expect: number | undefined;
  /** The mark from now on; higher than any there was. */
  readonly mark: number;
  /** Texts that come, or are other ones from now on. */
  readonly put: readonly WordsRow[];
  /** The ids of texts that go. */
  readonly remove: readonly string[];
}

/**
 * `written`: the index has this mark, by this call or an earlier one. `stale`: its mark is another than was expected, or
 * higher; nothing was changed. `missing`: there is no such run, or it has ended; nothing was changed.
 */
export type WordsOutcome = "written" | "stale" | "missing";

export interface WordsFound {
  /** 0 where there is no index. */
  readonly mark: number;
  /** Of texts that have one of the words, in no order; no more than were asked for. */
  readonly ids: readonly string[];
  /** Whether there are more. */
  readonly isCut: boolean;
}

export interface Search {
  writeWords(name: RunName, change: WordsChange): Promise<WordsOutcome>;
  /** The texts of a run that have at least one of the words. */
  findWords(name: RunName, words: readonly string[], limit: number): Promise<WordsFound>;
}

/** A store that keeps indexes of words. */
export interface SearchingStore extends Store {
  readonly search: Search;
}

/** What a store has for search by words; undefined if it leaves that to others. */
export function searchOf(store: Store): Search | undefined {
  return (store as Partial<SearchingStore>).search;
}

/** Characters of a word that count in an index: databases have a bound, and nobody looks for more. */
const wordLengthMax = 100;

/** A word as an index has it. */
export function indexedWord(word: string): string {
  return word.length <= wordLengthMax ? word : [...word].slice(0, wordLengthMax).join("");
}
