/**
 * Reads English for the salience register: what a text mentions, and which of its phrases mean something else. The words
 * are told apart by compromise, an optional package; names of files, code and what is quoted are found before it looks.
 */
import nlp from "compromise/three";
import type { Gender, Mention, Reference, TextReading } from "./salience.ts";

/** A word with what compromise says it is, and where it stands. */
interface Term {
  readonly text: string;
  readonly tags: ReadonlySet<string>;
  readonly start: number;
  /** Whether something ends after it: a comma, a full stop, a line. */
  readonly isLast: boolean;
}

/** What a text in English mentions and refers to. */
export function readEnglish(text: string): TextReading {
  const { masked, names } = maskNames(text);
  const terms = termsOf(masked);
  const clause = clausesOf(masked);
  const references = referencesOf(masked).map((reference) => withClause(reference, clause));
  const isReferred = (offset: number) =>
    references.some(
      (reference) => offset >= reference.offset && offset < reference.offset + reference.phrase.length,
    );
  const mentions = [...phrasesOf(terms, names), ...names.map(nameMention)]
    .filter(({ offset }) => !isReferred(offset))
    .sort((one, other) => one.offset - other.offset)
    .map((mention) => ({ ...mention, clause: clause(mention.offset) }));
  return { mentions: withLists(withRoles(mentions, terms), text), references };
}

/** Tells the clause that a place of a text is in: they end with a sign, or before a word that joins two of them. */
function clausesOf(text: string): (offset: number) => number {
  const ends = [
    ...text.matchAll(
      /[,;:.!?\n](?=\s|$)|\b(?:and|but|so|because|that|when|if|while|then|or|until|after|before)\b/gi,
    ),
  ];
  return (offset) => ends.filter(({ index }) => index < offset).length;
}

/** Only a pronoun that stands alone excludes its neighbours: in "the file and its owner" it means one of them. */
const withClause = (reference: Reference, clause: (offset: number) => number): Reference =>
  reference.kind !== "pronoun" || /^(?:its|his|her|their)$/i.test(reference.phrase)
    ? reference
    : { ...reference, clause: clause(reference.offset) };

interface Name {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly kinds: readonly string[];
}

const namePatterns: readonly { pattern: RegExp; kinds: (name: string) => readonly string[] }[] = [
  { pattern: /https?:\/\/[^\s)>\]]+[^\s)>\].,;:!?]/g, kinds: () => ["link", "url", "page", "site"] },
  { pattern: /`([^`\n]+)`|"([^"\n]{1,60})"|“([^”\n]{1,60})”/g, kinds: kindsOfCode },
  { pattern: /(?<![\w.])[\w-]*(?:\/[\w.-]+)+\/?(?<![.,])/g, kinds: kindsOfPath },
  { pattern: /\b[\w-]+(?:\.[\w-]+)*\.(?:[a-z]{1,4}|mp[34]|json|yaml|toml|html)\b/g, kinds: kindsOfPath },
  { pattern: /\b[\w.]+\(\)/g, kinds: kindsOfCode },
  { pattern: /(?<!\w)#\d+\b|\b[A-Z]{2,}-\d+\b/g, kinds: () => ["ticket", "issue", "bug", "pr"] },
];

function kindsOfPath(name: string): readonly string[] {
  if (!/\.\w+$/.test(name)) return ["folder", "directory", "path"];
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  const kind: Record<string, string[]> = {
    pdf: ["document", "report"],
    png: ["image", "picture", "screenshot"],
    jpg: ["image", "picture", "photo"],
    csv: ["table", "spreadsheet", "sheet"],
    md: ["document", "page"],
    ts: ["module", "script", "code"],
    py: ["script", "module", "code"],
    sh: ["script"],
    log: ["log"],
  };
  return ["file", ...(/\btest\b/.test(name) ? ["test"] : []), ...(kind[extension] ?? [])];
}

function kindsOfCode(name: string): readonly string[] {
  if (/\.\w{1,5}$/.test(name)) return kindsOfPath(name);
  return /\(\)$|^[a-z]+[A-Z]/.test(name) ? ["function", "method"] : ["command", "name", "title"];
}

/** Puts a plain word of the same length in place of each name, so that it is one word whatever is in it. */
function maskNames(text: string): { masked: string; names: Name[] } {
  const names: Name[] = [];
  let masked = text;
  for (const { pattern, kinds } of namePatterns)
    masked = masked.replace(pattern, (found, ...rest: unknown[]) => {
      const start = rest.findLast((value) => typeof value === "number") as number;
      const inner = found.replace(/^[`"“]|[`"”]$/g, "");
      if (/^X+$/.test(inner)) return found;
      names.push({ text: inner, start, end: start + found.length, kinds: kinds(inner) });
      return "X".repeat(found.length);
    });
  return { masked, names };
}

