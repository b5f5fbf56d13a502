/** XState's guards: inline, by name with params, and the four that it makes itself. */
import type { Guard, NamedUse } from "../../definition.ts";
import type { Scope } from "../../scope.ts";
import { mentionsActors, type Params, referenceOf, useOf } from "./handler.ts";
import { joined, type Place } from "./place.ts";
import { type ImportScope, never } from "./scope.ts";
import { builtinGuard, type Code, isCode, isParts } from "./source.ts";

/** A guard as a definition has it. */
export function guardOf(guard: unknown, at: string, scope: ImportScope): Guard {
  return convert(guard, undefined, at, scope);
}

function convert(guard: unknown, params: Params, at: string, scope: ImportScope): Guard {
  if (isCode(guard)) return fromCode(guard, params, at, scope);
  const reference = referenceOf(guard);
  if (reference === undefined) return never;
  const found = own(scope.implementations.guards, reference.name);
  const use = useOf(reference, scope.handlers);
  if (found === undefined) {
    scope.notes.add(at, "unimplemented", `guard ${reference.name}`);
    if (use === undefined) scope.notes.add(at, "params-lost");
    return use ?? reference.name;
  }
  if (!isCode(found)) return convert(found, undefined, at, scope);
  if (isCode(found.check) || use === undefined) return fromCode(found, reference.params, at, scope);
  const { handlers } = scope;
  scope.guards[reference.name] ??= (step, params) => Boolean(found(handlers.given(step), params));
  noteHints(found, at, scope);
  return use;
}

function fromCode(guard: Code, params: Params, at: string, scope: ImportScope): Guard {
  const inner = (key: string) =>
    ((guard.guards ?? []) as readonly unknown[]).map((one, index) =>
      convert(one, undefined, `${at}.${key}[${index}]`, scope),
    );
  switch (builtinGuard(guard)) {
    case "and":
      return { and: inner("and") };
    case "or":
      return { or: inner("or") };
    case "not":
      return { not: inner("not")[0] ?? never };
    case "stateIn":
      return stateIn(guard.stateValue, at, scope);
    default:
      noteHints(guard, at, scope);
      return plainGuard(guard, params, scope) as Guard;
  }
}

function plainGuard(guard: Code, params: Params, { handlers }: ImportScope): (scope: Scope) => boolean {
  return (scope) => Boolean(handlers.call(guard, scope, params));
}

function noteHints(guard: Code, at: string, { notes }: ImportScope): void {
  if (mentionsActors(guard)) notes.add(at, "uses-actors");
}

/** `#id`, a path, or a state value: every state it names must be active. */
function stateIn(value: unknown, at: string, scope: ImportScope): Guard {
  const { places } = scope;
  const found =
    typeof value === "string" && value.startsWith("#") ? [places.findId(value)] : namedBy(value, places.root);
  const guards = found.map((place): Guard => {
    if (place === undefined) {
      scope.notes.add(at, "unknown-state");
      return never;
    }
    return place.parent === undefined
      ? { and: [] }
      : { in: place.id === undefined ? place.path : `#${place.id}` };
  });
  const [only] = guards;
  return guards.length === 1 ? (only as Guard) : { and: guards };
}

/** The innermost states that a state value names. */
function namedBy(value: unknown, from: Place): (Place | undefined)[] {
  const child = (key: string) => from.children.find(({ givenKey }) => givenKey === key);
  if (typeof value === "string") {
    const [first = "", ...rest] = value.split(".");
    const place = child(first);
    return place === undefined || rest.length === 0 ? [place] : namedBy(rest.join("."), place);
  }
  return Object.entries(isParts(value) ? value : {}).flatMap(([key, inner]) => {
    const place = child(key);
    const empty = isParts(inner) && Object.keys(inner).length === 0;
    return place === undefined || empty ? [place] : namedBy(inner, place);
  });
}

/** A guard evaluated on the spot, for code that asks while it acts. */
export function evaluate(guard: Guard, scope: Scope, guards: ImportScope["guards"]): boolean {
  if (typeof guard === "function") return guard(scope);
  if (typeof guard === "string") return own(guards, guard)?.(scope, undefined) ?? false;
  const parts = guard as Partial<NamedUse> & { in?: string; and?: Guard[]; or?: Guard[]; not?: Guard };
  if (parts.type !== undefined) {
    const { type, params } = parts;
    return own(guards, type)?.(scope, isCode(params) ? params(scope as never) : params) ?? false;
  }
  if (parts.in !== undefined) return scope.in(parts.in);
  if (parts.and !== undefined) return parts.and.every((one) => evaluate(one, scope, guards));
  if (parts.or !== undefined) return parts.or.some((one) => evaluate(one, scope, guards));
  return !evaluate(parts.not as Guard, scope, guards);
}

/** What a record has under a name that may be any text. */
export function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The guard of a transition, with its place. */
export function transitionGuard(guard: unknown, at: string, scope: ImportScope): { readonly guard?: Guard } {
  return guard === undefined ? {} : { guard: guardOf(guard, joined(at, "guard"), scope) };
}
