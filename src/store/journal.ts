/**
 * The journal: what each step did, as entries chained by digests, and how a state comes back from them.
 *
 * J1. An entry holds what happened (event, outcome, effects) and what changed (patches), never the state itself.
 * J2. `digest` covers the sealed bytes of its entry and the digest before it, so no entry can be changed, left out or
 *     moved without the chain showing it. It runs over sums of bytes, so it can be checked without opening them.
 * J3. A long text that an entry has in several places, as an event's data that went into the context, is written once.
 */
import { hash } from "node:crypto";
import type { Effect } from "../core/effect.ts";
import type { Event } from "../core/event.ts";
import type { Json, JsonObject, Path } from "../core/json.ts";
import { apply, type Patch } from "../core/patch.ts";
import type { Outcome } from "../core/step.ts";
import { HoldfastError } from "../errors.ts";
import { decode, encode } from "./codec.ts";
import type { EntryRow } from "./records.ts";

/** One step, in plain form. */
export interface Entry {
  readonly seq: number;
  readonly at: number;
  /** The hash of the definition that took it. */
  readonly hash: string;
  readonly event: Event;
  readonly outcome: Outcome;
  readonly patches: readonly Patch[];
  readonly effects: readonly Effect[];
  /** Why the step was refused. */
  readonly error?: JsonObject;
}

/** The digest before the first entry. */
export const genesis = "";

/** An entry as it is stored, chained to the one before. `seal` closes the bytes. */
export function writeEntry(
  entry: Entry,
  previous: string,
  seal: (bytes: Uint8Array) => Uint8Array,
): EntryRow {
  const bytes = seal(encode(share(entry as unknown as JsonObject)));
  return { seq: entry.seq, at: entry.at, digest: chain(previous, bytes), bytes };
}

/** The entry in a row; throws STORE_CORRUPT if the row does not follow `previous`. */
export function readEntry(
  row: EntryRow,
  previous: string,
  open: (bytes: Uint8Array) => Uint8Array,
  what: string,
): Entry {
  if (chain(previous, row.bytes) !== row.digest) {
    throw new HoldfastError(
      "STORE_CORRUPT",
      `Entry ${row.seq} of ${what} does not match its digest: it was changed after it was written`,
      {
        details: { seq: row.seq },
      },
    );
  }
  return unshare(decode(open(row.bytes), `entry ${row.seq} of ${what}`)) as unknown as Entry;
}

/** The digest that follows `previous` when these bytes are added. */
export function chain(previous: string, bytes: Uint8Array): string {
  return hash("sha256", previous + hash("sha256", bytes, "base64url"), "base64url");
}

/** The state after an entry. */
export function foldEntry(state: Json, entry: Entry): Json {
  return entry.patches.length === 0 ? state : apply(state, entry.patches);
}

/** Texts shorter than this are cheaper to repeat than to refer to. */
const sharedLengthMin = 64;

interface Shared {
  readonly body: Json;
  readonly texts: readonly string[];
  /** Where each text stands in the body; the body has an empty text there. */
  readonly places: readonly (readonly [text: number, ...path: (string | number)[]])[];
}

/** The same JSON with every long text that stands in it more than once taken out and kept once (J3). */
function share(value: Json): Json {
  const found = new Map<string, Path[]>();
  collect(value, [], found);
  const texts: string[] = [];
  const places: [number, ...(string | number)[]][] = [];
  const blanks: Patch[] = [];
  for (const [text, paths] of found) {
    if (paths.length < 2) continue;
    for (const path of paths) {
      places.push([texts.length, ...path]);
      blanks.push({ op: "set", path, value: "" });
    }
    texts.push(text);
  }
  if (texts.length === 0) return { body: value };
  return { body: apply(value, blanks), texts, places } satisfies Shared as unknown as Json;
}

/** What `share` was given. */
function unshare(value: Json): Json {
  const { body, texts = [], places = [] } = value as unknown as Partial<Shared>;
  const patches = places.map(([text, ...path]): Patch => ({ op: "set", path, value: texts[text] as string }));
  return patches.length === 0 ? (body as Json) : apply(body as Json, patches);
}

function collect(value: Json, path: Path, found: Map<string, Path[]>): void {
  if (typeof value === "string") {
    if (value.length < sharedLengthMin) return;
    const paths = found.get(value);
    if (paths === undefined) found.set(value, [path]);
    else paths.push(path);
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      if (
        typeof item === "string" ? item.length >= sharedLengthMin : typeof item === "object" && item !== null
      )
        collect(item, [...path, index], found);
    });
  } else if (typeof value === "object" && value !== null) {
    for (const key in value) {
      const item = (value as JsonObject)[key] as Json;
      if (
        typeof item === "string" ? item.length >= sharedLengthMin : typeof item === "object" && item !== null
      )
        collect(item, [...path, key], found);
    }
  }
}
