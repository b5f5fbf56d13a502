/**
 * Updates as data: `{ amount: { cel: "event.data.amount" }, "plan.steps": [] }`. Each key is a field of the context, or a
 * way to one inside it, with dots; each value is a template. All are worked out from the context as it was, then set; a
 * field whose value is absent is taken out.
 */
import { freeze, freezeDeep, isObject, type Json, type JsonObject, put, showValue, toJson } from "../json.ts";
import { inside } from "../problem.ts";
import { checkSize } from "./budget.ts";
import type { Frame, Place, Typed } from "./code.ts";
import { failed } from "./failure.ts";
import { kindOf } from "./operators.ts";
import { dyn, fieldsOf, membersOf, mismatch, type Type, unionOf } from "./static-type.ts";
import { compileTemplate, expressionText, type Report } from "./template.ts";

export type UpdateCode = (frame: Frame, context: JsonObject) => JsonObject;

interface Write {
  readonly way: readonly string[];
  readonly value: Typed;
}

/** An update as code, checked against the type of the context. */
export function compileUpdate(
  source: unknown,
  path: string,
  place: Place,
  context: Type,
  report: Report,
): UpdateCode {
  if (!isObject(source) || expressionText(source) !== undefined) {
    report(
      path,
      `is ${showValue(source).slice(0, 80)}; write the fields to set, as in { amount: { cel: "event.data.amount" } }`,
    );
    return (_frame, before) => before;
  }
  const writes = Object.entries(source).map(([key, template]): Write => {
    const at = inside(path, key);
    const way = key.split(".");
    const value = compileTemplate(template, at, place, report);
    if (way.some((name) => name === "" || name === "__proto__"))
      report(at, "is no way to a field: names, with dots between them");
    checkWrite(way, value.type, context, { at, report });
    return { way, value };
  });
  return (frame, before) => {
    const values = writes.map(({ way, value }) => adopt(value.run(frame), way));
    return writes.reduce((after, { way }, index) => set(after, way, values[index]) as JsonObject, before);
  };
}

function checkWrite(
  way: readonly string[],
  given: Type,
  context: Type,
  { at, report }: { at: string; report: Report },
): void {
  let target = context;
  for (const name of way) {
    const objects = membersOf(target).filter((one) => one.kind === "object");
    if (objects.length === 0) {
      if (target.kind !== "dyn") report(at, `leads to a field ${showValue(name)} of what has no fields`);
      return;
    }
    const found = objects.flatMap((one) => one.fields.get(name)?.type ?? one.rest ?? []);
    const [first] = objects;
    if (found.length === 0 && first?.kind === "object") {
      report(at, `is no field of the context; ${fieldsOf(first, name)}`);
      return;
    }
    target = membersOf(target).some((one) => one.kind === "dyn") ? dyn : unionOf(found);
  }
  const wrong = mismatch(given, target);
  if (wrong !== undefined) report(`${at}${wrong.path}`, wrong.why);
}

/** What an expression gave, made part of a context. */
function adopt(value: unknown, way: readonly string[]): Json | undefined {
  if (value === undefined) return undefined;
  checkSize(value);
  return freezeDeep(toJson(value, way, "context"));
}

/** The same value with one place inside it set, or taken out if there is nothing to set. */
function set(value: unknown, way: readonly string[], to: unknown): unknown {
  const [name, ...rest] = way;
  if (name === undefined) return to;
  if (value !== undefined && !isObject(value))
    return failed(`the field ${showValue(name)} of ${kindOf(value)} cannot be set`);
  const before = value === undefined ? undefined : Object.hasOwn(value, name) ? value[name] : undefined;
  const after = set(before, rest, to);
  if (after === before) return value;
  const copy = { ...value };
  if (after === undefined) delete (copy as Record<string, unknown>)[name];
  else put(copy, name, after);
  return freeze(copy);
}
