/**
 * What an invocation declares of flow control: how many at a time, how many in a while, and what goes first. Limits are
 * constants; keys and priorities are made in the step that begins the activity, and go to the runtime with it.
 */
import { limits } from "../limits.ts";
import type { Compute } from "./chart.ts";
import type { Compiler, Parts } from "./compiler.ts";
import type { JsonObject } from "./json.ts";
import { constantMs } from "./policy.ts";
import { inside, show } from "./problem.ts";
import { partsAt, type Shape } from "./shape.ts";
import { expressionOf, textOf } from "./value.ts";

/** What the runtime is told; undefined where nothing is declared. */
export function flowOf(
  compiler: Compiler,
  { concurrency, rate, priority }: Parts,
  place: string,
): Compute<JsonObject> | undefined {
  const made: [name: string, value: Compute<JsonObject[string]>][] = [];
  if (concurrency !== undefined)
    made.push(["concurrency", limitOf(compiler, concurrency, "concurrency", inside(place, "concurrency"))]);
  if (rate !== undefined) made.push(["rate", limitOf(compiler, rate, "rate", inside(place, "rate"))]);
  if (priority !== undefined)
    made.push(["priority", priorityOf(compiler, priority, inside(place, "priority"))]);
  if (made.length === 0) return undefined;
  return (scope) => Object.fromEntries(made.map(([name, value]) => [name, value(scope)]));
}

function limitOf(compiler: Compiler, given: unknown, shape: Shape, place: string): Compute<JsonObject> {
  const { limit, key, scope, per } = partsAt(compiler, given, shape, place);
  const most = shape === "rate" ? limits.rateLimitMax : Number.MAX_SAFE_INTEGER;
  if (!Number.isSafeInteger(limit) || (limit as number) < 1 || (limit as number) > most) {
    const fix =
      shape === "rate" ? `write a whole number from 1 to ${most}` : "write a whole number above zero";
    compiler.problem(inside(place, "limit"), `is ${show(limit)}`, fix);
  }
  if (scope !== undefined && scope !== "tenant" && scope !== "all")
    compiler.problem(inside(place, "scope"), `is ${show(scope)}`, "write tenant or all");
  if (shape === "rate" && constantMs(per, inside(place, "per"), compiler) === 0)
    compiler.problem(inside(place, "per"), "is no time at all", "write a period such as 1 min");
  const constants = {
    limit: limit as number,
    ...(per === undefined ? undefined : { per: per as number | string }),
    ...(scope === "all" ? { scope } : undefined),
  };
  if (key === undefined) return () => constants;
  const at = inside(place, "key");
  const text = textOf(compiler, key, at);
  return (work) => ({ ...constants, key: checkedKey(text(work), at) });
}

/** A key is part of a name that stores keep. */
function checkedKey(key: string, place: string): string {
  if (key !== "" && key.length <= limits.nameLengthMax && key.isWellFormed() && !key.includes("\0"))
    return key;
  throw new TypeError(
    `${place} must be text of 1 to ${limits.nameLengthMax} characters that stores can keep, and is ${show(key)}`,
  );
}

function priorityOf(compiler: Compiler, given: unknown, place: string): Compute<number> {
  if (typeof given === "number" && Number.isFinite(given)) return () => given;
  if (typeof given !== "function" && (typeof given !== "object" || given === null)) {
    compiler.problem(place, `is ${show(given)}`, "write a number, or how to compute it");
    return () => 0;
  }
  const value = expressionOf(compiler, given, place);
  return (scope) => {
    const priority = value(scope);
    if (typeof priority === "number" && Number.isFinite(priority)) return priority;
    throw new TypeError(`${place} must be a number, and is ${show(priority)}`);
  };
}
