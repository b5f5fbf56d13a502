/**
 * The names a machine has as a document. Ids are one word and unique, and none is the beginning of another: a done event
 * of `a` would also be taken for that of `a.b`.
 */
import type { Chart, StateNode } from "../../chart.ts";
import type { StateDefinition } from "../../definition.ts";
import type { Machine } from "../../machine.ts";

export class DocumentNames {
  readonly machine: Machine;
  readonly chart: Chart;
  readonly rootId: string;
  readonly #ids = new Map<StateNode, string>();
  readonly #types: ReadonlySet<string>;

  constructor(machine: Machine) {
    this.machine = machine;
    this.chart = machine.chart;
    // A machine that reads keys as prefixes has names that go with it already.
    const prefixes = this.chart.matching === "scxml";
    const taken = new Set<string>();
    const unique = (wanted: string, given: boolean): string => {
      const base = wanted.replace(given && prefixes ? /[\s'"]+/g : /[\s.'"]+/g, "-") || "state";
      let id = base;
      for (let count = 2; taken.has(id); count++) id = `${base}-${count}`;
      taken.add(id);
      return id;
    };
    const states = this.chart.nodes.filter((node) => node.parent !== undefined);
    const keys = states.map(({ key }) => key);
    const isOnly = (key: string) => keys.indexOf(key) === keys.lastIndexOf(key);
    for (const node of states) {
      const own = node.name === node.path ? undefined : node.name;
      this.#ids.set(node, unique(own ?? (isOnly(node.key) ? node.key : node.path), own !== undefined));
    }
    this.rootId = unique(machine.id, false);
    this.#types = typesIn(machine.definition);
  }

  idOf(node: StateNode): string {
    return this.#ids.get(node) ?? this.rootId;
  }

  /** The event that stands for a state's timer. */
  timerName(node: StateNode, index: number): string {
    return `after.${this.idOf(node)}.${index}`;
  }

  /** A key of `on`, with a state's name replaced by its id. */
  keyOf(descriptor: string): string {
    const prefix = "done.state.";
    if (!descriptor.startsWith(prefix)) return descriptor;
    const name = descriptor.slice(prefix.length);
    const node = this.chart.nodes.find((one) => one.parent !== undefined && one.name === name);
    return node === undefined ? descriptor : prefix + this.idOf(node);
  }

  /** Whether the machine speaks of events that begin with this one. */
  isExtended(type: string): boolean {
    for (const known of this.#types) if (known.startsWith(`${type}.`) && known !== `${type}.*`) return true;
    return false;
  }

  definitionOf(node: StateNode): StateDefinition {
    if (node.parent === undefined) return this.machine.definition;
    return this.definitionOf(node.parent).states?.[node.key] as StateDefinition;
  }
}

/** Every event type that a definition names: in `on` and `events`, and in what it raises and sends. */
function typesIn(definition: object): Set<string> {
  const types = new Set<string>();
  const seen = new Set<object>();
  const visit = (value: unknown, key: string): void => {
    if (typeof value === "string" && (key === "raise" || key === "send" || key === "type" || key === "event"))
      types.add(value);
    if (typeof value !== "object" || value === null || seen.has(value) || "chart" in value) return;
    seen.add(value);
    if ((key === "on" || key === "events") && !Array.isArray(value))
      for (const event of Object.keys(value)) types.add(event);
    for (const [inner, item] of Object.entries(value)) visit(item, Array.isArray(value) ? key : inner);
  };
  visit(definition, "");
  return types;
}
