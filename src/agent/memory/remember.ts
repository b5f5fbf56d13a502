/** How a memory changes: functions on a draft of it. What is refused is an outcome; what is no fact at all is an error. */
import type { Draft } from "../../core/definition.ts";
import { peek } from "../../core/draft.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import {
  type Candidate,
  checkCandidate,
  type Fact,
  type FactIndex,
  groupOf,
  isUsable,
  keyOf,
  type Memory,
  type MemoryRules,
  textOf,
  wordsOf,
} from "./fact.ts";
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
  /** `echo`: the memory itself has just said so. `secret`: it has something in it that must not be kept. */
  | { readonly outcome: "refused"; readonly why: "echo" | "secret" };

/** Remembers something, unless it is known, an echo, or a secret; throws FACT_INVALID if it is no fact. */
export function remember(
  memory: MemoryDraft,
  candidate: Candidate,
  { at, rules = {} }: { readonly at: number; readonly rules?: MemoryRules },
): Remembered {
  checkCandidate(candidate);
  const text = textOf(candidate);
  const saying = keyOf(text);
  if (hasSecret(text, rules.secrets) || hasSecret(candidate.object ?? "", rules.secrets))
    return refuse(memory, "secret");
  if (peek(memory.recalled).includes(saying)) return refuse(memory, "echo");
  const isTrusted = candidate.source.trust === "trusted";
  const known = knownFact(memory, candidate, saying);
  if (known !== undefined) {
    memory.refused.duplicate++;
    known.seen++;
    known.seenAt = at;
    // The word of somebody who is trusted confirms what somebody else said.
    if (isTrusted && known.quarantined) confirmFact(memory, known.id, { at, rules });
    return { outcome: "duplicate", id: known.id };
  }
  const fact = addFact(memory, candidate, { text, at, isTrusted });
  if (!isTrusted) return { outcome: "quarantined", id: fact.id };
  return { outcome: "remembered", id: fact.id, closed: closeContradicted(memory, fact, { at, rules }) };
}

function refuse(memory: MemoryDraft, why: "echo" | "secret"): Remembered {
  memory.refused[why]++;
  return { outcome: "refused", why };
}

function addFact(
  memory: MemoryDraft,
  candidate: Candidate,
  { text, at, isTrusted }: { readonly text: string; readonly at: number; readonly isTrusted: boolean },
): FactDraft {
  const { subject, predicate, object, validFrom = at, validTo, confidence = 1, source } = candidate;
  const place = memory.facts.length;
  memory.facts.push({
    ...{ id: `f${place + 1}`, subject, text, validFrom, confidence, source: { ...source } },
    ...(predicate === undefined || object === undefined ? {} : { predicate, object }),
    ...(validTo === undefined ? {} : { validTo }),
    ...{ recordedAt: at, seen: 1, seenAt: at },
    ...(isTrusted ? {} : { quarantined: true as const }),
  });
  addTo(memory.bySaying, keyOf(text), place);
  addTo(memory.bySubject, keyOf(subject), place);
  if (predicate !== undefined) addTo(memory.bySlot, keyOf(subject, predicate), place);
  return memory.facts[place] as FactDraft;
}

function addTo(index: Draft<FactIndex>, key: string, place: number): void {
  const group = groupOf(key);
  index[group] ??= {};
  const keys = index[group] as Record<string, number[]>;
  keys[key] ??= [];
  (keys[key] as number[]).push(place);
}

function factsAt(memory: MemoryDraft, index: Draft<FactIndex>, key: string): FactDraft[] {
  const places = index[groupOf(key)]?.[key] ?? [];
  return places.slice(-limits.comparedFactsMax).map((place) => memory.facts[place] as FactDraft);
}

