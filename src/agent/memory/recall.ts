/**
 * Recalling: the facts that a question is about, the likeliest to be of use first. What fades is computed when somebody
 * asks; nothing is written by reading.
 *
 * A score is BM25 (Robertson and Zaragoza, 2009: k1 = 1.2, b = 0.75) times what is left of the fact:
 * confidence · 2^(−age / half-life) · (1 + ln(seen) / 4), where the age is the time since it was last seen.
 */
import { durationMs } from "../../core/duration.ts";
import { type Fact, isUsable, isValid, type Memory, wordsOf } from "./fact.ts";

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
}

/** How much a fact counts at a time: its confidence, less for its age, more for having been seen often. */
export function strengthOf(
  { confidence, seen, seenAt }: Fact,
  { now, halfLife = "90 days" }: Pick<RecallOptions, "now" | "halfLife">,
): number {
  const fading = 2 ** (-Math.max(0, now - seenAt) / durationMs(halfLife));
  return confidence * fading * (1 + Math.log(Math.max(1, seen)) / 4);
}

/** An index of facts by their words, which grows with the memory: only what is new since the last time is read. */
export class FactSearch {
  /** By word, the places of facts that have it, and how often. */
  readonly #postings = new Map<string, Map<number, number>>();
  readonly #lengths: number[] = [];
  readonly #seen: Fact[] = [];
  #words = 0;

  /** The facts of a memory that a question is about. */
  search(memory: Memory, question: string, options: RecallOptions): readonly Recalled[] {
    this.#read(memory);
    const { limit = 10, subject } = options;
    const about = subject === undefined ? undefined : wordsOf(subject).join(" ");
    return [...this.#scores(new Set(wordsOf(question)))]
      .flatMap(([place, score]): Recalled[] => {
        const fact = memory.facts[place] as Fact;
        if (!isUsable(fact) || !isValid(fact, options)) return [];
        if (about !== undefined && wordsOf(fact.subject).join(" ") !== about) return [];
        return [{ fact, score: score * strengthOf(fact, options) }];
      })
      .sort((one, other) => other.score - one.score || (one.fact.id < other.fact.id ? -1 : 1))
      .slice(0, limit);
  }

  #scores(words: ReadonlySet<string>): ReadonlyMap<number, number> {
    const scores = new Map<number, number>();
    const count = this.#lengths.length;
    const mean = this.#words / Math.max(1, count);
    for (const word of words) {
      const postings = this.#postings.get(word);
      if (postings === undefined) continue;
      const rarity = Math.log(1 + (count - postings.size + 0.5) / (postings.size + 0.5));
      for (const [place, times] of postings) {
        const length = (this.#lengths[place] as number) / mean;
        const weight = (times * (k1 + 1)) / (times + k1 * (1 - b + b * length));
        scores.set(place, (scores.get(place) ?? 0) + rarity * weight);
      }
    }
    return scores;
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
    const words = wordsOf(text);
    this.#lengths[place] = words.length;
    this.#words += words.length;
    for (const word of words) {
      const postings = this.#postings.get(word) ?? new Map<number, number>();
      this.#postings.set(word, postings.set(place, (postings.get(place) ?? 0) + 1));
    }
  }

  #remove(place: number, text: string): void {
    const words = wordsOf(text);
    this.#words -= words.length;
    for (const word of new Set(words)) {
      const postings = this.#postings.get(word);
      postings?.delete(place);
      if (postings?.size === 0) this.#postings.delete(word);
    }
  }
}