const nameMention = ({ text, start, kinds }: Name): Mention => ({
  text,
  kinds,
  plural: false,
  gender: "neuter",
  role: "object",
  offset: start,
  clause: 0,
});

interface JsonTerm {
  text: string;
  post: string;
  tags: string[];
  offset: { start: number; length: number };
}

function termsOf(text: string): Term[] {
  const sentences = nlp(text).json({ offset: true, terms: { offset: true } }) as { terms: JsonTerm[] }[];
  return sentences.flatMap(({ terms }) =>
    terms.map(({ text: word, post, tags, offset: { start } }) => {
      const trimmed = word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
      return { text: trimmed, tags: new Set(tags), start, isLast: /[^ '’]/.test(post) };
    }),
  );
}

/** Nouns that stand for time, amount or manner, or for the talk itself: nobody says "it" of them. */
const emptyNouns =
  /^(today|tomorrow|yesterday|morning|afternoon|evening|night|week|month|year|day|hour|minute|second|time|moment|way|thing|lot|bit|kind|sort|one|ones|thanks|thank|please|sure|ok|okay|hi|hello|yes|no|question|something|anything|nothing|everything|someone|anyone|everyone|monday|tuesday|wednesday|thursday|friday|saturday|sunday|instead|sake|case|own|here|there|both|ms|seconds|minutes|hours|days|weeks|euros?|dollars?|percent|gb|mb|kb|km)$/i;

/** Words before a noun that are no part of a name. */
const unsaid = /^(my|your|his|her|its|our|their|one|two|both|several|some|many)$/i;

/** Noun phrases: what comes before a noun, and the noun it ends with. */
function phrasesOf(terms: readonly Term[], names: readonly Name[]): Mention[] {
  const mentions: Mention[] = [];
  let phrase: Term[] = [];
  const flush = () => {
    const last = phrase.findLastIndex(({ tags }) => tags.has("Noun"));
    const made = last === -1 ? undefined : phraseMention(phrase.slice(0, last + 1));
    if (made !== undefined) mentions.push(made);
    phrase = [];
  };
  for (const term of terms) {
    const isName = names.some(({ start, end }) => term.start >= start - 1 && term.start < end);
    if (isName || !isPhraseWord(term)) flush();
    else if (term.tags.has("Determiner") || isPossessive(term)) {
      flush();
      phrase.push(term);
    } else phrase.push(term);
    if (term.isLast) flush();
  }
  flush();
  return mentions;
}

const isPossessive = ({ text, tags }: Term): boolean =>
  tags.has("Possessive") && /^(my|your|his|her|its|our|their)$/i.test(text);

const isPhraseWord = ({ tags }: Term): boolean =>
  !tags.has("Pronoun") &&
  !tags.has("Date") &&
  !tags.has("QuestionWord") &&
  ["Noun", "Adjective", "Determiner", "Possessive", "Value"].some((tag) => tags.has(tag));

function phraseMention(words: readonly Term[]): Mention | undefined {
  const head = words.at(-1) as Term;
  const isSaid = ({ tags, text: word }: Term) =>
    !tags.has("Determiner") && !tags.has("Value") && !unsaid.test(word);
  const said = words.filter(isSaid);
  const text = said.map((term) => term.text).join(" ");
  const noun = singular(head.text.toLowerCase());
  if (text === "" || emptyNouns.test(head.text) || /^\d+$/.test(text) || /^X+$/.test(head.text))
    return undefined;
  const isProper = words.some(({ tags }) => tags.has("ProperNoun") || tags.has("Person"));
  return {
    text,
    kinds: isProper ? [noun, ...kindOfProper(words)] : [noun],
    plural: head.tags.has("Plural") && !head.tags.has("Person"),
    gender: genderOf(words),
    role: "other",
    offset: said[0]?.start ?? head.start,
    clause: 0,
  };
}

const kindOfProper = (words: readonly Term[]): string[] =>
  words.some(({ tags }) => tags.has("Place") || tags.has("City") || tags.has("Country"))
    ? ["place", "city", "town"]
    : words.some(({ tags }) => tags.has("Organization"))
      ? ["company"]
      : [];

const female =
  /^(sister|mother|mum|mom|wife|daughter|aunt|girlfriend|woman|girl|lady|queen|actress|grandmother|niece)$/i;
const male = /^(brother|father|dad|husband|son|uncle|boyfriend|man|boy|king|actor|grandfather|nephew|guy)$/i;
const person =
  /^(doctor|teacher|manager|boss|colleague|customer|client|user|friend|designer|developer|engineer|lawyer|nurse|neighbour|neighbor|accountant|reviewer|author|landlord|plumber|student|editor|intern|chef|pilot)$/i;

function genderOf(words: readonly Term[]): Gender {
  const head = (words.at(-1) as Term).text;
  const has = (tag: string) => words.some(({ tags }) => tags.has(tag));
  if (female.test(head) || has("FemaleName")) return "female";
  if (male.test(head) || has("MaleName")) return "male";
  if (person.test(head) || has("Person")) return "person";
  return has("Actor") && !has("Organization") ? "person" : "neuter";
}

const singular = (word: string): string =>
  word.endsWith("ies") && word.length > 4
    ? `${word.slice(0, -3)}y`
    : /(?:ss|x|ch|sh|z)es$/.test(word)
      ? word.slice(0, -2)
      : /[^sui]s$/.test(word)
        ? word.slice(0, -1)
        : word;

const ordinals: Readonly<Record<string, number>> = {
  ...{ first: 1, second: 2, third: 3, fourth: 4, fifth: 5, sixth: 6, last: -1, final: -1 },
  ...{ "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5, one: 1, two: 2, three: 3, four: 4, five: 5 },
};
const ordinalWords = Object.keys(ordinals).slice(0, 13).join("|");
const choice =
  "one|option|choice|item|suggestion|idea|candidate|approach|alternative|point|result|version|answer";

const referencePatterns: readonly {
  pattern: RegExp;
  read: (found: RegExpMatchArray) => Omit<Reference, "phrase" | "offset">;
}[] = [
  {
    pattern: new RegExp(`\\bthe (${ordinalWords})(?: (${choice}|[a-z]+s?))?\\b`, "gi"),
    read: ([, word = "", noun]) => ordinal(ordinals[word.toLowerCase()] ?? 1, noun),
  },
  {
    pattern: /\b(?:option|number|item|choice) (\d|one|two|three|four|five)\b/gi,
    read: ([, word = ""]) => ordinal(Number(word) || (ordinals[word.toLowerCase()] ?? 1), undefined),
  },
  { pattern: /\bthe former\b/gi, read: () => ({ kind: "former", plural: false, gender: "unknown" }) },
  { pattern: /\bthe latter\b/gi, read: () => ({ kind: "latter", plural: false, gender: "unknown" }) },
  {
    pattern: /\bthe other(?: one)?\b(?! [a-z]+s\b)/gi,
    read: () => ({ kind: "other", plural: false, gender: "unknown" }),
  },
  {
    pattern: /\b(?:that|this|those|these|the same) ([a-z]+)\b/gi,
    read: ([all = "", noun = ""]) => byNoun(all, noun),
  },
  {
    pattern: /\b(?:it|itself)\b|\bits\b/gi,
    read: () => ({ kind: "pronoun", plural: false, gender: "neuter" }),
  },
  {
    pattern: /\b(?:he|him|his|himself)\b/gi,
    read: () => ({ kind: "pronoun", plural: false, gender: "male" }),
  },
  {
    pattern: /\b(?:she|her|hers|herself)\b/gi,
    read: () => ({ kind: "pronoun", plural: false, gender: "female" }),
  },
  {
    pattern: /\b(?:they|them|their|theirs|themselves)\b/gi,
    read: () => ({ kind: "pronoun", plural: true, gender: "unknown" }),
  },
];

const ordinal = (place: number, noun: string | undefined): Omit<Reference, "phrase" | "offset"> => ({
  kind: "ordinal",
  ordinal: place,
  plural: false,
  gender: "unknown",
  ...(noun === undefined || new RegExp(`^(${choice})$`, "i").test(noun)
    ? {}
    : { noun: singular(noun.toLowerCase()) }),
});

const byNoun = (all: string, noun: string): Omit<Reference, "phrase" | "offset"> => ({
  kind: "noun",
  noun: singular(noun.toLowerCase()),
  plural: /^(those|these)/i.test(all) || (/^the same/i.test(all) && /[^s]s$/.test(noun)),
  gender: "unknown",
});

/** "It" that means nothing: the weather, the time, how something seems. */
const emptyIt =
  /^it(?:'s| is| was| seems?| looks?| will be| would be)? (?:late|early|time|cold|hot|raining|snowing|ok|okay|fine|possible|important|clear that|like|that|seems?|would be (?:nice|great|good))\b/i;
const notNoun =
  /^(is|was|are|were|be|will|would|can|could|should|has|have|had|does|did|do|and|or|but|the|a|an|to|of|in|on|for|with|way|time|i|you|we|he|she|they|it|morning|afternoon|evening|week|month|year|day|said|means|makes|looks|sounds|seems|works|one|ones|not|too|very|so|also|again|please|now|then|first)$/i;

function referencesOf(text: string): Reference[] {
  const found: Reference[] = [];
  for (const { pattern, read } of referencePatterns)
    for (const match of text.matchAll(pattern)) {
      const [phrase] = match;
      const offset = match.index;
      const made = read(match);
      if (made.kind === "noun" && notNoun.test(match[1] ?? "")) continue;
      if (/^it$/i.test(phrase) && emptyIt.test(text.slice(offset))) continue;
      const overlaps = (one: Reference) =>
        offset < one.offset + one.phrase.length && offset + phrase.length > one.offset;
      if (!found.some(overlaps)) found.push({ ...made, phrase, offset });
    }
  return found.sort((one, other) => one.offset - other.offset);
}

/** Before the verb is the subject, after a preposition neither, else the object. */
function withRoles(mentions: readonly Mention[], terms: readonly Term[]): Mention[] {
  return mentions.map((mention) => {
    const before = terms.filter(({ start }) => start < mention.offset);
    const sentence = before.slice(before.findLastIndex(({ isLast }) => isLast) + 1);
    const words = sentence.filter(({ tags }) => !tags.has("Determiner") && !tags.has("Adjective"));
    const isAfterPreposition = words.at(-1)?.tags.has("Preposition") === true;
    const isAfterVerb = sentence.some(({ tags }) => tags.has("Verb"));
    return { ...mention, role: isAfterPreposition ? "other" : isAfterVerb ? "object" : "subject" };
  });
}

/** Marks items of lists: lines that are numbered or bulleted, and what is joined by commas, "and" and "or". */
function withLists(mentions: readonly Mention[], text: string): Mention[] {
  let list = 0;
  const lineOf = (offset: number) => {
    const start = text.lastIndexOf("\n", offset) + 1;
    return /^\s*(?:\d+[.)]|[-*•])\s+/.test(text.slice(start)) ? start : undefined;
  };
  let lines = new Set<number>();
  let isInList = false;
  return mentions.map((mention, index) => {
    const line = lineOf(mention.offset);
    if (line !== undefined) {
      // The first thing a line mentions is the item.
      if (lines.has(line)) return mention;
      lines.add(line);
      return { ...mention, list: -1 };
    }
    lines = new Set();
    const before = mentions[index - 1];
    const next = mentions[index + 1];
    const isJoined = (one: Mention | undefined, other: Mention | undefined) =>
      one !== undefined &&
      other !== undefined &&
      /^[`"”]?(?:,? (?:and|or|versus|vs\.?)|,)(?: also| then)?(?: (?:one|a|an|the|my|your|our|with|either|for|from|in|to|at|by|on))* [`"“]?$/i.test(
        text.slice(endOf(one, text), other.offset),
      );
    if (isInList && isJoined(before, mention)) return { ...mention, list };
    isInList = false;
    if (!isJoined(mention, next) || !isEnumerated(mentions.slice(index), text, isJoined)) return mention;
    list++;
    isInList = true;
    return { ...mention, list };
  });
}

/** Whether what is joined from here on is joined by a word somewhere: commas alone only separate clauses. */
function isEnumerated(
  mentions: readonly Mention[],
  text: string,
  isJoined: (one: Mention | undefined, other: Mention | undefined) => boolean,
): boolean {
  for (const [index, mention] of mentions.entries()) {
    const next = mentions[index + 1];
    if (next === undefined || !isJoined(mention, next)) return false;
    if (/\b(?:and|or|versus|vs)\b/i.test(text.slice(endOf(mention, text), next.offset))) return true;
  }
  return false;
}

/** Names may be quoted, so the end is looked for from the beginning on. */
const endOf = ({ text: name, offset }: Mention, text: string): number => {
  const at = text.indexOf(name, offset);
  return (at === -1 ? offset : at) + name.length;
};
