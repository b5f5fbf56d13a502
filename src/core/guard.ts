/** Guards and contracts, from what the author wrote to conditions over the step under way. */
import { limits } from "../limits.ts";
import type { Condition, Contract } from "./chart.ts";
import type { Compiler, Parts } from "./compiler.ts";
import { isObject } from "./json.ts";
import { compileItemGuard } from "./map.ts";
import { inside, itemsAt, show } from "./problem.ts";
import { entriesAt, partsAt } from "./shape.ts";
import { jsonOf } from "./value.ts";

/** A guard's code; undefined when there is none. A guard that throws is false, and `error.execution` is raised. */
export function compileGuard(compiler: Compiler, source: unknown, path: string): Condition | undefined {
  if (source === undefined) return undefined;
  const holds = compileWhole(compiler, source, path);
  return (scope) => {
    try {
      return holds(scope);
    } catch (error) {
      scope.fail(error);
      return false;
    }
  };
}

/** Stands for a guard that is missing or wrong; a machine with such a one never runs. */
const never: Condition = () => false;

/** How many conditions a guard comes to. */
interface Tally {
  count: number;
}

function compileWhole(compiler: Compiler, source: unknown, path: string): Condition {
  const tally: Tally = { count: 0 };
  const holds = compileCondition(compiler, source, path, tally);
  if (tally.count > limits.conditionsMax)
    compiler.problem(
      path,
      `comes to ${tally.count} conditions`,
      `a guard has at most ${limits.conditionsMax}`,
    );
  return holds;
}

function compileCondition(compiler: Compiler, source: unknown, path: string, tally: Tally): Condition {
  tally.count++;
  if (typeof source === "string") return compileNamed(compiler, source, path, tally);
  if (typeof source === "function") return (scope) => Boolean(source(scope));
  const parts = (isObject(source) ? source : {}) as Parts;
  if (typeof parts.type === "string") return compileUse(compiler, parts, path);
  const all = (key: string) =>
    itemsAt(parts[key], inside(path, key)).map(([one, at]) => compileCondition(compiler, one, at, tally));
  if (parts.in !== undefined) return compileIn(compiler, parts.in, inside(path, "in"));
  if (parts.and !== undefined) {
    const conditions = all("and");
    return (scope) => conditions.every((holds) => holds(scope));
  }
  if (parts.or !== undefined) {
    const conditions = all("or");
    return (scope) => conditions.some((holds) => holds(scope));
  }
  if (parts.not !== undefined) {
    const holds = compileCondition(compiler, parts.not, inside(path, "not"), tally);
    return (scope) => !holds(scope);
  }
  if (parts.error !== undefined) return compileError(compiler, parts.error, inside(path, "error"));
  if (parts.item !== undefined) return compileItemGuard(compiler, parts.item, inside(path, "item"));
  if (compiler.model.name === "plain" || !isObject(source)) {
    const fix = "write a function, a name, or { in }, { and }, { or }, { not }, { error }";
    compiler.problem(path, "is not a guard", fix);
    return never;
  }
  return compiler.model.condition(source, path) as Condition;
}

/** A guard by name is compiled once, where it is declared; one that leads back to itself would never end. */
function compileNamed(compiler: Compiler, name: string, path: string, tally: Tally): Condition {
  const { conditions, guards } = compiler.vocabulary;
  compiler.vocabulary.use("guard", name, path);
  if (!Object.hasOwn(guards, name)) return never;
  const source = guards[name];
  if (typeof source === "string") {
    compiler.problem(path, `names a guard that is a name itself: ${show(name)}`);
    return never;
  }
  const known = conditions.get(name);
  if (known === undefined && conditions.has(name)) {
    compiler.problem(path, `names a guard that leads back to itself: ${show(name)}`);
    return never;
  }
  const compiled = known ?? compileDeclared(compiler, name, source);
  tally.count = Math.min(tally.count + compiled.count, Number.MAX_SAFE_INTEGER);
  return compiled.holds;
}

/** A named guard with its parameters, which are computed each time it is asked. */
function compileUse(compiler: Compiler, parts: Parts, path: string): Condition {
  const { vocabulary } = compiler;
  const { type: name, params } = partsAt(compiler, parts, "reference", path) as {
    type: string;
    params?: unknown;
  };
  vocabulary.use("guard", name, inside(path, "type"));
  const given = jsonOf(compiler, params, inside(path, "params"));
  if (!Object.hasOwn(vocabulary.guards, name)) return never;
  const guard = vocabulary.guards[name];
  if (typeof guard === "function") return (scope) => Boolean(guard(scope, given(scope)));
  compiler.problem(path, `gives parameters to ${show(name)}, which is not a function`);
  return never;
}

function compileDeclared(compiler: Compiler, name: string, source: unknown) {
  const { conditions } = compiler.vocabulary;
  conditions.set(name, undefined);
  const tally: Tally = { count: 0 };
  const holds = compileCondition(compiler, source, inside("guards", name), tally);
  const compiled = { holds, count: tally.count };
  conditions.set(name, compiled);
  return compiled;
}

/** Compiles the guards that a definition brings, so that those nobody uses are checked as well. */
export function compileGuards(compiler: Compiler): void {
  for (const name of Object.keys(compiler.vocabulary.guards))
    if (typeof compiler.vocabulary.guards[name] !== "string" && !compiler.vocabulary.conditions.has(name))
      compileDeclared(compiler, name, compiler.vocabulary.guards[name]);
}

function compileIn(compiler: Compiler, name: unknown, path: string): Condition {
  const node = typeof name === "string" ? compiler.find(name) : undefined;
  if (node === undefined) {
    compiler.problem(path, `names no state: ${show(name)}`, () =>
      compiler.nearest.fix(name, compiler.paths(), "write a path such as a.b, or #id"),
    );
    return never;
  }
  return (scope) => scope.isActive(node);
}

/** Whether the event under way reports an error of one of these names or codes. */
function compileError(compiler: Compiler, given: unknown, path: string): Condition {
  const names = itemsAt(given, path).map(([name, at]) => {
    if (typeof name !== "string" && typeof name !== "number")
      compiler.problem(at, `is ${show(name)}`, "write the name or the code of an error");
    return name;
  });
  return ({ event: { type, data } }) =>
    type.startsWith("error.") &&
    isObject(data) &&
    names.some((name) => name === data.name || name === data.code);
}

/** Contracts by name. One that throws does not hold. */
export function compileContracts(compiler: Compiler, source: unknown, path: string): Contract[] {
  return entriesAt(compiler, source, path).map(([name, guard]) => {
    const holds = compileWhole(compiler, guard, inside(path, name));
    return { name, holds };
  });
}
