/** What expressions know of values from the schemas that let them through, and what they do not. */
import { expect, test } from "vitest";
import { typeOfSchema, typeOfValue } from "./schema-type.ts";
import { showType } from "./static-type.ts";

const object = { type: "object", properties: { a: { type: "integer" } } };

test.each<[string, unknown, unknown]>([
  ["any schema at all", true, {}],
  ["a constant, by its value", { const: 2.5 }, { type: "number" }],
  ["a constant that is whole", { const: 2 }, { type: "integer" }],
  ["a truth", { const: true }, { type: "boolean" }],
  ["a list of values", { enum: ["a", null, "b"] }, { type: ["string", "null"] }],
  ["one of several", { anyOf: [{ type: "string" }, { type: "null" }] }, { type: ["string", "null"] }],
  ["exactly one of several", { oneOf: [{ type: "string" }] }, { type: "string" }],
  ["several at once say nothing", { allOf: [{ type: "string" }] }, {}],
  ["nor do conditions", { if: true, type: "string" }, {}],
  ["nor alternatives beside fields", { ...object, anyOf: [{ required: ["a"] }] }, {}],
  [
    "a list by its items",
    { type: "array", items: { type: "string" } },
    { type: "array", items: { const: "x" } },
  ],
  [
    "a list whose first items differ",
    { type: "array", prefixItems: [{ type: "string" }] },
    { type: "array" },
  ],
  ["fields without a type", { properties: object.properties }, object],
  [
    "what is referred to twice",
    { $defs: { n: { type: "number" } }, anyOf: [{ $ref: "#/$defs/n" }, { $ref: "#/$defs/n" }] },
    { type: "number" },
  ],
  ["a name that is no type", { type: "text" }, {}],
])("%s", (_, schema, same) => {
  expect(showType(typeOfSchema(schema))).toBe(showType(typeOfSchema(same)));
});

test("fields that a schema does not name have the type it gives them, or any", () => {
  const rest = (schema: object) => {
    const type = typeOfSchema({ type: "object", ...schema });
    return type.kind === "object" && type.rest !== undefined ? showType(type.rest) : undefined;
  };
  expect(rest({})).toBeUndefined();
  expect(rest({ additionalProperties: false })).toBeUndefined();
  expect(rest({ additionalProperties: { type: "string" } })).toBe("string");
  expect(rest({ additionalProperties: true })).toBe("dyn");
  expect(rest({ patternProperties: { "^x": { type: "string" } } })).toBe("dyn");
});

test("a schema that contains itself is followed once", () => {
  const tree = { type: "object", properties: { child: { $ref: "#" } } };
  const type = typeOfSchema(tree);
  expect(type.kind === "object" && type.fields.get("child")?.type).toMatchObject({ kind: "dyn" });
});

test("what is no JSON could be anything", () => {
  expect(showType(typeOfValue(undefined))).toBe("dyn");
});
