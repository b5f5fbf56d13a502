/**
 * The published JSON Schema of definitions and the loader agree, both ways; and the schema names every field there is.
 * Ajv, which shares nothing with the loader's own checks, reads the published file.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { definitionSchema, readDefinition } from "../src/data/index.ts";
import { parse, read, type SyntaxNode, visit } from "./project.ts";

const published = JSON.parse(read("schema/machine.schema.json")) as Record<string, unknown>;
const ajv = new Ajv2020({ strict: false, allErrors: false });
const accepts = ajv.compile(published);

test("schema/machine.schema.json is what the loader checks", async () => {
  await expect(`${JSON.stringify(definitionSchema, null, 2)}\n`).toMatchFileSnapshot("../schema/machine.schema.json");
});
