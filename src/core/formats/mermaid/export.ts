/**
 * Machines as Mermaid's state diagrams. https://mermaid.js.org/syntax/stateDiagram.html
 *
 * D1. States go by made-up ids (`s3`), so that no name can break the diagram; names stand in labels, escaped.
 * D2. Mermaid draws no arrow between the insides of two different states. Such an arrow goes between the outermost
 *     states it crosses, and its label says from where to where.
 * D3. What has no picture (guards that are functions, what actions do) is left to the machine itself.
 */
import { type Chart, leastCommonAncestor, type StateNode, type TransitionNode } from "../../chart.ts";
import type { StateDefinition } from "../../definition.ts";
import type { State } from "../../state.ts";
import type { AnyMachine } from "../any-machine.ts";

export interface MermaidOptions {
  /** A state of a run: its active leaves are highlighted. */
  readonly state?: Pick<State<unknown>, "configuration">;
  /** `TB` unless given. */
  readonly direction?: "TB" | "LR";
}

type Parts = Readonly<Record<string, unknown>>;

/** The machine as the text of a `stateDiagram-v2`. */
export function toMermaid(machine: AnyMachine, options: MermaidOptions = {}): string {
  const diagram = new Diagram(machine);
  const lines = ["stateDiagram-v2", `  direction ${options.direction ?? "TB"}`, ...diagram.lines("  ")];
  const active = (options.state?.configuration ?? []).flatMap((path) => {
    const node = machine.chart.byPath.get(path);
    return node === undefined ? [] : [idOf(node)];
  });
  if (active.length > 0)
    lines.push(
      "  classDef active fill:#fde68a,stroke:#b45309,stroke-width:3px,color:#1c1917",
      `  class ${active.join(",")} active`,
    );
  return `${lines.join("\n")}\n`;
}

const idOf = (node: StateNode): string => `s${node.index}`;

class Diagram {
  readonly #chart: Chart;
  readonly #definition: StateDefinition;
  readonly #arrows = new Map<StateNode | undefined, string[]>();
  /** The machine itself is drawn only if it has something to show. */
  readonly #framed: boolean;

  constructor({ chart, definition }: AnyMachine) {
    this.#chart = chart;
    this.#definition = definition;
    const { root } = chart;
    this.#framed =
      root.kind === "parallel" || root.transitions.length + root.eventless.length + root.invokes.length > 0;
    for (const node of chart.nodes) this.#collect(node);
  }

  lines(indent: string): string[] {
    const { root } = this.#chart;
    if (!this.#framed) return this.#inside(root, indent);
    return [
      `${indent}[*] --> ${idOf(root)}`,
      ...this.#state(root, indent),
      ...this.#arrowsIn(undefined, indent),
    ];
  }

  #state(node: StateNode, indent: string): string[] {
    const head = `${indent}state "${escaped(this.#label(node))}" as ${idOf(node)}`;
    if (node.children.length > 0) return [`${head} {`, ...this.#inside(node, `${indent}  `), `${indent}}`];
    return node.kind === "final" ? [head, `${indent}${idOf(node)} --> [*]`] : [head];
  }

  #inside(node: StateNode, indent: string): string[] {
    const histories = node.histories.flatMap((one) => this.#state(one, indent));
    if (node.kind === "parallel") {
      const regions = node.children.map((region) => this.#state(region, indent));
      const [first = [], ...others] = regions;
      return [...first, ...histories, ...others.flatMap((region) => [`${indent}--`, ...region])];
    }
    const begins = (node.initial?.targets ?? []).map((target) => {
      const shown = childAbove(target, node);
      const deeper = shown === target ? "" : `: to ${escaped(target.path)}`;
      return `${indent}[*] --> ${idOf(shown)}${deeper}`;
    });
    const states = node.children.flatMap((child) => this.#state(child, indent));
    return [...states, ...histories, ...new Set(begins), ...this.#arrowsIn(node, indent)];
  }

  #arrowsIn(node: StateNode | undefined, indent: string): string[] {
    return (this.#arrows.get(node) ?? []).map((arrow) => `${indent}${arrow}`);
  }

  #label(node: StateNode): string {
    if (node.kind === "history") return node.deep ? "H*" : "H";
    const { invoke } = this.#definitionOf(node);
    const invoked = (invoke === undefined ? [] : [invoke].flat()).map((one) => {
      const { activity, machine } = one as unknown as Parts;
      return ` / ${invokeText(activity ?? machine)}`;
    });
    return (node.parent === undefined ? this.#chart.id : node.key) + invoked.join("");
  }

  #definitionOf(node: StateNode): StateDefinition {
    if (node.parent === undefined) return this.#definition;
    return this.#definitionOf(node.parent).states?.[node.key] ?? {};
  }

  #collect(node: StateNode): void {
    const guards = this.#guards(node);
    for (const transition of [...node.transitions, ...node.eventless])
      this.#draw(transition, `${this.#trigger(transition)}${guards(transition)}`);
    if (node.kind === "history")
      for (const target of node.initial?.targets ?? []) this.#arrow(node, target, "default");
  }

  #draw({ source, targets }: TransitionNode, label: string): void {
    if (targets.length === 0) this.#arrow(source, source, `${label} (stays)`);
    for (const target of targets) this.#arrow(source, target, label);
  }

  /** An arrow in the nearest state that holds both its ends apart, or has one of them inside. */
  #arrow(source: StateNode, target: StateNode, label: string): void {
    const common = leastCommonAncestor(source, target);
    let scope = common === source || common === target ? common.parent : common;
    // Regions are drawn apart from each other; an arrow between them is one of the state around.
    while (scope?.kind === "parallel") scope = scope.parent;
    const from = scope === undefined ? this.#chart.root : childAbove(source, scope);
    const to = scope === undefined ? this.#chart.root : childAbove(target, scope);
    const way = [
      from === source ? "" : ` from ${source.path}`,
      to === target ? "" : ` to ${target.path}`,
    ].join("");
    const arrows = this.#arrows.get(scope) ?? [];
    arrows.push(`${idOf(from)} --> ${idOf(to)}: ${escaped(label + way)}`);
    this.#arrows.set(scope, arrows);
  }

