/**
 * The data-model port: how a machine's expressions are evaluated. The native model (`plain-model.ts`) takes functions
 * over plain JSON; others, such as SCXML's ECMAScript, live outside the core and bring their own language. A model
 * compiles each source once; what it returns runs inside steps, so it must be as pure as they are.
 */
import type { Json, JsonObject } from "./json.ts";
import type { Scope } from "./scope.ts";

/** What compiled code of a data model works on: one step under way. */
export interface ModelScope extends Scope {
  /** The run's context. A model without sessions replaces it; one with sessions hands it over in `save`. */
  context: JsonObject;
  /** Whatever the model keeps between `open` and `close`. */
  session: unknown;
  readonly machineId: string;
  /** The run's id, where the caller gave one. */
  readonly run: string;
  /** Facts about the platform that the caller passes to the model, such as addresses. */
  readonly environment: JsonObject;
  /** Raises `error.execution` without stopping the block. */
  fail(error: unknown): void;
}

export type Evaluate<Value> = (scope: ModelScope) => Value;
export type Code = (scope: ModelScope) => void;

export interface DataModel {
  readonly name: string;
  /** The context of a new run, from the definition's `start` and the run's input. */
  start(source: unknown, path: string): (scope: ModelScope, input: Json | undefined) => JsonObject;
  /** An expression. Anything that is not the model's own syntax is a constant. */
  value(source: unknown, path: string): Evaluate<unknown>;
  /** A guard in the model's own syntax. */
  condition(source: unknown, path: string): Evaluate<boolean>;
  /** An update in the model's own syntax. Returns the new context. */
  update(source: unknown, path: string): (scope: ModelScope) => JsonObject;
  /** An action only this model knows; `block` compiles actions nested in it. */
  action(source: JsonObject, path: string, block: (actions: unknown, path: string) => Code): Code;
  /** A place to store a value in. */
  location(source: JsonObject, path: string): (scope: ModelScope, value: Json) => void;
  /** Data that belongs to a state. The code runs whenever the state is entered, before its entry actions. */
  declare(source: JsonObject, path: string): Code;
  /** A step begins: make `session` from the context. */
  open?(scope: ModelScope): void;
  /** The step succeeded: the new context. */
  save?(scope: ModelScope): JsonObject;
  /** The step is over, however it went. */
  close?(scope: ModelScope): void;
}
