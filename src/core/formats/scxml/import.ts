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
import type { DataItem, StartSource } from "./source.ts";
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
  return new Import(parseXml(text), options, []).definition();
}

/** One document on its way to a definition. */
class Import implements ImportScope {
  readonly id: string;
  readonly names: StateNames;
  readonly binding: "early" | "late";
  readonly #root: XmlElement;
  readonly #options: ScxmlOptions;
  /** The addresses of the documents this one is being imported for, to stop at circles. */
  readonly #sources: readonly string[];
  readonly #machines: Record<string, ScxmlDefinition> = {};
  readonly #data: StartSource["data"][number][] = [];
  readonly #late: string[] = [];

  constructor(root: XmlElement, options: ScxmlOptions, sources: readonly string[]) {
    if (!isScxml(root) || root.name !== "scxml") refuse(`<${root.name}> is not an SCXML document`, root);
    const version = attribute(root, "version") ?? "1.0";
    if (version !== "1.0") refuse(`SCXML ${version} is not known, only 1.0`, root);
    const binding = attribute(root, "binding") ?? "early";
    if (binding !== "early" && binding !== "late")
      refuse(`${JSON.stringify(binding)} is not a binding`, root);
    this.#root = root;
    this.#options = options;
    this.#sources = sources;
    this.binding = binding;
    this.id = options.id ?? attribute(root, "name") ?? "scxml";
    this.names = new StateNames(root);
  }

  definition(): ScxmlDefinition {
    const root = this.#root;
    // SCXML 1.0 has no transitions on the document itself, but earlier drafts had, and documents still do.
    const children = childElements(root, [...stateTags, "initial", "datamodel", "script", "transition"]);
    const datamodel = onlyChild(root, children, "datamodel");
    if (datamodel !== undefined) this.collect(dataItems(datamodel, this), true);
    const scripts = children
      .filter((child) => child.name === "script")
      .map((script) => ({ text: scriptText(script, this), at: originOf(script) }));
    const initial = initialOf(root, this);
    const states = stateDefinitions(root, this);
    return {
      id: this.id,
      version: 1,
      model: this.#model(),
      matching: "scxml",
      unhandled: "ignore",
      start: this.#start(scripts),
      initial,
      states,
      ...handlersOf(children, undefined, this),
      machines: this.#machines,
    };
  }

  load(src: string): string | undefined {
    return this.#options.load?.(src);
  }

  /** `In('id')` alone needs no data model. */
  guard(condition: string, element: XmlElement): Guard {
    const id = /^\s*In\(\s*(?:'([^'\\]+)'|"([^"\\]+)")\s*\)\s*$/.exec(condition);
    const state = id === null ? undefined : this.names.withId((id[1] ?? id[2]) as string);
    return state === undefined ? expression(condition, originOf(element)) : { in: `#${state.id}` };
  }

  adoptInline(document: XmlElement, name: string): void {
    this.#machines[name] = new Import(document, { ...this.#options, id: name }, this.#sources).definition();
  }

  adoptLoaded(src: string): boolean {
    if (Object.hasOwn(this.#machines, src)) return true;
    // A document that invokes itself is found by its address when it is needed, one life at a time.
    if (this.#sources.includes(src)) return false;
    const text = this.load(src);
    if (text === undefined) return false;
    const sources = [...this.#sources, src];
    this.#machines[src] = new Import(parseXml(text), { ...this.#options, id: src }, sources).definition();
    return true;
  }

  collect(items: readonly DataItem[], replaceable: boolean): void {
    this.#data.push(...items.map((item) => ({ ...item, replaceable })));
  }

  declare(items: readonly DataItem[]): void {
    this.#late.push(...items.map((item) => item.id));
  }

  /** Asked for last, when all data has been seen. */
  #start(scripts: StartSource["scripts"]): StartSource {
    const declared = [...new Set([...this.#data.map((item) => item.id), ...this.#late])];
    const name = attribute(this.#root, "name") ?? this.id;
    return { scxml: "start", name, declared, data: this.#data, scripts };
  }

  #model(): DataModel {
    const name = attribute(this.#root, "datamodel") ?? "ecmascript";
    const model = this.#options.model?.(name) ?? (name === "null" ? nullModel : undefined);
    return model ?? refuse(`There is no data model ${JSON.stringify(name)} here`, this.#root);
  }
}
