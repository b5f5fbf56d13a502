/** Values, conditions and executable content of a machine, as SCXML writes them. */
import { findNode } from "../../chart.ts";
import type { Action, Branch, Guard, SendParts } from "../../definition.ts";
import { durationMs } from "../../duration.ts";
import type { JsonObject } from "../../json.ts";
import type { ExportScope } from "./export-scope.ts";
import { type Markup, markup } from "./markup.ts";
import { type ActionSource, type DataItem, isScxmlSource, type ValueSource } from "./source.ts";

type Parts = Readonly<Record<string, unknown>>;

/** A value as an expression; undefined, and noted, if it cannot be written. */
export function expressionOf(value: unknown, at: string, scope: ExportScope): string | undefined {
  if (typeof value === "function") {
    scope.notes.add(at, "function");
    return undefined;
  }
  scope.needExpressions();
  if (!isScxmlSource(value)) {
    if (isForeign(value)) {
      scope.notes.add(at, "model");
      return undefined;
    }
    return JSON.stringify(value);
  }
  if (value.scxml === "expression") return value.text;
  if (value.scxml === "constant") return JSON.stringify(value.value);
  if (value.scxml === "xml") return JSON.stringify(value.text);
  if (value.scxml === "delay") return expressionOf(value.value, at, scope);
  scope.notes.add(at, "model");
  return undefined;
}

/** An element for a value: its expression, or the XML that it is. */
function valued(
  tag: string,
  attributes: Record<string, string>,
  value: unknown,
  { at, scope }: { readonly at: string; readonly scope: ExportScope },
): Markup {
  if (!isScxmlSource(value) || value.scxml !== "xml")
    return markup(tag, {
      ...attributes,
      expr: value === undefined ? undefined : expressionOf(value, at, scope),
    });
  scope.needExpressions();
  return markup(tag, attributes, [{ xml: value.text }]);
}

/** Text of another data model than SCXML's own. */
function isForeign(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as Parts).cel === "string";
}

/** A condition; undefined if it cannot be written. */
export function conditionOf(guard: Guard, at: string, scope: ExportScope): string | undefined {
  if (typeof guard === "function" || typeof guard === "string") {
    scope.notes.add(at, "function");
    return undefined;
  }
  const parts = guard as { in?: string; and?: Guard[]; or?: Guard[]; not?: Guard };
  const all = (list: readonly Guard[]) => list.map((one) => conditionOf(one, at, scope));
  const joined = (list: readonly Guard[], operator: string, empty: string) => {
    scope.needExpressions();
    const conditions = all(list);
    if (conditions.includes(undefined)) return undefined;
    return list.length === 0 ? empty : conditions.map((one) => `(${one})`).join(` ${operator} `);
  };
  if (typeof parts.in === "string") {
    const node = findNode(scope.chart, parts.in);
    return node === undefined ? undefined : `In('${scope.idOf(node).replaceAll("'", "\\'")}')`;
  }
  if (parts.and !== undefined) return joined(parts.and, "&&", "true");
  if (parts.or !== undefined) return joined(parts.or, "||", "false");
  if (parts.not !== undefined) {
    scope.needExpressions();
    const inner = conditionOf(parts.not, at, scope);
    return inner === undefined ? undefined : `!(${inner})`;
  }
  const topic = (
    [
      ["type", "function"],
      ["error", "error"],
      ["item", "map"],
    ] as const
  ).find(([key]) => Object.hasOwn(parts, key))?.[1];
  if (topic === undefined) return expressionOf(guard, at, scope);
  scope.notes.add(at, topic);
  return undefined;
}

/** A block of actions. */
export function contentOf(actions: unknown, at: string, scope: ExportScope): Markup[] {
  const list = (
    actions === undefined ? [] : Array.isArray(actions) ? actions : [actions]
  ) as readonly Action[];
  return list.flatMap((action, index) => actionOf(action, list.length > 1 ? `${at}[${index}]` : at, scope));
}

