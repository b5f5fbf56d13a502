/**
 * Pass one of compiling: the states. They are numbered in document order, named by path and id, and checked for what
 * can be checked before anything is connected. Every problem is reported with the path of its place.
 */
import { limits } from "../limits.ts";
import type { StateKind, StateNode } from "./chart.ts";
import { type Compiler, listOf, type Parts } from "./compiler.ts";
import { isObject } from "./json.ts";
import { inside, show } from "./problem.ts";
import { checkKeys, checkText, entriesAt, isName, namesAt, shapes } from "./shape.ts";

/** All states of a definition, and what each was made from. */
export class Tree {
  readonly nodes: StateNode[] = [];
  readonly byPath = new Map<string, StateNode>();
  readonly byId = new Map<string, StateNode>();
  /** One state of each key, wherever it is. */
  readonly byKey = new Map<string, StateNode>();
  /** Whether there are more states than a machine has: what names those left out is no problem of its own. */
  isFull = false;
  readonly sources = new Map<StateNode, { readonly state: Parts; readonly place: string }>();
  readonly #compiler: Compiler;
  readonly #keys = new Map<StateNode, readonly string[]>();

  constructor(definition: Parts, compiler: Compiler) {
    this.#compiler = compiler;
    const { states } = definition;
    if (states === undefined || (isObject(states) && Object.keys(states).length === 0))
      compiler.problem("states", "is empty", "a machine needs a state");
    this.#addState(definition, "", undefined, "");
  }

  /** The state that a path (`a.b`) or an id (`#a`) names. */
  find(name: string): StateNode | undefined {
    return name.startsWith("#") ? this.byId.get(name.slice(1)) : this.byPath.get(name);
  }

  /** The keys of the states inside another, for messages; there may be many of both. */
  keysIn(node: StateNode): readonly string[] {
    const keys = this.#keys.get(node) ?? [...node.children, ...node.histories].map(({ key }) => key);
    this.#keys.set(node, keys);
    return keys;
  }

  #addState(state: unknown, key: string, parent: StateNode | undefined, place: string): void {
    const compiler = this.#compiler;
    if (!isObject(state)) {
      compiler.problem(place, `is ${show(state)}`, "a state is an object, and may be an empty one");
      return;
    }
    const path = parent === undefined ? "" : parent.path === "" ? key : `${parent.path}.${key}`;
    const depth = parent === undefined ? 0 : parent.depth + 1;
    if (parent !== undefined && (key === "" || /[.#]/.test(key)))
      compiler.problem(place, "has a bad key: state keys are not empty and have no dot or # in them");
    if (this.nodes.length >= limits.statesMax || depth > limits.stateDepthMax) {
      const most = `a machine has at most ${limits.statesMax} states, ${limits.stateDepthMax} deep`;
      if (!this.isFull) compiler.problem(place, `is too much: ${most}`);
      this.isFull = this.nodes.length >= limits.statesMax;
      return;
    }
    if (path.length > limits.statePathLengthMax) {
      compiler.problem(
        place,
        "has too long a path",
        `it has at most ${limits.statePathLengthMax} characters`,
      );
      return;
    }
    const node = newNode(this.nodes.length, kindOf(state, parent), { state, key, path, depth, parent });
    this.nodes.push(node);
    this.byPath.set(path, node);
    if (!this.byKey.has(key)) this.byKey.set(key, node);
    this.sources.set(node, { state, place });
    if (parent !== undefined) {
      (node.kind === "history" ? parent.histories : parent.children).push(node);
      this.#addId(node, state.id, place);
    }
    this.#checkState(node, state, place);
    for (const [childKey, child] of entriesAt(compiler, state.states, inside(place, "states")))
      this.#addState(child, childKey, node, inside(place, "states", childKey));
    node.last = this.nodes.length - 1;
  }

  #addId(node: StateNode, id: unknown, place: string): void {
    if (id === undefined) return;
    if (!isName(id)) this.#compiler.problem(inside(place, "id"), "must be a name");
    else if (this.byId.has(id)) this.#compiler.problem(inside(place, "id"), `is used twice: ${show(id)}`);
    else this.byId.set(id, node);
  }

  #checkState(node: StateNode, state: Parts, place: string): void {
    const compiler = this.#compiler;
    const isRoot = node.parent === undefined;
    checkKeys(compiler, state, shapes[isRoot ? "machine" : "state"], isRoot ? "a machine" : "a state", place);
    checkText(compiler, state.description, inside(place, "description"));
    for (const key of ["defer", "tags"]) namesAt(compiler, state[key], inside(place, key));
    this.#checkKind(node, state, place);
    for (const [key, kinds] of Object.entries(onlyOn)) {
      if (state[key] === undefined || kinds.includes(node.kind) || (isRoot && key === "output")) continue;
      compiler.problem(inside(place, key), `cannot be on ${describe(node)}`, `it is for ${kinds[0]} states`);
    }
    const { history } = state;
    if (history !== undefined && history !== "shallow" && history !== "deep")
      compiler.problem(inside(place, "history"), `is ${show(history)}`, "write shallow or deep");
  }

  #checkKind(node: StateNode, { type, states, ...state }: Parts, place: string): void {
    const compiler = this.#compiler;
    if (type !== undefined && type !== "parallel" && type !== "final" && type !== "history") {
      const fix = "write parallel, final or history, or leave it out";
      compiler.problem(inside(place, "type"), `is ${show(type)}`, fix);
    }
    if (node.parent === undefined && (type === "final" || type === "history"))
      compiler.problem("type", `is ${type}`, "a machine itself is parallel, or has no type");
    const children = Object.values(isObject(states) ? states : {});
    const inert = node.kind === "final" || node.kind === "history";
    if (inert && children.length > 0)
      compiler.problem(inside(place, "states"), `cannot be inside a ${node.kind} state`);
    if (inert && (state.on ?? state.always ?? state.after ?? state.invoke ?? state.onDone) !== undefined)
      compiler.problem(place, `is a ${node.kind} state and cannot have transitions or invocations`);
    const regions = children.filter((child) => isObject(child) && child.type !== "history");
    if (node.kind === "parallel" && regions.length === 0)
      compiler.problem(place, "is parallel and needs regions: states inside it");
    if (node.parent?.kind === "parallel" && node.kind === "final") {
      const problem = "is final, and a parallel state has regions only: put it inside a region";
      compiler.problem(place, problem);
    }
  }
}

/** What only some kinds of states have; on others it would be ignored in silence. */
const onlyOn: Readonly<Record<string, readonly StateKind[]>> = {
  output: ["final"],
  history: ["history"],
  target: ["history"],
  update: ["history"],
  actions: ["history"],
  writes: ["parallel"],
};

/** A state by its kind, for messages. */
export function describe({ kind, parent }: StateNode): string {
  if (parent === undefined) return "a machine";
  return kind === "atomic" ? "an atomic state" : `a ${kind} state`;
}

interface NodeParts {
  readonly state: Parts;
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
    name: parent === undefined || !isName(state.id) ? path : state.id,
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
    tags: listOf(state.tags) as readonly string[],
  };
}

function kindOf(state: Parts, parent: StateNode | undefined): StateKind {
  const { type, states } = state;
  if (parent === undefined) return type === "parallel" ? "parallel" : "compound";
  if (type === "parallel" || type === "final" || type === "history") return type;
  return isObject(states) && Object.keys(states).length > 0 ? "compound" : "atomic";
}
