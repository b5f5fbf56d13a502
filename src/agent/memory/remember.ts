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
  wordCount,
} from "./fact.ts";
import { fadedBelow, type RecallOptions, strengthOf } from "./recall.ts";
import { areAlike, isSame, isSameSlot, sayingOf } from "./saying.ts";
import { hasSecret } from "./secrets.ts";
import { isTrusted, setSources, sourcesLength, sourcesOf, withoutMessage, withSource } from "./sources.ts";

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
  /** After how long without being seen a fact counts half; 90 days unless given. */
  readonly halfLife?: RecallOptions["halfLife"] | undefined;
  readonly changed?: ((id: string) => void) | undefined;
}

/** Remembers something, unless it is known, an echo, or a secret; throws FACT_INVALID if it is no fact. */
export function remember(memory: MemoryDraft, candidate: Candidate, change: Change): Remembered {
  checkCandidate(candidate);
  const { at, rules = {} } = change;
  const text = textOf(candidate);
  if (hasSecret(text, rules.secrets) || hasSecret(candidate.object ?? "", rules.secrets))
    return refuse(memory, "secret");
  const same = sameFacts(memory, text);
  if (isEcho(memory, text, same, at)) return refuse(memory, "echo");
  const known = same.findLast(isStanding) ?? alikeFact(memory, candidate, text);
  if (known !== undefined) return rememberAgain(memory, known, candidate, change);
  if (!makeRoom(memory, lengthOf(candidate), { ...change, facts: 1 }))
    return { outcome: "refused", why: "full" };
  const fact = addFact(memory, candidate, { text, at });
  change.changed?.(fact.id);
  if (!isTrusted(candidate.source)) return { outcome: "quarantined", id: fact.id };
  return { outcome: "remembered", id: fact.id, closed: closeContradicted(memory, fact, { at, rules }) };
}

/** A known fact has one source more. Only the word of somebody who is trusted makes it stronger, or confirms what others said. */
function rememberAgain(memory: MemoryDraft, known: Fact, candidate: Candidate, change: Change): Remembered {
  const { id } = known;
  const { source } = candidate;
  const sources = withSource(known, source);
  const more = sourcesLength(sources) - sourcesLength(sourcesOf(known));
  if (!makeRoom(memory, more, { ...change, facts: 0 })) return { outcome: "refused", why: "full" };
  // It had faded, and went to make room: what is said of it now is news.
  if (factAt(memory, numberOf(id)) === undefined) return remember(memory, candidate, change);
  const fact = factIn(memory, id);
  memory.refused.duplicate++;
  memory.characters += more;
  setSources(fact, sources);
  if (isTrusted(source)) {
    fact.seen++;
    fact.seenAt = change.at;
    confirmFact(memory, id, change);
  }
  return { outcome: "duplicate", id };
}

function refuse(memory: MemoryDraft, why: "echo" | "secret"): Remembered {
  memory.refused[why]++;
  return { outcome: "refused", why };
}

/** Whether there is room for so much more, once what is of no use has gone. */
function makeRoom(
  memory: MemoryDraft,
  length: number,
  { facts: more, ...change }: Change & { readonly facts: number },
): boolean {
  const isFull = ({ facts, characters }: MemoryDraft) =>
    facts.length + more > limits.factsMax || characters + length > limits.memoryLengthMax;
  if ((length <= 0 && more === 0) || !isFull(memory)) return true;
  consolidate(memory, change);
  return !isFull(memory);
}

