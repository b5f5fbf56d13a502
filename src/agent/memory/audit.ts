/** What a memory is like, for whoever looks after it: how much of it is of use, and where the rest came from. */
import { type Fact, isUsable, isValid, type Memory, type MemoryRules } from "./fact.ts";
import { fadedBelow, strengthOf } from "./recall.ts";
import { hasSecret } from "./secrets.ts";

export interface MemoryAudit {
  readonly total: number;
  /** Facts that can be recalled now. */
  readonly live: number;
  /** Facts that are not true any more. */
  readonly closed: number;
  readonly quarantined: number;
  readonly forgotten: number;
  /** Live facts of which less than a twentieth is left: they could go. */
  readonly faded: readonly string[];
  /** Facts that look like secrets by the rules of today. */
  readonly secrets: readonly string[];
  /** How many live facts each tool, or nobody's tool, brought. */
  readonly byTool: Readonly<Record<string, number>>;
  readonly refused: Memory["refused"];
  /** Of all that was to be remembered, the part that was refused or is in quarantine: much of it means a bad source. */
  readonly noise: number;
}

/** Looks a memory through. */
export function audit(
  { facts, refused }: Memory,
  {
    now,
    rules = {},
    halfLife,
  }: { readonly now: number; readonly rules?: MemoryRules; readonly halfLife?: number | string },
): MemoryAudit {
  const live = facts.filter((fact) => isUsable(fact) && isValid(fact, { now }));
  const strength = (fact: Fact) => strengthOf(fact, halfLife === undefined ? { now } : { now, halfLife });
  const count = (fits: (fact: Fact) => boolean) => facts.filter(fits).length;
  const quarantined = count((fact) => fact.quarantined === true);
  const unwanted = refused.echo + refused.secret + refused.duplicate;
  const byTool = Object.groupBy(live, ({ source }) => source.tool ?? "none");
  return {
    ...{ total: facts.length, live: live.length, quarantined },
    closed: count((fact) => isUsable(fact) && fact.validTo !== undefined && fact.validTo <= now),
    forgotten: count((fact) => fact.forgottenAt !== undefined),
    faded: live.filter((fact) => strength(fact) < fadedBelow).map(({ id }) => id),
    secrets: facts.filter(({ text }) => hasSecret(text, rules.secrets)).map(({ id }) => id),
    byTool: Object.fromEntries(Object.entries(byTool).map(([tool, list]) => [tool, list?.length ?? 0])),
    refused,
    noise: (unwanted + quarantined) / Math.max(1, unwanted + facts.length),
  };
}
