/**
 * A register of what a conversation is about just now, and what "it", "that file" or "the second one" means by it. It is
 * plain JSON, small however long the conversation is, and knows no language: a reader such as `english.ts` tells it what a
 * text mentions and refers to.
 *
 * What is meant is whatever fits and is most salient: mentioned lately, as the subject or object of a sentence, often, by
 * the user. How clear that is, is given as a margin; where it is small, a model may be asked.
 */

export type Gender = "male" | "female" | "neuter" | "person" | "unknown";

/** Something a text mentions. */
export interface Mention {
  /** Its name, without articles. */
  readonly text: string;
  /** What it is, in words one may refer to it by: its head noun, `file` for a file name. */
  readonly kinds: readonly string[];
  readonly plural: boolean;
  readonly gender: Gender;
  readonly role: "subject" | "object" | "other";
  /** Where it stands in the text. */
  readonly offset: number;
  /** Which clause of the text it stands in. */
  readonly clause: number;
  /** Which list of the text it is an item of, if of any. */
  readonly list?: number;
}

/** A phrase that means something mentioned elsewhere. */
export interface Reference {
  readonly phrase: string;
  readonly offset: number;
  /** The clause it stands in, where it cannot mean another part of that: as "it" in "sort the table by it". */
  readonly clause?: number;
  readonly kind: "pronoun" | "noun" | "ordinal" | "former" | "latter" | "other";
  readonly plural: boolean;
  readonly gender: Gender;
  /** What it is said to be: the noun of "that file", "the second option". */
  readonly noun?: string;
  /** Of an ordinal: from 1 on, or from −1 back. */
  readonly ordinal?: number;
}

/** What a reader finds in a text. */
export interface TextReading {
  readonly mentions: readonly Mention[];
  readonly references: readonly Reference[];
}

export interface Entity {
  readonly text: string;
  kinds: string[];
  plural: boolean;
  gender: Gender;
  role: "subject" | "object" | "other";
  /** The turn and the place in it where it was mentioned last. */
  turn: number;
  offset: number;
  mentions: number;
  by: string;
}

export interface Salience {
  /** How many turns there were. */
  turn: number;
  entities: Entity[];
  /** The lists that were given last, newest last, as names of entities. */
  lists: string[][];
}

/** What is forgotten first is least salient; nobody refers to the fortieth thing back. */
const entitiesMax = 40;
const listsMax = 4;

export const emptySalience = (): Salience => ({ turn: 0, entities: [], lists: [] });

const nameOf = (text: string): string => text.toLowerCase().replace(/\s+/g, " ").trim();

/** Takes in what a turn mentions. */
export function noteMentions(
  salience: Salience,
  { mentions }: Pick<TextReading, "mentions">,
  by: string,
): void {
  salience.turn++;
  const lists = new Map<number, string[]>();
  for (const mention of mentions) {
    remember(salience, mention, by);
    if (mention.list !== undefined)
      lists.set(mention.list, [...(lists.get(mention.list) ?? []), mention.text]);
  }
  for (const items of lists.values()) if (items.length > 1) salience.lists.push(items);
  if (salience.lists.length > listsMax) salience.lists.splice(0, salience.lists.length - listsMax);
  if (salience.entities.length > entitiesMax) {
    const byAge = [...salience.entities].sort(
      (one, other) => one.turn - other.turn || one.offset - other.offset,
    );
    const gone = new Set(byAge.slice(0, salience.entities.length - entitiesMax).map(({ text }) => text));
    salience.entities = salience.entities.filter(({ text }) => !gone.has(text));
  }
}

function remember(salience: Salience, mention: Mention, by: string): void {
  const { turn } = salience;
  const name = nameOf(mention.text);
  const before = salience.entities.find(({ text }) => nameOf(text) === name);
  const { kinds, plural, gender, role, offset } = mention;
  if (before === undefined)
    salience.entities.push({
      text: mention.text,
      kinds: [...kinds],
      plural,
      gender,
      role,
      turn,
      offset,
      mentions: 1,
      by,
    });
  else Object.assign(before, { plural, role, turn, offset, by, mentions: before.mentions + 1 });
}

export interface Meant {
  /** What the phrase means; undefined if nothing fits. */
  readonly entity: string | undefined;
  /** How much more salient it is than the next, from 0 to 1; 1 if nothing else fits. */
  readonly margin: number;
  /** All that fits, most salient first. */
  readonly candidates: readonly { readonly entity: string; readonly score: number }[];
}

