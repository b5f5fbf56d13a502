/**
 * SCXML documents as machines, with their ECMAScript run in a sandbox. The only thing to wait for is the engine; after
 * that everything is synchronous, and steps of these machines are as pure as those of any other.
 */
import type { DataModel } from "../core/data-model.ts";
import { importScxml, type ScxmlDefinition, type ScxmlOptions } from "../core/formats/scxml/import.ts";
import { defineMachine, type Machine } from "../core/machine.ts";
import { Engine, type EngineOptions } from "./engine.ts";
import { ecmascriptModel } from "./model.ts";

export { httpProcessor, scxmlProcessor } from "../core/formats/scxml/address.ts";
export type { ScxmlOptions } from "../core/formats/scxml/import.ts";
export type { EngineOptions } from "./engine.ts";

/** Makes machines from SCXML text. */
export interface Scxml {
  /** The machine a document describes; throws SCXML_INVALID, with line and column, or MACHINE_INVALID. */
  (text: string, options?: ScxmlOptions): Machine;
  /**
   * The child machine behind a name that a document computed: the text of a document, or an address to `load`.
   * Undefined if it is neither. For `simulate`, and for any runtime that starts children by name.
   */
  machine(name: string, options?: ScxmlOptions): Machine | undefined;
}

/** Loads the engine and gives the function that turns documents into machines. */
export async function loadScxml(engine: EngineOptions = {}): Promise<Scxml> {
  const newModel = await loadEcmascript(engine);
  const withModel = (options: ScxmlOptions): ScxmlOptions => ({
    ...options,
    model: (name) => options.model?.(name) ?? (name === "ecmascript" ? newModel() : undefined),
  });
  const make = (text: string, options: ScxmlOptions = {}): Machine =>
    machineOf(importScxml(text, withModel(options)));
  const machine = (name: string, options: ScxmlOptions = {}): Machine | undefined => {
    const text = name.trimStart().startsWith("<") ? name : options.load?.(name);
    return text === undefined ? undefined : make(text, { ...options, id: name });
  };
  return Object.assign(make, { machine });
}

/** Loads the engine and gives a maker of data models. Each machine needs one of its own. */
export async function loadEcmascript(options: EngineOptions = {}): Promise<() => DataModel> {
  const engine = await Engine.load(options);
  return () => ecmascriptModel(engine);
}

/** Children first, so that each machine has those it refers to. */
function machineOf(definition: ScxmlDefinition): Machine {
  const children = Object.entries(definition.machines).map(([name, child]) => [name, machineOf(child)]);
  return defineMachine({ ...definition, machines: Object.fromEntries(children) });
}
