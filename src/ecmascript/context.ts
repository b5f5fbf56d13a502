/**
 * How the variables of a document are kept in a run's context: by their names, as plain JSON, so that people and tools
 * can read them. What JSON cannot say, and what the model needs besides, stands apart under `#`, which no variable can
 * be called.
 */
import type { Json, JsonObject } from "../core/json.ts";

export interface Kept {
  readonly data: JsonObject;
  /** What JSON cannot say, by JSON pointer into the data; see `prelude.ts`. */
  readonly kinds: Readonly<Record<string, string>>;
  /** The sources to run again, in order, because they make functions. */
  readonly rerun: readonly string[];
  /** The late data that has been bound. */
  readonly bound: readonly string[];
  /** Where chance stands; undefined as long as nobody asked for any. */
  readonly chance: number | undefined;
}

const notesKey = "#";

export function readContext(context: JsonObject): Kept {
  const { [notesKey]: found, ...data } = context;
  const notes = (found ?? {}) as Partial<Kept>;
  return {
    data,
    kinds: notes.kinds ?? {},
    rerun: notes.rerun ?? [],
    bound: notes.bound ?? [],
    chance: notes.chance,
  };
}

/** The context that keeps all this; parts that are as before stay the same objects, so that differences stay small. */
export function writeContext(kept: Kept, before: JsonObject): JsonObject {
  const { data, kinds, rerun, bound, chance } = kept;
  const notes: Record<string, Json> = {
    ...(Object.keys(kinds).length > 0 && { kinds }),
    ...(rerun.length > 0 && { rerun }),
    ...(bound.length > 0 && { bound }),
    ...(chance !== undefined && { chance }),
  };
  const context = Object.keys(notes).length > 0 ? { ...data, [notesKey]: notes } : data;
  return shareUnchanged(before, context) as JsonObject;
}

/** `after`, with every part that equals its counterpart in `before` replaced by it. */
function shareUnchanged(before: Json | undefined, after: Json): Json {
  if (before === after) return after;
  if (typeof before !== "object" || typeof after !== "object" || before === null || after === null)
    return after;
  if (Array.isArray(before) !== Array.isArray(after)) return after;
  const old = before as JsonObject;
  const entries = Object.entries(after);
  let same = Object.keys(old).length === entries.length;
  const shared = entries.map(([key, value]): [string, Json] => {
    const item = shareUnchanged(Object.hasOwn(old, key) ? old[key] : undefined, value);
    same &&= Object.hasOwn(old, key) && item === old[key];
    return [key, item];
  });
  if (same) return before;
  return Array.isArray(after) ? shared.map(([, item]) => item) : Object.fromEntries(shared);
}
