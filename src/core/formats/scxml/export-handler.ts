/** What a definition says of a state's handlers, delays and invocations, listed one by one. */
import type { StateNode } from "../../chart.ts";
import type { StateDefinition } from "../../definition.ts";
import { expressionOf, payloadOf } from "./export-content.ts";
import type { ExportScope } from "./export-scope.ts";
import { type Markup, markup } from "./markup.ts";
import { isScxmlSource } from "./source.ts";

type Parts = Readonly<Record<string, unknown>>;

export interface Handler {
  readonly events: readonly string[];
  readonly parts: Parts;
  readonly at: string;
}

export function handlers(events: readonly string[], given: unknown, at: string): Handler[] {
  const list = given === undefined ? [] : [given].flat();
  return list.map((one, index) => ({
    events,
    parts: (typeof one === "string" ? { target: one } : (one ?? {})) as Parts,
    at: list.length > 1 ? `${at}[${index}]` : at,
  }));
}

/** Whether anything happens on the way into a state. */
export function isActing(initial: unknown): boolean {
  const { update, actions } = (typeof initial === "object" ? initial : {}) as Parts;
  return (update ?? actions) !== undefined;
}

export function delaysOf(state: StateDefinition): { readonly delay: unknown; readonly given: unknown }[] {
  return Array.isArray(state.after)
    ? (state.after as readonly Parts[]).map((given) => ({ delay: given.delay, given }))
    : Object.entries(state.after ?? {}).map(([delay, given]) => ({ delay, given }));
}

export function invokesOf(
  state: StateDefinition,
  node: StateNode,
): { readonly parts: Parts; readonly id: string }[] {
  const list = (state.invoke === undefined ? [] : [state.invoke].flat()) as unknown as readonly Parts[];
  return list.map((parts, index) => ({
    parts,
    id: typeof parts.id === "string" ? parts.id : list.length > 1 ? `${node.path}:${index}` : node.path,
  }));
}

/** Input as parameters, one for each field. */
export function inputOf(input: unknown, at: string, scope: ExportScope): Markup[] {
  if (input === undefined || typeof input === "function" || isScxmlSource(input))
    return payloadOf(input, at, scope).filter(({ tag }) => tag === "param");
  return Object.entries(input as Parts).map(([name, value]) =>
    markup("param", { name, expr: expressionOf(value, at, scope) }),
  );
}
