/**
 * SCXML documents as machine definitions. https://www.w3.org/TR/scxml/
 * The definition is data: structure and actions are native, and what needs the document's data model is left in it as
 * sources (`source.ts`). Nothing is fetched here; whatever stands elsewhere comes through `load`.
 */
import type { DataModel } from "../../data-model.ts";
import type { Guard, MachineDefinition } from "../../definition.ts";
import { scriptText } from "./content.ts";
import { dataItems } from "./data.ts";
import { attribute, childElements, isScxml, onlyChild, originOf } from "./element.ts";
import { StateNames, stateTags } from "./names.ts";
import { nullModel } from "./null-model.ts";
import type { ImportScope } from "./scope.ts";
import type { StartSource } from "./source.ts";
import { handlersOf, initialOf, stateDefinitions } from "./state.ts";
import { expression } from "./value.ts";
import { parseXml, refuse, type XmlElement } from "./xml.ts";

export interface ScxmlOptions {
  /** The machine's id; the document's name unless given. */
  readonly id?: string;
  /** The text behind a `src`, for scripts, data and invoked documents. */
  readonly load?: (src: string) => string | undefined;
  /** A data model by its name in the document. `null` is built in. */
  readonly model?: (name: string) => DataModel | undefined;
}

/** A definition made from a document, with those of the documents it invokes. */
export interface ScxmlDefinition extends MachineDefinition {
  readonly version: number;
  readonly machines: Readonly<Record<string, ScxmlDefinition>>;
}

/** The definition of an SCXML document; throws SCXML_INVALID, naming line and column, for what it cannot be read as. */
export function importScxml(text: string, options: ScxmlOptions = {}): ScxmlDefinition {
  return importDocument(parseXml(text), options, []);
}

/** `sources` are the addresses of the documents this one is being imported for, to stop at circles. */
function importDocument(
  root: XmlElement,
  options: ScxmlOptions,
  sources: readonly string[],
): ScxmlDefinition {
  if (!isScxml(root) || root.name !== "scxml") refuse(`<${root.name}> is not an SCXML document`, root);
  const version = attribute(root, "version");
  if (version !== undefined && version !== "1.0") refuse(`SCXML ${version} is not known, only 1.0`, root);
  const binding = attribute(root, "binding") ?? "early";
  if (binding !== "early" && binding !== "late") refuse(`${JSON.stringify(binding)} is not a binding`, root);
  // SCXML 1.0 has no transitions on the document itself, but earlier drafts had, and documents still do.
  const children = childElements(root, [...stateTags, "initial", "datamodel", "script", "transition"]);
  const name = attribute(root, "name");
  const id = options.id ?? name ?? "scxml";
  const names = new StateNames(root);
  const machines: Record<string, ScxmlDefinition> = {};
  const data: StartSource["data"][number][] = [];
  const late: string[] = [];

  const scope: ImportScope = {
    id,
    names,
    binding,
    load: (src) => options.load?.(src),
    guard: (condition, element) => guardOf(condition, element, names),
    adoptInline(document, child) {
      machines[child] = importDocument(document, { ...options, id: child }, sources);
    },
    adoptLoaded(src) {
      if (Object.hasOwn(machines, src)) return true;
      // A document that invokes itself is found by its address when it is needed, one life at a time.
      if (sources.includes(src)) return false;
      const text = options.load?.(src);
      if (text === undefined) return false;
      machines[src] = importDocument(parseXml(text), { ...options, id: src }, [...sources, src]);
      return true;
    },
    collect(items, replaceable) {
      data.push(...items.map((item) => ({ ...item, replaceable })));
    },
    declare(items) {
      late.push(...items.map((item) => item.id));
    },
  };

  const datamodel = onlyChild(root, children, "datamodel");
  if (datamodel !== undefined) scope.collect(dataItems(datamodel, scope), true);
  const scripts = children
    .filter((child) => child.name === "script")
    .map((script) => ({ text: scriptText(script, scope), at: originOf(script) }));
  const initial = initialOf(root, scope);
  const states = stateDefinitions(root, scope);
  const handlers = handlersOf(children, undefined, scope);
  const start: StartSource = {
    scxml: "start",
    name: name ?? id,
    declared: [...new Set([...data.map((item) => item.id), ...late])],
    data,
    scripts,
  };
  return {
    id,
    version: 1,
    model: modelOf(root, options),
    matching: "scxml",
    unhandled: "ignore",
    start,
    initial,
    states,
    ...handlers,
    machines,
  };
}

function modelOf(root: XmlElement, options: ScxmlOptions): DataModel {
  const name = attribute(root, "datamodel") ?? "ecmascript";
  const model = options.model?.(name) ?? (name === "null" ? nullModel : undefined);
  return model ?? refuse(`There is no data model ${JSON.stringify(name)} here`, root);
}

/** `In('id')` alone needs no data model. */
function guardOf(condition: string, element: XmlElement, names: StateNames): Guard {
  const id = /^\s*In\(\s*(?:'([^'\\]+)'|"([^"\\]+)")\s*\)\s*$/.exec(condition);
  const state = id === null ? undefined : names.withId((id[1] ?? id[2])!);
  return state === undefined ? expression(condition, originOf(element)) : { in: `#${state.id}` };
}