function actionOf(action: Action, at: string, scope: ExportScope): Markup[] {
  if ("raise" in action) return raiseOf(action.raise, at, scope);
  if ("send" in action) return sendOf(action.send, at, scope);
  if ("cancel" in action) return [markup("cancel", namedOr("sendid", action.cancel, at, scope))];
  if ("log" in action) {
    const silent = isScxmlSource(action.log) && action.log.scxml === "constant" && action.log.value === "";
    const expr = silent ? undefined : expressionOf(action.log, at, scope);
    if (expr === undefined && !silent && action.label === undefined) return [];
    return [markup("log", { label: action.label, expr })];
  }
  if ("choose" in action) return chooseOf(action.choose, at, scope);
  if ("model" in action) return modelOf(action.model as unknown as ActionSource, at, scope);
  if ("update" in action) scope.notes.add(at, "function");
  else if ("emit" in action) scope.notes.add(at, "emit");
  else if ("reply" in action) scope.notes.add(at, "reply");
  else if ("compensate" in action) scope.notes.add(at, "compensate");
  else if ("map" in action) scope.notes.add(at, "map");
  else scope.notes.add(at, "spawn");
  return [];
}

/** An attribute for text that is known, or its twin for an expression. */
function namedOr(
  name: string,
  value: unknown,
  at: string,
  scope: ExportScope,
): Record<string, string | undefined> {
  if (typeof value === "string") return { [name]: value };
  return value === undefined ? {} : { [`${name}expr`]: expressionOf(value, at, scope) };
}

function raiseOf(raise: unknown, at: string, scope: ExportScope): Markup[] {
  if (typeof raise === "string") return [markup("raise", { event: raise })];
  if (typeof raise === "function") {
    scope.notes.add(at, "function");
    return [];
  }
  // Only a send can carry anything.
  return sendOf({ ...(raise as SendParts), to: "internal" }, at, scope);
}

function sendOf(send: unknown, at: string, scope: ExportScope): Markup[] {
  if (typeof send === "function") {
    scope.notes.add(at, "function");
    return [];
  }
  const parts = (typeof send === "string" ? { type: send } : send) as SendParts;
  const target = targetOf(parts.to, at, scope);
  if (target === undefined) return [];
  if (parts.resume !== undefined) scope.notes.add(at, "resume");
  return [
    markup(
      "send",
      {
        ...namedOr("event", parts.type, at, scope),
        ...target,
        ...delayOf(parts.delay, at, scope),
        ...(typeof parts.id === "string" ? { id: parts.id } : {}),
        ...(typeof parts.via === "string" ? { type: parts.via } : {}),
        idlocation: (parts.idLocation as { readonly text?: string } | undefined)?.text,
      },
      payloadOf(parts.data, at, scope),
    ),
  ];
}

function delayOf(delay: unknown, at: string, scope: ExportScope): Record<string, string | undefined> {
  if (delay === undefined) return {};
  if (typeof delay === "number" || typeof delay === "string") return { delay: `${durationMs(delay)}ms` };
  return { delayexpr: expressionOf(delay, at, scope) };
}

/** A type that nothing supports, for what was an error before. */
export const unsupported = "unsupported";

/** Where a send goes; undefined, and noted, if there is no target for it. */
function targetOf(
  to: unknown,
  at: string,
  scope: ExportScope,
): Record<string, string | undefined> | undefined {
  if (to === undefined || to === "self") return {};
  if (to === "internal" || to === "parent") return { target: `#_${to}` };
  if (isScxmlSource(to)) {
    if (to.scxml === "constant") return targetOf(to.value, at, scope);
    // What went wrong with it is known, and what it was is not.
    if (to.scxml === "fault") return { type: unsupported };
    if (to.scxml === "address")
      return {
        ...sourced("target", to.target, at, scope),
        ...sourced("type", to.type, at, scope),
      };
  } else if (typeof to === "object" && to !== null) {
    const { child, run, url } = to as { child?: string; run?: string; url?: string };
    if (child !== undefined) return { target: `#_${child}` };
    if (run !== undefined) return { target: `#_scxml_${run}` };
    if (url !== undefined) return { target: url };
  }
  scope.notes.add(at, typeof to === "function" ? "function" : "address");
  return undefined;
}

