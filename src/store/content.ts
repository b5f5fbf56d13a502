/**
 * Long texts, kept once. A text that stands in several places of one value is written once; a large one leaves the value
 * altogether and is kept as content, once for its subject, however many entries and snapshots use it.
 *
 * What is left is `{ body, texts, places }`: the value with empty texts in those places, and beside it, never inside it,
 * what belongs there. So no value of a user's can be taken for a reference.
 */
import { hash } from "node:crypto";
import type { Json, JsonObject, Path } from "../core/json.ts";
import { apply, type Patch } from "../core/patch.ts";
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";

/** Most entries have no text to put back. */
const none: readonly never[] = [];

/** Texts shorter than this are cheaper to repeat than to refer to. */
const sharedLengthMin = 64;

/** A text that was taken out: itself, or the digest of the content it became. */
type Taken = string | { readonly content: string };

interface Packed {
  readonly body: Json;
  readonly texts?: readonly Taken[];
  /** Where each text stands in the body. */
  readonly places?: readonly (readonly [text: number, ...path: (string | number)[]])[];
}

/** Large texts by their digests: where they are looked up, and where new ones are put. */
export interface Contents {
  /** The digest under which a text is kept; it is kept from now on. */
  keep(text: string): string;
  /** The text of a digest; undefined if it is not there. */
  read(digest: string): string | undefined;
}

/** The name of a text among the contents of its subject. Over its JSON, since half a character has no bytes of its own. */
export function contentDigest(text: string): string {
  return hash("sha256", JSON.stringify(text), "base64url");
}

/** The same JSON with its long texts taken out. */
export function pack(value: Json, contents: Contents): Json {
  // Most values have none, which is told without making a path for anything.
  if (!hasLongText(value)) return { body: value };
  const found = new Map<string, Path[]>();
  collect(value, [], found);
  const texts: Taken[] = [];
  const places: [number, ...(string | number)[]][] = [];
  const blanks: Patch[] = [];
  for (const [text, paths] of found) {
    const large = text.length >= limits.contentLengthMin;
    if (paths.length < 2 && !large) continue;
    for (const path of paths) {
      places.push([texts.length, ...path]);
      blanks.push({ op: "set", path, value: "" });
    }
    texts.push(large ? { content: contents.keep(text) } : text);
  }
  if (texts.length === 0) return { body: value };
  return { body: apply(value, blanks), texts, places } satisfies Packed as unknown as Json;
}

/** What `pack` was given, made of `value` itself. `what` names it in the error for a content that is missing. */
export function unpack(value: Json, contents: Pick<Contents, "read">, what: string): Json {
  const { texts = none, places = none } = value as unknown as Packed;
  const whole = texts.map((text) => {
    if (typeof text === "string") return text;
    const found = contents.read(text.content);
    if (found !== undefined) return found;
    throw new HoldfastError("STORE_CORRUPT", `${what} needs the content ${text.content}, which is not there`);
  });
  for (const place of places) {
    let holder = value;
    let last: string | number = "body";
    // The first one says which text it is.
    for (let step = 1; step < place.length; step++) {
      holder = ownPart(holder, last, what);
      last = place[step] as string | number;
    }
    ownPart(holder, last, what);
    (holder as Record<string | number, Json>)[last] = whole[place[0]] as string;
  }
  return (value as unknown as Packed).body;
}

function ownPart(holder: Json, key: string | number, what: string): Json {
  if (typeof holder === "object" && holder !== null && Object.hasOwn(holder, key))
    return (holder as Record<string | number, Json>)[key] as Json;
  throw new HoldfastError(
    "STORE_CORRUPT",
    `${what} has a text for ${JSON.stringify(key)}, which is no place in it`,
  );
}

/** The contents a packed value refers to. */
export function contentsOf(value: Json): readonly string[] {
  const { texts = none } = value as unknown as Packed;
  return texts.length === 0 ? none : texts.flatMap((text) => (typeof text === "string" ? [] : text.content));
}

function collect(value: Json, path: Path, found: Map<string, Path[]>): void {
  if (typeof value === "string") {
    if (value.length < sharedLengthMin) return;
    const paths = found.get(value);
    if (paths === undefined) found.set(value, [path]);
    else paths.push(path);
  } else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item = value[index] as Json;
      if (isWorthALook(item)) collect(item, [...path, index], found);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const key in value) {
      const item = (value as JsonObject)[key] as Json;
      if (isWorthALook(item)) collect(item, [...path, key], found);
    }
  }
}

function hasLongText(value: Json): boolean {
  if (typeof value === "string") return value.length >= sharedLengthMin;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (hasLongText(value[index] as Json)) return true;
    return false;
  }
  for (const key in value) if (hasLongText((value as JsonObject)[key] as Json)) return true;
  return false;
}

/** Most values are short; a path is made only for those that may hold a long text. */
function isWorthALook(item: Json): boolean {
  return typeof item === "string"
    ? item.length >= sharedLengthMin
    : typeof item === "object" && item !== null;
}
