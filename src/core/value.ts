/** Expressions, by the kind of value they must give. Whatever user code hands over becomes JSON here. */
import type { Compute, StepScope } from "./chart.ts";
import type { Compiler } from "./compiler.ts";
import { durationMs } from "./duration.ts";
import { freezeDeep, type Json, toJson } from "./json.ts";
import { constantMs } from "./policy.ts";

/** An expression that gives JSON, or nothing. */
export function jsonOf(compiler: Compiler, source: unknown, path: string): Compute<Json | undefined> {
  if (source === undefined) return () => undefined;
  const value = compiler.model.value(source, path);
  return (scope) => {
    const given = value(scope);
    return given === undefined ? undefined : freezeDeep(toJson(given, [], path));
  };
}

/** An expression that gives text. */
export function textOf(compiler: Compiler, source: unknown, path: string): Compute<string> {
  if (typeof source === "string") return () => source;
  const value = compiler.model.value(source, path);
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
  const value = compiler.model.value(source, path);
  return (scope) => durationMs(value(scope));
}

/** The name of a child machine: given, or computed by the data model. */
export function machineOf(compiler: Compiler, source: unknown, path: string): Compute<string> {
  const name = compiler.machineName(source);
  if (name !== undefined) return () => name;
  return textOf(compiler, source, path);
}
