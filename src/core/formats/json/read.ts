/**
 * A machine as data: from JSON or YAML, or the same as an object, to a definition. Everything that is wrong is found in
 * one go, each with its path: the shape, by the published schema; the schemas inside; the expressions, typed; and what
 * only the whole chart shows.
 */
import { HoldfastError, isHoldfastError } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import { compile } from "../../compile.ts";
import type { MachineDefinition } from "../../definition.ts";
import { celModel } from "../../expression/model.ts";
import { Typing, typeDefinition } from "../../expression/typing.ts";
import { isObject, type Json, type JsonObject, showValue, toJson } from "../../json.ts";
import { jsonSchema } from "../../json-schema/schema.ts";
import { defineMachine, type Machine } from "../../machine.ts";
import { Patterns } from "../../pattern.ts";
import { inside, type Problem, Problems } from "../../problem.ts";
import { expandShorthand } from "../../shorthand/expand.ts";
import { readYaml } from "../yaml/text.ts";
import { definitionSchema } from "./definition-schema.ts";
import { type Read, readJson } from "./text.ts";

/** What was read: the definition, if it can be used, and everything that is wrong with it. */
export interface ReadDefinition {
  readonly definition: MachineDefinition | undefined;
  readonly problems: readonly Problem[];
}

/** A definition from JSON or YAML text, or from an object; never throws, whatever it is given. */
export function readDefinition(source: unknown): ReadDefinition {
  const read = readSource(source);
  if ("problem" in read) return refused([{ path: "definition", problem: shorten(read.problem) }]);
  const { value } = read;
  if (!isObject(value))
    return refused([
      {
        path: "definition",
        problem: `is ${showValue(value).slice(0, 80)}; a machine is an object with an id and states`,
      },
    ]);
  const reading = new Reading();
  reading.checkShape(value);
  const definition = reading.build(value);
  return reading.problems.length === 0 ? { definition, problems: [] } : refused(reading.problems);
}

/** A machine from JSON or YAML text, or from an object; throws MACHINE_INVALID with every problem if it has any. */
export function loadMachine(source: unknown): Machine {
  const { definition, problems } = readDefinition(source);
  if (definition !== undefined) return defineMachine(definition);
  const list = problems.map(({ path, problem }) => `\n  ${path} ${problem}`).join("");
  throw new HoldfastError(
    "MACHINE_INVALID",
    `The machine has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}:${list}`,
    { details: { problems } },
  );
}

function refused(problems: readonly Problem[]): ReadDefinition {
  return { definition: undefined, problems };
}

/** The value that a text or an object stands for. An object is copied: what its owner does later changes nothing. */
export function readSource(source: unknown): Read {
  if (typeof source === "string")
    return /^\s*[{[]/.test(source.slice(0, 1_000)) ? readBraces(source) : readYaml(source);
  try {
    const value = toJson(source, [], "definition");
    return readJson(JSON.stringify(value));
  } catch (error) {
    return { problem: `cannot be read: ${(error as Error).message}` };
  }
}

/** YAML may begin with a brace as well; what is neither is most likely meant to be JSON. */
function readBraces(source: string): Read {
  const json = readJson(source);
  if ("value" in json) return json;
  const yaml = readYaml(source);
  return "value" in yaml ? yaml : json;
}

const definitionCheck = jsonSchema(definitionSchema);

/** Names may be as long as a definition; what is said of them is for people. */
function shorten(text: string): string {
  return text.length > limits.problemLengthMax ? `${text.slice(0, limits.problemLengthMax)}…` : text;
}

class Reading {
  readonly problems: Problem[] = [];
  private readonly places = new Set<string>();
  private readonly patterns = new Patterns();

  private report(path: string, problem: string, fix?: string): void {
    const at = path === "" ? "definition" : path;
    if (this.problems.length >= limits.problemsMax || this.places.has(at)) return;
    this.places.add(at);
    const told = { path: shorten(at), problem: shorten(problem) };
    this.problems.push(fix === undefined ? told : { ...told, fix: shorten(fix) });
  }

  /** What the published schema says. */
  checkShape(value: JsonObject): void {
    const result = definitionCheck["~standard"].validate(value);
    if (result instanceof Promise || result.issues === undefined) return;
    for (const { message, path } of result.issues)
      this.report(inside("", ...((path ?? []) as readonly (string | number)[])), message);
  }

  /** The definition with its schemas and expressions ready to use; problems are reported on the way. */
  build(value: JsonObject): MachineDefinition {
    const schemas = this.schemasOf(value);
    const typing = new Typing(value, (path, problem) => this.report(path, problem), this.patterns);
    this.attempt(() => typeDefinition(this.expanded(value), typing));
    const definition = { ...value, ...schemas, model: celModel(typing) } as unknown as MachineDefinition;
    // An object that is no definition at all has no chart either.
    this.attempt(() => {
      const { problems } = compile(definition);
      for (const { path, problem, fix } of problems.slice(0, limits.problemsMax * 10))
        if (!this.covers(path)) this.report(path, problem, fix);
    });
    return definition;
  }

  /** With its shorthand written out; what is wrong with that is told when it is compiled. */
  private expanded(value: JsonObject): JsonObject {
    return expandShorthand(value, new Problems()) as JsonObject;
  }

  /** Whether something about this place, or around it, has been said already. */
  private covers(path: string): boolean {
    for (
      let length = path.length;
      length > 0;
      length = Math.max(path.lastIndexOf(".", length - 1), path.lastIndexOf("[", length - 1))
    )
      if (this.places.has(path.slice(0, length))) return true;
    return false;
  }

  private attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (this.problems.length === 0)
        this.report("definition", `cannot be read: ${(error as Error).message}`);
    }
  }

  private schemasOf({ context, input, events, activities }: JsonObject): object {
    const map = (all: Json | undefined, read: (one: Json, path: string) => unknown, path: string) =>
      isObject(all)
        ? Object.fromEntries(Object.entries(all).map(([name, one]) => [name, read(one, `${path}.${name}`)]))
        : all;
    const schema = (one: Json, path: string) => this.schema(one, path);
    const ends = (one: Json, path: string) =>
      map(one, (end, at) => (at.endsWith(".description") ? end : schema(end, at)), path);
    return {
      ...(context === undefined ? {} : { context: schema(context, "context") }),
      ...(input === undefined ? {} : { input: schema(input, "input") }),
      ...(events === undefined ? {} : { events: map(events, schema, "events") }),
      ...(activities === undefined ? {} : { activities: map(activities, ends, "activities") }),
    };
  }

  private schema(source: Json, path: string): unknown {
    try {
      return jsonSchema(source, this.patterns);
    } catch (error) {
      const problems = isHoldfastError(error) ? (error.details.problems as Problem[] | undefined) : undefined;
      for (const one of problems ?? [{ path: "schema", problem: (error as Error).message }])
        this.report(
          one.path.replace(/^schema/, () => path),
          one.problem,
        );
      return source;
    }
  }
}
