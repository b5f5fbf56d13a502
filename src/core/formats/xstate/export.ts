/**
 * Machines as XState v5 has them: a configuration that is plain data, and implementations by name. The library itself is
 * handed in, so that any copy of it will do; what XState has no word for is noted.
 */
import type { StateNode } from "../../chart.ts";
import type { MachineDefinition, StateDefinition } from "../../definition.ts";
import type { Machine } from "../../machine.ts";
import type { AnyMachine } from "../any-machine.ts";
import { type Note, Notes } from "../note.ts";
import { EventNames } from "./event.ts";
import { blockNames, contextOf, workNames } from "./export-action.ts";
import { expressionOf, transitionsIn } from "./export-guard.ts";
import { handlersIn, invokesIn, type Listed, pairNames } from "./export-handler.ts";
import {
  type ExportScope,
  type Implementations,
  placeIn,
  targetId,
  type XStateExportOptions,
} from "./export-scope.ts";
import { type ExportTopic, exportTopics } from "./export-topic.ts";
import { isCode, type Parts } from "./source.ts";

export interface XStateExport {
  /** For `createMachine`; plain data. */
  readonly config: Parts;
  /** For its second argument. */
  readonly implementations: Implementations;
  readonly notes: readonly Note[];
}

/** The machine as XState's configuration and implementations, and notes of everything XState cannot say. */
export function toXState(machine: AnyMachine, options: XStateExportOptions): XStateExport {
  const scope = new Export(machine as Machine, options);
  const config = scope.config();
  return { config, implementations: scope.implementations, notes: scope.notes.list };
}

class Export implements ExportScope {
  readonly machine: Machine;
  readonly options: XStateExportOptions;
  readonly notes = new Notes<ExportTopic>(exportTopics);
  readonly implementations: Implementations = { actions: {}, guards: {}, actors: {}, delays: {} };
  readonly rootId: string;
  readonly names = new EventNames();

  constructor(machine: Machine, options: XStateExportOptions) {
    this.machine = machine;
    this.options = options;
    // A dot would end the id in a target.
    this.rootId = machine.id.replaceAll(".", "_");
  }

  config(): Parts {
    const { definition } = this.machine;
    const { chart } = this.machine;
    this.#noteMachine(definition);
    for (const node of chart.nodes) pairNames({ node, state: this.#definitionOf(node), at: "" }, this);
    const output = this.#output(definition);
    return {
      id: this.rootId,
      version: String(chart.version),
      context: contextOf(definition.start, this),
      ...this.#state(chart.root, definition, ""),
      ...(output === undefined ? {} : { output }),
    };
  }

  child(name: string): Parts | undefined {
    const child = this.machine.machines[name] as Machine | undefined;
    if (child?.chart === undefined) return undefined;
    const made = toXState(child, this.options);
    for (const { path, topic, note } of made.notes)
      this.notes.list.push({ path: `${name} → ${path}`, topic, note });
    return this.options.xstate.createMachine(
      made.config as never,
      made.implementations as never,
    ) as unknown as Parts;
  }

  #definitionOf(node: StateNode): StateDefinition {
    if (node.parent === undefined) return this.machine.definition;
    return this.#definitionOf(node.parent).states?.[node.key] as StateDefinition;
  }

  /** In XState a run's output is the machine's own, which is told its final state's. */
  #output(definition: MachineDefinition): unknown {
    const ends = Object.values(definition.states ?? {}).some(
      (state) => state.type === "final" && state.output !== undefined,
    );
    if (!ends)
      return definition.output === undefined ? undefined : expressionOf(definition.output, "output", this);
    const own = definition.output === undefined ? undefined : expressionOf(definition.output, "output", this);
    return (given: { readonly event: { readonly output?: unknown } }) =>
      given.event.output ?? (isCode(own) ? own(given) : own);
  }

  #state(node: StateNode, state: StateDefinition, at: string): Parts {
    this.#noteState(node, state, at);
    const place = (key: string) => placeIn(at, key);
    const states = [...node.children, ...node.histories].sort((one, other) => one.index - other.index);
    const nested = state.states ?? {};
    const entry = blockNames(state.entry, place("entry"), this);
    const exit = blockNames(state.exit, place("exit"), this);
    const listed: Listed = { node, state, at };
    return {
      ...(state.id === undefined || node.parent === undefined ? {} : { id: state.id }),
      ...(node.kind === "parallel" || node.kind === "final" || node.kind === "history"
        ? { type: node.kind }
        : {}),
      ...this.#routes(node, state, at),
      ...(states.length === 0
        ? {}
        : {
            states: Object.fromEntries(
              states.map((child) => [
                child.key,
                this.#state(child, nested[child.key] as StateDefinition, place(`states.${child.key}`)),
              ]),
            ),
          }),
      ...(entry.length === 0 ? {} : { entry }),
      ...(exit.length === 0 ? {} : { exit }),
      ...handlersIn(listed, this),
      ...invokesIn(listed, this),
      ...(state.output === undefined || node.kind !== "final"
        ? {}
        : { output: expressionOf(state.output, place("output"), this) }),
      ...(state.tags === undefined ? {} : { tags: state.tags }),
      ...(state.description === undefined ? {} : { description: state.description }),
      ...(state.meta === undefined ? {} : { meta: state.meta }),
    };
  }

  #routes(node: StateNode, state: StateDefinition, at: string): Parts {
    const targets = node.initial?.targets ?? [];
    const parts = transitionsIn(node.kind === "history" ? state : state.initial)[0] ?? {};
    const doing = workNames(parts, placeIn(at, "initial"), this);
    if (node.kind === "history") {
      if (doing.length > 0) this.notes.add(at, "history");
      const target = targets.map((one) => targetId(one, this.rootId));
      return { history: node.deep ? "deep" : "shallow", target: target.length === 1 ? target[0] : target };
    }
    if (node.kind !== "compound") return {};
    const [first] = targets;
    if (targets.length > 1 || first?.parent !== node) this.notes.add(placeIn(at, "initial"), "initial");
    const key = [...node.children, ...node.histories].find(
      (child) => first !== undefined && child.index <= first.index && first.index <= child.last,
    )?.key;
    return { initial: doing.length === 0 ? key : { target: key, actions: doing } };
  }

  #noteMachine(definition: MachineDefinition): void {
    if (definition.model !== undefined) this.notes.add("model", "model", definition.model.name);
    if (definition.matching === "scxml") this.notes.add("matching", "matching");
    if (definition.unhandled !== "ignore") this.notes.add("unhandled", "unhandled");
    for (const key of ["limits", "checkpoint", "priorities"] as const)
      if (definition[key] !== undefined) this.notes.add(key, "policy");
    this.notes.add("", "errors");
    if (this.options.now === undefined) this.notes.add("", "time");
  }

  #noteState(node: StateNode, state: StateDefinition, at: string): void {
    const place = (key: string) => placeIn(at, key);
    if (state.defer !== undefined) this.notes.add(place("defer"), "defer");
    for (const key of ["invariants", "require", "ensure"] as const)
      if (state[key] !== undefined) this.notes.add(place(key), "contract");
    if (node.kind === "parallel" && state.writes !== "last") this.notes.add(place("writes"), "writes");
    if (state.data !== undefined) this.notes.add(place("data"), "model");
  }
}
