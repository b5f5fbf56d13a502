/** How a memory changes: functions on a draft of it. What is refused is an outcome; what is no fact at all is an error. */
import type { Draft } from "../../core/definition.ts";
import { peek } from "../../core/draft.ts";
import { isObject } from "../../core/json.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import {
  type Candidate,
  checkCandidate,
  type Fact,
  type FactIndex,
  groupsOf,
  isUsable,
  keyOf,
  lengthOf,
  type Memory,
  type MemoryRules,
  numberOf,
  placeOf,
  textOf,
  wordsOf,
} from "./fact.ts";
import { fadedBelow, strengthOf } from "./recall.ts";
import { hasSecret } from "./secrets.ts";

type MemoryDraft = Draft<Memory>;
type FactDraft = Draft<Fact>;

/** What became of something that was to be remembered. */
export type Remembered =
  /** With the facts it contradicted, which are closed. */
  | { readonly outcome: "remembered"; readonly id: string; readonly closed: readonly string[] }
  /** It waits to be confirmed. */
  | { readonly outcome: "quarantined"; readonly id: string }
  /** It is known, in the same words or nearly: that fact was seen once more. */
  | { readonly outcome: "duplicate"; readonly id: string }
  /**
   * `echo`: the memory itself has just said so. `secret`: it has something in it that must not be kept. `full`: there are
   * `limits.factsMax` facts or `limits.memoryLengthMax` characters, and all of them are of use.
   */
  | { readonly outcome: "refused"; readonly why: "echo" | "secret" | "full" };

/** When something changes, and by which rules; `changed` is told of facts whose words come or go. */
export interface Change {
  readonly at: number;
  readonly rules?: MemoryRules;
  readonly changed?: ((id: string) => void) | undefined;
}

/** Remembers something, unless it is known, an echo, or a secret; throws FACT_INVALID if it is no fact. */
export function remember(
  memory: MemoryDraft,
  candidate: Candidate,
  { at, rules = {}, changed }: Change,
): Remembered {
  checkCandidate(candidate);
  const text = textOf(candidate);
  const saying = keyOf(text);
  if (hasSecret(text, rules.secrets) || hasSecret(candidate.object ?? "", rules.secrets))
    return refuse(memory, "secret");
  if (peek(memory.recalled).includes(saying)) return refuse(memory, "echo");
  const isTrusted = candidate.source.trust === "trusted";
  const same = knownFact(memory, candidate, saying);
  if (same !== undefined) {
    const known = factIn(memory, same.id);
    memory.refused.duplicate++;
    known.seen++;
    known.seenAt = at;
    // The word of somebody who is trusted confirms what somebody else said.
    if (isTrusted && known.quarantined) confirmFact(memory, known.id, { at, rules });
    return { outcome: "duplicate", id: known.id };
  }
  if (isFullFor(memory, candidate)) consolidate(memory, { at, changed });
  if (isFullFor(memory, candidate)) return { outcome: "refused", why: "full" };
  const fact = addFact(memory, candidate, { text, at, isTrusted });
  changed?.(fact.id);
  if (!isTrusted) return { outcome: "quarantined", id: fact.id };
  return { outcome: "remembered", id: fact.id, closed: closeContradicted(memory, fact, { at, rules }) };
}

function refuse(memory: MemoryDraft, why: "echo" | "secret"): Remembered {
  memory.refused[why]++;
  return { outcome: "refused", why };
}

function isFullFor({ facts, characters }: MemoryDraft, candidate: Candidate): boolean {
  return facts.length >= limits.factsMax || characters + lengthOf(candidate) > limits.memoryLengthMax;
}

