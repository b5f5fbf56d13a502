/** Expressions, by the kind of value they must give. Whatever user code hands over becomes JSON here. */
import type { Compute, StepScope } from "./chart.ts";
import type { Compiler } from "./compiler.ts";
import { durationMs } from "./duration.ts";
import { freezeDeep, isObject, type Json, toJson } from "./json.ts";
import { constantMs } from "./policy.ts";
import { messageOf, show } from "./problem.ts";

/** What an expression gives, compiled by the machine's data model; a constant that is not JSON is a problem. */
export function expressionOf(compiler: Compiler, source: unknown, path: string): Compute<unknown> {
  if (typeof source !== "function") {
    try {
      toJson(source, [], "it");
    } catch (error) {
      compiler.problem(path, `cannot be used: ${messageOf(error)}`);
      return () => undefined;
    }
  }
  return compiler.model.value(source, path);
}

/** An expression that gives JSON, or nothing. */
export function jsonOf(compiler: Compiler, source: unknown, path: string): Compute<Json | undefined> {
  if (source === undefined) return () => undefined;
  const value = expressionOf(compiler, source, path);
  return (scope) => {
    const given = value(scope);
    return given === undefined ? undefined : freezeDeep(toJson(given, [], path));
  };
}

/** An expression that gives text. */
export function textOf(compiler: Compiler, source: unknown, path: string): Compute<string> {
  if (typeof source === "string" && source !== "") return () => source;
  if (typeof source !== "function" && !isObject(source)) {
    compiler.problem(path, `is ${show(source)}`, "write a name, or how to compute it");
    return () => "";
  }
  const value = expressionOf(compiler, source, path);
  return (scope: StepScope) => {
    const text = value(scope);
    if (typeof text !== "string") throw new TypeError(`${path} must be text, and is ${JSON.stringify(text)}`);
    return text;
  };
}

/** An expression that gives text, or nothing. */
export function optionalTextOf(
  compiler: Compiler,
  source: unknown,
  path: string,
): Compute<string | undefined> {
  const value = jsonOf(compiler, source, path);
  return (scope) => {
    const text = value(scope);
    if (text === undefined || typeof text === "string") return text;
    throw new TypeError(`${path} must be text, and is ${JSON.stringify(text)}`);
  };
}

/** An expression that gives a delay; a constant one is checked right away. */
export function delayOf(compiler: Compiler, source: unknown, path: string): Compute<number> {
  if (typeof source === "number" || typeof source === "string") {
    // A machine with problems never runs.
    const ms = constantMs(source, path, compiler) as number;
    return () => ms;
  }
  if (typeof source !== "function" && !isObject(source)) {
    constantMs(source, path, compiler);
    return () => 0;
  }
  const value = expressionOf(compiler, source, path);
  return (scope) => durationMs(value(scope));
}

/** The name of a child machine: given, or computed by the data model. */
export function machineOf(compiler: Compiler, source: unknown, path: string): Compute<string> {
  const name = compiler.vocabulary.machineName(source, path);
  if (name !== undefined) return () => name;
  return textOf(compiler, source, path);
}
