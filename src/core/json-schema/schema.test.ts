/** JSON Schemas as Standard Schemas: what is let through, what is refused and where, and which schemas are not taken. */
import { describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import { isJsonSchema, jsonSchema } from "./schema.ts";

/** `if` and what follows from it. */
const conditional = (test: object, yes: object, no: object = {}) => {
  const names = ["if", "then", "else"];
  return Object.fromEntries([test, yes, no].map((one, index) => [names[index], one])) as object;
};

/** What is wrong with a value, as `path: message`. */
function issuesOf(schema: unknown, value: unknown): string[] {
  const result = jsonSchema(schema)["~standard"].validate(value);
  if (result instanceof Promise) throw new Error("A JSON Schema answers at once");
  return (result.issues ?? []).map(({ path, message }) => `${path?.join(".")}: ${message}`);
}

test.each<[object | boolean, unknown[], unknown[]]>([
  [true, [1, null, { a: 1 }], []],
  [false, [], [1]],
  [{}, [1, { a: { b: 1 } }], []],
  [{ type: "integer" }, [1, 1.0, -3], [1.5, "1", null]],
  [{ type: "number" }, [1.5], [Number.NaN, Number.POSITIVE_INFINITY, "1"]],
  [{ type: ["string", "null"] }, ["a", null], [1, undefined]],
  [{ type: "boolean" }, [true], [0]],
  [{ type: "array" }, [[]], [{}]],
  [{ const: { a: [1] } }, [{ a: [1] }], [{ a: [2] }]],
  [{ enum: [1, "a", null, { x: 1, y: 2 }] }, [1, "a", null, { y: 2, x: 1 }], [2, "b", {}]],
  [{ minimum: 1, exclusiveMaximum: 3 }, [1, 2.9, "x"], [0, 3]],
  [{ exclusiveMinimum: 1, maximum: 3 }, [1.1, 3], [1, 4]],
  [{ multipleOf: 0.5 }, [1.5], [1.3]],
  [{ minLength: 2, maxLength: 3 }, ["ab", "😀😀😀"], ["a", "abcd", "😀"]],
  [{ pattern: "^a+$" }, ["aa", 1], ["b"]],
  [
    { format: "date-time" },
    ["2026-07-01T12:00:00Z", "2024-02-29t23:59:59.5+02:00"],
    ["2026-07-01", "2026-13-01T00:00:00Z", "x"],
  ],
  [{ format: "date" }, ["2024-02-29"], ["2023-02-29", "2024-00-01", "today"]],
  [{ "x-note": "for people", type: "integer" }, [1], ["a"]],
  [{ if: { type: "integer" } }, [1, "a"], []],
  [{ format: "time" }, ["12:00:00Z"], ["24:00:00Z", "12:00"]],
  [{ format: "email" }, ["a@b.example"], ["a", "a@", "@b"]],
  [{ format: "uuid" }, ["123e4567-e89b-12d3-a456-426614174000"], ["123"]],
  [{ format: "uri" }, ["https://a.example/b?c#d", "urn:x"], ["no uri", "://"]],
  [{ format: "hostname" }, ["a-b.example"], ["-a", "a..b", "a-"]],
  [{ format: "ipv4" }, ["127.0.0.1"], ["256.0.0.1", "01.2.3.4", "1.2.3"]],
  [{ items: { type: "integer" }, minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], [1, 2, 3], ["a"]]],
  [{ prefixItems: [{ type: "string" }], items: { type: "integer" } }, [["a", 1], []], [[1], ["a", "b"]]],
  [{ prefixItems: [{ type: "string" }] }, [["a", {}]], [[1]]],
  [
    { uniqueItems: true },
    [[1, 2, { a: 1 }]],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  [{ contains: { type: "string" } }, [[1, "a"], 3], [[1], []]],
  [{ type: "object" }, [{}], [{ a: 1 }, []]],
  [{ properties: { a: { type: "integer" } } }, [{}, { a: 1 }, 5], [{ a: "x" }, { b: 1 }]],
  [
    { properties: { a: true }, required: ["a", "b"], additionalProperties: true },
    [{ a: 1, b: 2 }],
    [{ a: 1 }],
  ],
  [{ type: "object", additionalProperties: { type: "integer" } }, [{ a: 1 }], [{ a: "x" }]],
  [{ properties: { a: true }, additionalProperties: false }, [{ a: 1 }], [{ b: 1 }]],
  [{ patternProperties: { "^x": { type: "integer" } } }, [{ x1: 1 }], [{ x1: "a" }, { y: 1 }]],
  [{ propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
  [
    { type: "object", minProperties: 1, maxProperties: 2, additionalProperties: true },
    [{ a: 1 }],
    [{}, { a: 1, b: 2, c: 3 }],
  ],
  [{ dependentRequired: { a: ["b"] }, additionalProperties: true }, [{}, { a: 1, b: 2 }], [{ a: 1 }]],
  [
    { allOf: [{ properties: { a: true } }, { properties: { b: { type: "integer" } } }] },
    [{ a: 1, b: 2 }],
    [{ b: "x" }, { c: 1 }],
  ],
  [
    { anyOf: [{ properties: { a: { const: 1 } }, required: ["a"] }, { properties: { b: true } }] },
    [{ a: 1 }, { b: 1 }, { a: 1, b: 1 }],
    [{ a: 2 }, { c: 1 }],
  ],
  [{ anyOf: [{ type: "string" }, { type: "integer" }] }, ["a", 1], [1.5, null]],
  [{ oneOf: [{ type: "integer" }, { minimum: 5 }] }, [1, 5.5], [7, 2.5]],
  [{ not: { type: "string" } }, [1], ["a"]],
  [
    conditional(
      { properties: { kind: { const: "a" } } },
      { properties: { a: true } },
      { properties: { kind: true, b: true } },
    ),
    [
      { kind: "a", a: 1 },
      { kind: "b", b: 1 },
    ],
    [{ kind: "b", a: 1 }],
  ],
  [conditional({ type: "integer" }, { minimum: 3 }), [3, "a"], [2]],
  [{ $ref: "#/$defs/a~1b", $defs: { "a/b": { type: "integer" } } }, [1], ["a"]],
  [
    {
      $ref: "#/$defs/tree",
      $defs: {
        tree: { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/tree" } } } },
      },
    },
    [{ kids: [{ kids: [] }] }],
    [{ kids: [{ kid: [] }] }],
  ],
  [{ properties: { a: { $ref: "#" } } }, [{ a: { a: {} } }], [{ a: { a: 1, b: 1 } }]],
])("A7: %j", (schema, good, bad) => {
  for (const value of good) expect(issuesOf(schema, value)).toEqual([]);
  for (const value of bad) expect(issuesOf(schema, value)).not.toEqual([]);
});

test("A7: what is wrong is told with its path, all of it", () => {
  const schema = {
    type: "object",
    required: ["id", "tags"],
    properties: {
      id: { type: "integer" },
      tags: { type: "array", items: { type: "string" } },
      colour: { enum: ["red", "blue"] },
    },
  };
  expect(issuesOf(schema, { id: "1", tags: ["a", 2], color: "red" })).toEqual([
    "id: must be a whole number, and is text",
    "tags.1: must be text, and is the number 2",
    "color: is a field that is not known here; did you mean colour?",
  ]);
  expect(issuesOf(schema, { colour: "green" })).toEqual([
    "id: is missing",
    "tags: is missing",
    'colour: must be one of "red", "blue"',
  ]);
});

test("A7: of several schemas the one that was meant says what is wrong", () => {
  const schema = {
    anyOf: [{ type: "string" }, { type: "object", required: ["to"], properties: { to: { type: "string" } } }],
  };
  expect(issuesOf(schema, { to: 1 })).toEqual(["to: must be text, and is the number 1"]);
});

test("A7: no payload gets a prototype in", () => {
  const payload = JSON.parse('{ "__proto__": { "admin": true } }') as unknown;
  expect(issuesOf({ type: "object", additionalProperties: true }, payload)).toEqual([
    "__proto__: is a name that no field may have",
  ]);
  expect(issuesOf({ type: "object" }, { constructor: 1 })).toHaveLength(1);
});

test.each<[unknown, string]>([
  [3, "schema is 3"],
  [{ type: "strin" }, "schema.type must be"],
  [{ type: [] }, "schema.type must be"],
  [{ propertes: {} }, "did you mean properties?"],
  [{ $dynamicRef: "#a" }, "no keyword"],
  [{ $ref: "https://example.org" }, "nothing is fetched"],
  [{ $ref: "other.json" }, "nothing is fetched"],
  [{ $ref: "#/$defs/none" }, "leads nowhere"],
  [{ $ref: "#/%" }, "leads nowhere"],
  [{ $ref: "#/$defs/constructor", $defs: {} }, "leads nowhere"],
  [{ $ref: "#" }, "refers to itself"],
  [{ $ref: "#/examples/0", examples: [{ type: "x" }] }, "put it under $defs"],
  [{ $ref: "#/$defs/a", $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } } }, "refers to itself"],
  [{ pattern: "(" }, "schema.pattern The pattern"],
  [{ pattern: 3 }, "must be a pattern"],
  [{ patternProperties: { "(": true } }, "cannot be used"],
  [{ patternProperties: 1 }, "must be an object of schemas"],
  [{ format: "regex" }, "schema.format must be one of"],
  [{ properties: JSON.parse('{ "__proto__": true }') }, "no field may have"],
  [{ anyOf: [] }, "must be a list of schemas"],
  [{ anyOf: [{ type: 1 }] }, "schema.anyOf"],
  [{ enum: [] }, "must be a list of values"],
  [{ required: "a" }, "must be a list of names"],
  [{ dependentRequired: { a: 1 } }, "lists of names"],
  [{ minLength: -1 }, "not below zero"],
  [{ minimum: "1" }, "must be a number"],
  [{ multipleOf: 0 }, "above zero"],
  [{ uniqueItems: 1 }, "true or false"],
  [{ title: 1 }, "must be text"],
])("A7: the schema %j is refused: %s", (schema, why) => {
  expect(() => jsonSchema(schema)).toThrow(why);
  expect(() => jsonSchema(schema)).toThrow(expect.objectContaining({ code: "SCHEMA_INVALID" }));
});

describe("what a schema may cost", () => {
  test("schemas that call each other again and again are built at once, and given up on when they take too long", () => {
    const levels = 40;
    const $defs = Object.fromEntries(
      Array.from({ length: levels }, (_, level) => {
        const next = level === levels - 1 ? { type: "string" } : { $ref: `#/$defs/l${level + 1}` };
        return [`l${level}`, { anyOf: [next, next] }];
      }),
    );
    expect(issuesOf({ $ref: "#/$defs/l0", $defs }, 1)).toEqual([
      `: needs more than ${limits.schemaChecksMax} checks`,
    ]);
    expect(issuesOf({ $ref: "#/$defs/l0", $defs }, "a")).toEqual([]);
  });

  test("the limits of parts and nesting are the last that are let through", () => {
    const wide = (parts: number) => ({ anyOf: Array.from({ length: parts - 1 }, () => ({})) });
    jsonSchema(wide(limits.schemaNodesMax));
    expect(() => jsonSchema(wide(limits.schemaNodesMax + 1))).toThrow("one part too many");
    const deep = (levels: number): object => (levels === 0 ? {} : { not: deep(levels - 1) });
    jsonSchema(deep(limits.schemaDepthMax * 2));
    expect(() => jsonSchema(deep(limits.schemaDepthMax * 2 + 1))).toThrow("nested deeper");
  });

  test("a value that is nested too deep for any state is refused", () => {
    const schema = { items: { $ref: "#" } };
    const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
    expect(issuesOf(schema, deep(limits.jsonDepthMax))).toEqual([]);
    expect(issuesOf(schema, deep(limits.jsonDepthMax + 1))).toHaveLength(1);
  });

  test("no more problems are listed than can be read", () => {
    expect(
      issuesOf(
        { items: { type: "string" } },
        Array.from({ length: 1_000 }, () => 1),
      ),
    ).toHaveLength(limits.problemsMax);
  });
});

test("A7: a schema is kept as it was given, whatever happens to the original", () => {
  const given = { type: "object", properties: { a: { type: "integer" } } };
  const schema = jsonSchema(given);
  given.properties.a.type = "string";
  expect(schema.jsonSchema).toEqual({ type: "object", properties: { a: { type: "integer" } } });
  expect(isJsonSchema(schema)).toBe(true);
  expect(isJsonSchema({})).toBe(false);
});
