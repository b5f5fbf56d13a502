/**
 * Drafts: recipes change what looks like their own context, and the old context stays as it is.
 *
 * A draft is a proxy over one object or array. The first write copies that object, and only it; objects read through
 * a draft become drafts of their own, so a write deep down copies just the way to it. When the recipe ends, each
 * copied object is looked at once, and only where it was touched: drafts are resolved, new values pass `toJson`.
 *
 * Why not mutative or immer: docs/decisions/0002-drafts.md has the measurements.
 */
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { freeze, freezeDeep, isPlain, isScalar, type Path, put, showPath, toJson } from "./json.ts";
import { noteOrigin } from "./origin.ts";

type Container = Record<string, unknown>;

/** One recipe under way; all its drafts end with it. */
interface Session {
  readonly root: string;
  open: boolean;
}

/** One drafted object: what it was, its copy once it is needed, and where to look when the recipe ends. */
class Node {
  readonly base: Container;
  readonly session: Session;
  readonly parent: Node | undefined;
  readonly key: string;
  /** Made by the recipe, or from elsewhere: not yet known to be JSON. */
  readonly fresh: boolean;
  proxy: Container | undefined = undefined;
  copy: Container | undefined = undefined;
  modified = false;
  stage: "open" | "finishing" | "finished" = "open";
  /** Of an array: the range that holds every child draft and every written item. */
  low = Number.POSITIVE_INFINITY;
  high = -1;

  constructor(base: Container, session: Session, parent: Node | undefined, key: string, fresh: boolean) {
    this.base = base;
    this.session = session;
    this.parent = parent;
    this.key = key;
    this.fresh = fresh;
  }
}

const nodeOf: unique symbol = Symbol("holdfast.draft");

function draft(
  base: Container,
  session: Session,
  parent: Node | undefined,
  key: string,
  fresh: boolean,
): Node {
  const node = new Node(base, session, parent, key, fresh);
  // What the proxy stands on decides `Array.isArray`; its content never shows, since every trap goes to the node.
  node.proxy = (Array.isArray(base)
    ? new Proxy([node], arrayTraps)
    : new Proxy(node, objectTraps)) as unknown as Container;
  return node;
}

function draftNode(value: unknown): Node | undefined {
  return typeof value === "object" && value !== null ? (value as { [nodeOf]?: Node })[nodeOf] : undefined;
}

function pathOf(node: Node): Path {
  if (node.parent === undefined) return [];
  return [...pathOf(node.parent), Array.isArray(node.parent.base) ? Number(node.key) : node.key];
}

function placeOf(node: Node): string {
  return showPath(pathOf(node), node.session.root);
}

function current(node: Node): Container {
  if (!node.session.open) {
    throw new HoldfastError(
      "DRAFT_CLOSED",
      `The draft of ${placeOf(node)} was used after its update had ended: read \`context\`, and do not keep drafts`,
    );
  }
  return node.copy ?? node.base;
}

function copied(node: Node): Container {
  // Not `slice`: of a frozen list it is ten times as slow.
  node.copy ??= (Array.isArray(node.base) ? [...node.base] : { ...node.base }) as Container;
  return node.copy;
}

function modify(node: Node): Container {
  for (let up: Node | undefined = node; up !== undefined && !up.modified; up = up.parent) up.modified = true;
  return copied(node);
}

function touch(node: Node, index: number): void {
  if (index < node.low) node.low = index;
  if (index > node.high) node.high = index;
}

function read(node: Node, key: string): unknown {
  const source = current(node);
  const value = source[key];
  if (typeof value !== "object" || value === null) return value;
  if (!Object.hasOwn(source, key) || draftNode(value) !== undefined) return value;
  // What the recipe wrote is drafted as well: it may belong to the old context, or to the event.
  const fresh = node.fresh || value !== node.base[key];
  if (fresh && !isPlain(value)) return value;
  const child = draft(value as Container, node.session, node, key, fresh);
  copied(node)[key] = child.proxy;
  if (Array.isArray(source)) touch(node, Number(key));
  return child.proxy;
}

function write(node: Node, key: string, value: unknown): boolean {
  const source = current(node);
  if (key === "__proto__") return refuseKey(node, key);
  if (Object.is(source[key], value) && Object.hasOwn(source, key)) return true;
  const copy = modify(node);
  if (Array.isArray(copy)) writeItem(node, copy, key, value);
  else if (value === undefined) delete copy[key];
  else copy[key] = value;
  return true;
}

function writeItem(node: Node, copy: unknown[], key: string, value: unknown): void {
  const lengthBefore = copy.length;
  const index = Number(key);
  // A list has items and nothing else: anything under another key, such as -1, would be lost with the next JSON.
  if (key !== "length" && (String(index) !== key || !(index >= 0) || !Number.isInteger(index)))
    refuseKey(node, key);
  (copy as unknown as Container)[key] = value;
  touch(node, key === "length" ? copy.length : index);
  // Growing past the end leaves holes; they must be looked at too.
  if (copy.length > lengthBefore) touch(node, lengthBefore);
}

