/**
 * JSON Schema as a Standard Schema: `jsonSchema(schema)`. The schema may come from anyone. It is read, never run: no
 * code is made of it, its references stay inside it, its patterns cannot hang, and what checking a value may cost is
 * bounded. Why not Ajv: docs/decisions/0007-data-machines.md. https://json-schema.org/draft/2020-12
 *
 * It is stricter than the standard in one way: an object has no fields but those its schema names, unless
 * `additionalProperties` says otherwise.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { freezeDeep, type Json, type JsonObject } from "../json.ts";
import { Patterns } from "../pattern.ts";
import { checkerOf } from "./check.ts";
import { schemaProblems } from "./meta.ts";
import { type Check, type Issue, TooCostly, Visit } from "./visit.ts";

/** A JSON Schema in use. */
export interface JsonSchema<Value = Json> extends StandardSchemaV1<Value, Value> {
  /** The schema as it was given. */
  readonly jsonSchema: JsonObject | boolean;
}

/** A JSON Schema as a Standard Schema; throws SCHEMA_INVALID with every problem if it has any. */
export function jsonSchema<Value = Json>(schema: unknown, patterns = new Patterns()): JsonSchema<Value> {
  const problems = schemaProblems(schema, patterns);
  if (problems.length > 0) {
    const list = problems.map(({ path, problem }) => `\n  ${path} ${problem}`).join("");
    throw new HoldfastError("SCHEMA_INVALID", `The JSON Schema has problems:${list}`, {
      details: { problems },
    });
  }
  const given = freezeDeep(structuredClone(schema)) as JsonObject | boolean;
  const check = checkerOf(given, patterns);
  const validate = (value: unknown): StandardSchemaV1.Result<Value> => {
    const issues = issuesOf(check, value);
    return issues.length === 0 ? { value: value as Value } : { issues };
  };
  return Object.freeze({
    jsonSchema: given,
    "~standard": Object.freeze({
      ...{ version: 1 as const, vendor: "holdfast", validate },
      // Standard JSON Schema: how whoever describes it to a model, as the AI SDK, asks for it.
      jsonSchema: { input: () => structuredClone(given), output: () => structuredClone(given) },
    }),
  });
}

/** Whether a value is a schema made by `jsonSchema`. */
export function isJsonSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && "~standard" in value && "jsonSchema" in value;
}

function issuesOf(check: Check, value: unknown): readonly Issue[] {
  const visit = new Visit();
  try {
    check(value, visit, undefined);
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error;
    visit.issues.push({ message: `needs more than ${limits.schemaChecksMax} checks`, path: [] });
  }
  return visit.issues.slice(0, limits.problemsMax);
}