/** What a phrase means by what was mentioned so far. */
export function resolveReference(salience: Salience, reference: Reference): Meant {
  const listed = fromList(salience, reference);
  if (listed !== undefined) return { entity: listed, margin: 1, candidates: [{ entity: listed, score: 1 }] };
  if (["ordinal", "former", "latter", "other"].includes(reference.kind)) return nothing;
  const candidates = salience.entities
    .map((entity) => ({
      entity: entity.text,
      score: fitOf(entity, reference) * salienceOf(salience, entity),
    }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score);
  const [best, next] = candidates;
  if (best === undefined) return nothing;
  return { entity: best.entity, margin: next === undefined ? 1 : 1 - next.score / best.score, candidates };
}

const nothing: Meant = { entity: undefined, margin: 0, candidates: [] };

/** The item of the newest list that an ordinal, "the latter" or "the other one" picks. */
function fromList(salience: Salience, { kind, ordinal = 0, noun }: Reference): string | undefined {
  const { lists } = salience;
  if (kind === "ordinal") {
    const list = lists.findLast(
      (items) => items.length >= Math.abs(ordinal) && isListOf(salience, items, noun),
    );
    return list?.at(ordinal > 0 ? ordinal - 1 : ordinal);
  }
  if (kind === "former" || kind === "latter") {
    const pair = lists.findLast(({ length }) => length === 2) ?? newestPair(salience);
    return kind === "former" ? pair[0] : pair[1];
  }
  if (kind !== "other") return undefined;
  const pair = lists.findLast(({ length }) => length === 2) ?? newestPair(salience);
  const age = (name: string | undefined) => salience.entities.find(({ text }) => text === name);
  const [first, second] = pair.map(age);
  if (first === undefined || second === undefined) return undefined;
  const isFirstNewer =
    first.turn > second.turn || (first.turn === second.turn && first.mentions > second.mentions);
  return isFirstNewer ? second.text : first.text;
}

/** A noun such as "option" fits any list; one that some item is called by fits only lists of those. */
function isListOf({ entities }: Salience, items: readonly string[], noun: string | undefined): boolean {
  if (noun === undefined) return true;
  const isKnown = entities.some(({ kinds }) => kinds.includes(noun));
  return !isKnown || items.some((item) => entities.find(({ text }) => text === item)?.kinds.includes(noun));
}

function newestPair({ entities }: Salience): string[] {
  const newest = entities
    .toSorted((one, other) => one.turn - other.turn || one.offset - other.offset)
    .slice(-2);
  return newest.map(({ text }) => text);
}

/** Whether, and how well, what a phrase says of number, gender and kind agrees with an entity. */
function fitOf({ plural, gender, kinds, text }: Entity, reference: Reference): number {
  if (reference.kind === "noun") {
    if (reference.plural !== plural) return 0;
    return kinds.includes(reference.noun ?? "") ? 1 : nameOf(text) === reference.noun ? 1 : 0;
  }
  const isPerson = gender === "male" || gender === "female" || gender === "person";
  switch (reference.gender) {
    case "male":
    case "female":
      return plural
        ? 0
        : gender === reference.gender
          ? 1
          : gender === "person"
            ? 0.8
            : gender === "unknown"
              ? 0.2
              : 0;
    case "neuter":
      return plural || isPerson ? 0 : 1;
    default:
      // "They" is several, or one person whose gender is not said.
      return plural ? 1 : isPerson ? 0.3 : 0;
  }
}

const roleWeight = { subject: 1, object: 0.95, other: 0.7 };

function salienceOf({ turn }: Salience, { turn: last, role, mentions, by, offset }: Entity): number {
  const recency = 2 ** ((last - turn) / 1.5);
  const speaker = by === "tool" ? 0.6 : by === "assistant" ? 0.9 : 1;
  // Of two in one turn and role the later one is a little nearer.
  const nearness = 1 + Math.min(offset, 1_000) / 20_000;
  return recency * roleWeight[role] * (1 + 0.5 * Math.log(mentions)) * speaker * nearness;
}

export interface ResolveOptions {
  /** Below this margin the resolver is asked; 0.15 unless given. */
  readonly marginMin?: number;
  /** Says which candidate is meant, or undefined if it cannot tell: a model, usually. */
  readonly resolver?: (question: {
    readonly phrase: string;
    readonly text: string;
    readonly candidates: readonly string[];
  }) => Promise<string | undefined>;
}

/** A phrase of a text and what it means. */
export interface Resolved extends Meant {
  readonly phrase: string;
  /** Whether the resolver was asked. */
  readonly asked: boolean;
}

/** What the phrases of a turn mean, each by what was mentioned before it; the turn itself is not taken in. */
export function resolveReferences(
  salience: Salience,
  { mentions, references }: TextReading,
  by = "user",
): Meant[] {
  return references.map((reference) => {
    const before = mentions.filter(
      ({ offset, clause }) => offset < reference.offset && clause !== reference.clause,
    );
    const sofar = structuredClone(salience);
    noteMentions(sofar, { mentions: before }, by);
    return resolveReference(sofar, reference);
  });
}

/** The same, with a resolver asked where it is not clear enough. */
export async function resolveReferencesWith(
  salience: Salience,
  { text, reading, by = "user" }: { text: string; reading: TextReading; by?: string },
  { marginMin = 0.15, resolver }: ResolveOptions = {},
): Promise<Resolved[]> {
  const meant = resolveReferences(salience, reading, by);
  return Promise.all(
    meant.map(async (found, index): Promise<Resolved> => {
      const { phrase } = reading.references[index] as Reference;
      const candidates = found.candidates.map(({ entity }) => entity);
      if (resolver === undefined || candidates.length < 2 || found.margin >= marginMin)
        return { ...found, phrase, asked: false };
      const chosen = await resolver({ phrase, text, candidates });
      // What is none of the candidates is no answer.
      const entity = chosen !== undefined && candidates.includes(chosen) ? chosen : found.entity;
      return { ...found, entity, phrase, asked: true };
    }),
  );
}
