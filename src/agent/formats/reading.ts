/**
 * What the readers of all formats have in common. A reader takes what it knows into parts of ours; whatever else a format
 * says stands in the message's metadata under the format's name, and goes out again when that format is written. What
 * cannot be read at all is an error that names its path.
 */
import {
  isObject,
  type Json,
  type JsonObject,
  type Path,
  showPath,
  showValue,
  toJson,
} from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import type { Message, Part, Role } from "../thread/message.ts";

export interface ReadOptions {
  /** When the messages were added, in milliseconds since 1970; formats do not say. */
  readonly at: number;
  /** The id of the message at an index of the result; `m0`, `m1` and so on unless given. */
  readonly id?: (index: number) => string;
  /** What becomes of calls at the end that have no result: closed with an error unless they are to be kept open. */
  readonly openEnd?: "close" | "keep";
}

/** Whether a text says nothing. */
export const isBlank = (text: string): boolean => text.trim() === "";

/** A part as it was read, with what else was said of it. */
export interface ReadPart {
  part: Part;
  readonly extra?: JsonObject;
}

/** A part that was read, with what its format has besides, if there is any. */
export const withExtra = (part: Part, extra: JsonObject | undefined): ReadPart =>
  extra === undefined ? { part } : { part, extra };

/** A message as it was read. */
export interface ReadMessage {
  readonly role: Role;
  parts: ReadPart[];
  /** Parts that are none of ours, each with the number of our parts before it. */
  readonly kept?: readonly { readonly at: number; readonly part: Json }[];
  /** What else was said of the message. */
  readonly fields?: JsonObject;
  /** Where it came from, for reports. */
  readonly path: string;
}

/** What a format's name stands for in a message's metadata. */
interface Extras {
  readonly fields?: JsonObject;
  /** By the place of a part, or by the id of the call where there is one. */
  readonly parts?: { readonly [key: string]: JsonObject };
  readonly kept?: readonly { readonly at: number; readonly part: Json }[];
}

const keyOf = (part: Part, index: number): string =>
  part.type === "call" ? part.id : part.type === "result" ? part.call : String(index);

/** Messages of ours from those that were read. */
export function finish(format: string, read: readonly ReadMessage[], options: ReadOptions): Message[] {
  const { at, id = (index: number) => `m${index}` } = options;
  return read.map((message, index) => {
    const metadata = metadataOf(format, message);
    return {
      ...{ id: id(index), role: message.role, at, parts: message.parts.map(({ part }) => part) },
      ...(metadata === undefined ? {} : { metadata }),
    };
  });
}

/** The metadata of a message that says in a format's name what its parts do not hold; undefined if there is nothing to say. */
export function metadataOf(
  format: string,
  { parts, kept = [], fields = {} }: Pick<ReadMessage, "parts" | "kept" | "fields">,
): JsonObject | undefined {
  const extra = Object.fromEntries(
    parts.flatMap(({ part, extra: said }, place) => (said === undefined ? [] : [[keyOf(part, place), said]])),
  );
  const extras: JsonObject = {
    ...(Object.keys(fields).length > 0 ? { fields } : {}),
    ...(Object.keys(extra).length > 0 ? { parts: extra } : {}),
    ...(kept.length > 0 ? { kept } : {}),
  };
  return Object.keys(extras).length > 0 ? { [format]: extras } : undefined;
}

/** What a message's metadata says in a format's name. */
export function extrasOf(format: string, { metadata }: Message): Extras {
  const extras = metadata?.[format];
  return extras !== undefined && isObject(extras) ? (extras as Extras) : {};
}

/** What was said of a part beyond what ours hold. */
export const extraOf = ({ parts = {} }: Extras, part: Part, index: number): JsonObject =>
  parts[keyOf(part, index)] ?? {};

/** Parts in their format with the foreign ones put back where they were. */
export function withKept<Written>(
  { kept = [] }: Extras,
  written: readonly { readonly index: number; readonly part: Written }[],
): Written[] {
  const all = [
    ...written.map(({ index, part }) => ({ at: index, order: 1, part })),
    ...kept.map(({ at, part }) => ({ at, order: 0, part: part as Written })),
  ];
  return all.sort((one, other) => one.at - other.at || one.order - other.order).map(({ part }) => part);
}

/** What a format cannot say, and was left out: the message, and in words what. */
export interface Left {
  readonly message: string;
  readonly what: string;
}

/** A value that is read, with its path. */
export interface Place {
  readonly value: unknown;
  readonly path: Path;
}

export const fail = ({ path, value }: Place, why: string): never => {
  throw new HoldfastError(
    "MESSAGE_INVALID",
    `${showPath(path, "messages")} ${why}, not ${showValue(value)}`,
    {
      details: { path: showPath(path, "messages") },
    },
  );
};

/** A field of a place that is an object. */
export const field = ({ value, path }: Place, key: string): Place => ({
  value: (value as Record<string, unknown>)[key],
  path: [...path, key],
});

export function asObject(place: Place): Record<string, unknown> {
  const { value } = place;
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(place, "must be an object");
  return value as Record<string, unknown>;
}

export function asString(place: Place): string {
  if (typeof place.value !== "string") fail(place, "must be a text");
  return place.value as string;
}

export function asList(place: Place): Place[] {
  if (!Array.isArray(place.value)) fail(place, "must be a list");
  return (place.value as unknown[]).map((value, index) => ({ value, path: [...place.path, index] }));
}

export const asJson = ({ value, path }: Place): Json => toJson(value, path, "messages");

/** What an object says besides the keys that were read; undefined if nothing. */
export function rest(place: Place, read: readonly string[]): JsonObject | undefined {
  const others = Object.entries(asObject(place)).filter(
    ([key, value]) => value !== undefined && !read.includes(key),
  );
  return others.length === 0
    ? undefined
    : (asJson({ value: Object.fromEntries(others), path: place.path }) as JsonObject);
}

/** Text as it is, anything else as JSON text. */
export const textOfOutput = (output: Json): string =>
  typeof output === "string" ? output : JSON.stringify(output);

/** A `data:` URL in its parts; undefined for any other. */
export function readDataUrl(url: string): { mediaType: string; data: string } | undefined {
  const match = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  return match === null ? undefined : { mediaType: match[1] as string, data: match[2] as string };
}
