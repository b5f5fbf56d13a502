/** The words of a text, for comparing: folded, without endings that only grammar cares about. */

/** Words that are in every text and tell none from another. */
const common = new Set(
  (
    "a about after all also am an and any are as at be been but by can could did do does for from had has have he her " +
    "here him his how i if in into is it its just let me my no not now of on one or our out please she should so some " +
    "than thank thanks that the their them then there these they this those to too up us was we well were what when " +
    "where which who why will with would yes you your"
  ).split(" "),
);

/** Case and accents folded away: `Éclair` and `eclair` are one word. */
export const fold = (text: string): string => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** The words of a folded text, as they stand between spaces and signs. */
export const spacedWords = (folded: string): string[] => folded.match(/[\p{L}\p{N}]+/gu) ?? [];

/** Scripts that put no space between words. */
const unspaced =
  "\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}\\p{sc=Tibetan}";
const someUnspaced = new RegExp(`[${unspaced}]`, "u");
const runs = new RegExp(`[${unspaced}]+|[^${unspaced}]+`, "gu");
const ideograph = /\p{sc=Han}/u;

/**
 * The words of a folded text. Where a script has no spaces these are its pairs of neighbouring characters, and its ideographs, which
 * are words alone as well. A dictionary would find better ones, but others in every version: what is in an index must be
 * found by whoever asks next year.
 */
export function splitWords(folded: string): string[] {
  const words = spacedWords(folded);
  if (!someUnspaced.test(folded)) return words;
  return words
    .flatMap((word) => word.match(runs) ?? [])
    .flatMap((run) => (someUnspaced.test(run) ? pairsOf([...run]) : [run]));
}

function pairsOf(characters: readonly string[]): string[] {
  return characters.flatMap((character, index) => {
    const next = characters[index + 1];
    const isWord = ideograph.test(character) || characters.length === 1;
    return [...(isWord ? [character] : []), ...(next === undefined ? [] : [character + next])];
  });
}

/**
 * The words of a text in their order, each folded and stemmed. With `content`, without those that every text has, and each as it
 * stands between signs, in all scripts: topics are stored with such words.
 */
export function wordsOf(text: string, { content = false }: { content?: boolean } = {}): string[] {
  if (!content) return splitWords(fold(text)).map(stem);
  return spacedWords(fold(text)).flatMap((word) => (common.has(word) || word.length < 2 ? [] : [stem(word)]));
}

/** Drops the plural, the commonest endings of verbs and a final e: little, but the same little on both sides. */
function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  const singular = word.endsWith("ies")
    ? `${word.slice(0, -3)}y`
    : /(?:ss|x|ch|sh|z)es$/.test(word)
      ? word.slice(0, -2)
      : /[^su]s$/.test(word)
        ? word.slice(0, -1)
        : word;
  const root = /^(.*[aeiouy].*?)(?:ing|ed)$/.exec(singular)?.[1];
  if (root === undefined || root.length < 3) return singular.replace(/(.{3})e$/, "$1");
  return root.replace(/([^aeiouls])\1$/, "$1");
}
