/** The context a run takes along: made by the migration, and what the new definition's schema wants. */
import { isHoldfastError } from "../../errors.ts";
import { freezeDeep, isObject, type JsonObject, toJson } from "../json.ts";
import { messageOf, type Problem, show } from "../problem.ts";
import type { Move } from "./move.ts";

/** The new context; undefined, with the problems told, if there is none. */
export function moveContext(move: Move): JsonObject | undefined {
  const { chart, from, state, mapping } = move;
  const { name } = chart.model;
  if (mapping.context === undefined && from.chart.model.name !== name) {
    const problem = `is of the data model ${show(from.chart.model.name)}, and the new one is ${show(name)}`;
    move.problem("context", problem, "give the migration a `context`");
    return undefined;
  }
  try {
    const made =
      mapping.context === undefined
        ? state.context
        : freezeDeep(toJson(mapping.context(state.context, { at: move.at }), [], "context"));
    if (!isObject(made)) {
      move.problem("context", `would be ${show(made)}`, "let the migration's `context` return an object");
      return undefined;
    }
    return (chart.schemas?.context?.(made) ?? made) as JsonObject;
  } catch (error) {
    for (const { path, problem } of problemsIn(error)) move.problem(path, problem, advice);
    return undefined;
  }
}

const advice = "let the migration's `context` make one that fits";

/** What an error says of the context, place by place. */
export function problemsIn(error: unknown): readonly Problem[] {
  const details = isHoldfastError(error) ? error.details : {};
  const issues = (details.issues ?? []) as readonly { readonly path: string; readonly message: string }[];
  if (issues.length > 0) return issues.map(({ path, message }) => ({ path, problem: message }));
  return [{ path: "context", problem: `cannot be made: ${messageOf(error)}` }];
}
