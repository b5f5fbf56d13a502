/** `<invoke>`: a child document that is known now is imported now; one that is computed is named when it is needed. */
import type { Action, InvokeMachine } from "../../definition.ts";
import { invokesScxml } from "./address.ts";
import { actionsIn, modelAction } from "./content.ts";
import {
  attribute,
  childElements,
  exclusiveAttribute,
  isScxml,
  names,
  onlyChild,
  originOf,
} from "./element.ts";
import type { ImportScope } from "./scope.ts";
import type { FaultSource, MachineSource, ValueSource } from "./source.ts";
import {
  constant,
  constantText,
  contentValue,
  expression,
  fault,
  isDynamic,
  locationOf,
  paramsOf,
  textAttribute,
} from "./value.ts";
import { isElement, parseXml, refuse, type XmlElement } from "./xml.ts";

/** An `<invoke>` element. https://www.w3.org/TR/scxml/#invoke */
export function invokeOf(
  element: XmlElement,
  stateId: string,
  index: number,
  scope: ImportScope,
): InvokeMachine {
  const children = childElements(element, ["param", "content", "finalize"]);
  const given = exclusiveAttribute(element, ["id", "idlocation"]);
  // An id that nobody gave has the form stateid.platformid; two lives of one state are told apart by their keys.
  const id = given?.name === "id" ? given.value : `${stateId}.${index + 1}`;
  const input = paramsOf(element, children, false);
  const finalize = finalizeOf(element, children, scope);
  return {
    machine: machineOf(element, children, id, scope),
    id,
    ...(given?.name === "idlocation" && { idLocation: locationOf(given.value, element) }),
    ...(input && { input }),
    ...(attribute(element, "autoforward") === "true" && { autoforward: true }),
    ...(finalize && { finalize }),
  };
}

function machineOf(
  element: XmlElement,
  children: readonly XmlElement[],
  id: string,
  scope: ImportScope,
): string | MachineSource | FaultSource {
  const type = textAttribute(element, "type", "typeexpr");
  if (!isDynamic(type) && !invokesScxml(constantText(type)))
    return fault(`The invoke type ${constantText(type)} is not supported`, element);
  const name = documentName(element, children, id, scope);
  if (typeof name === "string" && !isDynamic(type)) return name;
  return {
    scxml: "machine",
    name: typeof name === "string" ? constant(name) : name,
    ...(isDynamic(type) && { type }),
    at: originOf(element),
  };
}

/** The name of a document imported just now, or how to find out a name. */
function documentName(
  element: XmlElement,
  children: readonly XmlElement[],
  id: string,
  scope: ImportScope,
): string | ValueSource {
  const content = onlyChild(element, children, "content");
  const src = exclusiveAttribute(element, ["src", "srcexpr"]);
  if (content !== undefined && src !== undefined) refuse("<invoke> has both a source and <content>", content);
  if (src?.name === "srcexpr") return expression(src.value, originOf(element));
  if (src !== undefined) return scope.adoptLoaded(src.value) ? src.value : constant(src.value);
  if (content === undefined) return refuse("<invoke> needs src, srcexpr or <content>", element);
  return contentDocument(content, id, scope);
}

function contentDocument(content: XmlElement, id: string, scope: ImportScope): string | ValueSource {
  const value = contentValue(content);
  if (value.scxml !== "xml") return value;
  // The element itself where it stands in this document, so that places in errors are right.
  const document = content.children.find(isElement) ?? parseXml(value.text);
  if (!isScxml(document) || document.name !== "scxml") return value;
  const name = `${scope.id}/${id}`;
  scope.adoptInline(document, name);
  return name;
}

/** What runs on each event from the child. Empty means: take over the parameters' new values, as SCXML has it. */
function finalizeOf(
  element: XmlElement,
  children: readonly XmlElement[],
  scope: ImportScope,
): Action[] | undefined {
  const finalize = onlyChild(element, children, "finalize");
  if (finalize === undefined) return undefined;
  const actions = actionsIn(finalize, scope);
  if (actions.length > 0) return actions;
  const listed = names(attribute(element, "namelist")).map((name) => ({
    name,
    location: locationOf(name, element),
  }));
  const located = children
    .filter((child) => child.name === "param" && attribute(child, "location") !== undefined)
    .map((param) => ({
      name: attribute(param, "name")!,
      location: locationOf(attribute(param, "location")!, param),
    }));
  return [modelAction({ scxml: "adopt", pairs: [...listed, ...located], at: originOf(finalize) })];
}
