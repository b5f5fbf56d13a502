/** Attacks drawn at random: valid things spoilt, hostile parts put together. The seed says which. */

import { writeYamlText } from "../../src/core/formats/yaml/text.ts";
import type { Json, JsonObject } from "../../src/index.ts";
import { drawDataMachine } from "../../test/generate/data-machine.ts";
import { createRandom, type Random } from "../../test/generate/random.ts";
import type { Attack } from "./attack.ts";

/** The attack of this number. */
export function drawAttack(seed: number): Attack {
  const random = createRandom(seed);
  const roll = random.next();
  if (roll < 0.35)
    return {
      kind: "expression",
      text: drawExpression(random, random.between(1, 6)),
      values: random.pick(["small", "large"] as const),
    };
  if (roll < 0.55)
    return { kind: "schema", schema: JSON.stringify(drawSchema(random, 4)), value: drawPayload(random, 4) };
  if (roll < 0.75) return { kind: "machine", json: spoilMachine(random), events: drawEvents(random) };
  if (roll < 0.9)
    return {
      kind: "text",
      text: spoilText(random, writeYamlText(drawDataMachine(random.below(200))), yamlParts),
    };
  return { kind: "scxml", text: spoilText(random, drawDocument(random), xmlParts) };
}

const names = [
  "context",
  "event",
  "at",
  "context.list",
  "context.text",
  "context.deep",
  "event.data",
  "__proto__",
  "constructor",
];
const patterns = [
  "^(a+)+$",
  "(a|a)*b",
  "(.*)*x",
  "a{1000}",
  "[a-z]{50}",
  "((a{10}){10}){10}",
  "(?:)",
  "\\\\b\\\\w+",
];

/** An expression of CEL's grammar, well typed or not. */
function drawExpression(random: Random, depth: number, bound: readonly string[] = []): string {
  const part = (more: readonly string[] = []) => drawExpression(random, depth - 1, [...bound, ...more]);
  if (depth <= 0) {
    const leaf = random.pick([
      ...names,
      "1",
      "0",
      "-1",
      "1.5",
      "9007199254740991",
      "'a'",
      "''",
      "true",
      "null",
      "[]",
      "{}",
      "[1, 2]",
      "{'a': 1}",
      ...bound,
      ...bound,
    ]);
    // What has any type gets past the types, and meets the evaluation.
    return random.chance(0.7) ? `dyn(${leaf})` : leaf;
  }
  const name = random.pick(["x", "y", "z"]);
  const binary = () =>
    `(${part()} ${random.pick(["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "in", "&&", "||"])} ${part()})`;
  const list = () => random.pick(["context.list", "context.list", "[1, 2, 3]", `(${part()})`]);
  return random.pick<() => string>([
    binary,
    binary,
    () => `${random.pick(["!", "-"])}(${part()})`,
    () => `(${part()} ? ${part()} : ${part()})`,
    () => `[${part()}, ${part()}]`,
    () => `{'a': ${part()}, ${part()}: ${part()}}`,
    () =>
      `(${part()})${random.pick([".a", ".data", ".?a", "[0]", "['a']", "[?0]", ".__proto__", ".constructor"])}`,
    () =>
      `${list()}.${random.pick(["map", "filter", "all", "exists", "exists_one"])}(${name}, ${part([name])})`,
    () => `cel.bind(${name}, ${part()}, ${part([name])})`,
    () =>
      `(${part()}).${random.pick(["size()", "sum()", "distinct()", "join()", "min()", "trim()", "split('')", "orValue(1)", "hasValue()", "substring(1)"])}`,
    () =>
      `(${part()}).${random.pick(["contains", "startsWith", "indexOf", "replace", "split", "join"])}(${part()})`,
    () => `(${part()}).matches('${random.pick(patterns)}')`,
    () =>
      `${random.pick(["size", "string", "int", "double", "bool", "dyn", "timestamp", "duration", "inState", "math.abs", "nothing", "has"])}(${part()})`,
  ])();
}