function sourced(name: string, value: ValueSource | undefined, at: string, scope: ExportScope) {
  if (value === undefined) return {};
  if (value.scxml === "constant") return { [name]: String(value.value) };
  return { [`${name}expr`]: expressionOf(value, at, scope) };
}

/** What a send carries or a final state gives. */
export function payloadOf(data: unknown, at: string, scope: ExportScope): Markup[] {
  if (data === undefined) return [];
  if (isScxmlSource(data) && data.scxml === "params")
    return data.params.map(({ name, value }) =>
      markup("param", { name, expr: expressionOf(value, at, scope) }),
    );
  const content = valued("content", {}, data, { at, scope });
  return content.attributes.expr === undefined && content.children.length === 0 ? [] : [content];
}

/** `<if>` holds its branches side by side. */
function chooseOf(branches: readonly Branch[], at: string, scope: ExportScope): Markup[] {
  const [first] = branches;
  if (first === undefined) return [];
  const [attributes, ...inner] = branches.map(({ guard, actions }, index) => {
    const place = `${at}.choose[${index}]`;
    const cond =
      guard === undefined ? undefined : (conditionOf(guard, `${place}.guard`, scope) ?? never(scope));
    return { cond, content: contentOf(actions, `${place}.actions`, scope) };
  });
  const { cond, content } = attributes as { cond: string | undefined; content: Markup[] };
  // A first branch without a guard is all there is.
  if (cond === undefined) return content;
  const rest = inner.flatMap((one) => [
    one.cond === undefined ? markup("else") : markup("elseif", { cond: one.cond }),
    ...one.content,
  ]);
  return [markup("if", { cond }, [...content, ...rest])];
}

/** A condition that never holds stands for one that cannot be written. */
export function never(scope: ExportScope): string {
  scope.needExpressions();
  return "false";
}

/** What only a document's own data model knows. */
function modelOf(source: ActionSource, at: string, scope: ExportScope): Markup[] {
  if (!isScxmlSource(source)) {
    scope.notes.add(at, "model");
    return [];
  }
  scope.needExpressions();
  switch (source.scxml) {
    case "assign":
      return [valued("assign", { location: source.location.text }, source.value, { at, scope })];
    case "script":
      return [markup("script", {}, [source.text])];
    case "foreach": {
      const { item, index } = source;
      const array = expressionOf(source.array, at, scope);
      return [markup("foreach", { array, item, index }, contentOf(source.actions, at, scope))];
    }
    default:
      // An empty finalize does by itself what this stands for.
      return [];
  }
}

/** Variables, each with what it begins as. */
export function dataItems(items: readonly DataItem[], at: string, scope: ExportScope): Markup[] {
  return items.map(({ id, value }) => valued("data", { id }, value, { at, scope }));
}

/** The variables of a document: those it had, or the fields of a constant context. */
export function dataOf(start: unknown, scope: ExportScope): Markup[] {
  if (start === undefined) return [];
  if (typeof start === "function") {
    scope.notes.add("start", "function");
    return [];
  }
  if (isScxmlSource(start) && start.scxml === "start") {
    const data = dataItems(start.data, "start", scope);
    const scripts = start.scripts.map(({ text }) => markup("script", {}, [text]));
    return [...(data.length === 0 ? [] : [markup("datamodel", {}, data)]), ...scripts];
  }
  const data = Object.entries(start as JsonObject).map(([id, value]) =>
    markup("data", { id, expr: expressionOf(value, `start.${id}`, scope) }),
  );
  return data.length === 0 ? [] : [markup("datamodel", {}, data)];
}