/** A fact that says the same, or nearly, and is still true as far as is known. */
function knownFact(memory: MemoryDraft, candidate: Candidate, saying: string): FactDraft | undefined {
  const isLive = (fact: FactDraft) => fact.forgottenAt === undefined && fact.validTo === undefined;
  const same = factsAt(memory, memory.bySaying, saying).findLast(isLive);
  // Of what is said as a triple, another object is another fact, however like it looks.
  if (same !== undefined || candidate.predicate !== undefined) return same;
  const words = new Set(wordsOf(textOf(candidate)));
  return factsAt(memory, memory.bySubject, keyOf(candidate.subject)).findLast(
    (fact) =>
      isLive(fact) && fact.predicate === undefined && likeness(words, new Set(wordsOf(fact.text))) >= alike,
  );
}

/** From here on two texts are taken to say the same: nine words of ten in common. */
const alike = 0.9;

/** How many of their words two texts have in common (Jaccard). Those with a number or a denial the other lacks are not alike. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const all = [...new Set([...one, ...other])];
  const apart = all.filter((word) => one.has(word) !== other.has(word));
  if (apart.some((word) => /\p{N}/u.test(word) || denials.has(word))) return 0;
  return (all.length - apart.length) / all.length;
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
  const rivals = factsAt(memory, memory.bySlot, keyOf(subject, predicate)).filter(
    (other) => isUsable(other as Fact) && isOpen(other) && keyOf(other.object ?? "") !== keyOf(object),
  );
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
const isOpen = ({ validTo, closedBy }: FactDraft): boolean => validTo === undefined || closedBy !== undefined;

function close(fact: FactDraft, by: Pick<FactDraft, "id" | "validFrom">, at: number): void {
  Object.assign(fact, { validTo: by.validFrom, expiredAt: at, closedBy: by.id });
}

/** Takes a fact out of quarantine: it counts from now on, and closes what it contradicts. */
export function confirmFact(
  memory: MemoryDraft,
  id: string,
  { at, rules = {} }: { readonly at: number; readonly rules?: MemoryRules },
): readonly string[] {
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
  Object.assign(fact, { validTo: Math.max(validTo, fact.validFrom), expiredAt: at });
}

function factIn(memory: MemoryDraft, id: string): FactDraft {
  const fact = /^f[1-9]\d*$/.test(id) ? memory.facts[Number(id.slice(1)) - 1] : undefined;
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
export function forgetFrom(
  memory: MemoryDraft,
  message: string,
  { at, rules = {} }: { readonly at: number; readonly rules?: MemoryRules },
): readonly string[] {
  const isFrom = (fact: FactDraft) => fact.source.message === message && fact.forgottenAt === undefined;
  const gone = peek(memory.facts).flatMap((fact, place) => (isFrom(fact) ? [place] : []));
  const ids = new Set(gone.map((place) => `f${place + 1}`));
  for (const place of gone) forget(memory, place, at);
  const opened = peek(memory.facts).flatMap(({ closedBy }, place) =>
    closedBy !== undefined && ids.has(closedBy) ? [memory.facts[place] as FactDraft] : [],
  );
  for (const fact of opened)
    for (const key of ["validTo", "expiredAt", "closedBy"] as const) delete fact[key];
  // There may be others by now that contradict them.
  for (const fact of opened) closeContradicted(memory, fact, { at, rules });
  return [...ids];
}

/** The words go, from the indexes as well: their keys could be guessed. */
function forget(memory: MemoryDraft, place: number, at: number): void {
  const { id, text, subject, predicate, recordedAt, source } = memory.facts[place] as FactDraft;
  removeFrom(memory.bySaying, keyOf(text), place);
  removeFrom(memory.bySubject, keyOf(subject), place);
  if (predicate !== undefined) removeFrom(memory.bySlot, keyOf(subject, predicate), place);
  memory.recalled = memory.recalled.filter((key) => key !== keyOf(text));
  memory.facts[place] = {
    ...{ id, subject: "", text: "", validFrom: at, confidence: 0, source: { trust: source.trust } },
    ...{ recordedAt, seen: 0, seenAt: at, forgottenAt: at },
  };
}

function removeFrom(index: Draft<FactIndex>, key: string, place: number): void {
  const keys = index[groupOf(key)];
  const places = keys?.[key]?.filter((other) => other !== place) ?? [];
  if (keys === undefined) return;
  if (places.length === 0) delete keys[key];
  else keys[key] = places;
}
