/** Definitions as data: what a machine says, with functions and schemas of libraries by what can be told of them. */
import { z } from "zod";
import type { StateNode } from "../core/chart.ts";
import { isObject, type Json, type JsonObject, put } from "../core/json.ts";
import { isJsonSchema } from "../core/json-schema/schema.ts";
import { limits } from "../limits.ts";
import type { AnyMachine } from "../runtime/registry.ts";

export type Parts = Readonly<Record<string, unknown>>;

/** What a state was made from. */
export function definitionOf(definition: object, node: StateNode): Parts {
  if (node.parent === undefined) return definition as Parts;
  const states = definitionOf(definition, node.parent).states as Parts | undefined;
  return (states?.[node.key] ?? {}) as Parts;
}

/** A definition as JSON. A function is `{ "$function": NAME }`, a schema is its JSON Schema, a machine its name. */
export function toData(value: unknown, depth = 0): Json | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "function" && !("~standard" in value)) return { $function: value.name };
  if (typeof value !== "object" && typeof value !== "function") return undefined;
  const schema = schemaOf(value);
  if (schema !== undefined) return schema;
  if ("chart" in value && "id" in value) return { $machine: String(value.id) };
  if (depth > limits.definitionDepthMax) return null;
  if (Array.isArray(value)) return value.map((item) => toData(item, depth + 1) ?? null);
  const made: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    // A data model is code all over; its name says what it is.
    const data =
      key === "model" && isObject(item) ? { $model: String(item.name ?? "custom") } : toData(item, depth + 1);
    if (data !== undefined) put(made, key, data);
  }
  return made;
}

/** The JSON Schema of a schema, where it can tell; an empty one where it cannot. Undefined for what is no schema. */
export function schemaOf(value: unknown): JsonObject | undefined {
  if (isJsonSchema(value)) return isObject(value.jsonSchema) ? value.jsonSchema : {};
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  if (!("~standard" in value)) return undefined;
  try {
    if ("_zod" in value)
      return z.toJSONSchema(value as unknown as z.ZodType, {
        unrepresentable: "any",
        io: "input",
      }) as JsonObject;
    const { toJsonSchema } = value as { toJsonSchema?: () => JsonObject };
    return typeof toJsonSchema === "function" ? toJsonSchema.call(value) : {};
  } catch {
    return {};
  }
}

/** The events that runs of a machine can be sent, with what is known of their data. */
export function eventsOf({ chart, definition }: AnyMachine): { type: string; schema?: JsonObject }[] {
  const { events = {} } = definition as { readonly events?: Parts };
  const declared = Object.keys(events);
  const handled = chart.nodes.flatMap((node) =>
    node.transitions.filter(({ platform }) => !platform).flatMap(({ descriptors }) => descriptors),
  );
  return [...new Set([...declared, ...handled])].sort().map((type) => eventOf(type, events));
}

/** An event type with the schema of its data, where one is declared. */
export function eventOf(type: string, events: Parts): { type: string; schema?: JsonObject } {
  const schema = Object.hasOwn(events, type) ? schemaOf(events[type]) : undefined;
  return schema === undefined || Object.keys(schema).length === 0 ? { type } : { type, schema };
}
