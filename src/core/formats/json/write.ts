/** A machine as data again: what was loaded is written as it was read. */
import { HoldfastError } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import { isPlain, isScalar, type Json, type JsonObject, put } from "../../json.ts";
import { isJsonSchema } from "../../json-schema/schema.ts";
import type { Problem } from "../../problem.ts";
import { writeYamlText } from "../yaml/text.ts";
import { writeJsonText } from "./text.ts";

/** A machine, or its definition. */
export type Writable = object;

/** A machine as JSON text; throws MACHINE_INVALID with every place that is code and not data. */
export function writeJson(machine: Writable): string {
  return writeJsonText(dataOf(machine));
}

/** A machine as YAML text; throws MACHINE_INVALID with every place that is code and not data. */
export function writeYaml(machine: Writable): string {
  return writeYamlText(dataOf(machine));
}

/** A machine as plain data; throws MACHINE_INVALID with every place that is code and not data. */
export function dataOf(machine: Writable): JsonObject {
  const { model, ...definition } = (
    "chart" in machine && "definition" in machine ? machine.definition : machine
  ) as { readonly model?: { readonly name?: unknown } };
  const problems: Problem[] = [];
  if (model !== undefined && model.name !== "cel")
    problems.push({ path: "model", problem: "is another data model than CEL, the one data has" });
  const data = plain(definition, "", problems) as JsonObject;
  if (problems.length === 0) return data;
  const list = problems.map(({ path, problem }) => `\n  ${path} ${problem}`).join("");
  throw new HoldfastError("MACHINE_INVALID", `The machine cannot be written as data:${list}`, {
    details: { problems },
  });
}

function plain(value: unknown, path: string, problems: Problem[], depth = 0): Json | undefined {
  const fail = (problem: string) => {
    problems.push({ path: path === "" ? "definition" : path, problem });
    return undefined;
  };
  if (isScalar(value)) return value;
  if (isJsonSchema(value)) return value.jsonSchema;
  if (typeof value === "function")
    return fail("is a function; give it a name, and bind that with machine.implement");
  if (typeof value !== "object" || value === null)
    return value === undefined ? undefined : fail(`is a ${typeof value}, which JSON does not have`);
  if ("~standard" in value) return fail("is a schema of a library; write it as a JSON Schema");
  if ("chart" in value) return fail("is a machine itself; name it, and bind that with machine.implement");
  if (!isPlain(value) || depth >= limits.jsonDepthMax) return fail("is no plain data, or is nested too deep");
  if (Array.isArray(value))
    return value.map((item, index) => plain(item, `${path}[${index}]`, problems, depth + 1) as Json);
  const made: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    const written = plain(item, path === "" ? key : `${path}.${key}`, problems, depth + 1);
    if (written !== undefined) put(made, key, written);
  }
  return made;
}
