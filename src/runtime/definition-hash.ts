/** The structural hash that tells one definition from another. */
import { hash } from "node:crypto";
import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import { isSchema, type Schema } from "../core/schema.ts";

/** A hash of everything a definition says, in any order of keys; functions count by where they stand. */
export function definitionHash(definition: object): string {
  const known = hashes.get(definition);
  if (known !== undefined) return known;
  const made = hash("sha256", JSON.stringify(canonical(definition)), "base64url").slice(0, 22);
  hashes.set(definition, made);
  return made;
}

/** A machine's definition is a copy of what was given, and nobody changes it. */
const hashes = new WeakMap<object, string>();

function canonical(value: unknown): unknown {
  if (isSchema(value)) return schemaSaid(value);
  if (typeof value === "function") return "ƒ";
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(canonical);
  // A child machine stands for itself by name; what it does has a hash of its own.
  if ("chart" in value && "id" in value) return { machine: value.id };
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, canonical(item)]),
  );
}

/**
 * What a schema says, as JSON Schema where its library can tell: then equal schemas have equal hashes, and others do
 * not. Where it cannot, all of one library's schemas count as equal, as functions do.
 */
function schemaSaid(schema: Schema): unknown {
  const { vendor, jsonSchema } = schema["~standard"] as Schema["~standard"] &
    Partial<StandardJSONSchemaV1["~standard"]>;
  try {
    const target = "draft-2020-12";
    const said = jsonSchema && { input: jsonSchema.input({ target }), output: jsonSchema.output({ target }) };
    // Through text, since what a library hands over may be a schema again.
    return canonical(JSON.parse(JSON.stringify({ vendor, ...said })));
  } catch {
    return { vendor };
  }
}