function traps<Base extends object>(node: (target: Base) => Node): ProxyHandler<Base> {
  return {
    get: (target, key) => (key === nodeOf ? node(target) : read(node(target), key as string)),
    set: (target, key, value) =>
      typeof key === "string" ? write(node(target), key, value) : refuseKey(node(target), String(key)),
    deleteProperty(target, key) {
      const drafted = node(target);
      const source = current(drafted);
      if (!Object.hasOwn(source, key)) return true;
      if (Array.isArray(source)) touch(drafted, Number(key));
      return delete modify(drafted)[key as string];
    },
    has: (target, key) => key in current(node(target)),
    ownKeys: (target) => Reflect.ownKeys(current(node(target))),
    getOwnPropertyDescriptor(target, key) {
      const drafted = node(target);
      const source = current(drafted);
      if (!Object.hasOwn(source, key)) return undefined;
      // A proxy may call a property fixed only if its own target has it so: true of an array's length alone.
      const fixed = Array.isArray(source) && key === "length";
      return {
        value: read(drafted, key as string),
        writable: true,
        enumerable: !fixed,
        configurable: !fixed,
      };
    },
    getPrototypeOf: (target) => Object.getPrototypeOf(node(target).base),
    setPrototypeOf: (target) => refuseKey(node(target), "__proto__"),
    defineProperty: (target, key) => refuseKey(node(target), String(key)),
    preventExtensions: () => false,
  };
}

const objectTraps = traps<Node>((target) => target);
const arrayTraps = traps<Node[]>((target) => target[0] as Node);

function refuseKey(node: Node, key: string): never {
  throw new HoldfastError(
    "NOT_JSON",
    `${placeOf(node)} cannot have ${JSON.stringify(key)} defined this way: assign plain JSON to its fields`,
  );
}

function refusePlace(node: Node, why: string): never {
  throw new HoldfastError("NOT_JSON", `${placeOf(node)} ${why}`, { details: { path: placeOf(node) } });
}

/** What a draft came to: its base if nothing changed, else its copy, made clean wherever it was touched. */
function finish(node: Node): Container {
  if (!node.modified || node.copy === undefined) return node.base;
  const { copy } = node;
  if (node.stage === "finished") return copy;
  if (node.stage === "finishing") return refusePlace(node, "contains itself, and JSON has no cycles");
  node.stage = "finishing";
  if (Array.isArray(copy)) {
    const end = Math.min(node.high + 1, copy.length);
    const base = node.base as unknown as readonly unknown[];
    for (let index = node.low; index < end; index++)
      // Between two that were touched may be thousands that were not. What lies beyond the base is a hole.
      if (copy[index] === undefined || copy[index] !== base[index])
        copy[index] = adopt(copy[index], node, index);
    if (!node.fresh) noteOrigin(copy, base, node.low);
  } else {
    for (const key of Object.keys(copy)) {
      const value = copy[key];
      // A function is looked at in any case: it may be the one its base inherits.
      if (value !== node.base[key] || typeof value === "function") put(copy, key, adopt(value, node, key));
    }
  }
  node.stage = "finished";
  // What the recipe made is frozen as a whole once it is known to be JSON; frozen here, its inside would be passed over.
  return node.fresh ? copy : freeze(copy);
}

function adopt(value: unknown, node: Node, key: string | number): unknown {
  if (isScalar(value)) return value;
  const child = draftNode(value);
  if (child !== undefined) return finishAt(child, depthOf(node) + 1);
  return freezeDeep(toJson(value, [...pathOf(node), key], node.session.root, resolve));
}

function resolve(value: object, depth: number): unknown {
  const node = draftNode(value);
  return node === undefined ? value : finishAt(node, depth);
}

/** What a draft came to, for a place this deep. Only one that moved further down can have become too deep. */
function finishAt(node: Node, depth: number): unknown {
  const finished = finish(node);
  if (node.fresh) return freezeDeep(toJson(finished, pathOf(node), node.session.root, resolve));
  if (depth > depthOf(node) && exceeds(finished, limits.jsonDepthMax - depth)) {
    refusePlace(node, `was moved to where it is nested deeper than ${limits.jsonDepthMax} levels`);
  }
  return finished;
}

function depthOf(node: Node): number {
  let depth = 0;
  for (let up = node.parent; up !== undefined; up = up.parent) depth++;
  return depth;
}

function exceeds(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels <= 0 || Object.values(value).some((item) => exceeds(item, levels - 1));
}

/** Runs a recipe on a draft of `base` and returns what it made: `base` itself when nothing changed. */
export function produce<Base extends object, Scope>(
  base: Base,
  recipe: (draft: never, scope: Scope) => unknown,
  scope: Scope,
): Base {
  const session: Session = { root: "context", open: true };
  const root = draft(base as unknown as Container, session, undefined, "", false);
  try {
    recipe(root.proxy as never, scope);
    return finish(root) as Base;
  } finally {
    session.open = false;
  }
}

/**
 * What stands behind a draft at this moment, to look at without drafting all that is looked at; anything else as it is.
 * It is for reading within the recipe only: what is in it may be a draft itself, and nothing may be written to it.
 */
export function peek<Value>(value: Value): Value {
  const node = draftNode(value);
  return node === undefined ? value : (current(node) as Value);
}
