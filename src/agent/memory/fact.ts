/**
 * Long-term memory, as plain JSON: facts, each with the time it is true of, the time it was learned, and where from.
 *
 * F1. A fact is never overwritten. One that contradicts it closes its validity, and both stay.
 * F2. What comes from a source nobody trusts is in quarantine: it is not recalled and closes nothing, until it is confirmed.
 * F3. Whatever came from a message can be forgotten: its text is gone then, and what it had closed is open again. What others said
 *     as well stays theirs; what only others say that nobody trusts is in quarantine again.
 * F4. What a change costs does not grow with the memory: facts are added at the end, and found by small indexes.
 */
import { createHash } from "node:crypto";
import { isObject } from "../../core/json.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { fold, spacedWords, splitWords } from "../thread/words.ts";
import { type FactSource, sourcesLength, sourcesOf } from "./sources.ts";

/** Something to remember: what is said of whom, as a triple, as text, or both. */
export interface Candidate {
  readonly subject: string;
  readonly predicate?: string;
  readonly object?: string;
  /** In words; made of the triple unless given. */
  readonly text?: string;
  /** Since when it is true; since it is learned unless given. */
  readonly validFrom?: number;
  readonly validTo?: number;
  /** From 0 to 1; 1 unless given. */
  readonly confidence?: number;
  readonly source: FactSource;
}

export interface Fact extends Candidate {
  readonly id: string;
  /** Who said so: somebody who is trusted, if anybody who is did. */
  readonly source: FactSource;
  /** Who else said so. */
  readonly also?: readonly FactSource[];
  readonly text: string;
  readonly validFrom: number;
  readonly confidence: number;
  readonly recordedAt: number;
  /** When it was learned that it is no longer true: from then on `validTo` counts. */
  readonly expiredAt?: number;
  /** The fact that contradicted it. */
  readonly closedBy?: string;
  /** How often it was said, and when last; of what is known, the word of somebody who is not trusted does not count. */
  readonly seen: number;
  readonly seenAt: number;
  /** Whether it waits to be confirmed. */
  readonly quarantined?: true;
  /** What it said is gone; only that there was something is left. */
  readonly forgottenAt?: number;
  /** What it means to a model, if one was given. */
  readonly vector?: FactVector;
}

/** A text as a model of embeddings sees it; only those of one model can be compared. */
export interface FactVector {
  readonly model: string;
  /** One signed byte for each dimension, as base64. */
  readonly values: string;
}

/**
 * Numbers of facts, by a key, in groups of groups of groups by the key's first letters. A change copies the groups on its way and
 * compares them, so all of them stay small: sixteen in each, and at 10,000 keys two or three in the last.
 */
export type FactIndex = Grouped<Grouped<Grouped<Readonly<Record<string, readonly number[]>>>>>;
type Grouped<Group> = Readonly<Record<string, Group>>;

export interface Memory {
  /** In the order of their numbers: the one called `f7` was the seventh. */
  readonly facts: readonly Fact[];
  /** How many there ever were. */
  readonly made: number;
  /** How many words there are in all of them, and how many characters. */
  readonly words: number;
  readonly characters: number;
  /** By what they say, by subject and predicate, and by subject. */
  readonly bySaying: FactIndex;
  readonly bySlot: FactIndex;
  readonly bySubject: FactIndex;
  /** What was told lately, the newest last. */
  readonly recalled: readonly string[];
  /** How often something was refused, and why. */
  readonly refused: { readonly echo: number; readonly secret: number; readonly duplicate: number };
}

/** A memory of nothing. */
export const emptyMemory: Memory = Object.freeze({
  ...{ facts: [], made: 0, words: 0, characters: 0, bySaying: {}, bySlot: {}, bySubject: {}, recalled: [] },
  refused: { echo: 0, secret: 0, duplicate: 0 },
});

export interface MemoryRules {
  /** Predicates that may have several objects at a time, as `likes`; of others a new object contradicts the old one. */
  readonly many?: readonly string[];
  /** Texts that must not be kept, beside what looks like a key or a password. */
  readonly secrets?: readonly RegExp[];
}

/** What a candidate says, in words. */
export function textOf({ subject, predicate, object, text }: Candidate): string {
  return text ?? [subject, predicate, object].filter((part) => part !== undefined).join(" ");
}

/** How many characters a fact takes. */
export function lengthOf(fact: Candidate & Pick<Partial<Fact>, "also">): number {
  const { subject, predicate, object } = fact;
  const said = [textOf(fact), subject, predicate, object];
  return said.reduce((sum, part) => sum + (part?.length ?? 0), sourcesLength(sourcesOf(fact)));
}

