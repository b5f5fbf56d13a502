/**
 * What a JSON Schema may say here: the part of draft 2020-12 that looks at JSON values, without what fetches, names or
 * rebinds other schemas. Every problem is found with its place before anything is built from the schema.
 */
import { limits } from "../../limits.ts";
import { isObject, type JsonObject, showPath, showValue } from "../json.ts";
import { nearest } from "../nearest.ts";
import type { Patterns } from "../pattern.ts";
import { formats } from "./format.ts";

export interface SchemaProblem {
  readonly path: string;
  readonly problem: string;
}

export const typeNames = ["null", "boolean", "integer", "number", "string", "array", "object"];

/** Keywords that hold no schema: whether a value is right for them, and what it must be. */
const plainShapes = {
  values: [(value) => Array.isArray(value) && value.length > 0, "a list of values"],
  names: [(value) => isNames(value), "a list of names"],
  namesMap: [(value) => isObject(value) && Object.values(value).every(isNames), "lists of names, by name"],
  count: [
    (value) => Number.isSafeInteger(value) && (value as number) >= 0,
    "a whole number, and not below zero",
  ],
  number: [(value) => Number.isFinite(value), "a number"],
  above: [(value) => Number.isFinite(value) && (value as number) > 0, "a number above zero"],
  flag: [(value) => typeof value === "boolean", "true or false"],
  note: [(value) => typeof value === "string", "text"],
  any: [() => true, "a value"],
  type: [(value) => isTypes(value), `one or more of ${typeNames.join(", ")}`],
  format: [
    (value) => typeof value === "string" && Object.hasOwn(formats, value),
    `one of ${Object.keys(formats).join(", ")}`,
  ],
} satisfies Record<string, readonly [(value: unknown) => boolean, string]>;

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function isTypes(value: unknown): boolean {
  const names = Array.isArray(value) ? value : [value];
  return names.length > 0 && names.every((name) => typeNames.includes(name as string));
}

type Shape = keyof typeof plainShapes | "schema" | "schemas" | "schemaMap" | "patternMap" | "pattern" | "ref";

/** Every keyword there is, by what it takes. */
const keywordsByShape: Readonly<Record<Shape, readonly string[]>> = {
  schema: ["items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"],
  schemas: ["prefixItems", "allOf", "anyOf", "oneOf"],
  schemaMap: ["properties", "$defs", "definitions"],
  patternMap: ["patternProperties"],
  pattern: ["pattern"],
  format: ["format"],
  ref: ["$ref"],
  type: ["type"],
  values: ["enum"],
  any: ["const", "default", "examples"],
  names: ["required"],
  namesMap: ["dependentRequired"],
  count: ["maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"],
  number: ["maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"],
  above: ["multipleOf"],
  flag: ["uniqueItems", "deprecated", "readOnly", "writeOnly"],
  note: ["$schema", "$id", "$comment", "title", "description"],
};
const shapes: ReadonlyMap<string, Shape> = new Map(
  Object.entries(keywordsByShape).flatMap(([shape, names]) =>
    names.map((name) => [name, shape as Shape] as const),
  ),
);

/** Everything that is wrong with a schema, each with its place. */
export function schemaProblems(schema: unknown, patterns: Patterns): SchemaProblem[] {
  const reading = new Reading(schema, patterns);
  reading.schema(schema, []);
  if (reading.problems.length === 0) reading.checkLoops();
  return reading.problems.slice(0, limits.problemsMax);
}

class Reading {
  readonly problems: SchemaProblem[] = [];
  private readonly root: unknown;
  private readonly patterns: Patterns;
  private nodes = 0;
  /** Which schemas apply to the same value as each one: those could go round in circles. */
  private readonly inPlace = new Map<object, object[]>();

  constructor(root: unknown, patterns: Patterns) {
    this.root = root;
    this.patterns = patterns;
  }

  private report(path: readonly string[], problem: string): void {
    this.problems.push({ path: showPath(path, "schema"), problem });
  }

