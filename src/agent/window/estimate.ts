/**
 * How many tokens a text has, about: without a vocabulary, from the runs of letters, digits, spaces and signs that every
 * tokenizer of today cuts a text into first. What a run costs was fitted to OpenAI's o200k on prose in twenty languages,
 * code and data; docs/guide/windows.md says how far it is off. It reads each character once and makes nothing.
 */

/** Kinds of characters that a token does not mix. */
const lower = 1;
const upper = 2;
const digit = 3;
const space = 4;
const newline = 5;
const sign = 6;
const han = 7;
const kana = 8;
const hangul = 9;
/** Letters outside ASCII of alphabets that have a vocabulary of some size: accented Latin, Greek and Cyrillic. */
const letter = 10;
/** Everything else: other scripts, and halves of what takes two UTF-16 units. */
const rare = 11;

const ascii = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return lower;
  if (code >= 65 && code <= 90) return upper;
  if (code >= 48 && code <= 57) return digit;
  if (code === 10 || code === 13) return newline;
  return code <= 32 ? space : sign;
});

function kindOf(code: number): number {
  if (code < 128) return ascii[code] as number;
  if (code < 0x250) return code < 0xc0 ? sign : letter;
  if (code < 0x530) return letter;
  if (code >= 0x1e00 && code < 0x1f00) return letter;
  if (code >= 0x2000 && code < 0x2e80) return sign;
  if (code >= 0x3000 && code < 0x3040) return sign;
  if (code >= 0x3040 && code < 0x3100) return kana;
  if ((code >= 0x3400 && code < 0xa000) || (code >= 0xf900 && code < 0xfb00)) return han;
  if (code >= 0xac00 && code < 0xd7b0) return hangul;
  return code >= 0xff00 && code < 0xfff0 ? sign : rare;
}

/** What the runs of a text came to: words are weighed when all of it was seen, since it is the language that decides. */
interface Tally {
  /** Tokens of everything but words. */
  others: number;
  /** Words, and their characters beyond the first few. */
  words: number;
  beyond: number;
  /** Words with letters outside ASCII, and their characters beyond the first few. */
  foreign: number;
  foreignBeyond: number;
}

const perWord = { first: 4, english: 0.025, most: 0.32, foreign: 0.35 };
const perCharacter = { han: 0.82, kana: 0.62, hangul: 0.66, rare: 0.62, code: 0.58 };

/** The tokens of a text, as an estimate; a whole number. */
export function estimateTokens(text: string): number {
  const tally: Tally = { others: 0, words: 0, beyond: 0, foreign: 0, foreignBeyond: 0 };
  let before = 0;
  for (let start = 0; start < text.length; ) {
    const kind = kindOf(text.charCodeAt(start));
    let end = start + 1;
    if (kind === lower || kind === upper || kind === letter) {
      const isForeign = endOfWord(text, start, kind);
      end = wordEnd;
      weighWord(tally, end - start, isForeign, before === digit || isDigit(text, end));
    } else {
      while (end < text.length && kindOf(text.charCodeAt(end)) === kind) end++;
      tally.others += costOf(kind, end - start, before, end < text.length ? kindOf(text.charCodeAt(end)) : 0);
    }
    before = kind;
    start = end;
  }
  return Math.ceil(total(tally));
}

/** Where the word ends that was looked at last: a second result of `endOfWord`, without an object for each word. */
let wordEnd = 0;

/** Finds the end of a word, as in `camel|Case` and `HTML`, and tells whether it has letters outside ASCII. */
function endOfWord(text: string, start: number, first: number): boolean {
  let kind = first;
  let isForeign = first === letter;
  let end = start + 1;
  for (; end < text.length; end++) {
    const next = kindOf(text.charCodeAt(end));
    if (next !== lower && next !== upper && next !== letter) break;
    if (next === upper && kind === lower) break;
    if (next === lower && kind === upper && end - start > 1) break;
    isForeign ||= next === letter;
    kind = next;
  }
  wordEnd = end;
  return isForeign;
}

const isDigit = (text: string, at: number): boolean =>
  at < text.length && kindOf(text.charCodeAt(at)) === digit;

function weighWord(tally: Tally, length: number, isForeign: boolean, isInCode: boolean): void {
  // Letters next to digits are hardly ever a word: hexadecimal, base64, identifiers.
  if (isInCode) {
    tally.others += Math.max(1, length * perCharacter.code);
    return;
  }
  const beyond = Math.max(0, length - perWord.first);
  tally.words++;
  if (isForeign) {
    tally.foreign++;
    tally.foreignBeyond += beyond;
  } else tally.beyond += beyond;
}

function costOf(kind: number, length: number, before: number, after: number): number {
  switch (kind) {
    case digit:
      return Math.ceil(length / 3);
    case space:
      // One space goes with the word or sign after it; numbers take none.
      return length === 1 ? (after === digit ? 1 : 0) : 1;
    case newline:
      return before === sign ? 0.35 : 1;
    case sign:
      return length === 1 ? 0.9 : 0.55 + length * 0.35;
    case han:
      return length * perCharacter.han;
    case kana:
      return length * perCharacter.kana;
    case hangul:
      return length * perCharacter.hangul;
    default:
      return length * perCharacter.rare;
  }
}

/** A text with many words outside ASCII is in a language whose plain words are cut into more pieces, too. */
function total({ others, words, beyond, foreign, foreignBeyond }: Tally): number {
  const share = words === 0 ? 0 : foreign / words;
  const perBeyond = Math.min(perWord.most, perWord.english + share * 1.4);
  return others + words + beyond * perBeyond + foreignBeyond * perWord.foreign;
}
