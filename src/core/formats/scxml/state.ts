/** States and transitions of a document, as a definition's. */
import type { Action, Initial, InvokeMachine, StateDefinition, TransitionParts } from "../../definition.ts";
import { actionsIn } from "./content.ts";
import { dataItems } from "./data.ts";
import { attribute, childElements, names, onlyChild, requiredAttribute } from "./element.ts";
import { invokeOf } from "./invoke.ts";
import { type StateName, statesIn, stateTags } from "./names.ts";
import type { ImportScope } from "./scope.ts";
import type { BindSource } from "./source.ts";
import { payloadOf } from "./value.ts";
import { isElement, refuse, type XmlElement } from "./xml.ts";

type States = Record<string, StateDefinition>;
type Handler = TransitionParts & { readonly event: readonly string[] };

/** The states directly inside an element, by key. */
export function stateDefinitions(element: XmlElement, scope: ImportScope): States {
  return Object.fromEntries(
    statesIn(element).map((child) => [scope.names.of(child).key, stateDefinition(child, scope)]),
  );
}

/** Where a compound state begins: `<initial>`, the attribute, or else its first child. */
export function initialOf(element: XmlElement, scope: ImportScope): Initial {
  const initial = onlyChild(element, element.children.filter(isElement), "initial");
  const given = attribute(element, "initial");
  if (initial !== undefined) {
    if (given !== undefined)
      refuse(`<${element.name}> has both the attribute initial and <initial>`, initial);
    return routeOf(initial, scope);
  }
  if (given !== undefined) return targetsOf(given, element, scope);
  const [first] = statesIn(element).filter((child) => child.name !== "history");
  if (first === undefined) return refuse(`<${element.name}> has no state to begin in`, element);
  return `#${scope.names.of(first).id}`;
}

const common: readonly string[] = ["onentry", "onexit", "transition", "datamodel", "invoke", ...stateTags];

function stateDefinition(element: XmlElement, scope: ImportScope): StateDefinition {
  const name = scope.names.of(element);
  switch (element.name) {
    case "history":
      return historyState(element, name, scope);
    case "final":
      return finalState(element, name, scope);
    case "parallel":
      return {
        ...activeState(element, childElements(element, common), name, scope),
        type: "parallel",
        // Variables of a document are shared by all its regions; the last write in document order stands.
        writes: "last",
        states: stateDefinitions(element, scope),
      };
    default: {
      const state = activeState(element, childElements(element, [...common, "initial"]), name, scope);
      if (statesIn(element).length === 0) return state;
      return { ...state, initial: initialOf(element, scope), states: stateDefinitions(element, scope) };
    }
  }
}

function historyState(element: XmlElement, name: StateName, scope: ImportScope): StateDefinition {
  const depth = attribute(element, "type") ?? "shallow";
  if (depth !== "shallow" && depth !== "deep")
    refuse(`${JSON.stringify(depth)} is not a type of history`, element);
  return { id: name.id, type: "history", history: depth, ...routeOf(element, scope) };
}

function finalState(element: XmlElement, name: StateName, scope: ImportScope): StateDefinition {
  const children = childElements(element, ["onentry", "onexit", "donedata"]);
  const donedata = onlyChild(element, children, "donedata");
  const output = donedata && payloadOf(donedata, childElements(donedata, ["param", "content"]), true);
  return { id: name.id, type: "final", ...blocksOf(children, scope), ...(output && { output }) };
}

/** What states and parallel states have in common. */
function activeState(
  element: XmlElement,
  children: readonly XmlElement[],
  name: StateName,
  scope: ImportScope,
): StateDefinition {
  const invoke = children
    .filter((child) => child.name === "invoke")
    .map((child, index): InvokeMachine => invokeOf(child, name.id, index, scope));
  return {
    id: name.id,
    ...boundData(element, children, scope),
    ...blocksOf(children, scope),
    ...handlersOf(children, name, scope),
    ...(invoke.length > 0 && { invoke }),
  };
}

