/**
 * The difference of two JSON values, as patches, and its application.
 *
 * P1. `apply(before, diff(before, after))` equals `after`, whatever the two are.
 * P2. What is the same reference on both sides is never looked into: the cost follows the change, not the state.
 * P3. A list that grew, shrank or moved along costs a patch per place, not per item; text that grew costs what it grew by.
 * P4. `apply` never changes `before`, and shares with it whatever no patch touches.
 */
import { HoldfastError } from "../errors.ts";
import {
  freeze,
  freezeDeep,
  isObject,
  type Json,
  type JsonObject,
  type Path,
  put,
  showPath,
  showValue,
} from "./json.ts";
import { sameItems } from "./origin.ts";

export type Patch =
  | { readonly op: "set"; readonly path: Path; readonly value: Json }
  | { readonly op: "delete"; readonly path: Path }
  /** Adds to the end of a list or of a text. */
  | { readonly op: "append"; readonly path: Path; readonly value: readonly Json[] | string }
  | {
      readonly op: "splice";
      readonly path: Path;
      readonly index: number;
      readonly remove: number;
      readonly insert: readonly Json[];
    };

/** The patches that turn `before` into `after`, in the order to apply them. */
export function diff(before: Json, after: Json): Patch[] {
  const patches: Patch[] = [];
  compare(before, after, [], patches);
  return patches;
}

function compare(before: Json, after: Json, path: Path, patches: Patch[]): void {
  if (before === after) return;
  if (isList(before) && isList(after)) compareLists(before, after, path, patches);
  else if (isObject(before) && isObject(after)) compareRecords(before, after, path, patches);
  else if (typeof before === "string" && typeof after === "string" && after.startsWith(before)) {
    patches.push({ op: "append", path, value: after.slice(before.length) });
  } else patches.push({ op: "set", path, value: after });
}

function compareRecords(before: JsonObject, after: JsonObject, path: Path, patches: Patch[]): void {
  // Without lists of their keys: every step compares two states.
  for (const key in after) {
    const now = after[key] as Json;
    if (!Object.hasOwn(before, key)) patches.push({ op: "set", path: path.concat(key), value: now });
    else if (now !== before[key]) compare(before[key] as Json, now, path.concat(key), patches);
  }
  for (const key in before) {
    if (!Object.hasOwn(after, key)) patches.push({ op: "delete", path: [...path, key] });
  }
}

function compareLists(before: readonly Json[], after: readonly Json[], path: Path, patches: Patch[]): void {
  let start = sameItems(before, after);
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start++;
  let same = 0;
  while (same < shorter - start && before[before.length - 1 - same] === after[after.length - 1 - same])
    same++;
  alignLists(
    { items: before, index: start, end: before.length - same },
    { items: after, index: start, end: after.length - same },
    path,
    patches,
  );
}

interface Cursor {
  readonly items: readonly Json[];
  readonly end: number;
  index: number;
}

/** Walks both lists side by side: what moved is found by reference, what changed in place is compared further. */
function alignLists(before: Cursor, after: Cursor, path: Path, patches: Patch[]): void {
  const places = { before: placesOf(before), after: placesOf(after) };
  let removed = 0;
  let inserted = 0;
  const flush = () => {
    if (removed + inserted === 0) return;
    const index = after.index - inserted;
    const insert = after.items.slice(index, after.index);
    if (removed === 0 && before.index === before.items.length)
      patches.push({ op: "append", path, value: insert });
    else patches.push({ op: "splice", path, index, remove: removed, insert });
    removed = 0;
    inserted = 0;
  };
  while (before.index < before.end && after.index < after.end) {
    const was = before.items[before.index] as Json;
    const is = after.items[after.index] as Json;
    const isLater = places.before.get(is) ?? -1;
    const wasLater = places.after.get(was) ?? -1;
    if (was === is) {
      flush();
      before.index++;
      after.index++;
    } else if (isLater > before.index) {
      removed += isLater - before.index;
      before.index = isLater;
    } else if (wasLater > after.index) {
      inserted += wasLater - after.index;
      after.index = wasLater;
    } else if (isContainer(was) && isContainer(is)) {
      flush();
      compare(was, is, [...path, after.index], patches);
      before.index++;
      after.index++;
    } else {
      removed++;
      inserted++;
      before.index++;
      after.index++;
    }
  }
  removed += before.end - before.index;
  inserted += after.end - after.index;
  before.index = before.end;
  after.index = after.end;
  flush();
}

