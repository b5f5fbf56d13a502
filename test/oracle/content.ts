/**
 * Executable content and conditions, for as much of the action language as random charts use: log, raise, update and
 * choose. https://www.w3.org/TR/scxml/#executable
 */
import type { Action, Branch, Guard, Recipe } from "../../src/core/definition.ts";
import type { Event } from "../../src/core/event.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import type { Scope } from "../../src/core/scope.ts";
import type { Content } from "./document.ts";

/** What content needs of the interpreter that runs it. */
export interface Session {
  context: JsonObject;
  readonly event: Event;
  isIn(state: string): boolean;
  raise(event: Event): void;
  log(data: Json): void;
  fail(error: unknown): void;
}

/** Runs one block; an error ends it and becomes an event. https://www.w3.org/TR/scxml/#EvaluationofExecutableContent */
export function executeContent(content: Content, session: Session): void {
  try {
    for (const action of content) execute(action, session);
  } catch (error) {
    session.fail(error);
  }
}

/** A condition that cannot be evaluated is false, and an error event. https://www.w3.org/TR/scxml/#ConditionalExpressions */
export function conditionMatch(cond: Guard | undefined, session: Session): boolean {
  if (cond === undefined) return true;
  try {
    return holds(cond, session);
  } catch (error) {
    session.fail(error);
    return false;
  }
}

/** The value of an expression: called if it is a function, itself otherwise. */
export function evaluate(source: unknown, session: Session): Json {
  return typeof source === "function" ? source(scopeOf(session)) : (source as Json);
}

function execute(action: Action, session: Session): void {
  if ("log" in action) session.log(evaluate(action.log, session));
  else if ("update" in action) session.context = updated(action.update as Recipe, session);
  else if ("raise" in action && typeof action.raise === "string")
    session.raise({ type: action.raise, kind: "internal" });
  else if ("choose" in action) choose(action.choose, session);
  else throw new Error(`The oracle does not know the action ${JSON.stringify(action)}.`);
}

/** The recipe works on a copy, which counts only if the recipe ends well. */
function updated(recipe: Recipe, session: Session): JsonObject {
  const copy: JsonObject = JSON.parse(JSON.stringify(session.context));
  recipe(copy as never, scopeOf(session));
  return copy;
}

/** https://www.w3.org/TR/scxml/#if */
function choose(branches: readonly Branch[], session: Session): void {
  const branch = branches.find(({ guard }) => conditionMatch(guard, session));
  for (const action of [branch?.actions ?? []].flat() as Action[]) execute(action, session);
}

function holds(cond: Guard, session: Session): boolean {
  if (typeof cond === "function") return cond(scopeOf(session));
  if (typeof cond === "string") throw new Error(`The oracle does not know the guard ${cond}.`);
  if ("in" in cond) return session.isIn(cond.in as string);
  if ("not" in cond) return !holds(cond.not as Guard, session);
  if ("and" in cond) return (cond.and as readonly Guard[]).every((part) => holds(part, session));
  if ("or" in cond) return (cond.or as readonly Guard[]).some((part) => holds(part, session));
  throw new Error(`The oracle does not know the guard ${JSON.stringify(cond)}.`);
}

const scopeOf = (session: Session): Scope => ({
  context: session.context,
  event: session.event,
  at: 0,
  in: (state) => session.isIn(state),
});
