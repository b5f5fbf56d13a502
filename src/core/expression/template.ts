/**
 * Values with expressions in them: `{ goal: { cel: "context.goal" }, tries: 3 }`. An object whose only field is `cel`,
 * with text, is an expression; everything else is what it is, and is looked into.
 */

import { isHoldfastError } from "../../errors.ts";
import { isObject, put } from "../json.ts";
import { inside } from "../problem.ts";
import type { Frame, Place, Typed } from "./code.ts";
import { compileText } from "./compile.ts";
import { typeOfValue } from "./schema-type.ts";
import { dyn, type Field, listOf, type Type, unionOf } from "./static-type.ts";

/** What is told of an expression that cannot be used: where it is, and what is wrong. */
export type Report = (path: string, problem: string) => void;

/** The text of an expression; undefined for anything else. */
export function expressionText(source: unknown): string | undefined {
  if (!isObject(source) || typeof source.cel !== "string") return undefined;
  return Object.keys(source).length === 1 ? source.cel : undefined;
}

/** Whether there is an expression anywhere in a value. */
export function hasExpressions(source: unknown): boolean {
  if (typeof source !== "object" || source === null) return false;
  return expressionText(source) !== undefined || Object.values(source).some(hasExpressions);
}

/** A value with its expressions as typed code. Those that cannot be used are reported, and stand for anything. */
export function compileTemplate(source: unknown, path: string, place: Place, report: Report): Typed {
  const text = expressionText(source);
  if (text !== undefined) return compileReporting(text, path, place, report);
  if (!hasExpressions(source)) return { type: typeOfValue(source), run: () => source };
  if (Array.isArray(source)) {
    const items = source.map((item, index) => compileTemplate(item, inside(path, index), place, report));
    return {
      type: listOf(unionOf(items.map(({ type }) => type))),
      run: (frame) => items.map(({ run }) => run(frame)).filter((value) => value !== undefined),
    };
  }
  const entries = Object.entries(source as object).map(
    ([key, item]) => [key, compileTemplate(item, inside(path, key), place, report)] as const,
  );
  return { type: objectType(entries), run: (frame) => objectOf(entries, frame) };
}

function objectType(entries: readonly (readonly [string, Typed])[]): Type {
  const fields = entries.map(([key, { type }]): [string, Field] =>
    type.kind === "optional" ? [key, { type: type.of, required: false }] : [key, { type, required: true }],
  );
  return { kind: "object", fields: new Map(fields), rest: undefined };
}

/** What is absent is left out. */
function objectOf(entries: readonly (readonly [string, Typed])[], frame: Frame): object {
  const made = {};
  for (const [key, { run }] of entries) {
    const value = run(frame);
    if (value !== undefined) put(made, key, value);
  }
  return made;
}

function compileReporting(text: string, path: string, place: Place, report: Report): Typed {
  try {
    return compileText(text, place);
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    report(
      path,
      `${error.message}, in ${JSON.stringify(text.length > 120 ? `${text.slice(0, 117)}…` : text)}`,
    );
    return { type: dyn, run: () => undefined };
  }
}
