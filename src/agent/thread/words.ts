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

/** The words of a text in their order, each folded and stemmed; with `content`, without those that every text has. */
export function wordsOf(text: string, { content = false }: { content?: boolean } = {}): string[] {
  const words = fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => (content && (common.has(word) || word.length < 2) ? [] : [stem(word)]));
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
