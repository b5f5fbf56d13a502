/**
 * A machine definition read as the SCXML document it stands for: state nodes in document order with their
 * transitions, handlers and targets resolved. It is read without any of the core's code, as plainly as possible.
 */
import type {
  Action,
  Expression,
  Guard,
  MachineDefinition,
  StateDefinition,
  TransitionParts,
  Transitions,
  Update,
} from "../../src/core/definition.ts";
import type { Matching } from "../../src/core/event.ts";
import type { Json } from "../../src/core/json.ts";

/** One block of executable content: an error ends it. */
export type Content = readonly Action[];

export interface StateNode {
  readonly type: "state" | "parallel" | "final" | "history";
  /** The name in the state's done events: its id, or else its path. */
  readonly id: string;
  readonly path: string;
  readonly parent: StateNode | null;
  readonly documentOrder: number;
  /** In document order, history states included. */
  readonly children: StateNode[];
  readonly transition: TransitionNode[];
  readonly onentry: readonly Content[];
  readonly onexit: readonly Content[];
  /** Of a compound state: its default entry. Of a history state: its default history. */
  default?: { readonly target: readonly StateNode[]; readonly content: Content };
  readonly isDeep: boolean;
  readonly donedata: Expression<Json> | undefined;
}

export interface TransitionNode {
  readonly source: StateNode;
  /** Absent for eventless transitions. */
  readonly event?: readonly string[];
  /** How its descriptors are read: `onDone` means one event in any case. */
  readonly matching: Matching;
  readonly cond: Guard | undefined;
  readonly target: readonly StateNode[];
  readonly type: "internal" | "external";
  readonly content: Content;
}

export interface Document {
  readonly definition: MachineDefinition;
  /** The machine itself, which plays the part of the `<scxml>` element. */
  readonly root: StateNode;
  /** In document order. */
  readonly states: readonly StateNode[];
}

/** The document that a definition stands for. */
export function readDocument(definition: MachineDefinition): Document {
  const states: StateNode[] = [];
  const definitions = new Map<StateNode, StateDefinition>();

  const readState = (source: StateDefinition, key: string, parent: StateNode | null): StateNode => {
    const path = parent === null ? "" : parent.path === "" ? key : `${parent.path}.${key}`;
    const node: StateNode = {
      type: source.type ?? "state",
      id: source.id ?? path,
      path,
      parent,
      documentOrder: states.length,
      children: [],
      transition: [],
      onentry: blocks(source.entry),
      onexit: blocks(source.exit),
      isDeep: source.history === "deep",
      donedata: source.output,
    };
    states.push(node);
    definitions.set(node, source);
    for (const [childKey, child] of Object.entries(source.states ?? {}))
      node.children.push(readState(child, childKey, node));
    return node;
  };

  const root = readState(definition, definition.id, null);
  const matching = definition.matching ?? "exact";
  for (const [node, source] of definitions) connect(node, source, states, matching);
  return { definition, root, states };
}

function connect(
  node: StateNode,
  source: StateDefinition,
  states: readonly StateNode[],
  matching: Matching,
): void {
  const resolve = (targets: string | readonly string[] | undefined): StateNode[] =>
    (targets === undefined ? [] : [targets].flat()).map((target) => resolveTarget(target, node, states));

  if (source.type === "history")
    node.default = { target: resolve(source.target), content: withUpdate(source.update, source.actions) };
  else if (node.type === "state" && node.children.length > 0) node.default = initialOf(source, node, states);

  const add = (
    event: readonly string[] | undefined,
    transitions: Transitions | undefined,
    read: Matching = matching,
  ): void => {
    for (const written of list(transitions)) {
      const parts: TransitionParts = typeof written === "string" ? { target: written } : written;
      node.transition.push({
        source: node,
        ...(event === undefined ? {} : { event }),
        matching: read,
        cond: parts.guard,
        target: resolve(parts.target),
        type: parts.reenter === true ? "external" : "internal",
        content: withUpdate(parts.update, parts.actions),
      });
    }
  };

  // Its handlers may say more about the event's data than others; nothing here looks at that.
  const onDone = source.onDone as Transitions | undefined;
  add(undefined, source.always);
  if (Array.isArray(source.on)) {
    for (const { event, ...parts } of source.on) add([event].flat(), parts);
    add([`done.state.${node.id}`], onDone, "exact");
  } else {
    const handlers = Object.entries({ ...source.on } as Record<string, Transitions | undefined>);
    if (onDone !== undefined) handlers.push([`done.state.${node.id}`, onDone]);
    for (const [descriptor, transitions] of mostSpecificFirst(handlers))
      add([descriptor], transitions, transitions === onDone ? "exact" : matching);
  }
}

