/**
 * `attempt`: an invocation with what its errors lead to, as Amazon's state language has it with Retry and Catch: the
 * runtime tries again as `retry` says; when it gives up, the first catcher that names the error takes it. It becomes an
 * `invoke` whose `onError` asks for the names, with a timer around all attempts and an exit action:
 *
 *     attempt: { invoke, catch: [{ errors: ["RateLimited"], target: "waiting" }, "failed"], timeout: "5 min", onTimeout: "late" }
 *     invoke: { …, onError: [{ guard: { error: ["RateLimited"] }, target: "waiting" }, "failed"] }, after: { "5 min": "late" }
 */
import type { Parts } from "../compiler.ts";
import { isObject } from "../json.ts";
import { inside, itemsAt, show } from "../problem.ts";
import type { Expansion } from "./expansion.ts";

export function expandAttempt(parts: Parts, expansion: Expansion, written: string): void {
  const { checker } = expansion;
  const invokeAt = inside(written, "invoke");
  if (!isObject(parts.invoke)) checker.problem(invokeAt, `is ${show(parts.invoke)}`, "write one invocation");
  else {
    if (parts.invoke.onError !== undefined)
      checker.problem(inside(invokeAt, "onError"), "is what `catch` is for", "write it there");
    expansion.set(
      "invoke",
      { ...parts.invoke, onError: catchers(parts.catch, expansion, inside(written, "catch")) },
      invokeAt,
    );
  }
  expansion.addTimeout(parts, written);
  if (parts.finally !== undefined) expansion.addBlock("exit", parts.finally, inside(written, "finally"));
}

/** Transitions for the errors there may be: each catcher, with its names as a guard. */
function catchers(given: unknown, expansion: Expansion, written: string): unknown {
  const { checker } = expansion;
  const items = itemsAt(given, written);
  if (items.length === 0) checker.problem(written, "is missing", "say where an error leads");
  const transitions = items.map(([catcher, at], index) => {
    const place = Array.isArray(given) ? ["invoke", "onError", index] : ["invoke", "onError"];
    expansion.from(place, at);
    const { errors, ...parts } = isObject(catcher) ? (catcher as Parts) : ({ errors: undefined } as Parts);
    const isLast = index === items.length - 1;
    if (isLast && errors !== undefined)
      checker.problem(at, "leaves other errors without a way out", "add a last one without errors");
    if (!isLast && errors === undefined && parts.guard === undefined)
      checker.problem(at, "takes every error, and those after it none", "put it last");
    if (errors === undefined) return catcher;
    expansion.from([...place, "guard"], inside(at, "guard"));
    const named = { error: errors };
    if (parts.guard === undefined) {
      expansion.from([...place, "guard", "error"], inside(at, "errors"));
      return { ...parts, guard: named };
    }
    expansion.from([...place, "guard", "and", 0, "error"], inside(at, "errors"));
    expansion.from([...place, "guard", "and", 1], inside(at, "guard"));
    return { ...parts, guard: { and: [named, parts.guard] } };
  });
  return Array.isArray(given) ? transitions : transitions[0];
}
