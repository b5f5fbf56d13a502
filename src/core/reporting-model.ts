/** A data model whose complaints are problems of the definition, each at its place, instead of exceptions. */
import { isHoldfastError } from "../errors.ts";
import type { DataModel } from "./data-model.ts";
import { plainModel } from "./plain-model.ts";
import { messageOf, type Problem, type Reporter, show } from "./problem.ts";

const verbs = ["start", "value", "condition", "update", "action", "location", "declare"] as const;

/** The data model a definition asks for; the native one if it asks for none, or for something that is none. */
export function modelOf(given: unknown, report: Reporter): DataModel {
  if (given === undefined) return plainModel;
  try {
    const model = given as DataModel;
    if (typeof model.name === "string" && verbs.every((verb) => typeof model[verb] === "function"))
      return model;
    report.problem("model", `is ${show(given)}`, "give a data model, or leave it out");
  } catch (error) {
    report.problem("model", `cannot be read: ${messageOf(error)}`);
  }
  return plainModel;
}

/** The same model for compiling with: where it would throw, it reports, and what it then gives is never run. */
export function reportingModel(model: DataModel, report: Reporter): DataModel {
  const attempt = <Result>(path: string, compile: () => Result): Result => {
    try {
      return compile();
    } catch (error) {
      reportError(error, path, report);
      return (() => undefined) as Result;
    }
  };
  return {
    name: model.name,
    // Whether a model has sessions is part of what it is; compiling opens none.
    ...(model.save === undefined ? {} : { save: model.save }),
    start: (source, path) => attempt(path, () => model.start(source, path)),
    value: (source, path) => attempt(path, () => model.value(source, path)),
    condition: (source, path) => attempt(path, () => model.condition(source, path)),
    update: (source, path) => attempt(path, () => model.update(source, path)),
    action: (source, path, block) => attempt(path, () => model.action(source, path, block)),
    location: (source, path) => attempt(path, () => model.location(source, path)),
    declare: (source, path) => attempt(path, () => model.declare(source, path)),
  };
}

/** A model may know several problems at once; else what it says is the problem. */
function reportError(error: unknown, path: string, report: Reporter): void {
  const found = isHoldfastError(error)
    ? (error.details.problems as readonly Problem[] | undefined)
    : undefined;
  for (const one of found ?? []) report.problem(one.path, one.problem, one.fix);
  const message = messageOf(error);
  const own = message.startsWith(`${path} `) ? message.slice(path.length + 1) : `cannot be used: ${message}`;
  if (found === undefined) report.problem(path, own);
}