const keywords = [
  "type",
  "properties",
  "items",
  "anyOf",
  "allOf",
  "oneOf",
  "not",
  "if",
  "$ref",
  "$defs",
  "pattern",
  "enum",
  "required",
  "additionalProperties",
  "patternProperties",
  "uniqueItems",
  "format",
  "const",
  "minimum",
  "maxLength",
  "propertyNames",
  "contains",
];

function drawSchema(random: Random, depth: number): Json {
  if (depth <= 0 && random.chance(0.97))
    return random.pick<Json>([true, {}, { type: "string" }, { minimum: 1 }]);
  if (depth <= 0) return random.pick<Json>([{ $ref: "#" }, { $ref: "http://example.org" }, 3, null]);
  const inner = () => drawSchema(random, depth - 1);
  const schema: Record<string, Json> = {};
  for (let count = random.between(1, 4); count > 0; count--) {
    const keyword = random.chance(0.02) ? random.pick(["$dynamicRef", "__proto__"]) : random.pick(keywords);
    const value = drawKeyword(random, keyword, inner);
    if (keyword !== "__proto__") schema[keyword] = value;
    else Object.defineProperty(schema, keyword, { value, enumerable: true, configurable: true });
  }
  return schema;
}

function drawKeyword(random: Random, keyword: string, inner: () => Json): Json {
  if (random.chance(0.01)) return random.pick<Json>([null, 1, "x", [], {}]);
  if (/Of$/.test(keyword)) return [inner(), inner()];
  if (/^(properties|patternProperties|\$defs)$/.test(keyword))
    return { a: inner(), b: inner(), "(a+)+": inner() };
  if (keyword === "type") return random.pick<Json>(["object", "array", "string", ["integer", "null"]]);
  if (keyword === "$ref")
    return random.pick([
      "#",
      "#/$defs/a",
      "#/properties/a",
      "#/items",
      "file:///etc/passwd",
      "https://example.org/x",
    ]);
  if (keyword === "pattern") return random.pick(patterns);
  if (keyword === "format") return random.pick(["email", "uri", "date-time", "regex"]);
  if (keyword === "enum") return [1, "a", { a: [1] }];
  if (keyword === "required") return ["a", "__proto__"];
  if (keyword === "uniqueItems") return true;
  if (/^(additionalProperties|items|not|if|contains|propertyNames)$/.test(keyword)) return inner();
  return random.between(0, 5);
}

/** A payload as JSON text, which may hold what no object literal can. */
function drawPayload(random: Random, depth: number): string {
  const inner = () => drawPayload(random, depth - 1);
  const roll = random.next();
  if (depth <= 0 || roll < 0.2)
    return random.pick([
      "1",
      "-0",
      "1e400",
      "null",
      "true",
      '"a"',
      `"${"a".repeat(random.pick([10, 30_000]))}"`,
      '"\\ud800"',
      "[]",
      "{}",
    ]);
  if (roll < 0.6) return `[${Array.from({ length: random.between(0, 4) }, inner).join(",")}]`;
  if (roll < 0.65) return `${"[".repeat(300)}${"]".repeat(300)}`;
  const keys = random.some(["a", "b", "__proto__", "constructor", "toString", ""], random.between(0, 4));
  return `{${keys.map((key) => `${JSON.stringify(key)}:${inner()}`).join(",")}}`;
}

