/**
 * XState v5 machines as definitions. What XState's configuration says is said again in our words, with its functions
 * called from steps in the shape they expect; what has no counterpart, and what means something else here, is noted with
 * its place (`topic.ts`). Nothing is dropped in silence.
 */
import type { MachineDefinition, MachineReference } from "../../definition.ts";
import type { JsonObject } from "../../json.ts";
import { toJson } from "../../json.ts";
import { defineMachine } from "../../machine.ts";
import { type Note, Notes } from "../note.ts";
import { noteBehaviours } from "./behaviour.ts";
import { enqueueModel } from "./enqueue.ts";
import { EventNames } from "./event.ts";
import { Handlers, mentionsActors } from "./handler.ts";
import { Places } from "./place.ts";
import type { ActivityCode, ImportScope } from "./scope.ts";
import {
  isCode,
  type Parts,
  readSource,
  type XStateFunction,
  type XStateImplementations,
  type XStateMachine,
} from "./source.ts";
import { adoptNamed } from "./spawn.ts";
import { outputsOf, stateOf } from "./state.ts";
import { type Topic, topics } from "./topic.ts";

export interface XStateImportOptions {
  /** The machine's id; the one it has unless given. */
  readonly id?: string;
  /** Its version; the one it has, where that is a whole number, or 1. */
  readonly version?: number;
  /** Implementations that the configuration refers to by name, besides those the machine brings. */
  readonly implementations?: XStateImplementations;
}

export interface XStateImport {
  /** For `defineMachine`. */
  readonly definition: MachineDefinition;
  /** The code of promise actors by the name of their activity, for a runtime. */
  readonly activities: Readonly<Record<string, ActivityCode>>;
  /** The user's own action code, by the name after `action.` of the event that is emitted in its place. */
  readonly actions: Readonly<Record<string, XStateFunction>>;
  readonly notes: readonly Note[];
}

/** The definition of an XState v5 machine or configuration, and notes of everything that did not carry over as it was. */
export function fromXState(source: object, options: XStateImportOptions = {}): XStateImport {
  const scope = new Import(source, options, undefined);
  const definition = scope.definition();
  return { definition, activities: scope.activities, actions: scope.actions, notes: scope.notes.list };
}

/** One machine on its way to a definition. */
class Import implements ImportScope {
  readonly id: string;
  readonly places: Places;
  readonly names = new EventNames();
  readonly handlers = new Handlers(this.names);
  readonly notes: Notes<Topic>;
  readonly implementations: Required<XStateImplementations>;
  readonly guards: ImportScope["guards"] = {};
  readonly updates: ImportScope["updates"] = {};
  readonly machines: Record<string, MachineReference> = {};
  readonly activities: Record<string, ActivityCode>;
  readonly actions: Record<string, XStateFunction>;
  enqueues = false;
  complete = false;
  readonly #config: Parts;
  readonly #options: XStateImportOptions;
  readonly #parent: Import | undefined;

  constructor(source: object, options: XStateImportOptions, parent: Import | undefined) {
    const { config, implementations } = readSource(source, options.implementations);
    this.#config = config;
    this.#options = options;
    this.#parent = parent;
    this.implementations = implementations;
    this.places = new Places(config);
    this.id = options.id ?? (typeof config.id === "string" && config.id !== "" ? config.id : "machine");
    this.notes = new Notes(topics);
    this.activities = parent?.activities ?? {};
    this.actions = parent?.actions ?? {};
    this.places.pairNames(this.names);
  }

  definition(): MachineDefinition {
    for (const place of this.places.renamed()) this.notes.add(place.at, "renamed", place.key);
    noteBehaviours(this.places, this.notes);
    if (this.#config.options !== undefined) this.notes.add("options", "option");
    const state = stateOf(this.places.root, outputsOf(this.#config, this), this);
    if (this.enqueues) adoptNamed(this);
    this.complete = true;
    const version = this.#version();
    return {
      ...state,
      id: this.id,
      ...(version === undefined ? {} : { version }),
      start: this.#start(),
      // XState takes no notice of events that nothing handles.
      unhandled: "ignore",
      ...some("guards", this.guards),
      ...some("updates", this.updates),
      ...some("machines", this.machines),
      ...(this.enqueues ? { model: enqueueModel } : {}),
    } as MachineDefinition;
  }

  activityName(name: string): string {
    return this.#parent === undefined ? name : `${this.id}/${name}`;
  }

  adopt(machine: XStateMachine, name: string, at: string): void {
    if (this.complete)
      throw new TypeError(`${at} starts a machine that has no name; give it one in \`actors\``);
    const child = new Import(machine, { id: name }, this);
    const definition = child.definition();
    this.machines[name] = defineMachine(definition);
    for (const { path, topic, note } of child.notes.list)
      this.notes.list.push({ path: `${at} → ${path}`, topic, note });
  }

  #start(): MachineDefinition["start"] {
    const { context } = this.#config;
    if (isCode(context)) {
      if (mentionsActors(context)) this.notes.add("context", "uses-actors");
      return ({ input }) => context({ input } as never) as JsonObject;
    }
    try {
      toJson(context ?? {}, [], "context");
    } catch (error) {
      this.notes.add("context", "json", (error as Error).message);
    }
    return (context ?? {}) as JsonObject;
  }

  #version(): number | undefined {
    const { version } = this.#config;
    if (this.#options.version !== undefined) return this.#options.version;
    if (version === undefined) return undefined;
    const number = Number(version);
    if (Number.isSafeInteger(number)) return number;
    this.notes.add("version", "version", String(version));
    return undefined;
  }
}

function some(key: string, record: object): object {
  return Object.keys(record).length === 0 ? {} : { [key]: record };
}