  #trigger({ descriptors, platform, source }: TransitionNode): string {
    const [type = "always"] = descriptors;
    if (!platform) return descriptors.length === 0 ? "always" : descriptors.join(", ");
    if (type.startsWith("done.state.")) return "done";
    const delay = /^after\..*\.(\d+)$/.exec(type)?.[1];
    if (delay === undefined) return type.replace(/^(\w+)\.invoke\.(.*)$/s, "$1 $2");
    const { after } = this.#definitionOf(source);
    const given = Array.isArray(after)
      ? (after[Number(delay)] as Parts | undefined)?.delay
      : Object.keys(after ?? {})[Number(delay)];
    return typeof given === "number"
      ? `after ${given} ms`
      : `after ${typeof given === "string" ? given : "a while"}`;
  }

  /** How the guard of each transition of a state is shown. */
  #guards(node: StateNode): (transition: TransitionNode) => string {
    const texts = new Map<string, string[]>();
    const state = this.#definitionOf(node) as Parts;
    const note = (key: string, given: unknown): void => {
      const list = given === undefined ? [] : [given].flat();
      const shown = list.map((one) => guardText((one as Parts | undefined)?.guard));
      texts.set(key, [...(texts.get(key) ?? []), ...shown]);
    };
    note("always", state.always);
    if (!Array.isArray(state.on)) for (const [key, given] of Object.entries(state.on ?? {})) note(key, given);
    else for (const one of state.on as readonly Parts[]) note(String([one.event].flat().join(", ")), one);
    return (transition) => {
      if (transition.guard === undefined) return "";
      const key = transition.descriptors.length === 0 ? "always" : transition.descriptors.join(", ");
      const same = (transition.descriptors.length === 0 ? node.eventless : node.transitions).filter(
        (one) => one.descriptors.join(", ") === transition.descriptors.join(", "),
      );
      return ` [${texts.get(key)?.[same.indexOf(transition)] ?? "guard"}]`;
    };
  }
}

function invokeText(source: unknown): string {
  if (typeof source === "string") return source;
  const { id } = (source ?? {}) as { readonly id?: unknown };
  return typeof id === "string" ? id : "a child";
}

/** A guard in few words. */
function guardText(guard: unknown): string {
  if (typeof guard === "string") return guard;
  const parts = (typeof guard === "object" && guard !== null ? guard : {}) as Parts;
  const list = (items: unknown, word: string) => (items as unknown[]).map(guardText).join(` ${word} `);
  if (typeof parts.in === "string") return `in ${parts.in}`;
  if (Array.isArray(parts.and)) return `(${list(parts.and, "and")})`;
  if (Array.isArray(parts.or)) return `(${list(parts.or, "or")})`;
  if (parts.not !== undefined) return `not ${guardText(parts.not)}`;
  if (parts.error !== undefined) return [parts.error].flat().join(" or ");
  for (const key of ["type", "cel", "text"]) if (typeof parts[key] === "string") return parts[key];
  return "guard";
}

/** The child of `above` that is the node or holds it. */
function childAbove(node: StateNode, above: StateNode): StateNode {
  let up = node;
  while (up.parent !== above && up.parent !== undefined) up = up.parent;
  return up;
}

/** Mermaid reads `#58;` as the character of that number; letters, digits and what cannot end a label stay. */
export function escaped(text: string): string {
  return text.replace(/[^\p{L}\p{N} _.,/*()[\]+-]/gu, (character) => `#${character.codePointAt(0)};`);
}