/** The transitions of a state, or of the document itself, in document order. */
export function handlersOf(
  children: readonly XmlElement[],
  source: StateName | undefined,
  scope: ImportScope,
): { readonly on?: Handler[]; readonly always?: TransitionParts[] } {
  const on: Handler[] = [];
  const always: TransitionParts[] = [];
  for (const child of children.filter((one) => one.name === "transition")) {
    const event = names(attribute(child, "event"));
    const parts = transitionParts(child, source, scope);
    if (event.length > 0) on.push({ event, ...parts });
    else always.push(parts);
  }
  return { ...(on.length > 0 && { on }), ...(always.length > 0 && { always }) };
}

function boundData(
  element: XmlElement,
  children: readonly XmlElement[],
  scope: ImportScope,
): { readonly data?: BindSource } {
  const datamodel = onlyChild(element, children, "datamodel");
  if (datamodel === undefined) return {};
  const data = dataItems(datamodel, scope);
  if (scope.binding === "early") {
    scope.collect(data, false);
    return {};
  }
  scope.declare(data);
  return { data: { scxml: "bind", data } };
}

/** Each handler is a block of its own: an error in one does not stop the next. */
function blocksOf(
  children: readonly XmlElement[],
  scope: ImportScope,
): { entry?: Action[][]; exit?: Action[][] } {
  const blocks = (tag: string): Action[][] =>
    children.filter((child) => child.name === tag).map((child) => actionsIn(child, scope));
  const entry = blocks("onentry");
  const exit = blocks("onexit");
  return { ...(entry.length > 0 && { entry }), ...(exit.length > 0 && { exit }) };
}

function transitionParts(
  element: XmlElement,
  source: StateName | undefined,
  scope: ImportScope,
): TransitionParts {
  const condition = attribute(element, "cond");
  const given = attribute(element, "target");
  const target = given === undefined ? undefined : targetsOf(given, element, scope);
  const actions = actionsIn(element, scope);
  return {
    ...(condition !== undefined && { guard: scope.guard(condition, element) }),
    ...(target !== undefined && { target }),
    ...(actions.length > 0 && { actions }),
    ...(target !== undefined && !staysInside(element, source, scope) && { reenter: true }),
  };
}

/** `internal` counts only in a compound state and for targets below it. https://www.w3.org/TR/scxml/#transition */
function staysInside(element: XmlElement, source: StateName | undefined, scope: ImportScope): boolean {
  const type = attribute(element, "type") ?? "external";
  if (type !== "internal" && type !== "external")
    refuse(`${JSON.stringify(type)} is not a type of transition`, element);
  if (
    type === "external" ||
    source === undefined ||
    source.element.name !== "state" ||
    statesIn(source.element).length === 0
  )
    return false;
  return names(attribute(element, "target")).every((id) =>
    scope.names.isBelow(scope.names.withId(id)!, source),
  );
}

/** The transition of `<initial>` and `<history>`: always somewhere, never on an event. */
function routeOf(
  element: XmlElement,
  scope: ImportScope,
): { readonly target: readonly string[]; readonly actions?: Action[] } {
  const children = childElements(element, ["transition"]);
  const transition =
    onlyChild(element, children, "transition") ?? refuse(`<${element.name}> needs a <transition>`, element);
  if (attribute(transition, "event") !== undefined || attribute(transition, "cond") !== undefined)
    refuse(`The transition of <${element.name}> has neither event nor cond`, transition);
  const actions = actionsIn(transition, scope);
  return {
    target: targetsOf(requiredAttribute(transition, "target"), transition, scope),
    ...(actions.length > 0 && { actions }),
  };
}

function targetsOf(list: string, element: XmlElement, scope: ImportScope): string[] {
  const ids = names(list);
  if (ids.length === 0) refuse(`<${element.name}> names no target`, element);
  return ids.map((id) => {
    if (scope.names.withId(id) === undefined)
      refuse(`There is no state with the id ${JSON.stringify(id)}`, element);
    return `#${id}`;
  });
}
