/** Compiled expressions: a type, and code over a frame that holds the variables and what is left to spend. */
import type { ModelScope } from "../data-model.ts";
import type { Patterns } from "../pattern.ts";
import type { Budget } from "./budget.ts";
import type { Type } from "./static-type.ts";

/** One evaluation under way. */
export interface Frame {
  /** The variables, by their number. */
  readonly slots: unknown[];
  readonly budget: Budget;
  readonly scope: ModelScope | undefined;
}

/** What gives a value. An optional that is absent is undefined; everything else is JSON. */
export type Run = (frame: Frame) => unknown;

export interface Typed {
  readonly type: Type;
  readonly run: Run;
}

/** A variable an expression may name, and where its value is. */
export interface Variable {
  readonly name: string;
  readonly type: Type;
}

/** What is known where an expression stands; the place of a variable is its slot. */
export interface Place {
  readonly variables: readonly Variable[];
  readonly patterns: Patterns;
}
