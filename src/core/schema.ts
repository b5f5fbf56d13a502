/**
 * Schemas: what a machine's payloads and its context must be, in any library that speaks Standard Schema.
 *
 * D1. What a schema makes of a value (defaults, coercions) takes effect, and must be JSON.
 * D2. A schema never drops anything: a field that went in and did not come out is unknown, and refused by its path.
 * D3. A value that comes out as it went in stays the same reference, all the way down, so that patches stay small.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type ErrorCode, HoldfastError } from "../errors.ts";
import { freezeDeep, isObject, type Json, type Path, put, showPath, toJson } from "./json.ts";

export type Schema = StandardSchemaV1;

/** What a schema lets in; any JSON, or nothing, where there is none. */
export type InputOf<Given> = [Given] extends [never]
  ? Json | undefined
  : Given extends Schema
    ? StandardSchemaV1.InferInput<Given>
    : Json | undefined;
/** What a schema lets out; any JSON, or nothing, where there is none. */
export type OutputOf<Given> = [Given] extends [never]
  ? Json | undefined
  : Given extends Schema
    ? StandardSchemaV1.InferOutput<Given>
    : Json | undefined;

/** The value as its schema wants it; throws if it does not fit. */
export type Check = (value: Json | undefined) => Json | undefined;

/** The schemas of a machine, ready to be asked. */
export interface Schemas {
  readonly context: Check | undefined;
  readonly input: Check | undefined;
  readonly output: Check | undefined;
  readonly events: ReadonlyMap<string, Check>;
  readonly activities: ReadonlyMap<string, { readonly input?: Check; readonly output?: Check }>;
}

/** What is being checked, for the error. */
export interface Subject {
  readonly code: ErrorCode;
  /** As a sentence begins: `The event "choose"`. */
  readonly what: string;
  /** What paths start with. */
  readonly root: string;
}

/** Whether a value is a schema. ArkType's are functions. */
export function isSchema(value: unknown): value is Schema {
  return (
    (typeof value === "object" || typeof value === "function") &&
    value !== null &&
    isObject((value as Partial<Schema>)["~standard"]) &&
    typeof (value as Schema)["~standard"].validate === "function"
  );
}

/** What a definition may say of its schemas; what is no Standard Schema is somebody else's. */
interface Declared {
  readonly context?: unknown;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly events?: Readonly<Record<string, unknown>>;
  readonly activities?: Readonly<Record<string, { readonly input?: unknown; readonly output?: unknown }>>;
}

/** The schemas a definition declares; undefined if it has none, so that nothing is asked where nothing is said. */
export function schemasOf(
  definition: object,
  report: { problem(path: string, problem: string): void },
): Schemas | undefined {
  try {
    return readSchemas(definition);
  } catch (error) {
    report.problem("", `has schemas that cannot be read: ${(error as Error).message}`);
    return undefined;
  }
}

function readSchemas(definition: Declared): Schemas | undefined {
  const { context, input, output, events = {}, activities = {} } = definition;
  const schemas: Schemas = {
    context: checkOf(context, { code: "CONTEXT_INVALID", what: "The context", root: "context" }),
    input: checkOf(input, { code: "INPUT_INVALID", what: "The input", root: "input" }),
    output: checkOf(output, { code: "OUTPUT_INVALID", what: "The output", root: "output" }),
    events: new Map(
      Object.entries(events).flatMap(([type, schema]) => {
        const what = `The event ${JSON.stringify(type)}`;
        const check = checkOf(schema, { code: "EVENT_INVALID", what, root: "data" });
        return check === undefined ? [] : [[type, check] as const];
      }),
    ),
    activities: new Map(
      Object.entries(activities).map(([name, types]) => [name, activityChecks(name, types)]),
    ),
  };
  const { size } = schemas.events;
  const says = schemas.context ?? schemas.input ?? schemas.output;
  return says === undefined && size === 0 && schemas.activities.size === 0 ? undefined : schemas;
}

function activityChecks(
  name: string,
  types: { readonly input?: unknown; readonly output?: unknown },
): { readonly input?: Check; readonly output?: Check } {
  const checks: { input?: Check; output?: Check } = {};
  for (const side of ["input", "output"] as const) {
    const what = `The ${side} of the activity ${JSON.stringify(name)}`;
    const check = checkOf(types[side], { code: "ACTIVITY_INVALID", what, root: side });
    if (check !== undefined) checks[side] = check;
  }
  return checks;
}

