/**
 * Long-term memory, as plain JSON: facts, each with the time it is true of, the time it was learned, and where from.
 *
 * F1. A fact is never overwritten. One that contradicts it closes its validity, and both stay.
 * F2. What comes from a source nobody trusts is in quarantine: it is not recalled and closes nothing, until it is confirmed.
 * F3. Whatever came from a message can be forgotten: its text is gone then, and what it had closed is open again.
 * F4. What a change costs does not grow with the memory: facts are added at the end, and found by small indexes.
 */
import { createHash } from "node:crypto";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";

/** Where a fact came from. */
export interface FactSource {
  /** The message it was said in, or drawn from. */
  readonly message?: string;
  /** The tool whose result it was drawn from. */
  readonly tool?: string;
  /** Whether its word is taken; what anybody may write into, such as a web page, is `untrusted`. */
  readonly trust: "trusted" | "untrusted";
}

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
  readonly text: string;
  readonly validFrom: number;
  readonly confidence: number;
  readonly recordedAt: number;
  /** When it was learned that it is no longer true: from then on `validTo` counts. */
  readonly expiredAt?: number;
  /** The fact that contradicted it. */
  readonly closedBy?: string;
  /** How often it was said, and when last. */
  readonly seen: number;
  readonly seenAt: number;
  /** Whether it waits to be confirmed. */
  readonly quarantined?: true;
  /** What it said is gone; only that there was something is left. */
  readonly forgottenAt?: number;
}

/** Places in `facts`, by a key, in groups small enough to be copied. */
export type FactIndex = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

export interface Memory {
  readonly facts: readonly Fact[];
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
  ...{ facts: [], bySaying: {}, bySlot: {}, bySubject: {}, recalled: [] },
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

/** The words of a text, as they are compared: without case, marks and punctuation. */
export function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** One short key for all ways of saying the same words. */
export function keyOf(...texts: readonly string[]): string {
  const canonical = JSON.stringify(texts.map((text) => wordsOf(text).join(" ")));
  return createHash("sha256").update(canonical).digest("base64url").slice(0, 22);
}

/** Keys of an index come in groups by their first letters. */
export const groupOf = (key: string): string => key.slice(0, 2);

/** Throws FACT_INVALID for what cannot be remembered. */
export function checkCandidate(candidate: Candidate): void {
  const { subject, predicate, object, validFrom, validTo, confidence = 1, source } = candidate;
  const text = textOf(candidate);
  const problem = (what: string) => new HoldfastError("FACT_INVALID", `The fact ${show(text)} ${what}`);
  for (const part of [subject, text, predicate, object])
    if (part !== undefined && typeof part !== "string") throw problem(`has ${show(part)}; write text`);
  if (wordsOf(subject).length === 0 || wordsOf(text).length === 0)
    throw problem("says nothing; give a subject, and an object or a text");
  if ((predicate === undefined) !== (object === undefined))
    throw problem("has a predicate or an object only; give both, or a text");
  if (text.length > limits.factLengthMax)
    throw problem(`has ${text.length} characters, and ${limits.factLengthMax} are kept; say it in short`);
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
