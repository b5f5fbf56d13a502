/**
 * From a JSON Schema to a check of values. A schema becomes closures over what it says, once; a check walks the value,
 * pays for every look, and collects what is wrong with the path to it.
 */
import { isObject, type JsonObject } from "../json.ts";
import type { Patterns } from "../pattern.ts";
import { fieldChecks, unknownField } from "./fields.ts";
import { formats } from "./format.ts";
import { itemChecks } from "./items.ts";
import { resolve } from "./meta.ts";
import { type Check, canonical, type Issue, type Maker, type Seen, type Visit } from "./visit.ts";

/** The check of a schema that has no problems. */
export function checkerOf(root: JsonObject | boolean, patterns: Patterns): Check {
  const owns = new Map<unknown, Check>();
  const besides = new Map<unknown, Check>();
  const once = (known: Map<unknown, Check>, schema: unknown, make: () => Check): Check => {
    const found = known.get(schema);
    if (found !== undefined) return found;
    let made: Check | undefined;
    // Whoever asks while it is being made gets a way to it.
    known.set(schema, (value, visit, seen) => (made as Check)(value, visit, seen));
    made = make();
    known.set(schema, made);
    return made;
  };
  const maker: Maker = {
    patterns,
    speaking: new Map(),
    own: (schema) => once(owns, schema, () => closed(schema, maker)),
    beside: (schema) => once(besides, schema, () => open(schema, maker)),
    referred: (reference) => resolve(root, reference),
  };
  return maker.own(root);
}

/** The check of a whole value: what no schema has spoken of may not be there. */
function closed(schema: unknown, maker: Maker): Check {
  if (!isObject(schema) || !speaksOfObjects(schema, maker)) return maker.beside(schema);
  const composed = ["$ref", "allOf", "anyOf", "oneOf", "if"].some((key) => key in schema);
  // Alone, a schema knows all the fields there can be.
  if (!composed)
    return open({ ...schema, additionalProperties: schema.additionalProperties ?? false }, maker);
  const check = maker.beside(schema);
  const unknown = unknownField(isObject(schema.properties) ? Object.keys(schema.properties) : []);
  return (value, visit) => {
    if (!isObject(value)) return check(value, visit, undefined);
    const seen: Seen = new Set();
    // Where one of several does not hold, nobody knows which fields it would have spoken of.
    if (!check(value, visit, seen)) return false;
    return visit.every(Object.keys(value), (key) => seen.has(key) || visit.inside(key, unknown, undefined));
  };
}

/** Whether a schema says anything about fields, by itself or through those it applies to the same value. */
function speaksOfObjects(schema: unknown, maker: Maker): boolean {
  if (!isObject(schema)) return false;
  const known = maker.speaking.get(schema) ?? speaks(schema, maker);
  maker.speaking.set(schema, known);
  return known;
}

function speaks(schema: JsonObject, maker: Maker): boolean {
  const { type } = schema;
  if (type === "object" || (Array.isArray(type) && type.includes("object"))) return true;
  if (["properties", "patternProperties", "additionalProperties"].some((key) => key in schema)) return true;
  const lists = ["allOf", "anyOf", "oneOf"].flatMap((key) => (schema[key] ?? []) as unknown[]);
  const others = [
    ...lists,
    schema.then,
    schema.else,
    typeof schema.$ref === "string" ? maker.referred(schema.$ref) : undefined,
  ];
  return others.some((one) => speaksOfObjects(one, maker));
}

/** The check of what one schema says; fields it does not speak of are left to the others. */
function open(schema: unknown, maker: Maker): Check {
  if (schema === true) return allOf([all]);
  if (!isObject(schema)) return (_value, visit) => visit.fail("may not be there at all");
  const checks = [
    ...typeChecks(schema),
    ...valueChecks(schema),
    ...numberChecks(schema),
    ...textChecks(schema, maker),
    ...itemChecks(schema, maker),
    ...fieldChecks(schema, maker),
    ...branchChecks(schema, maker),
  ];
  const anything = !speaksOfObjects(schema, maker);
  return allOf(anything ? [...checks, all] : checks);
}

/** Whatever it is, its fields are fine. */
const all: Check = (value, _visit, seen) => {
  if (seen !== undefined && isObject(value)) for (const key of Object.keys(value)) seen.add(key);
  return true;
};

function allOf(checks: readonly Check[]): Check {
  return (value, visit, seen) => {
    visit.spend(1);
    return visit.every(checks, (check) => check(value, visit, seen));
  };
}

/** What a value is in JSON Schema's words. */
function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

function isOfType(value: unknown, name: string): boolean {
  if (name === "integer") return Number.isInteger(value);
  if (name === "number") return typeof value === "number" && Number.isFinite(value);
  return typeName(value) === name;
}

const spoken: Readonly<Record<string, string>> = {
  ...{
    null: "null",
    boolean: "true or false",
    integer: "a whole number",
    number: "a number",
    string: "text",
  },
  ...{ array: "a list", object: "an object", undefined: "absent" },
};

function typeChecks({ type }: JsonObject): Check[] {
  if (type === undefined) return [];
  const names = (Array.isArray(type) ? type : [type]) as string[];
  const wanted = names.map((name) => spoken[name]).join(" or ");
  return [
    (value, visit) => {
      for (const name of names) if (isOfType(value, name)) return true;
      const is =
        typeof value === "number" ? `the number ${value}` : (spoken[typeName(value)] ?? typeName(value));
      return visit.fail(() => `must be ${wanted}, and is ${is}`);
    },
  ];
}