/** How to ask a schema; undefined if it is none. */
export function checkOf(schema: unknown, subject: Subject): Check | undefined {
  if (!isSchema(schema)) return undefined;
  const strict = refusingUnknown(schema);
  return (value) => conform(strict, value, subject);
}

/** ArkType lets unknown fields through unless told otherwise, so that comparing what came out would find nothing. */
function refusingUnknown(schema: Schema): Schema {
  const { onDeepUndeclaredKey: tell } = schema as { onDeepUndeclaredKey?: (behaviour: "reject") => Schema };
  return typeof tell === "function" ? tell.call(schema, "reject") : schema;
}

function conform(schema: Schema, given: Json | undefined, subject: Subject): Json | undefined {
  const { value, issues } = resultOf(schema, given, subject);
  if (issues !== undefined) {
    throw refuse(
      subject,
      issues.map(({ path = [], message }) => ({ path: path.map(keyOf), message })),
    );
  }
  if (value === undefined) return undefined;
  if (isSame(given, value)) return freezeDeep(given);
  const made = toJson(value, [], subject.root);
  const dropped: Path[] = [];
  const kept = given === undefined ? made : share(given, made, [], dropped);
  if (dropped.length > 0) {
    throw refuse(
      subject,
      dropped.map((path) => ({ path, message: "is unknown" })),
    );
  }
  return freezeDeep(kept);
}

function resultOf(
  schema: Schema,
  given: Json | undefined,
  { what }: Subject,
): { readonly value?: unknown; readonly issues?: readonly StandardSchemaV1.Issue[] | undefined } {
  let result: ReturnType<Schema["~standard"]["validate"]>;
  try {
    result = schema["~standard"].validate(given);
  } catch (error) {
    throw new HoldfastError("SCHEMA_UNUSABLE", `${what} cannot be checked: its schema throws`, {
      cause: error,
    });
  }
  if (!("then" in result)) return result;
  // Nobody waits for what it would have said.
  result.then(undefined, () => {});
  throw new HoldfastError(
    "SCHEMA_UNUSABLE",
    `${what} cannot be checked: its schema is asynchronous, and a step does not wait; do what takes time in an activity`,
  );
}

const keyOf = (segment: PropertyKey | StandardSchemaV1.PathSegment): string | number => {
  const key = typeof segment === "object" ? segment.key : segment;
  return typeof key === "symbol" ? String(key) : key;
};

function refuse(
  { code, what, root }: Subject,
  issues: readonly { readonly path: Path; readonly message: string }[],
): HoldfastError {
  const shown = issues.map(({ path, message }) => `${showPath(path, root)}: ${message}`);
  return new HoldfastError(code, `${what} does not fit its schema: ${shown.join("; ")}`, {
    details: { issues: issues.map(({ path, message }) => ({ path: showPath(path, root), message })) },
  });
}

/** Whether a schema left everything as it was, which is the rule and need not be taken apart. */
function isSame(given: unknown, made: unknown): boolean {
  if (Object.is(given, made)) return true;
  if (Array.isArray(given))
    return (
      Array.isArray(made) &&
      given.length === made.length &&
      given.every((item, index) => isSame(item, made[index]))
    );
  if (!isObject(given) || !isObject(made)) return false;
  const keys = Object.keys(given);
  return (
    keys.length === Object.keys(made).length &&
    keys.every((key) => Object.hasOwn(made, key) && isSame(given[key], made[key]))
  );
}

/** What a schema made, with every part that it left alone taken from what it was given. */
function share(given: Json, made: Json, path: Path, dropped: Path[]): Json {
  if (Object.is(given, made)) return given;
  if (Array.isArray(given) && Array.isArray(made)) {
    const items = (made as readonly Json[]).map((item, index) =>
      index < given.length ? share(given[index], item, [...path, index], dropped) : item,
    );
    for (let index = made.length; index < given.length; index++) dropped.push([...path, index]);
    const same = items.length === given.length && items.every((item, index) => item === given[index]);
    return same ? (given as Json) : items;
  }
  if (!isObject(given) || !isObject(made)) return made;
  const record = {};
  for (const key of Object.keys(given)) if (!Object.hasOwn(made, key)) dropped.push([...path, key]);
  let same = Object.keys(made).length === Object.keys(given).length;
  for (const [key, item] of Object.entries(made)) {
    const before = Object.hasOwn(given, key) ? given[key] : undefined;
    const kept = before === undefined ? item : share(before, item, [...path, key], dropped);
    if (kept !== before) same = false;
    put(record, key, kept);
  }
  return same ? given : record;
}
