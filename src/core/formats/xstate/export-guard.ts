/** Guards and expressions, as XState calls them. */
import { findNode } from "../../chart.ts";
import type { Guard } from "../../definition.ts";
import { type ExportScope, type Given, placeIn, scopeOf, targetId } from "./export-scope.ts";
import { isCode, isParts, type Parts } from "./source.ts";

/** The name under which XState finds a guard. */
export function guardName(guard: Guard, at: string, scope: ExportScope): string {
  const { guards } = scope.implementations;
  if (typeof guard !== "string") {
    guards[at] = guardOf(guard, at, scope);
    return at;
  }
  const found = scope.machine.definition.guards?.[guard];
  if (found !== undefined) guards[guard] ??= guardOf(found as Guard, guard, scope);
  return guard;
}

function guardOf(guard: Guard, at: string, scope: ExportScope): unknown {
  const { xstate } = scope.options;
  if (isCode(guard)) return functionGuard(guard as never, scope);
  const parts = guard as { in?: string; and?: Guard[]; or?: Guard[]; not?: Guard };
  const inner = (list: readonly Guard[], key: string) =>
    list.map((one, index) => guardName(one, `${placeIn(at, key)}[${index}]`, scope));
  if (typeof parts.in === "string") {
    const node = findNode(scope.machine.chart, parts.in);
    return xstate.stateIn((node === undefined ? parts.in : targetId(node, scope.rootId)) as never);
  }
  if (parts.and !== undefined) return xstate.and(inner(parts.and, "and") as never);
  if (parts.or !== undefined) return xstate.or(inner(parts.or, "or") as never);
  if (parts.not !== undefined) return xstate.not(guardName(parts.not, placeIn(at, "not"), scope) as never);
  scope.notes.add(at, "model");
  return () => false;
}

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
