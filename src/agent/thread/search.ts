/**
 * Search in a thread by words: BM25 over all that was said, called and answered. Case, accents and the usual endings of
 * English words make no difference. The words of a message are taken out of it once for as long as it is in memory.
 */
import { lineageOf } from "./lineage.ts";
import type { Message, Part } from "./message.ts";
import { type Entry, messagesOf, type Thread } from "./thread.ts";
import { wordsOf } from "./words.ts";

export interface Found {
  readonly message: Entry;
  /** How well it fits: comparable within one search only. */
  readonly score: number;
  /** The place in its text that fits best, with some words around it. */
  readonly snippet: string;
}

export interface SearchOptions {
  /** At most so many; 10 unless given. */
  readonly limit?: number;
  /** Also on branches that are not going on. */
  readonly everywhere?: boolean;
}

/** How soon a word that repeats counts no more, and how much a long text loses: the values everybody uses. */
const saturation = 1.2;
const lengthWeight = 0.75;
const snippetLength = 160;

/** The messages that have words of a query, best first; the newer of equal ones first. */
export function searchThread(thread: Thread, query: string, options: SearchOptions = {}): Found[] {
  const { limit = 10, everywhere = false } = options;
  const terms = [...new Set(wordsOf(query))];
  const messages = everywhere ? lineageOf(thread).entries : messagesOf(thread);
  const bags = messages.map(bagOf);
  const meanLength = bags.reduce((sum, { length }) => sum + length, 0) / Math.max(1, bags.length);
  const weights = terms.map((term) => rarity(bags, term));
  return messages
    .map((message, index) => ({ message, index, score: scoreOf(bags[index] as Bag) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || other.index - one.index)
    .slice(0, limit)
    .map(({ message, score }) => ({ message, score, snippet: snippetOf(readable(message), terms) }));

  function scoreOf({ counts, length }: Bag): number {
    const norm = saturation * (1 - lengthWeight + (lengthWeight * length) / Math.max(1, meanLength));
    return terms.reduce((sum, term, index) => {
      const count = counts.get(term) ?? 0;
      return sum + ((weights[index] as number) * count * (saturation + 1)) / (count + norm);
    }, 0);
  }
}

interface Bag {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

const bags = new WeakMap<Message, Bag>();

function bagOf(message: Message): Bag {
  const known = bags.get(message);
  if (known !== undefined) return known;
  const words = wordsOf(readable(message));
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const bag = { counts, length: words.length };
  bags.set(message, bag);
  return bag;
}

function rarity(all: readonly Bag[], term: string): number {
  const having = all.reduce((count, { counts }) => count + (counts.has(term) ? 1 : 0), 0);
  return Math.log(1 + (all.length - having + 0.5) / (having + 0.5));
}

/** All of a message that can be read: what was said and thought, what was called with what, and what came of it. */
export const readable = ({ parts }: Pick<Message, "parts">): string =>
  parts
    .map(readablePart)
    .filter((text) => text !== "")
    .join("\n");

function readablePart(part: Part): string {
  switch (part.type) {
    case "text":
    case "thinking":
      return part.text;
    case "file":
      return part.name ?? "";
    case "call":
      return `${part.tool} ${asText(part.input)}`;
    case "result":
      return asText(part.output);
  }
}

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The stretch of a text with the most different words of the query in it. */
function snippetOf(text: string, terms: readonly string[]): string {
  if (text.length <= snippetLength) return text;
  const wanted = new Set(terms);
  const hits = [...text.matchAll(/[\p{L}\p{N}]+/gu)].flatMap(({ 0: word, index }) =>
    wordsOf(word).some((term) => wanted.has(term)) ? [{ index, word }] : [],
  );
  let best = { start: 0, kinds: 0 };
  for (const [first, { index }] of hits.entries()) {
    const kinds = new Set<string>();
    for (let at = first; at < hits.length && (hits[at]?.index ?? 0) < index + snippetLength; at++)
      for (const term of wordsOf(hits[at]?.word ?? "")) kinds.add(term);
    if (kinds.size > best.kinds) best = { start: index, kinds: kinds.size };
  }
  const start = Math.max(0, Math.min(best.start - 40, text.length - snippetLength));
  const end = Math.min(text.length, start + snippetLength);
  return `${start > 0 ? "…" : ""}${text.slice(start, end).trim()}${end < text.length ? "…" : ""}`;
}
