/**
 * The types of expressions. They are JSON's, with whole numbers told from others, lists and objects with what they
 * hold, and `dyn` for what nothing is known of. A union may be any of its members: an operation on it is well typed if
 * some member allows it, and what the others would do is an error when it happens.
 */
import { nearest } from "../nearest.ts";

export type Type =
  | { readonly kind: "dyn" | "null" | "bool" | "int" | "double" | "string" }
  | { readonly kind: "list"; readonly item: Type }
  | ObjectType
  /** What may be absent: the result of `a.?b`. */
  | { readonly kind: "optional"; readonly of: Type }
  | { readonly kind: "union"; readonly of: readonly Type[] };

export interface ObjectType {
  readonly kind: "object";
  readonly fields: ReadonlyMap<string, Field>;
  /** The type of fields that are not named; undefined where there can be none. */
  readonly rest: Type | undefined;
}

export interface Field {
  readonly type: Type;
  readonly required: boolean;
}

export const dyn: Type = { kind: "dyn" };
export const nullType: Type = { kind: "null" };
export const bool: Type = { kind: "bool" };
export const int: Type = { kind: "int" };
export const double: Type = { kind: "double" };
export const string: Type = { kind: "string" };
export const listOf = (item: Type): Type => ({ kind: "list", item });
export const mapOf = (rest: Type): ObjectType => ({ kind: "object", fields: new Map(), rest });
export const optionalOf = (type: Type): Type => ({ kind: "optional", of: type });

/** An object with just these fields. */
export function record(fields: Readonly<Record<string, Type>>, optional: readonly string[] = []): ObjectType {
  const entries = Object.entries(fields).map(
    ([name, type]) => [name, { type, required: !optional.includes(name) }] as const,
  );
  return { kind: "object", fields: new Map(entries), rest: undefined };
}

/** What a type may be, one by one. */
export function membersOf(type: Type): readonly Type[] {
  return type.kind === "union" ? type.of : [type];
}

/** More members than this say nothing any more, and cost with every pair of them. */
const membersMax = 32;

/** A type that may be any of these. */
export function unionOf(types: readonly Type[]): Type {
  const members = new Map<unknown, Type>();
  for (const type of types.flatMap(membersOf)) {
    if (type.kind === "dyn") return dyn;
    // Types with parts are told apart by where they were made: to compare them could take forever.
    members.set("item" in type || "fields" in type || "of" in type ? type : type.kind, type);
  }
  const [only, ...others] = members.values();
  if (only === undefined || others.length >= membersMax) return dyn;
  return others.length === 0 ? only : { kind: "union", of: [only, ...others] };
}

/** A type as people read it. */
export function showType(type: Type): string {
  switch (type.kind) {
    case "list":
      return `list<${type.item.kind === "list" ? "list" : showType(type.item)}>`;
    case "optional":
      return `optional<${showType(type.of)}>`;
    case "union":
      return [...new Set(type.of.map(showType))].join(" or ");
    default:
      return type.kind;
  }
}

export function isNumber(type: Type): boolean {
  return type.kind === "int" || type.kind === "double";
}

/** Whether a type may be of that kind; whole numbers and others count as one. */
export function mayBe(type: Type, kind: Type["kind"] | "number"): boolean {
  return membersOf(type).some(
    (one) => one.kind === "dyn" || one.kind === kind || (kind === "number" && isNumber(one)),
  );
}

/** Whether some value is of both types, as far as the outermost level tells. */
export function overlap(one: Type, other: Type): boolean {
  return membersOf(one).some((left) => membersOf(other).some((right) => meet(left, right)));
}

function meet(one: Type, other: Type): boolean {
  if (one.kind === "dyn" || other.kind === "dyn") return true;
  if (isNumber(one) && isNumber(other)) return true;
  return one.kind === other.kind;
}

/** Where inside a value something is wrong, and what. */
export interface Mismatch {
  readonly path: string;
  readonly why: string;
}

/** Why no value of one type can be put where another is wanted; undefined if some can. */
export function mismatch(
  given: Type,
  wanted: Type,
  known = new Map<Type, Set<Type>>(),
): Mismatch | undefined {
  const from = given.kind === "optional" ? given.of : given;
  if (!overlap(from, wanted))
    return { path: "", why: `is ${showType(from)}, and ${showType(wanted)} is wanted` };
  // Types share their parts, so that a pair may be met very often.
  const met = known.get(from) ?? new Set();
  if (from === wanted || met.has(wanted)) return undefined;
  known.set(from, met.add(wanted));
  // Only where there is one way to read both can more be said.
  if (from.kind === "list" && wanted.kind === "list")
    return inside("[]", mismatch(from.item, wanted.item, known));
  if (from.kind === "object" && wanted.kind === "object") return fieldMismatch(from, wanted, known);
  return undefined;
}

function inside(step: string, found: Mismatch | undefined): Mismatch | undefined {
  return found && { path: `${step}${found.path}`, why: found.why };
}

function fieldMismatch(
  given: ObjectType,
  wanted: ObjectType,
  known: Map<Type, Set<Type>>,
): Mismatch | undefined {
  for (const [name, { type }] of given.fields) {
    const target = wanted.fields.get(name)?.type ?? wanted.rest;
    if (target === undefined) return { path: `.${name}`, why: `is no field here; ${fieldsOf(wanted, name)}` };
    const found = inside(`.${name}`, mismatch(type, target, known));
    if (found !== undefined) return found;
  }
  if (given.rest !== undefined) return undefined;
  for (const [name, { required }] of wanted.fields) {
    if (required && !given.fields.has(name)) return { path: `.${name}`, why: "is missing, and is required" };
  }
  return undefined;
}

/** Which fields an object has, the nearest to a misspelt one first. */
export function fieldsOf(type: ObjectType, misspelt: string): string {
  const names = [...type.fields.keys()].slice(0, 50);
  if (names.length === 0) return "there are none";
  const near = nearest(misspelt, names);
  return near === undefined
    ? `there are ${names.join(", ")}`
    : `did you mean ${near}? There are ${names.join(", ")}`;
}
