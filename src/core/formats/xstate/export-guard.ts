/** Guards and expressions, as XState calls them. */
import { findNode } from "../../chart.ts";
import type { Guard, NamedUse } from "../../definition.ts";
import { type ExportScope, type Given, placeIn, type Reference, scopeOf, targetId } from "./export-scope.ts";
import { isCode, isParts, listOf, type Parts } from "./source.ts";

/** The name under which XState finds a guard, with its params if it takes some. */
export function guardName(guard: Guard, at: string, scope: ExportScope): Reference {
  const { guards } = scope.implementations;
  if (typeof guard === "string") {
    const found = scope.machine.definition.guards?.[guard];
    if (found !== undefined) guards[guard] ??= guardOf(found as Guard, guard, scope);
    return guard;
  }
  const use = (isParts(guard) ? guard : {}) as Partial<NamedUse>;
  if (typeof use.type === "string") return withParams(use as NamedUse, at, scope);
  guards[at] = guardOf(guard, at, scope);
  return at;
}

/** XState hands params to plain functions only, and does not tell those which states are active. */
function withParams({ type, params }: NamedUse, at: string, scope: ExportScope): Reference {
  const found = scope.machine.definition.guards?.[type] as NamedGuard | undefined;
  if (found !== undefined)
    scope.implementations.guards[type] = (given: Given, told: unknown) => found(scopeOf(given, scope), told);
  const given = expressionOf(params, placeIn(at, "params"), scope);
  return given === undefined ? type : { type, params: given };
}
type NamedGuard = (scope: ReturnType<typeof scopeOf>, params: unknown) => boolean;

function guardOf(guard: Guard, at: string, scope: ExportScope): unknown {
  const { xstate } = scope.options;
  if (isCode(guard)) return functionGuard(guard as never, scope);
  const parts = guard as { in?: string; and?: Guard[]; or?: Guard[]; not?: Guard; item?: unknown };
  const inner = (list: readonly Guard[], key: string) =>
    list.map((one, index) => guardName(one, `${placeIn(at, key)}[${index}]`, scope));
  if (typeof parts.in === "string") {
    const node = findNode(scope.machine.chart, parts.in);
    return xstate.stateIn((node === undefined ? parts.in : targetId(node, scope.rootId)) as never);
  }
  if (parts.and !== undefined) return xstate.and(inner(parts.and, "and") as never);
  if (parts.or !== undefined) return xstate.or(inner(parts.or, "or") as never);
  if (parts.not !== undefined) return xstate.not(guardName(parts.not, placeIn(at, "not"), scope) as never);
  if ("error" in parts) return functionGuard(errorGuard(listOf(parts.error)), scope);
  scope.notes.add(at, parts.item === undefined ? "model" : "map");
  return () => false;
}

/** Whether the event reports an error of one of these names; that of an actor's failure is an object of XState's. */
const errorGuard =
  (names: readonly unknown[]) =>
  ({ event }: ReturnType<typeof scopeOf>): boolean => {
    const { name, code } = Object(event.data) as Parts;
    return event.type.startsWith("error.") && names.some((one) => one === name || one === code);
  };

/** XState's own guards are handed the snapshot; as one of them, a function can ask what is active. */
function functionGuard(guard: (scope: ReturnType<typeof scopeOf>) => boolean, scope: ExportScope): unknown {
  const { chart } = scope.machine;
  const isIn = (snapshot: Snapshot) => (name: string) => {
    const node = findNode(chart, name);
    if (node === undefined) return false;
    return snapshot._nodes.some(({ path }) => path.join(".") === node.path);
  };
  return Object.assign((given: Given) => guard(scopeOf(given, scope)), {
    check: (snapshot: Snapshot, given: Given) => guard(scopeOf({ ...given, in: isIn(snapshot) }, scope)),
  });
}

interface Snapshot {
  readonly _nodes: readonly { readonly path: readonly string[] }[];
}

/** A value, or a function of what XState gives. Text of another data model is noted and left out. */
export function expressionOf(value: unknown, at: string, scope: ExportScope): unknown {
  if (isCode(value)) return (given: Given) => value(scopeOf(given, scope));
  if (scope.machine.definition.model !== undefined && isParts(value)) {
    scope.notes.add(at, "model");
    return undefined;
  }
  return value;
}

/** The transitions of one key, each as parts. */
export function transitionsIn(value: unknown): readonly Parts[] {
  const list = value === undefined ? [] : Array.isArray(value) ? value : [value];
  return list.map((one) => (typeof one === "string" ? { target: one } : ((one ?? {}) as Parts)));
}