function addFact(
  memory: MemoryDraft,
  candidate: Candidate,
  { text, at, isTrusted }: { readonly text: string; readonly at: number; readonly isTrusted: boolean },
): FactDraft {
  const { subject, predicate, object, validFrom = at, validTo, confidence = 1, source } = candidate;
  const number = ++memory.made;
  memory.words += wordsOf(text).length;
  memory.characters += lengthOf(candidate);
  memory.facts.push({
    ...{ id: `f${number}`, subject, text, validFrom, confidence, source: { ...source } },
    ...(predicate === undefined || object === undefined ? {} : { predicate, object }),
    ...(validTo === undefined ? {} : { validTo }),
    ...{ recordedAt: at, seen: 1, seenAt: at },
    ...(isTrusted ? {} : { quarantined: true as const }),
  });
  addTo(memory.bySaying, keyOf(text), number);
  addTo(memory.bySubject, keyOf(subject), number);
  if (predicate !== undefined) addTo(memory.bySlot, keyOf(subject, predicate), number);
  return memory.facts[memory.facts.length - 1] as FactDraft;
}

function addTo(index: Draft<FactIndex>, key: string, number: number): void {
  const [first, second, third] = groupsOf(key);
  index[first] ??= {};
  const outer = index[first] as Draft<FactIndex>[string];
  outer[second] ??= {};
  const inner = outer[second] as (typeof outer)[string];
  inner[third] ??= {};
  const keys = inner[third] as (typeof inner)[string];
  keys[key] ??= [];
  (keys[key] as number[]).push(number);
}

/** The newest facts of a key, to look at: drafts of them would copy what is only read. */
function factsAt({ facts }: MemoryDraft, index: Draft<FactIndex>, key: string): Fact[] {
  const list = peek(facts);
  return (numbersAt(index, key) ?? [])
    .slice(-limits.comparedFactsMax)
    .map((number) => peek(list[placeOf(list, number)]) as Fact);
}

function numbersAt(index: Draft<FactIndex>, key: string): readonly number[] | undefined {
  const [first, second, third] = groupsOf(key);
  return peek(peek(peek(peek(peek(index)[first])?.[second])?.[third])?.[key]);
}

function factAt(memory: MemoryDraft, number: number): FactDraft | undefined {
  const place = placeOf(peek(memory.facts), number);
  return place < 0 ? undefined : memory.facts[place];
}

/** A fact that says the same, or nearly, and is still true as far as is known; to look at. */
function knownFact(memory: MemoryDraft, candidate: Candidate, saying: string): Fact | undefined {
  const isLive = (fact: Fact) => fact.forgottenAt === undefined && fact.validTo === undefined;
  const same = factsAt(memory, memory.bySaying, saying).findLast(isLive);
  // Of what is said as a triple, another object is another fact, however like it looks.
  if (same !== undefined || candidate.predicate !== undefined) return same;
  const words = new Set(wordsOf(textOf(candidate)));
  return factsAt(memory, memory.bySubject, keyOf(candidate.subject)).findLast(
    (fact) => isLive(fact) && fact.predicate === undefined && areAlike(words, new Set(wordsOf(fact.text))),
  );
}

/** From here on two texts are taken to say the same: nine words of ten in common. */
const alike = 0.9;

/** Whether two texts have nearly all of their words in common (Jaccard), and none with a number or a denial apart. */
function areAlike(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const words = new Set([...one, ...other]);
  let apartMax = Math.floor(words.size * (1 - alike) + 1e-9);
  for (const word of words)
    if (one.has(word) !== other.has(word) && (apartMax-- === 0 || /\p{N}/u.test(word) || denials.has(word)))
      return false;
  return true;
}

const denials = new Set(["not", "no", "never", "nicht", "kein", "keine", "nie", "t", "without", "ohne"]);

/**
 * Closes what a fact contradicts, as of when it is true; where another is true from later on, its own validity ends there. A
 * validity that was given with the fact is left as it is.
 */
function closeContradicted(
  memory: MemoryDraft,
  fact: FactDraft,
  { at, rules }: { readonly at: number; readonly rules: MemoryRules },
): readonly string[] {
  const { id, subject, predicate, object = "", validFrom } = fact;
  if (predicate === undefined || rules.many?.includes(predicate) === true || !isOpen(fact)) return [];
  const rivals = factsAt(memory, memory.bySlot, keyOf(subject, predicate))
    .filter((other) => isUsable(other) && isOpen(other) && keyOf(other.object ?? "") !== keyOf(object))
    .map((other) => factIn(memory, other.id));
  const [next] = rivals
    .filter((other) => other.validFrom > validFrom)
    .sort((one, other) => one.validFrom - other.validFrom);
  if (next !== undefined) close(fact, next, at);
  const closed = rivals.filter(
    (other) => other.validFrom <= validFrom && (other.validTo === undefined || other.validTo > validFrom),
  );
  for (const other of closed) close(other, { id, validFrom }, at);
  return closed.map((other) => other.id);
}

