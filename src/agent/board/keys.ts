/** The keys of a board: what each may hold, and what becomes of a write that was made for another version. */
import { type Json, showValue, toJson } from "../../core/json.ts";
import { canonical } from "../../core/json-schema/visit.ts";
import { type Check, checkOf, isSchema, type OutputOf, type Schema } from "../../core/schema.ts";
import { HoldfastError } from "../../errors.ts";

/**
 * What becomes of a write for a version that does not stand any more, or for none. `reject`: the writer is handed what
 * stands there. `last-write`: it takes effect; only one for a version that was named is handed back. `review`: it waits until somebody
 * decides. `merge`: the two become one, by a rule with a name.
 */
export type Policy = "reject" | "last-write" | "review" | { readonly merge: string };

/** What two values become; both are JSON, and neither may be changed. */
export type Merge = (current: Json, yours: Json) => Json;

export interface KeyDefinition {
  /** What its values must be: any Standard Schema. Any JSON unless given. */
  readonly schema?: Schema;
  readonly policy: Policy;
  /** The lease without whose token nobody may write it. */
  readonly lease?: string;
}

/** The values of a key. */
export type ValueOf<Key extends KeyDefinition> = Key extends { readonly schema: infer Given extends Schema }
  ? OutputOf<Given>
  : Json;

/** A key, ready to be used. */
export interface Key {
  readonly name: string;
  readonly policy: "reject" | "last-write" | "review" | "merge";
  readonly merge: Merge | undefined;
  readonly lease: string | undefined;
  /** The value as the key's schema wants it; throws VALUE_INVALID. */
  check(value: Json): Json;
}

/** The merges that every board knows. */
export const merges: Readonly<Record<string, Merge>> = {
  append: (current, yours) => [...listOf(current), ...listOf(yours)],
  union: (current, yours) => {
    const list = [...listOf(current)];
    const seen = new Set(list.map((item) => canonical(item)));
    for (const item of listOf(yours)) {
      const name = canonical(item);
      if (!seen.has(name)) list.push(item);
      seen.add(name);
    }
    return list;
  },
  max: (current, yours) => Math.max(numberOf(current), numberOf(yours)),
};

function listOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[];
  throw new HoldfastError("VALUE_INVALID", `${showValue(value)} is not a list, and only lists can be joined`);
}

function numberOf(value: Json): number {
  if (typeof value === "number") return value;
  throw new HoldfastError("VALUE_INVALID", `${showValue(value)} is not a number, and so it has no maximum`);
}

/** What is wrong with a key's definition. */
export function problemsOf(name: string, key: KeyDefinition, own: Readonly<Record<string, Merge>>): string[] {
  const problems: string[] = [];
  const { policy, schema } = key;
  if (schema !== undefined && !isSchema(schema)) problems.push(`${name}: its schema is no Standard Schema`);
  const merge = typeof policy === "object" ? policy?.merge : undefined;
  if (merge === undefined && !["reject", "last-write", "review"].includes(policy as string))
    problems.push(
      `${name}: its policy is ${showValue(policy)}; write reject, last-write, review or { merge }`,
    );
  if (merge !== undefined && !Object.hasOwn(own, merge) && !Object.hasOwn(merges, merge)) {
    const all = [...Object.keys(merges), ...Object.keys(own)];
    problems.push(`${name}: there is no merge ${showValue(merge)}; there are ${all.join(", ")}`);
  }
  return problems;
}

/** The key that a definition makes, which has no problems. */
export function keyOf(
  name: string,
  { policy, schema, lease }: KeyDefinition,
  own: Readonly<Record<string, Merge>>,
): Key {
  const what = `The value of ${JSON.stringify(name)}`;
  const check: Check | undefined = checkOf(schema, { code: "VALUE_INVALID", what, root: name });
  const merge = typeof policy === "object" ? (own[policy.merge] ?? merges[policy.merge]) : undefined;
  return {
    ...{ name, lease },
    policy: typeof policy === "object" ? "merge" : policy,
    merge: merge && ((current, yours) => toJson(merge(current, yours), [], name)),
    check: (value) => (check?.(value) ?? value) as Json,
  };
}
