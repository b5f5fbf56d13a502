/**
 * What a text says, to tell whether two say the same. Signs, marks and the order of words are part of it: `C` is not `C++`, 5 is
 * not -5, and who owes whom is the order of their names. To keep one fact twice costs little; to take two for one loses one.
 */
import { digestOf, type Fact } from "./fact.ts";

/** A text without what makes no difference: case, spaces, hyphens between letters, and the stop at its end. */
export function identityOf(text: string): string {
  return text
    .normalize("NFC")
    .toLowerCase()
    .replace(/’/g, "'")
    .replace(/(?<=\p{L})[-‐‑_](?=\p{L})/gu, " ")
    .replace(/\s+/g, " ")
    .replace(/[.!…。！ ]+$/, "")
    .trim();
}

/** One short key for all ways to write the same text. */
export const sayingOf = (text: string): string => digestOf(["saying", identityOf(text)]);

/** Whether two texts are ways to write the same. */
export const isSame = (one: string | undefined, other: string | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && identityOf(one) === identityOf(other));

/** Whether two facts are about the same of the same: one of them may contradict the other. */
export const isSameSlot = (
  one: Pick<Fact, "subject" | "predicate">,
  other: Pick<Fact, "subject" | "predicate">,
): boolean => isSame(one.subject, other.subject) && isSame(one.predicate, other.predicate);

/** From here on two texts are taken to say the same: nine words of ten in common. */
const alike = 0.9;

/**
 * Whether two texts have nearly all of their words in common, these in the same order, and none apart that is a number, a sign or
 * a denial.
 */
export function areAlike(one: string, other: string): boolean {
  const [these, those] = [sayingWords(one), sayingWords(other)];
  const [ofThese, ofThose] = [countsOf(these), countsOf(those)];
  const isCommon = (word: string) => ofThese.get(word) === ofThose.get(word);
  let [all, apart] = [0, 0];
  for (const word of new Set([...these, ...those])) {
    const [here, there] = [ofThese.get(word) ?? 0, ofThose.get(word) ?? 0];
    if (here !== there && matters(word)) return false;
    all += Math.max(here, there);
    apart += Math.abs(here - there);
  }
  if (apart > Math.floor(all * (1 - alike) + 1e-9)) return false;
  const order = those.filter(isCommon);
  return these.filter(isCommon).every((word, index) => word === order[index]);
}

/** Words as they stand between spaces, without the punctuation around them. */
function sayingWords(text: string): readonly string[] {
  return identityOf(text)
    .split(" ")
    .map((word) => word.replace(/^["'(“„«]+/, "").replace(/["'),;:.!…”“»]+$/, ""))
    .filter((word) => word !== "");
}

function countsOf(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Whether a word alone makes another fact: a number, a sign, a denial. */
const matters = (word: string): boolean =>
  /[^\p{L}\p{M}']/u.test(word) || denials.has(word) || /n't$/.test(word);

const denials = new Set(["not", "no", "never", "nicht", "kein", "keine", "nie", "without", "ohne"]);
