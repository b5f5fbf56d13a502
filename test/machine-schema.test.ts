/**
 * The published JSON Schema of definitions and the loader agree, both ways; and the schema names every field there is.
 * Ajv, which shares nothing with the loader's own checks, reads the published file.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { definitionSchema, readDefinition } from "../src/data/index.ts";
import type { Json, JsonObject } from "../src/index.ts";
import { drawDataMachine } from "./generate/data-machine.ts";
import { createRandom, type Random } from "./generate/random.ts";
import { parse, read, type SyntaxNode, visit } from "./project.ts";

const published = JSON.parse(read("schema/machine.schema.json")) as Record<string, unknown>;
const ajv = new Ajv2020({ strict: false, allErrors: false });
const accepts = ajv.compile(published);

test("A5: schema/machine.schema.json is what the loader checks; scripts/machine-schema.ts writes it", () => {
  expect(published).toEqual(definitionSchema);
});

describe("the published schema and the loader", () => {
  test("A5: everything drawn is accepted by both", () => {
    for (let seed = 1; seed <= 150; seed++) {
      const data = drawDataMachine(seed);
      expect({ seed, accepted: accepts(data), errors: accepts.errors }).toEqual({
        seed,
        accepted: true,
        errors: null,
      });
      expect(readDefinition(data).problems).toEqual([]);
    }
  });

  test("A5: what the schema refuses, the loader refuses; what it accepts has no problem of shape", () => {
    let refused = 0;
    for (let seed = 1; seed <= 600; seed++) {
      const random = createRandom(seed);
      const data = spoil(drawDataMachine(seed % 50), random);
      const { problems } = readDefinition(data);
      if (accepts(data)) continue;
      refused++;
      expect({ seed, data, refused: problems.length > 0 }).toEqual({ seed, data, refused: true });
    }
    expect(refused).toBeGreaterThan(200);
  });
});

/** The same machine with one place in it changed for the worse, as a rule. */
function spoil(machine: JsonObject, random: Random): Json {
  const places: [Record<string, Json> | Json[], string | number][] = [];
  const walk = (value: Json): void => {
    if (typeof value !== "object" || value === null) return;
    for (const key of Object.keys(value)) {
      places.push([value as Record<string, Json>, key]);
      walk((value as JsonObject)[key] as Json);
    }
  };
  const copy = structuredClone(machine) as JsonObject;
  walk(copy);
  const [parent, key] = random.pick(places) as [Record<string, Json>, string];
  const junk = random.pick<Json>([
    null,
    3,
    "",
    [],
    {},
    { cel: 3 },
    true,
    [[null]],
    { target: {} },
    { wrong: 1 },
  ]);
  if (random.chance(0.6)) parent[key] = junk;
  else if (!Array.isArray(parent)) parent[random.pick(["entri", "Target", "__proto", "then"])] = junk;
  return copy;
}

/** The fields of the interfaces authors write, as TypeScript has them. */
function fieldsOf(name: string): string[] {
  const fields: string[] = [];
  const syntax = parse("definition.ts", read("src/core/definition.ts"));
  visit(syntax.program, (node) => {
    if (node.type !== "TSInterfaceDeclaration" || (node.id as SyntaxNode).name !== name) return;
    for (const field of (node.body as SyntaxNode).body as SyntaxNode[])
      fields.push(String((field.key as SyntaxNode).name));
  });
  return fields;
}

test.each<[string, string | undefined, readonly string[]]>([
  // What only code can say, or another data model, is not part of data.
  ["StateDefinition", "state", ["data"]],
  ["MachineDefinition", undefined, ["machines", "model"]],
  ["TransitionParts", "handler", []],
  ["DelayedTransition", "delayed", []],
  ["InvokeActivity", "invoke", []],
])("A5: every field of %s is in the schema", (name, part, left) => {
  const parts = definitionSchema.$defs as unknown as Record<
    string,
    { properties?: object; anyOf?: { properties?: object }[] }
  >;
  const schema = part === undefined ? (definitionSchema as { properties?: object }) : parts[part];
  const known = Object.keys(schema?.properties ?? parts[part ?? ""]?.anyOf?.[0]?.properties ?? {});
  const fields = fieldsOf(name);
  expect(fields.length).toBeGreaterThan(0);
  expect(fields.filter((field) => !known.includes(field) && !left.includes(field))).toEqual([]);
});

test("A5: every field of the schema has a description, or refers to one", () => {
  const undescribed = (properties: Record<string, JsonObject>) =>
    Object.entries(properties)
      .filter(([, one]) => one.description === undefined)
      .map(([key]) => key);
  const { state } = definitionSchema.$defs as unknown as {
    state: { properties: Record<string, JsonObject> };
  };
  expect(undescribed(definitionSchema.properties as unknown as Record<string, JsonObject>)).toEqual([]);
  expect(undescribed(state.properties)).toEqual([]);
});