/** A valid machine with some places in it replaced by worse things. */
function spoilMachine(random: Random): string {
  const machine = structuredClone(drawDataMachine(random.below(200))) as JsonObject;
  const places: [Record<string, Json>, string][] = [];
  const walk = (value: Json | undefined): void => {
    if (typeof value !== "object" || value === null) return;
    for (const key of Object.keys(value)) {
      places.push([value as Record<string, Json>, key]);
      walk((value as JsonObject)[key]);
    }
  };
  walk(machine);
  for (let count = random.between(0, 3); count > 0; count--) {
    const [parent, key] = random.pick(places);
    parent[key] = random.pick<() => Json>([
      () => ({ cel: drawExpression(random, 4) }),
      () => drawSchema(random, 3),
      () =>
        random.pick<Json>([
          null,
          3,
          "",
          [],
          {},
          true,
          -1,
          "#nowhere",
          ".x.y",
          { cel: 3 },
          { __proto: 1 },
          [[]],
        ]),
      () => "x".repeat(random.pick([100, 20_000])),
      () => ({ a: { states: { a: {} }, initial: "b" } }),
    ])();
  }
  const text = JSON.stringify(machine);
  // Keys that only text can have.
  return random.chance(0.2)
    ? text.replace(
        '"states":{',
        () => `"states":{"${random.pick(["__proto__", "constructor", "a.b", ""])}":{},`,
      )
    : text;
}

function drawEvents(random: Random): string {
  const event = () =>
    `{"type":${JSON.stringify(random.pick(["go", "stop", "other.x", "toString", "__proto__", "done.invoke.a"]))},"data":${drawPayload(random, 3)}}`;
  return `[${Array.from({ length: random.between(0, 3) }, event).join(",")}]`;
}

const yamlParts = [
  "&a ",
  "*a",
  "!!js/function ",
  "!x ",
  "<<: ",
  "? ",
  "- ",
  "[",
  "{",
  "}",
  "]",
  "|\n",
  ">\n",
  "---\n",
  "...\n",
  "%YAML 1.1\n",
  "\t",
  ": ",
  "'",
  '"',
  "\u0000",
  "\u2028",
  ".inf",
  "0o17",
  "__proto__: ",
  '{ cel: "1 +" }',
  "[".repeat(500),
  "- ".repeat(500),
  "  ".repeat(200),
];
const xmlParts = [
  '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
  "&b;",
  "&#0;",
  "&#x41;",
  "<![CDATA[",
  "]]>",
  "<state>",
  "</state>",
  '<script src="file:///etc/passwd"/>',
  "<?php ?>",
  "<!--",
  "-->",
  "'",
  '"',
  "<",
  ">",
  "\u0000",
  ' xmlns:x="y"',
  "<state>".repeat(300),
  '<invoke src="http://127.0.0.1:9/"/>',
];

/** A text with parts put in, taken out, repeated and moved. */
function spoilText(random: Random, text: string, parts: readonly string[]): string {
  let spoilt = text;
  for (let count = random.between(1, 4); count > 0; count--) {
    const at = random.below(spoilt.length + 1);
    const length = random.below(40);
    const [before, after] = [spoilt.slice(0, at), spoilt.slice(at)];
    spoilt = random.pick<() => string>([
      () => before + random.pick(parts) + after,
      () => before + random.pick(parts) + after,
      () => before + after.slice(length),
      () => before + after.slice(0, length).repeat(random.between(2, 50)) + after,
      () => after + before,
    ])();
  }
  return spoilt;
}

function drawDocument(random: Random): string {
  const state = (depth: number): string => {
    const id = random.pick(["a", "b", "c", "d", "e"]);
    const inner =
      depth <= 0 ? "" : Array.from({ length: random.between(0, 3) }, () => state(depth - 1)).join("");
    const parts = [
      '<transition event="go" target="a"/>',
      '<transition cond="In(\'a\')" target="b"/>',
      '<onentry><log expr="1"/><raise event="x"/></onentry>',
      '<history id="h"><transition target="a"/></history>',
      '<onentry><send event="x" delay="1s"/></onentry>',
    ];
    return `<state id="${id}">${random.some(parts, random.between(0, 3)).join("")}${inner}</state>`;
  };
  return `<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" datamodel="${random.pick(["null", "ecmascript", "xpath"])}">${state(3)}${state(2)}</scxml>`;
}