function addFact(
  memory: MemoryDraft,
  candidate: Candidate,
  { text, at }: { readonly text: string; readonly at: number },
): FactDraft {
  const { subject, predicate, object, validFrom = at, validTo, confidence = 1, source } = candidate;
  const number = ++memory.made;
  memory.words += wordCount(text);
  memory.characters += lengthOf(candidate);
  memory.facts.push({
    ...{ id: `f${number}`, subject, text, validFrom, confidence, source: { ...source } },
    ...(predicate === undefined || object === undefined ? {} : { predicate, object }),
    ...(validTo === undefined ? {} : { validTo }),
    ...{ recordedAt: at, seen: 1, seenAt: at },
    ...(isTrusted(source) ? {} : { quarantined: true as const }),
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

/** The facts that say the same; to look at. */
const sameFacts = (memory: MemoryDraft, text: string): readonly Fact[] =>
  factsAt(memory, memory.bySaying, keyOf(text)).filter((fact) => isSame(fact.text, text));

/** Whether the memory itself has just said so, and still would. What is not true any more by now may be so again. */
function isEcho({ recalled }: MemoryDraft, text: string, same: readonly Fact[], at: number): boolean {
  const isTold = (fact: Fact) => isUsable(fact) && (fact.validTo === undefined || fact.validTo > at);
  return peek(recalled).includes(sayingOf(text)) && (same.length === 0 || same.some(isTold));
}

/** Whether it is true as far as is known, with no end. */
const isStanding = ({ forgottenAt, validTo }: Fact): boolean =>
  forgottenAt === undefined && validTo === undefined;

/** A fact that says nearly the same; to look at. Of what is said as a triple, another object is another fact. */
function alikeFact(memory: MemoryDraft, { subject, predicate }: Candidate, text: string): Fact | undefined {
  if (predicate !== undefined) return undefined;
  const slot = { subject };
  return factsAt(memory, memory.bySubject, keyOf(subject)).findLast(
    (fact) => isStanding(fact) && isSameSlot(fact, slot) && areAlike(text, fact.text),
  );
}

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
    .filter((other) => isUsable(other) && isOpen(other))
    .filter((other) => isSameSlot(other, fact) && !isSame(other.object ?? "", object))
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
  memory.recalled.push(...texts.map(sayingOf));
  const over = memory.recalled.length - limits.recalledMax;
  if (over > 0) memory.recalled.splice(0, over);
}

/**
 * Takes back what a message said: facts that nobody else said are forgotten, and what they had closed is open again; those that
 * nobody who is trusted says any more are in quarantine. Gives the ids of what is gone. It looks at every fact.
 */
export function forgetFrom(memory: MemoryDraft, message: string, change: Change): readonly string[] {
  const isFrom = (fact: Fact) =>
    fact.forgottenAt === undefined && sourcesOf(fact).some((source) => source.message === message);
  const from = (peek(memory.facts) as readonly Fact[]).filter(isFrom);
  const isGone = (fact: Fact) => withoutMessage(fact, message).length === 0;
  for (const known of from.filter((fact) => !isGone(fact))) takeBack(memory, known, message, change);
  return forgetFacts(
    memory,
    from.filter(isGone).map(({ id }) => id),
    change,
  );
}

function takeBack(memory: MemoryDraft, known: Fact, message: string, change: Change): void {
  const sources = withoutMessage(known, message);
  const before = sourcesOf(known);
  memory.characters -= sourcesLength(before) - sourcesLength(sources);
  if (before.some(isTrusted) && !sources.some(isTrusted)) quarantineFact(memory, known.id, change);
  setSources(factIn(memory, known.id), sources);
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
export function consolidate(
  memory: MemoryDraft,
  { at, halfLife = "90 days", changed }: Omit<Change, "rules">,
): readonly string[] {
  const isSpent = (fact: Fact) =>
    fact.forgottenAt !== undefined ||
    (fact.validTo !== undefined && fact.validTo <= at) ||
    strengthOf(fact, { now: at, halfLife }) < fadedBelow;
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
  memory.words -= wordCount(text);
  memory.characters -= lengthOf(memory.facts[place] as Fact);
  removeFrom(memory.bySaying, keyOf(text), number);
  removeFrom(memory.bySubject, keyOf(subject), number);
  if (predicate !== undefined) removeFrom(memory.bySlot, keyOf(subject, predicate), number);
  memory.recalled = memory.recalled.filter((key) => key !== sayingOf(text) && key !== keyOf(text));
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