  schema(schema: unknown, path: readonly string[]): void {
    if (typeof schema === "boolean") return;
    if (!isObject(schema)) {
      this.report(path, `is ${showValue(schema).slice(0, 80)}; a schema is an object, true or false`);
    } else if (path.length > limits.schemaDepthMax * 2) {
      this.report(path, `is nested deeper than ${limits.schemaDepthMax} levels`);
    } else if (this.nodes++ >= limits.schemaNodesMax) {
      if (this.nodes === limits.schemaNodesMax + 1)
        this.report(path, `is one part too many: a schema has at most ${limits.schemaNodesMax}`);
    } else {
      for (const [keyword, value] of Object.entries(schema)) this.keyword(keyword, value, [...path, keyword]);
      this.inPlace.set(schema, this.besideOf(schema));
    }
  }

  /** The schemas that one applies to the very value it looks at itself. */
  private besideOf(schema: JsonObject): object[] {
    const lists = ["allOf", "anyOf", "oneOf"].flatMap((key) => (schema[key] ?? []) as unknown[]);
    const { not, if: test, then: yes, else: no, $ref } = schema;
    return [
      ...lists,
      not,
      test,
      yes,
      no,
      typeof $ref === "string" ? resolve(this.root, $ref) : undefined,
    ].filter(isObject);
  }

  private keyword(keyword: string, value: unknown, path: readonly string[]): void {
    const shape = shapes.get(keyword);
    if (shape === undefined) this.unknown(keyword, path);
    else if (shape === "schema") this.schema(value, path);
    else if (shape === "schemas") this.schemas(value, path);
    else if (shape === "schemaMap" || shape === "patternMap") this.schemaMap(shape, value, path);
    else if (shape === "pattern") this.pattern(value, path);
    else if (shape === "ref") this.reference(value, path);
    else {
      const [holds, must] = plainShapes[shape];
      if (!holds(value)) this.report(path, `must be ${must}`);
    }
  }

  private unknown(keyword: string, path: readonly string[]): void {
    if (keyword.startsWith("x-")) return;
    const near = nearest(keyword, [...shapes.keys()]);
    this.report(
      path,
      `is no keyword that is known here${near === undefined ? "" : `; did you mean ${near}?`}`,
    );
  }

  private schemas(value: unknown, path: readonly string[]): void {
    if (!Array.isArray(value) || value.length === 0) this.report(path, "must be a list of schemas");
    else for (const [index, one] of value.entries()) this.schema(one, [...path, String(index)]);
  }

  private schemaMap(shape: "schemaMap" | "patternMap", value: unknown, path: readonly string[]): void {
    if (!isObject(value)) this.report(path, "must be an object of schemas");
    else
      for (const [name, one] of Object.entries(value)) {
        const at = [...path, name];
        if (name === "__proto__") this.report(at, "is a name that no field may have");
        if (shape === "patternMap") this.pattern(name, at);
        this.schema(one, at);
      }
  }

  private pattern(value: unknown, path: readonly string[]): void {
    try {
      if (typeof value === "string") this.patterns.compile(value);
      else this.report(path, "must be a pattern as text");
    } catch (error) {
      this.report(path, (error as Error).message);
    }
  }

  private reference(value: unknown, path: readonly string[]): void {
    if (typeof value !== "string" || !/^#(\/|$)/.test(value)) {
      this.report(path, "must lead to a place in this schema, such as #/$defs/name; nothing is fetched");
      return;
    }
    const target = resolve(this.root, value);
    if (!isObject(target) && typeof target !== "boolean")
      this.report(path, `leads nowhere: ${showValue(value).slice(0, 80)}`);
  }

  /** A schema that applies itself to the same value again would never come to an end. */
  checkLoops(): void {
    const done = new Set<object>();
    const under = new Set<object>();
    const visit = (schema: object): boolean => {
      if (under.has(schema)) return true;
      if (done.has(schema)) return false;
      under.add(schema);
      const loops = (this.inPlace.get(schema) ?? []).some(visit);
      under.delete(schema);
      done.add(schema);
      return loops;
    };
    for (const [schema, inner] of this.inPlace) {
      // A reference may lead into what no keyword reads as a schema; such a place was never looked at.
      const strange = inner.some((one) => !this.inPlace.has(one));
      if (strange) this.report([], "has a reference to what is no schema of its own: put it under $defs");
      else if (visit(schema)) this.report([], "refers to itself without going further into the value");
      else continue;
      return;
    }
  }
}

/** What a local reference leads to; undefined if nothing is there. */
export function resolve(root: unknown, reference: string): unknown {
  let found = root;
  for (const part of reference.split("/").slice(1)) {
    const key = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