/** The words of a text, as they are searched for: without case, marks and punctuation. Not what tells facts apart. */
export function wordsOf(text: string): readonly string[] {
  return splitWords(fold(text));
}

/** Other words than these are no words of an index: it is made anew when this changes. */
export const wordsVersion = "2";

/** How many words a text has between its spaces. Memories are stored with the sum, so this is how it stays. */
export function wordCount(text: string): number {
  return spacedWords(fold(text)).length;
}

/**
 * A short key under which facts are looked up. Memories are stored with such keys, so this is how they stay. Different sayings
 * may share one: whoever looks there compares what they say.
 */
export function keyOf(...texts: readonly string[]): string {
  return digestOf(texts.map((text) => spacedWords(fold(text)).join(" ")));
}

export function digestOf(texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("base64url").slice(0, 22);
}

/** The way to a key's group in an index: one of sixteen letters at each level. */
export const groupsOf = (key: string): readonly [string, string, string] => [
  groupAt(key, 0),
  groupAt(key, 1),
  groupAt(key, 2),
];
const groupAt = (key: string, level: number): string =>
  String.fromCharCode(97 + (key.charCodeAt(level) & 15));

export const numberOf = (id: string): number => (/^f[1-9]\d{0,14}$/.test(id) ? Number(id.slice(1)) : 0);

/** Where the fact of a number stands; -1 if it is not there any more. */
export function placeOf(facts: readonly Pick<Fact, "id">[], number: number): number {
  let [low, high] = [0, Math.min(facts.length, number) - 1];
  while (low <= high) {
    // Until some have gone each stands where its number says.
    const place = high === number - 1 ? high : (low + high) >> 1;
    const there = numberOf((facts[place] as Fact).id);
    if (there === number) return place;
    if (there < number) low = place + 1;
    else high = place - 1;
  }
  return -1;
}

/** Throws FACT_INVALID for what cannot be remembered. */
export function checkCandidate(candidate: Candidate): void {
  if (!isObject(candidate))
    throw new HoldfastError("FACT_INVALID", `${show(candidate)} is no fact; give a subject and a text`);
  const { subject, predicate, object, validFrom, validTo, confidence = 1, source } = candidate;
  const text = textOf(candidate);
  const problem = (what: string) => new HoldfastError("FACT_INVALID", `The fact ${show(text)} ${what}`);
  for (const part of [text, predicate, object, source?.message, source?.tool])
    if (part !== undefined && typeof part !== "string") throw problem(`has ${show(part)}; write text`);
  if (typeof subject !== "string") throw problem(`has the subject ${show(subject)}; write text`);
  if (wordsOf(subject).length === 0 || wordsOf(text).length === 0)
    throw problem("says nothing; give a subject, and an object or a text");
  if ((predicate === undefined) !== (object === undefined))
    throw problem("has a predicate or an object only; give both, or a text");
  for (const part of [text, subject, predicate, object, source?.message, source?.tool])
    if (part !== undefined && part.length > limits.factLengthMax)
      throw problem(`has ${part.length} characters, and ${limits.factLengthMax} are kept; say it in short`);
  for (const time of [validFrom, validTo])
    if (time !== undefined && !Number.isFinite(time))
      throw problem(`has the time ${show(time)}; write milliseconds`);
  if (validTo !== undefined && validFrom !== undefined && validTo < validFrom)
    throw problem("ends before it begins");
  if (!(confidence >= 0 && confidence <= 1))
    throw problem(`has a confidence of ${show(confidence)}; write 0 to 1`);
  if (source?.trust !== "trusted" && source?.trust !== "untrusted")
    throw problem(`has a source of trust ${show(source?.trust)}; write trusted or untrusted`);
}

/** Whether a fact can be recalled at all: it says something, and is not in quarantine. */
export function isUsable({ quarantined, forgottenAt }: Fact): boolean {
  return quarantined === undefined && forgottenAt === undefined;
}

/** Whether a fact is true of a time, as far as was known at another. */
export function isValid(
  fact: Fact,
  { now, asOf = now }: { readonly now: number; readonly asOf?: number },
): boolean {
  const { validFrom, validTo, recordedAt, expiredAt } = fact;
  if (recordedAt > asOf) return false;
  // What closed it was not known yet.
  const isOpen = validTo === undefined || (expiredAt !== undefined && expiredAt > asOf);
  return validFrom <= now && (isOpen || now < validTo);
}
