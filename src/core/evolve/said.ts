/** What a part of a definition says, as text: the same for parts that say the same, in whatever order of keys. */
import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import { isMachine } from "../intake.ts";
import { isJsonSchema } from "../json-schema/schema.ts";
import { isSchema, type Schema } from "../schema.ts";

/** A part as text. All functions say the same, and so do schemas whose library cannot tell what they say. */
export function said(part: unknown): string {
  return JSON.stringify(plain(part)) ?? "";
}

function plain(value: unknown): unknown {
  if (isSchema(value)) return schemaSaid(value);
  if (typeof value === "function") return "ƒ";
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  // A child machine stands for itself by name.
  if (isMachine(value)) return { machine: value.id };
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, plain(item)]));
}

function schemaSaid(schema: Schema): unknown {
  if (isJsonSchema(schema)) return plain(schema.jsonSchema);
  const { vendor, jsonSchema } = schema["~standard"] as Schema["~standard"] &
    Partial<StandardJSONSchemaV1["~standard"]>;
  try {
    const target = "draft-2020-12";
    const said = jsonSchema && { input: jsonSchema.input({ target }), output: jsonSchema.output({ target }) };
    // Through text, since what a library hands over may be a schema again.
    return plain(JSON.parse(JSON.stringify({ vendor, ...said })));
  } catch {
    return { vendor };
  }
}