/** Exact keys, then prefixes from the longest to the shortest, then `*`; equal ones stay as they are. */
function mostSpecificFirst<Value>(
  handlers: readonly (readonly [string, Value])[],
): (readonly [string, Value])[] {
  const rank = (descriptor: string): number => {
    if (descriptor === "*") return 0;
    return descriptor.endsWith(".*") ? descriptor.split(".").length - 1 : Number.MAX_SAFE_INTEGER;
  };
  return [...handlers].sort(([one], [other]) => rank(other) - rank(one));
}

function initialOf(
  source: StateDefinition,
  node: StateNode,
  states: readonly StateNode[],
): { target: StateNode[]; content: Content } {
  const { initial } = source;
  const inside = (target: string): StateNode =>
    target.startsWith("#")
      ? resolveTarget(target, node, states)
      : find(states, node.path === "" ? target : `${node.path}.${target.replace(/^\./, "")}`);
  if (initial === undefined) return { target: [getChildStates(node)[0]!], content: [] };
  if (typeof initial === "string" || Array.isArray(initial))
    return { target: [initial].flat().map(inside), content: [] };
  const parts = initial as Exclude<typeof initial, readonly string[]>;
  return {
    target: [parts.target].flat().map(inside),
    content: withUpdate(parts.update, parts.actions),
  };
}

/** `#id`, `.descendant`, or a path whose first key is that of a sibling or of an ancestor's sibling. */
function resolveTarget(target: string, from: StateNode, states: readonly StateNode[]): StateNode {
  if (target.startsWith("#")) {
    const named = states.find((state) => state.id === target.slice(1));
    if (named !== undefined) return named;
    throw new Error(`No state has the id ${target}.`);
  }
  const below = (container: StateNode, path: string): string =>
    container.path === "" ? path : `${container.path}.${path}`;
  if (target.startsWith(".")) return find(states, below(from, target.slice(1)));
  const [first] = target.split(".");
  for (let around = from.parent ?? from; ; around = around.parent!) {
    if (around.children.some((child) => child.path === below(around, first!)))
      return find(states, below(around, target));
    if (around.parent === null) throw new Error(`No state answers to ${target} from ${from.path}.`);
  }
}

function find(states: readonly StateNode[], path: string): StateNode {
  const found = states.find((state) => state.path === path);
  if (found === undefined) throw new Error(`There is no state ${path}.`);
  return found;
}

/** All children that can be active. https://www.w3.org/TR/scxml/#AlgorithmforSCXMLInterpretation */
export function getChildStates(state: StateNode): StateNode[] {
  return state.children.filter((child) => child.type !== "history");
}

const list = <Item>(items: Item | readonly Item[] | undefined): readonly Item[] =>
  items === undefined ? [] : ([items].flat() as Item[]);

const withUpdate = (update: Update | undefined, actions: Action | readonly Action[] | undefined): Content => [
  ...(update === undefined ? [] : [{ update }]),
  ...list(actions),
];

/** A list of lists is several blocks, anything else is one. */
function blocks(source: StateDefinition["entry"]): readonly Content[] {
  const items = list(source as Action | readonly Action[] | undefined);
  return items.length > 0 && items.every((item) => Array.isArray(item))
    ? (items as unknown as readonly Content[])
    : [items];
}
