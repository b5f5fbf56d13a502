/**
 * Recalling: the facts that a question is about, the likeliest to be of use first. What fades is computed when somebody
 * asks; nothing is written by reading.
 *
 * A score is BM25 (Robertson and Zaragoza, 2009: k1 = 1.2, b = 0.75) times what is left of the fact:
 * confidence · 2^(−age / half-life) · (1 + ln(seen) / 4), where the age is the time since it was last seen.
 */
import { durationMs } from "../../core/duration.ts";
import { type Fact, isUsable, isValid, type Memory, wordCount, wordsOf } from "./fact.ts";
import { isSame } from "./saying.ts";

const k1 = 1.2;
const b = 0.75;

export interface Recalled {
  readonly fact: Fact;
  readonly score: number;
}

export interface RecallOptions {
  /** What time it is, in milliseconds since 1970: facts that are not true then are left out. */
  readonly now: number;
  /** As it was known at an earlier time. */
  readonly asOf?: number;
  /** How many at most; 10 unless given. */
  readonly limit?: number;
  /** After how long without being seen a fact counts half; 90 days unless given. */
  readonly halfLife?: number | string;
  /** Of this subject only. */
  readonly subject?: string;
  /** Leaves out what came from this message: whoever said it knows. */
  readonly without?: string;
}

/** How much a fact counts at a time: its confidence, less for its age, more for having been seen often. */
export function strengthOf(
  { confidence, seen, seenAt }: Fact,
  { now, halfLife = "90 days" }: Pick<RecallOptions, "now" | "halfLife">,
): number {
  const fading = 2 ** (-Math.max(0, now - seenAt) / durationMs(halfLife));
  return confidence * fading * (1 + Math.log(Math.max(1, seen)) / 4);
}

/** Below this strength a fact has faded: nobody would miss it. */
export const fadedBelow = 0.05;

/** How often words stand in texts: what BM25 is computed from. */
interface Counts {
  /** By word, the places of facts that have it, and how often. */
  postings(word: string): ReadonlyMap<number, number> | undefined;
  /** How many words the fact at a place has. */
  length(place: number): number;
  /** How many facts there are, and how many words in all of them. */
  readonly count: number;
  readonly words: number;
}

function scoresOf(words: ReadonlySet<string>, counts: Counts): ReadonlyMap<number, number> {
  const scores = new Map<number, number>();
  const { count } = counts;
  const mean = counts.words / Math.max(1, count);
  for (const word of words) {
    const postings = counts.postings(word);
    if (postings === undefined) continue;
    const rarity = Math.log(1 + (count - postings.size + 0.5) / (postings.size + 0.5));
    for (const [place, times] of postings) {
      const length = counts.length(place) / mean;
      const weight = (times * (k1 + 1)) / (times + k1 * (1 - b + b * length));
      scores.set(place, (scores.get(place) ?? 0) + rarity * weight);
    }
  }
  return scores;
}

/** Whether a fact may be told, as an answer to a question with these options. */
export function isTellable(fact: Fact, options: RecallOptions): boolean {
  if (!isUsable(fact) || !isValid(fact, options)) return false;
  const { subject, without } = options;
  if (without !== undefined && fact.source.message === without) return false;
  return subject === undefined || isSame(fact.subject, subject);
}

/** The highest scores first; of equals, the one of the lower id. */
export const byScore = (one: Recalled, other: Recalled): number =>
  other.score - one.score || (one.fact.id < other.fact.id ? -1 : 1);

function tell(
  { facts }: Memory,
  scores: ReadonlyMap<number, number>,
  options: RecallOptions,
): readonly Recalled[] {
  return [...scores]
    .flatMap(([place, score]): Recalled[] => {
      const fact = facts[place] as Fact;
      return isTellable(fact, options) ? [{ fact, score: score * strengthOf(fact, options) }] : [];
    })
    .sort(byScore)
    .slice(0, options.limit ?? 10);
}

/**
 * Ranks facts that somebody else found: the same as `FactSearch` gives, if every fact that has a word of the question is
 * among those places. Others may be as well.
 */
export function rankFound(
  memory: Memory,
  question: string,
  { places, ...options }: RecallOptions & { readonly places: Iterable<number> },
): readonly Recalled[] {
  const words = new Set(wordsOf(question));
  const postings = new Map<string, Map<number, number>>();
  const lengths = new Map<number, number>();
  for (const place of places) {
    const { text } = memory.facts[place] as Fact;
    lengths.set(place, wordCount(text));
    for (const word of wordsOf(text))
      if (words.has(word)) {
        const there = postings.get(word) ?? new Map<number, number>();
        postings.set(word, there.set(place, (there.get(place) ?? 0) + 1));
      }
  }
  const counts = { count: memory.facts.length, words: memory.words };
  const scores = scoresOf(words, {
    ...counts,
    postings: (word) => postings.get(word),
    length: (place) => lengths.get(place) as number,
  });
  return tell(memory, scores, options);
}

/** An index of facts by their words, which grows with the memory: only what is new since the last time is read. */
export class FactSearch {
  readonly #postings = new Map<string, Map<number, number>>();
  readonly #lengths: number[] = [];
  readonly #seen: Fact[] = [];
  #words = 0;

  /** The facts of a memory that a question is about. */
  search(memory: Memory, question: string, options: RecallOptions): readonly Recalled[] {
    this.#read(memory);
    const scores = scoresOf(new Set(wordsOf(question)), {
      ...{ count: this.#lengths.length, words: this.#words },
      postings: (word) => this.#postings.get(word),
      length: (place) => this.#lengths[place] as number,
    });
    return tell(memory, scores, options);
  }

  #read({ facts }: Memory): void {
    facts.forEach((fact, place) => {
      const before = this.#seen[place];
      if (before === fact) return;
      this.#seen[place] = fact;
      if (before?.text === fact.text) return;
      if (before !== undefined) this.#remove(place, before.text);
      this.#add(place, fact.text);
    });
    for (let place = this.#seen.length - 1; place >= facts.length; place--) {
      this.#remove(place, (this.#seen.pop() as Fact).text);
      this.#lengths.pop();
    }
  }

  #add(place: number, text: string): void {
    const length = wordCount(text);
    this.#lengths[place] = length;
    this.#words += length;
    for (const word of wordsOf(text)) {
      const postings = this.#postings.get(word) ?? new Map<number, number>();
      this.#postings.set(word, postings.set(place, (postings.get(place) ?? 0) + 1));
    }
  }

  #remove(place: number, text: string): void {
    this.#words -= wordCount(text);
    for (const word of new Set(wordsOf(text))) {
      const postings = this.#postings.get(word);
      postings?.delete(place);
      if (postings?.size === 0) this.#postings.delete(word);
    }
  }
}
