/**
 * Pass one of compiling: the states. They are numbered in document order, named by path and id, and checked for what
 * can be checked before anything is connected. Every problem is reported with the path of its place.
 */
import { limits } from "../limits.ts";
import type { StateKind, StateNode } from "./chart.ts";
import type { MachineDefinition, StateDefinition } from "./definition.ts";
import { showValue } from "./json.ts";

export type Report = (path: string, problem: string) => void;

/** A place in a definition, as problems name it. */
export function join(...parts: string[]): string {
  return parts.filter((part) => part !== "").join(".");
}

/** All states of a definition, and what each was made from. */
export class Tree {
  readonly nodes: StateNode[] = [];
  readonly byPath = new Map<string, StateNode>();
  readonly byId = new Map<string, StateNode>();
  readonly sources = new Map<StateNode, { readonly state: StateDefinition; readonly place: string }>();
  private readonly problem: Report;

  constructor(definition: MachineDefinition, problem: Report) {
    this.problem = problem;
    if (Object.keys(definition.states ?? {}).length === 0)
      problem("states", "is empty; a machine needs a state");
    this.addState(definition, "", undefined, "");
  }

  /** The state that a path (`a.b`) or an id (`#a`) names. */
  find(name: string): StateNode | undefined {
    return name.startsWith("#") ? this.byId.get(name.slice(1)) : this.byPath.get(name);
  }

  private addState(state: StateDefinition, key: string, parent: StateNode | undefined, place: string): void {
    if (typeof state !== "object" || state === null) {
      this.problem(place, `is ${showValue(state)}; a state is an object, and may be an empty one`);
      return;
    }
    const path = parent === undefined ? "" : parent.path === "" ? key : `${parent.path}.${key}`;
    const depth = parent === undefined ? 0 : parent.depth + 1;
    if (parent !== undefined && (key === "" || /[.#]/.test(key) || key === "__proto__")) {
      this.problem(place, "has a bad key: state keys are not empty and have no dot or # in them");
    }
    if (this.nodes.length >= limits.statesMax || depth > limits.stateDepthMax) {
      this.problem(
        place,
        `is too much: a machine has at most ${limits.statesMax} states, ${limits.stateDepthMax} deep`,
      );
      return;
    }
    const node = newNode(this.nodes.length, kindOf(state, parent), { state, key, path, depth, parent });
    this.nodes.push(node);
    this.byPath.set(path, node);
    this.sources.set(node, { state, place });
    if (parent !== undefined) {
      (node.kind === "history" ? parent.histories : parent.children).push(node);
      this.addId(node, state.id, place);
    }
    this.checkKind(node, state, place);
    for (const [childKey, child] of Object.entries(state.states ?? {})) {
      this.addState(child, childKey, node, join(place, "states", childKey));
    }
    node.last = this.nodes.length - 1;
  }

  private addId(node: StateNode, id: unknown, place: string): void {
    if (id === undefined) return;
    if (typeof id !== "string" || id === "") this.problem(join(place, "id"), "must be a name");
    else if (this.byId.has(id)) this.problem(join(place, "id"), `is used twice: ${JSON.stringify(id)}`);
    else this.byId.set(id, node);
  }

  private checkKind(node: StateNode, state: StateDefinition, place: string): void {
    const { type } = state;
    if (type !== undefined && type !== "parallel" && type !== "final" && type !== "history") {
      this.problem(
        join(place, "type"),
        `is ${showValue(type)}; write parallel, final or history, or leave it out`,
      );
    }
    for (const key of ["defer", "tags"] as const) {
      if (state[key] !== undefined && !isTextList(state[key]))
        this.problem(join(place, key), "must be a list of names");
    }
    if (isLeafKind(node.kind) && state.states !== undefined && Object.keys(state.states).length > 0) {
      this.problem(join(place, "states"), `cannot be inside a ${node.kind} state`);
    }
    const regions = Object.values(state.states ?? {}).filter((child) => child?.type !== "history");
    if (node.kind === "parallel" && regions.length === 0) {
      this.problem(place, "is parallel and needs regions: states inside it");
    }
    if (node.parent === undefined && (type === "final" || type === "history")) {
      this.problem("type", `is ${type}; a machine itself is parallel, or has no type`);
    }
    const inert = node.kind === "final" || node.kind === "history";
    if (inert && (state.on ?? state.always ?? state.after ?? state.invoke ?? state.onDone) !== undefined) {
      this.problem(place, `is a ${node.kind} state and cannot have transitions or invocations`);
    }
    if (node.parent?.kind === "parallel" && node.kind === "final") {
      this.problem(place, "is final, and a parallel state has regions only: put it inside a region");
    }
  }
}

interface NodeParts {
  readonly state: StateDefinition;
  readonly key: string;
  readonly path: string;
  readonly depth: number;
  readonly parent: StateNode | undefined;
}

function newNode(index: number, kind: StateKind, { state, key, path, depth, parent }: NodeParts): StateNode {
  return {
    index,
    kind,
    key,
    path,
    name: parent === undefined ? path : (state.id ?? path),
    depth,
    parent,
    children: [],
    histories: [],
    last: index,
    initial: undefined,
    deep: state.history === "deep",
    transitions: [],
    eventless: [],
    entry: [],
    exit: [],
    declare: undefined,
    delays: [],
    invokes: [],
    output: undefined,
    defer: [],
    invariants: [],
    require: [],
    ensure: [],
    writes: () => "reject",
    tags: state.tags ?? [],
  };
}

function kindOf(state: StateDefinition, parent: StateNode | undefined): StateKind {
  if (parent === undefined) return state.type === "parallel" ? "parallel" : "compound";
  if (state.type === "parallel" || state.type === "final" || state.type === "history") return state.type;
  return Object.keys(state.states ?? {}).length > 0 ? "compound" : "atomic";
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isLeafKind(kind: StateKind): boolean {
  return kind === "final" || kind === "history";
}
