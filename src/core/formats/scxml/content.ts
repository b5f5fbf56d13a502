/** Executable content, as actions. Native ones where they mean the same; the data model's own for the rest. */
import type { Action, Branch, Guard } from "../../definition.ts";
import type { Json, JsonObject } from "../../json.ts";
import {
  attribute,
  childElements,
  exclusiveAttribute,
  isScxml,
  originOf,
  requiredAttribute,
} from "./element.ts";
import type { ImportScope } from "./scope.ts";
import { sendAction } from "./send.ts";
import type { ActionSource, ValueSource } from "./source.ts";
import { constant, expression, inlineValue, locationOf } from "./value.ts";
import { isElement, refuse, textOf, type XmlElement } from "./xml.ts";

/** What an element holds as executable content, in order. */
export function actionsIn(element: XmlElement, scope: ImportScope): Action[] {
  return element.children.filter(isElement).map((child) => actionOf(child, scope));
}

function actionOf(element: XmlElement, scope: ImportScope): Action {
  if (!isScxml(element))
    refuse(`<${element.prefix}:${element.name}> is not known as executable content`, element);
  switch (element.name) {
    case "raise":
      return { raise: requiredAttribute(element, "event") };
    case "send":
      return sendAction(element);
    case "cancel":
      return cancelAction(element);
    case "log":
      return logAction(element);
    case "if":
      return { choose: branchesOf(element, scope) };
    case "assign":
      return modelAction(assignSource(element));
    case "script":
      return modelAction({ scxml: "script", text: scriptText(element, scope), at: originOf(element) });
    case "foreach":
      return modelAction(foreachSource(element, scope));
    default:
      return refuse(`<${element.name}> is not executable content`, element);
  }
}

export function modelAction(source: ActionSource): Action {
  return { model: source as JsonObject };
}

function cancelAction(element: XmlElement): Action {
  const given =
    exclusiveAttribute(element, ["sendid", "sendidexpr"]) ??
    refuse("<cancel> needs sendid or sendidexpr", element);
  return { cancel: given.name === "sendid" ? given.value : expression(given.value, originOf(element)) };
}

function logAction(element: XmlElement): Action {
  const text = attribute(element, "expr");
  const label = attribute(element, "label");
  // An empty expression is common in documents that only want the label.
  const log = text === undefined || text.trim() === "" ? constant("") : expression(text, originOf(element));
  return label === undefined ? { log } : { log, label };
}

/** `<if>` holds its branches side by side: `<elseif/>` and `<else/>` stand between them. */
function branchesOf(element: XmlElement, scope: ImportScope): Branch[] {
  const branches: { guard?: Guard; actions: Action[] }[] = [
    { guard: scope.guard(requiredAttribute(element, "cond"), element), actions: [] },
  ];
  for (const child of element.children.filter(isElement)) {
    const current = branches.at(-1)!;
    if (isScxml(child) && (child.name === "elseif" || child.name === "else")) {
      if (current.guard === undefined) refuse(`<${child.name}> follows an <else>`, child);
      const guard =
        child.name === "elseif" ? scope.guard(requiredAttribute(child, "cond"), child) : undefined;
      branches.push(guard === undefined ? { actions: [] } : { guard, actions: [] });
    } else {
      current.actions.push(actionOf(child, scope));
    }
  }
  return branches;
}

function assignSource(element: XmlElement): ActionSource {
  const at = originOf(element);
  const text = attribute(element, "expr");
  const inline = inlineValue(element);
  if (text !== undefined && inline !== undefined) refuse("<assign> has both expr and content", element);
  const value: ValueSource = text === undefined ? (inline ?? constant("")) : expression(text, at);
  return {
    scxml: "assign",
    location: locationOf(requiredAttribute(element, "location"), element),
    value,
    at,
  };
}

function foreachSource(element: XmlElement, scope: ImportScope): ActionSource {
  const at = originOf(element);
  const index = attribute(element, "index");
  return {
    scxml: "foreach",
    array: expression(requiredAttribute(element, "array"), at),
    item: requiredAttribute(element, "item"),
    ...(index === undefined ? {} : { index }),
    actions: actionsIn(element, scope) as unknown as Json,
    at,
  };
}

/** A script's text: written inline, or loaded. A script that cannot be loaded makes the whole document unusable. */
export function scriptText(element: XmlElement, scope: ImportScope): string {
  childElements(element, []);
  const src = attribute(element, "src");
  if (src === undefined) return textOf(element);
  return scope.load(src) ?? refuse(`The script ${JSON.stringify(src)} could not be loaded`, element);
}
