/** Guards and contracts, from what the author wrote to conditions over the step under way. */
import type { Condition, Contract } from "./chart.ts";
import { type Compiler, listOf, named, type Parts } from "./compiler.ts";
import { jsonOf } from "./value.ts";

/** A guard's code; undefined when there is none. A guard that throws is false, and `error.execution` is raised. */
export function compileGuard(compiler: Compiler, source: unknown, path: string): Condition | undefined {
  if (source === undefined) return undefined;
  const holds = compileCondition(compiler, source, path);
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

function compileCondition(compiler: Compiler, source: unknown, path: string): Condition {
  if (typeof source === "string") {
    const guard = named(compiler, "guard", compiler.guards, source);
    if (typeof guard !== "string")
      return guard === undefined ? never : compileCondition(compiler, guard, path);
    compiler.problem(path, `names a guard that is a name itself: ${JSON.stringify(source)}`);
    return never;
  }
  if (typeof source === "function") return (scope) => Boolean(source(scope));
  const parts = (source ?? {}) as Parts;
  if (typeof parts.type === "string") return compileUse(compiler, parts, path);
  const all = (given: unknown, key: string) =>
    listOf(given).map((one, index) => compileCondition(compiler, one, `${path}.${key}[${index}]`));
  if (typeof parts.in === "string") return compileIn(compiler, parts.in, path);
  if (parts.and !== undefined) {
    const conditions = all(parts.and, "and");
    return (scope) => conditions.every((holds) => holds(scope));
  }
  if (parts.or !== undefined) {
    const conditions = all(parts.or, "or");
    return (scope) => conditions.some((holds) => holds(scope));
  }
  if (parts.not !== undefined) {
    const holds = compileCondition(compiler, parts.not, `${path}.not`);
    return (scope) => !holds(scope);
  }
  if (compiler.model.name === "plain") {
    compiler.problem(path, "is not a guard; write a function, a name, or { in }, { and }, { or }, { not }");
    return never;
  }
  return compiler.model.condition(source, path) as Condition;
}

/** A named guard with its parameters, which are computed each time it is asked. */
function compileUse(compiler: Compiler, { type, params }: Parts, path: string): Condition {
  const guard = named(compiler, "guard", compiler.guards, type as string);
  if (guard === undefined) return never;
  if (typeof guard !== "function") {
    compiler.problem(path, `gives parameters to ${JSON.stringify(type)}, which is not a function`);
    return never;
  }
  const given = jsonOf(compiler, params, `${path}.params`);
  return (scope) => Boolean(guard(scope, given(scope)));
}

function compileIn(compiler: Compiler, name: string, path: string): Condition {
  const node = compiler.find(name);
  if (node === undefined) {
    compiler.problem(
      `${path}.in`,
      `names no state: ${JSON.stringify(name)}; write a path such as a.b, or #id`,
    );
    return never;
  }
  return (scope) => scope.isActive(node);
}

/** Contracts by name. One that throws does not hold. */
export function compileContracts(compiler: Compiler, source: unknown, path: string): Contract[] {
  return Object.entries((source ?? {}) as Parts).map(([name, guard]) => {
    const holds = compileCondition(compiler, guard, `${path}.${name}`);
    return { name, holds };
  });
}