/** Whether it is for other facts to say until when this one is true. */
const isOpen = ({ validTo, closedBy }: Pick<Fact, "validTo" | "closedBy">): boolean =>
  validTo === undefined || closedBy !== undefined;

function close(fact: FactDraft, by: Pick<FactDraft, "id" | "validFrom">, at: number): void {
  Object.assign(fact, { validTo: by.validFrom, expiredAt: at, closedBy: by.id });
}

/** Takes a fact out of quarantine: it counts from now on, and closes what it contradicts. */
export function confirmFact(memory: MemoryDraft, id: string, { at, rules = {} }: Change): readonly string[] {
  const fact = factIn(memory, id);
  if (fact.quarantined === undefined) return [];
  delete fact.quarantined;
  return closeContradicted(memory, fact, { at, rules });
}

/** A fact is not true any more, since a time; nothing takes its place. */
export function closeFact(
  memory: MemoryDraft,
  id: string,
  { at, validTo = at }: { readonly at: number; readonly validTo?: number },
): void {
  const fact = factIn(memory, id);
  if (!Number.isFinite(validTo))
    throw new HoldfastError(
      "FACT_INVALID",
      `The fact ${show(id)} cannot end at ${show(validTo)}; write milliseconds`,
    );
  Object.assign(fact, { validTo: Math.max(validTo, fact.validFrom), expiredAt: at });
}

function factIn(memory: MemoryDraft, id: string): FactDraft {
  const fact = factAt(memory, numberOf(id));
  if (fact !== undefined && fact.forgottenAt === undefined) return fact;
  throw new HoldfastError("FACT_INVALID", `The memory has no fact ${show(id)}`);
}

/** These facts were told: until others were, the same words do not come back as news. */
export function noteRecalled(memory: MemoryDraft, texts: readonly string[]): void {
  memory.recalled.push(...texts.map((text) => keyOf(text)));
  const over = memory.recalled.length - limits.recalledMax;
  if (over > 0) memory.recalled.splice(0, over);
}

/** Forgets all that came from a message, and opens again what it had closed; gives the ids of what is gone. It looks at every fact. */
export function forgetFrom(memory: MemoryDraft, message: string, change: Change): readonly string[] {
  const isFrom = (fact: FactDraft) => fact.source.message === message && fact.forgottenAt === undefined;
  const from = peek(memory.facts).filter(isFrom);
  return forgetFacts(
    memory,
    from.map(({ id }) => id),
    change,
  );
}

/** Forgets facts, and opens again what they had closed; gives the ids of what is gone. It looks at every fact. */
export function forgetFacts(
  memory: MemoryDraft,
  ids: readonly string[],
  { at, rules = {}, changed }: Change,
): readonly string[] {
  const facts = ids.map((id) => factIn(memory, id));
  for (const { id } of facts) {
    forget(memory, placeOf(peek(memory.facts), numberOf(id)), at);
    changed?.(id);
  }
  reopen(memory, new Set(ids), { at, rules });
  return ids;
}

/** Forgets all there is, and what was told lately; gives the ids. */
export function forgetAll(memory: MemoryDraft, change: Change): readonly string[] {
  const ids = peek(memory.facts).flatMap(({ id, forgottenAt }) => (forgottenAt === undefined ? [id] : []));
  forgetFacts(memory, ids, change);
  memory.recalled = [];
  return ids;
}