function valueChecks(schema: JsonObject): Check[] {
  const values = "const" in schema ? [schema.const] : (schema.enum as readonly unknown[] | undefined);
  if (values === undefined) return [];
  const scalars = new Set(values.filter((value) => typeof value !== "object" || value === null));
  const texts = new Set(values.map((value) => canonical(value)));
  const shown = [...texts].slice(0, 20).join(", ").slice(0, 400);
  return [
    (value, visit) => {
      if (scalars.has(value)) return true;
      if (typeof value === "object" && value !== null && texts.has(canonical(value, visit))) return true;
      return visit.fail(values.length === 1 ? `must be ${shown}` : `must be one of ${shown}`);
    },
  ];
}

function numberChecks(schema: JsonObject): Check[] {
  const checks: Check[] = [];
  const rule = (keyword: string, holds: (value: number, bound: number) => boolean, must: string) => {
    const bound = schema[keyword] as number | undefined;
    if (bound === undefined) return;
    checks.push(
      (value, visit) =>
        typeof value !== "number" ||
        holds(value, bound) ||
        visit.fail(`must be ${must} ${bound}, and is ${value}`),
    );
  };
  rule("minimum", (value, bound) => value >= bound, "at least");
  rule("maximum", (value, bound) => value <= bound, "at most");
  rule("exclusiveMinimum", (value, bound) => value > bound, "above");
  rule("exclusiveMaximum", (value, bound) => value < bound, "below");
  rule("multipleOf", (value, bound) => Number.isInteger(value / bound), "a multiple of");
  return checks;
}

function textChecks(schema: JsonObject, { patterns }: Maker): Check[] {
  const checks: Check[] = [];
  const rule = (holds: (text: string, visit: Visit) => boolean, must: string) =>
    checks.push(
      (value, visit) => typeof value !== "string" || holds(value, visit) || visit.fail(`must ${must}`),
    );
  const { minLength, maxLength, pattern, format } = schema;
  const lengthOf = (text: string, visit: Visit) => {
    visit.spend(text.length / 16);
    return /[\ud800-\udfff]/.test(text) ? Array.from(text).length : text.length;
  };
  if (typeof minLength === "number")
    rule((text, visit) => lengthOf(text, visit) >= minLength, `have at least ${minLength} characters`);
  if (typeof maxLength === "number")
    rule((text, visit) => lengthOf(text, visit) <= maxLength, `have at most ${maxLength} characters`);
  if (typeof pattern === "string") {
    const compiled = patterns.compile(pattern);
    rule((text, visit) => {
      visit.spend((text.length * compiled.costPerCharacter) / 4);
      return compiled.test(text);
    }, `match ${pattern}`);
  }
  if (typeof format === "string") {
    const isFormat = formats[format] as (text: string) => boolean;
    rule((text, visit) => {
      visit.spend(text.length / 16);
      return isFormat(text);
    }, `be of the format ${format}`);
  }
  return checks;
}

function branchChecks(schema: JsonObject, maker: Maker): Check[] {
  const checks: Check[] = [];
  const many = (keyword: string) => ((schema[keyword] ?? []) as unknown[]).map((one) => maker.beside(one));
  if (typeof schema.$ref === "string") checks.push(maker.beside(maker.referred(schema.$ref)));
  checks.push(...many("allOf"));
  const [any, one] = [many("anyOf"), many("oneOf")];
  if (any.length > 0) checks.push(branches(any, false));
  if (one.length > 0) checks.push(branches(one, true));
  if (schema.not !== undefined) {
    const not = maker.beside(schema.not);
    checks.push(
      (value, visit) => !visit.passes(not, value, undefined) || visit.fail("must not match what is excluded"),
    );
  }
  if (schema.if !== undefined) {
    const [test, yes, no] = [schema.if, schema.then ?? true, schema.else ?? true].map((part) =>
      maker.beside(part),
    ) as [Check, Check, Check];
    checks.push((value, visit, seen) => {
      const inner: Seen | undefined = seen && new Set();
      const held = visit.passes(test, value, inner);
      if (held) for (const key of inner ?? []) seen?.add(key);
      return (held ? yes : no)(value, visit, seen);
    });
  }
  return checks;
}

/** Any of several schemas, or just one of them. If none fits, the one that came nearest says why. */
function branches(checks: readonly Check[], exactlyOne: boolean): Check {
  return (value, visit, seen) => {
    let fitting = 0;
    for (const check of checks) {
      const inner: Seen | undefined = seen && new Set();
      if (!visit.passes(check, value, inner)) continue;
      fitting++;
      for (const key of inner ?? []) seen?.add(key);
      // Fields may be spoken of by any of the others, so all are asked where that matters.
      if (!exactlyOne && seen === undefined) return true;
    }
    if (fitting === 1 || (fitting > 1 && !exactlyOne)) return true;
    if (fitting > 1) return visit.fail(`must fit one of ${checks.length} schemas only, and fits ${fitting}`);
    return visit.failWith(() => checks.map((check) => visit.complaints(check, value)).reduce(nearer));
  };
}

/** Of two lists of problems the one about more inner things: its schema was probably meant. */
function nearer(one: Issue[], other: Issue[]): Issue[] {
  const depth = (issues: readonly Issue[]) => Math.min(...issues.map(({ path }) => path.length));
  const [left, right] = [depth(one), depth(other)];
  return left > right || (left === right && one.length <= other.length) ? one : other;
}
