/**
 * CEL as a data model of the core: expressions are `{ cel: "…" }`, updates set fields, and everything has a budget.
 * Functions are taken as the native model takes them, so that both may stand side by side in code.
 */
import type { DataModel, ModelScope } from "../data-model.ts";
import { freezeDeep, isObject, type Json, type JsonObject, toJson } from "../json.ts";
import { plainModel } from "../plain-model.ts";
import { Budget, checkSize, newPurse, type Purse } from "./budget.ts";
import type { Frame, Typed } from "./code.ts";
import { failed, invalid } from "./failure.ts";
import { truth } from "./operators.ts";
import { dyn } from "./static-type.ts";
import { expressionText, hasExpressions } from "./template.ts";
import { Typing } from "./typing.ts";

/**
 * The data model of a machine whose expressions are CEL. With a definition's typing it uses what was compiled with it;
 * an expression it has not met, as one of a named guard that is bound later, is compiled when it comes, with its event
 * of any type, and throws EXPRESSION_INVALID if it cannot work.
 */
export function celModel(typing: Typing = new Typing({}, reject)): DataModel {
  return {
    name: "cel",
    start(source, path) {
      if (typeof source === "function") return plainModel.start(source, path);
      const typed = typing.start(source);
      return (scope, input) => contextOf(typed.run(frameOf(scope, [input, scope.at])));
    },
    value(source, path) {
      if (typeof source === "function") return plainModel.value(source, path);
      if (!hasExpressions(source)) return () => source;
      const typed = typing.value(source, path, dyn);
      return (scope) => evaluate(typed, scope);
    },
    condition(source, path) {
      if (expressionText(source) === undefined) return invalid(`${path} is no condition: write { cel: "…" }`);
      const typed = typing.condition(source, path, dyn);
      return (scope) => truth(typed.run(handlerFrame(scope)));
    },
    update(source, path) {
      if (typeof source === "function") return plainModel.update(source, path);
      const code = typing.update(source, path, dyn);
      return (scope) => code(handlerFrame(scope), scope.context);
    },
    action: (_, path) => invalid(`${path} is of another data model`),
    location: (_, path) => invalid(`${path} is of another data model`),
    declare: (_, path) => invalid(`${path} is of another data model`),
  };
}

function reject(path: string, problem: string): never {
  return invalid(`${path} ${problem}`);
}

/** All expressions of a step pay from one purse. */
function frameOf(scope: ModelScope, slots: unknown[]): Frame {
  scope.session ??= newPurse();
  return { slots, budget: new Budget(scope.session as Purse), scope };
}

function handlerFrame(scope: ModelScope): Frame {
  return frameOf(scope, [scope.context, scope.event, scope.at, (scope as { readonly old?: unknown }).old]);
}

function evaluate(typed: Typed, scope: ModelScope): unknown {
  const value = typed.run(handlerFrame(scope));
  checkSize(value);
  return value;
}

function contextOf(value: unknown): JsonObject {
  checkSize(value);
  if (!isObject(value)) return failed("start must give an object, the first context");
  return freezeDeep(toJson(value as Json, [], "context")) as JsonObject;
}