/** What these facts had closed is open again, unless there are others by now that contradict it. */
function reopen(memory: MemoryDraft, ids: ReadonlySet<string>, { at, rules = {} }: Change): void {
  const opened = peek(memory.facts).flatMap(({ closedBy }, place) =>
    closedBy !== undefined && ids.has(closedBy) ? [memory.facts[place] as FactDraft] : [],
  );
  for (const fact of opened)
    for (const key of ["validTo", "expiredAt", "closedBy"] as const) delete fact[key];
  // The newest first, and none that it leaves no time for: of two that are true from the same time on, one would close the other.
  for (const fact of opened.toReversed())
    if (fact.validTo === undefined || fact.validTo > fact.validFrom)
      closeContradicted(memory, fact, { at, rules });
}

/** Puts a fact into quarantine: it is not recalled any more, and what it had closed is open again, until it is confirmed. */
export function quarantineFact(memory: MemoryDraft, id: string, change: Change): void {
  const fact = factIn(memory, id);
  if (fact.quarantined) return;
  fact.quarantined = true;
  reopen(memory, new Set([id]), change);
}

/**
 * A fact was never true, and this was instead: since then, unless it says otherwise. Whoever asks what was known before sees
 * the old one. Nothing is changed if what is said instead is refused.
 */
export function correctFact(
  memory: MemoryDraft,
  id: string,
  instead: Omit<Candidate, "subject"> & Partial<Pick<Candidate, "subject">>,
  change: Change,
): Remembered {
  const { subject, predicate, validFrom } = factIn(memory, id);
  if (!isObject(instead))
    throw new HoldfastError("FACT_INVALID", `${show(instead)} is no fact; say what is true instead`);
  const slot = instead.object === undefined || predicate === undefined ? {} : { predicate };
  const outcome = remember(memory, { subject, ...slot, validFrom, ...instead }, change);
  if (outcome.outcome !== "remembered" || outcome.closed.includes(id)) return outcome;
  close(factIn(memory, id), { id: outcome.id, validFrom }, change.at);
  return { ...outcome, closed: [...outcome.closed, id] };
}

/** Drops what is of no use any more: what was forgotten, is not true now, or has faded. Gives the ids. It looks at every fact. */
export function consolidate(memory: MemoryDraft, { at, changed }: Omit<Change, "rules">): readonly string[] {
  const isSpent = (fact: Fact) =>
    fact.forgottenAt !== undefined ||
    (fact.validTo !== undefined && fact.validTo <= at) ||
    strengthOf(fact, { now: at }) < fadedBelow;
  const spent = peek(memory.facts).flatMap((fact, place) => (isSpent(fact as Fact) ? [place] : []));
  const ids = spent.map((place) => (memory.facts[place] as FactDraft).id);
  for (const place of spent)
    if ((memory.facts[place] as FactDraft).forgottenAt === undefined) {
      changed?.((memory.facts[place] as FactDraft).id);
      forget(memory, place, at);
    }
  const gone = new Set(ids);
  memory.facts = memory.facts.filter(({ id }) => !gone.has(id));
  return ids;
}

/** The words go, from the indexes as well: their keys could be guessed. */
function forget(memory: MemoryDraft, place: number, at: number): void {
  const { id, text, subject, predicate, recordedAt, source } = memory.facts[place] as FactDraft;
  const number = numberOf(id);
  memory.words -= wordsOf(text).length;
  memory.characters -= lengthOf(memory.facts[place] as Fact);
  removeFrom(memory.bySaying, keyOf(text), number);
  removeFrom(memory.bySubject, keyOf(subject), number);
  if (predicate !== undefined) removeFrom(memory.bySlot, keyOf(subject, predicate), number);
  memory.recalled = memory.recalled.filter((key) => key !== keyOf(text));
  memory.facts[place] = {
    ...{ id, subject: "", text: "", validFrom: at, confidence: 0, source: { trust: source.trust } },
    ...{ recordedAt, seen: 0, seenAt: at, forgottenAt: at },
  };
}

function removeFrom(index: Draft<FactIndex>, key: string, number: number): void {
  const [first, second, third] = groupsOf(key);
  const keys = index[first]?.[second]?.[third];
  if (keys === undefined) return;
  const numbers = keys[key]?.filter((other) => other !== number) ?? [];
  if (numbers.length === 0) delete keys[key];
  else keys[key] = numbers;
}