/** Where each item stands first. Items that repeat are found once only; that costs patch size, never truth. */
function placesOf(cursor: Cursor): Map<Json, number> {
  const places = new Map<Json, number>();
  for (let index = cursor.end - 1; index >= cursor.index; index--)
    places.set(cursor.items[index] as Json, index);
  return places;
}

/** The value with the patches applied in order; throws PATCH_INVALID, changing nothing, if one does not fit. */
export function apply(before: Json, patches: readonly Patch[]): Json {
  const root = { value: before };
  // What this call copied may be changed again in place; whatever else it meets is copied first.
  const own = new Set<object>([root]);
  for (const patch of patches) applyPatch(root, patch, own);
  for (const copy of own) freeze(copy);
  return root.value;
}

function applyPatch(root: { value: Json }, patch: Patch, own: Set<object>): void {
  let holder: Container = root as unknown as Container;
  let key: string | number = "value";
  if (!isPatch(patch)) throw new HoldfastError("PATCH_INVALID", `${showValue(patch)} is not a patch`);
  const { path } = patch;
  for (let index = 0; index < path.length; index++) {
    holder = ownContainer(holder, key, own, patch);
    key = path[index] as string | number;
  }
  const value = Object.hasOwn(holder, key) ? (holder[key] as Json) : undefined;
  switch (patch.op) {
    case "set":
      if (isList(holder) && !isPlace(key, holder.length)) misfit(patch, `there is no item ${key}`);
      if (patch.value === undefined) misfit(patch, "it has no value");
      put(holder, String(key), freezeDeep(patch.value));
      break;
    case "delete":
      if (value === undefined || isList(holder) || patch.path.length === 0)
        misfit(patch, "there is nothing to delete");
      delete holder[key];
      break;
    case "append":
      if (typeof value === "string" && typeof patch.value === "string")
        put(holder, String(key), value + patch.value);
      else if (isList(value) && isList(patch.value))
        pushAll(ownContainer(holder, key, own, patch) as unknown as Json[], patch.value);
      else misfit(patch, "nothing of that kind stands there");
      break;
    case "splice":
      if (!isList(value) || !isPlace(patch.index, value.length + 1) || !isList(patch.insert))
        misfit(patch, "there is no list with such a place");
      else if (!isPlace(patch.remove, value.length - patch.index + 1))
        misfit(patch, "it removes more than there is");
      else splice(ownContainer(holder, key, own, patch), patch.index, patch.remove, patch.insert);
      break;
    default:
      misfit(patch, "there is no such operation");
  }
}

function isPatch(patch: unknown): patch is Patch {
  const { path } = (patch ?? {}) as Partial<Patch>;
  if (!isList(path)) return false;
  // By hand: a run is read patch by patch, in code that has not been warm.
  for (let index = 0; index < path.length; index++) {
    const kind = typeof path[index];
    if (kind !== "string" && kind !== "number") return false;
  }
  return true;
}

/** Item by item: a call with a long list as its arguments would overflow the stack. */
function pushAll(list: Json[], items: readonly Json[]): void {
  for (let index = 0; index < items.length; index++) list.push(freezeDeep(items[index] as Json));
}

function splice(container: Container, index: number, remove: number, insert: readonly Json[]): void {
  const list = container as unknown as Json[];
  const tail = list.slice(index + remove);
  list.length = index;
  pushAll(list, insert);
  for (const item of tail) list.push(item);
}

type Container = Record<string | number, unknown>;

/** The container under a key, made this call's own if it is not yet. */
function ownContainer(holder: Container, key: string | number, own: Set<object>, patch: Patch): Container {
  const value = Object.hasOwn(holder, key) ? (holder[key] as Json) : undefined;
  if (value === undefined || !isContainer(value) || typeof value === "string") {
    return misfit(patch, `nothing stands at ${JSON.stringify(key)} to go into`);
  }
  if (own.has(value)) return value as unknown as Container;
  // Not `slice`: of a frozen list it is ten times as slow.
  const copy = (isList(value) ? [...value] : { ...value }) as Container;
  own.add(copy);
  put(holder, String(key), copy);
  return copy;
}

function misfit(patch: Patch, why: string): never {
  const place = showPath(patch.path);
  throw new HoldfastError(
    "PATCH_INVALID",
    `The patch ${patch.op} at ${place} does not fit: ${why}. Apply patches to the state they were made from`,
    {
      details: { patch },
    },
  );
}

function isPlace(index: unknown, count: number): boolean {
  return typeof index === "number" && Number.isInteger(index) && index >= 0 && index < count;
}

function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** Whether a change inside a value may be smaller than the value. */
function isContainer(value: Json): value is JsonObject | readonly Json[] | string {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}
