/**
 * JSON values, the only values a state may hold. `toJson` is the border: whatever user code hands over passes
 * through it once, and what it lets through survives `JSON.stringify` and `JSON.parse` unchanged.
 */
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A key or an index in a JSON value, and a way through it. */
export type Path = readonly (string | number)[];

/** A path as people write it: `$.plan.steps[2]`. */
export function showPath(path: Path, root = "$"): string {
  let shown = root;
  for (const key of path) {
    if (typeof key === "number") shown += `[${key}]`;
    else shown += /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  }
  return shown;
}

/** How much of a value a message shows: it is for people, and the value may be as large as a state. */
const shownMax = 500;

/** Any value at all as text, for messages about what it should have been. */
export function showValue(value: unknown): string {
  try {
    const shown = JSON.stringify(value) ?? String(value);
    return shown.length > shownMax ? `${shown.slice(0, shownMax)}…` : shown;
  } catch {
    return typeof value;
  }
}

/** What stands in for other values inside a value under construction; drafts are resolved through it. */
export type Resolve = (value: object, depth: number) => unknown;

/**
 * The value as JSON: the same reference where it is clean, a copy without its `undefined` fields where it has some.
 * Throws NOT_JSON, with the path, for anything JSON cannot hold.
 */
export function toJson(
  value: unknown,
  path: Path,
  root?: string,
  resolve?: Resolve,
  depthMax: number = limits.jsonDepthMax,
): Json {
  if (isClean(value, depthMax - path.length, resolve)) return value;
  return clean(value, { root, resolve, depthMax, path: [...path] });
}

/** Whether a value can be taken as it is: the usual case, told without making anything. */
function isClean(value: unknown, levels: number, resolve: Resolve | undefined): value is Json {
  if (isScalar(value)) return true;
  if (typeof value !== "object" || value === null || levels <= 0) return false;
  if (resolve !== undefined && resolve(value, limits.jsonDepthMax - levels) !== value) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++)
      if (!isClean(value[index], levels - 1, resolve)) return false;
    return true;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const key in value) {
    if (!isClean((value as Record<string, unknown>)[key], levels - 1, resolve)) return false;
  }
  return Object.getOwnPropertySymbols(value).length === 0;
}

/**
 * Whether a value that `JSON.parse` made, or patches made of such, is what `toJson` lets through. It asks for what parsing
 * can bring and nothing else, which is less than half the work.
 */
export function isSound(parsed: unknown, depthMax: number): boolean {
  if (typeof parsed === "number") return isScalar(parsed);
  if (typeof parsed !== "object" || parsed === null) return true;
  if (depthMax <= 0) return false;
  if (Array.isArray(parsed)) {
    for (let index = 0; index < parsed.length; index++) {
      const item: unknown = parsed[index];
      if (typeof item !== "string" && !isSound(item, depthMax - 1)) return false;
    }
    return true;
  }
  for (const key in parsed) {
    const item = (parsed as Record<string, unknown>)[key];
    // Most of what there is is text, and nothing can be wrong with that.
    if (typeof item !== "string" && !isSound(item, depthMax - 1)) return false;
  }
  return true;
}

/** Whether a value is JSON without parts. Minus zero is not: JSON writes it as 0. */
export function isScalar(value: unknown): value is null | boolean | number | string {
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  return typeof value === "string" || typeof value === "boolean" || value === null;
}

/** Whether an object is a list or a plain record: the only ones JSON has. */
export function isPlain(value: object): boolean {
  const prototype = Array.isArray(value) ? null : Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

interface Cleaning {
  readonly root: string | undefined;
  readonly resolve: Resolve | undefined;
  readonly depthMax: number;
  readonly path: (string | number)[];
}

function clean(value: unknown, at: Cleaning): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) refuse(at, `the number ${value}`);
      return Object.is(value, -0) ? 0 : value;
    case "object":
      return value === null ? null : cleanObject(value, at);
    default:
      return refuse(at, value === undefined ? "undefined" : `a ${typeof value}`);
  }
}

function cleanObject(given: object, at: Cleaning): Json {
  if (at.path.length >= at.depthMax) {
    return refuse(at, `nested deeper than ${at.depthMax} levels (or a cycle)`);
  }
  const value = (at.resolve === undefined ? given : at.resolve(given, at.path.length)) as object;
  // What a draft resolves to was cleaned when its own update ended.
  if (value !== given) return value as Json;
  if (Array.isArray(value)) return cleanArray(value, at);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return refuse(at, `an instance of ${prototype.constructor?.name ?? "a class"}`);
  }
  return cleanRecord(value as Record<string, unknown>, at, prototype === null);
}

function cleanArray(value: readonly unknown[], at: Cleaning): Json {
  let copy: Json[] | undefined;
  for (let index = 0; index < value.length; index++) {
    const item = value[index];
    at.path.push(index);
    if (item === undefined) refuse(at, index in value ? "undefined" : "a hole in an array");
    const cleaned = clean(item, at);
    at.path.pop();
    if (!Object.is(cleaned, item) && copy === undefined) copy = value.slice(0, index) as Json[];
    copy?.push(cleaned);
  }
  return copy ?? (value as readonly Json[]);
}

function cleanRecord(value: Record<string, unknown>, at: Cleaning, mustCopy: boolean): Json {
  const keys = Object.keys(value);
  if (Object.getOwnPropertySymbols(value).length > 0) refuse(at, "an object with symbol keys");
  let changed = mustCopy;
  const cleaned: Json[] = [];
  for (const key of keys) {
    const item = value[key];
    at.path.push(key);
    const json = item === undefined ? undefined : clean(item, at);
    at.path.pop();
    if (!Object.is(json, item) || json === undefined) changed = true;
    cleaned.push(json as Json);
  }
  if (!changed) return value as JsonObject;
  const copy = {};
  keys.forEach((key, index) => {
    if (cleaned[index] !== undefined) put(copy, key, cleaned[index]);
  });
  return copy;
}

/** Sets an own property under any key: plain assignment of `__proto__` would change the prototype instead. */
export function put(target: object, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (target as Record<string, unknown>)[key] = value;
  }
}

/** How much of a path a message shows of each end: a cycle is as long as a value may be deep. */
const pathEndMax = 80;

function abridged(path: string): string {
  if (path.length <= 2 * pathEndMax) return path;
  return `${path.slice(0, pathEndMax)} … ${path.slice(-pathEndMax)}`.toWellFormed();
}

function refuse(at: Cleaning, what: string): never {
  const path = abridged(showPath(at.path, at.root));
  throw new HoldfastError(
    "NOT_JSON",
    `${path} is ${what}, and state holds JSON only: use plain data instead`,
    {
      details: { path },
    },
  );
}

let freezing = true;

/**
 * Turns the freezing of states on (the default: a stray mutation throws where it happens) or off, for production,
 * where nothing is frozen and everything is just as immutable by discipline. Returns what it was.
 */
export function freezeStates(on: boolean): boolean {
  const before = freezing;
  freezing = on;
  return before;
}

/** Freezes one object, if states are frozen at all. */
export function freeze<Value extends object>(value: Value): Value {
  return freezing ? Object.freeze(value) : value;
}

/** Freezes a JSON value all the way down, if states are frozen at all. */
export function freezeDeep<Value>(value: Value): Value {
  if (freezing && typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) freezeDeep(item);
  }
  return value;
}

/** Whether a value is an object, and neither a list nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
