/** Our reading of JSON Schema beside Ajv's: random schemas and values, on which both must agree. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { jsonSchema } from "../src/data/index.ts";
import type { Json, JsonObject } from "../src/index.ts";
import { createRandom, type Random } from "./generate/random.ts";

type Draft = Record<string, Json>;

/** A random schema; `depth` bounds it. */
function drawSchema(random: Random, depth: number): JsonObject | boolean {
  if (depth <= 0 || random.chance(0.1))
    return random.pick<JsonObject | boolean>([
      true,
      {},
      { type: "string" },
      { type: "integer" },
      { const: "a" },
      { minimum: 1 },
      { pattern: "^a" },
    ]);
  const inner = () => drawSchema(random, depth - 1);
  const schema: Draft = {};
  const maybe = (chance: number, key: string, make: () => Json) => {
    if (random.chance(chance)) schema[key] = make();
  };
  const fields = () =>
    Object.fromEntries(random.some(["a", "b", "c"], random.between(1, 3)).map((name) => [name, inner()]));
  maybe(0.4, "type", () =>
    random.pick<Json>([
      "object",
      "array",
      "number",
      "integer",
      "string",
      "null",
      ["object", "array"],
      ["string", "integer"],
    ]),
  );
  maybe(0.5, "properties", fields);
  maybe(0.2, "required", () => ["a"]);
  maybe(0.2, "additionalProperties", inner);
  maybe(0.1, "patternProperties", () => ({ "^[ab]": inner() }));
  maybe(0.1, "propertyNames", () => ({ maxLength: 1 }));
  maybe(0.1, "minProperties", () => random.between(0, 2));
  maybe(0.1, "maxProperties", () => random.between(0, 2));
  maybe(0.1, "dependentRequired", () => ({ a: ["b"] }));
  maybe(0.3, "items", inner);
  maybe(0.1, "prefixItems", () => [inner(), inner()]);
  maybe(0.1, "uniqueItems", () => true);
  maybe(0.1, "contains", inner);
  maybe(0.1, "minItems", () => random.between(0, 2));
  maybe(0.1, "enum", () => [1, "a", null, [1], { a: 1 }]);
  maybe(0.1, "maximum", () => random.between(-1, 3));
  maybe(0.1, "multipleOf", () => 2);
  maybe(0.1, "minLength", () => 2);
  maybe(0.15, "allOf", () => [inner(), inner()]);
  maybe(0.15, "anyOf", () => [inner(), inner()]);
  maybe(0.1, "oneOf", () => [inner(), inner()]);
  maybe(0.1, "not", inner);
  if (random.chance(0.1)) for (const key of ["if", "then", "else"]) schema[key] = inner();
  return schema;
}

function drawValue(random: Random, depth: number): Json {
  const roll = random.next();
  if (depth <= 0 || roll < 0.5) return random.pick<Json>([0, 1, 2, 1.5, -1, "", "a", "ab", "b", null, true]);
  if (roll < 0.7) return Array.from({ length: random.between(0, 3) }, () => drawValue(random, depth - 1));
  return Object.fromEntries(
    random
      .some(["a", "b", "c", "d"], random.between(0, 3))
      .map((name) => [name, drawValue(random, depth - 1)]),
  );
}

/** The standard's words for "nothing that was not spoken of": where we close an object without being asked. */
function closing(schema: JsonObject | boolean, inPlace = false): JsonObject | boolean {
  if (typeof schema === "boolean") return schema;
  const whole = (one: unknown) => closing(one as JsonObject);
  const beside = (one: unknown) => closing(one as JsonObject, true);
  const map = (all: Json | undefined) =>
    Object.fromEntries(Object.entries((all ?? {}) as JsonObject).map(([key, one]) => [key, whole(one)]));
  const copy: Draft = { ...schema };
  for (const key of ["properties", "patternProperties"]) if (key in copy) copy[key] = map(copy[key]);
  for (const key of ["additionalProperties", "items", "contains", "propertyNames"])
    if (key in copy) copy[key] = whole(copy[key]);
  if (copy.prefixItems !== undefined) copy.prefixItems = (copy.prefixItems as Json[]).map(whole);
  for (const key of ["allOf", "anyOf", "oneOf"])
    if (key in copy) copy[key] = (copy[key] as Json[]).map(beside);
  for (const key of ["not", "if", "then", "else"]) if (key in copy) copy[key] = beside(copy[key]);
  // A schema that does not speak of fields lets all of them be.
  if (!speaks(schema)) return inPlace ? { ...copy, unevaluatedProperties: true } : copy;
  return inPlace ? copy : { ...copy, unevaluatedProperties: false };
}

function speaks(schema: Json | undefined): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  const { type, allOf, anyOf, oneOf, then: yes, else: no } = schema as JsonObject;
  if (type === "object" || (Array.isArray(type) && type.includes("object"))) return true;
  if (["properties", "patternProperties", "additionalProperties"].some((key) => key in schema)) return true;
  const lists = [allOf, anyOf, oneOf].flatMap((list) => (list ?? []) as Json[]);
  return [...lists, yes, no].some(speaks);
}

/** What Ajv says; undefined where the code it makes breaks, as it does for some schemas with unevaluatedProperties. */
function judge(validate: (value: unknown) => unknown, value: Json): boolean | undefined {
  try {
    return validate(value) === true;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

test("A7: JSON Schemas mean what they mean to Ajv, with objects closed", { timeout: 120_000 }, () => {
  const counts = { valid: 0, invalid: 0 };
  for (let seed = 1; seed <= 400; seed++) {
    const random = createRandom(seed);
    const schema = drawSchema(random, 3);
    const ours = jsonSchema(schema);
    const theirs = new Ajv2020({ strict: false, logger: false }).compile(closing(schema) as JsonObject);
    for (let index = 0; index < 12; index++) {
      const value = drawValue(random, 3);
      const result = ours["~standard"].validate(value) as { readonly issues?: readonly unknown[] };
      const held = result.issues === undefined;
      const expected = judge(theirs, value);
      if (expected === undefined) continue;
      expect({ seed, schema, value, held }).toEqual({ seed, schema, value, held: expected });
      counts[held ? "valid" : "invalid"]++;
    }
  }
  expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(500);
});
