/** Who said a fact: all of them, so that the word of each can be taken back. */
import type { Draft } from "../../core/definition.ts";
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

/** What has sources: the first one, and who else said so. */
interface Sourced {
  readonly source: FactSource;
  readonly also?: readonly FactSource[];
}

export const sourcesOf = ({ source, also = [] }: Sourced): readonly FactSource[] => [source, ...also];

/** How many characters they take. */
export const sourcesLength = (sources: readonly FactSource[]): number =>
  sources.reduce((sum, { message = "", tool = "" }) => sum + message.length + tool.length, 0);

/**
 * All sources of a fact with one more, those that are trusted first. Where there are too many, the last that is not trusted goes, or
 * the new one: whoever is left out vouches for nothing, so no fact outlives all that are known to have said it.
 */
export function withSource(fact: Sourced, source: FactSource): readonly FactSource[] {
  const known = sourcesOf(fact);
  if (known.some((one) => isSameSource(one, source))) return known;
  return trustedFirst([...known, source]).slice(0, limits.factSourcesMax);
}

/** All sources of a fact without those of a message. */
export const withoutMessage = (fact: Sourced, message: string): readonly FactSource[] =>
  sourcesOf(fact).filter((one) => one.message !== message);

export function setSources(fact: Draft<Sourced>, [source, ...also]: readonly FactSource[]): void {
  fact.source = { ...(source as FactSource) };
  if (also.length === 0) delete fact.also;
  else fact.also = also.map((one) => ({ ...one }));
}

export const isTrusted = ({ trust }: FactSource): boolean => trust === "trusted";

const trustedFirst = (sources: readonly FactSource[]): readonly FactSource[] => [
  ...sources.filter(isTrusted),
  ...sources.filter((source) => !isTrusted(source)),
];

const isSameSource = (one: FactSource, other: FactSource): boolean =>
  one.message === other.message && one.tool === other.tool && one.trust === other.trust;
