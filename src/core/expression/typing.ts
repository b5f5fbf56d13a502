/**
 * What is known of a definition's expressions: the types its schemas give to the context, to each event, and to what
 * goes into and comes out of each activity; and every expression compiled for the place it stands in. The walk goes
 * wherever an expression may be, so that each ill-typed one is reported with its path before the machine is made.
 */
import { isObject, type JsonObject } from "../json.ts";
import { Patterns } from "../pattern.ts";
import type { Place, Typed, Variable } from "./code.ts";
import { typeOfSchema } from "./schema-type.ts";
import {
  bool,
  double,
  dyn,
  int,
  mapOf,
  mismatch,
  type ObjectType,
  record,
  string,
  type Type,
  unionOf,
} from "./static-type.ts";
import { compileTemplate, expressionText, type Report } from "./template.ts";
import { compileUpdate, type UpdateCode } from "./update.ts";

/** Compiled expressions by the object they were written as. */
export class Typing {
  readonly values = new Map<unknown, Typed>();
  readonly updates = new Map<unknown, UpdateCode>();
  readonly patterns: Patterns;
  private readonly context: Type;
  private readonly input: Type;
  private readonly events: ReadonlyMap<string, Type>;
  private readonly activities: ReadonlyMap<string, { readonly input: Type; readonly output: Type }>;
  private readonly report: Report;

  constructor(definition: JsonObject, report: Report, patterns = new Patterns()) {
    this.report = report;
    this.patterns = patterns;
    this.context = definition.context === undefined ? mapOf(dyn) : typeOfSchema(definition.context);
    this.input = typeOfSchema(definition.input);
    this.events = new Map(entriesOf(definition.events).map(([name, schema]) => [name, typeOfSchema(schema)]));
    this.activities = new Map(
      entriesOf(definition.activities).map(([name, one]) => {
        const { input, output } = isObject(one) ? one : {};
        return [name, { input: typeOfSchema(input), output: typeOfSchema(output) }];
      }),
    );
  }

  /** A value in a handler of events with this data. */
  value(source: unknown, path: string, data: Type, wanted: Type = dyn): Typed {
    return this.keep(source, path, this.placeOf(data), wanted);
  }

  /** The first context, from the input. */
  start(source: unknown): Typed {
    const variables = [
      { name: "input", type: this.input },
      { name: "at", type: int },
    ];
    return this.keep(source ?? {}, "start", { variables, patterns: this.patterns }, this.context);
  }

  condition(source: unknown, path: string, data: Type, old = false): Typed {
    const place = this.placeOf(data, old ? [{ name: "old", type: this.context }] : []);
    return this.keep(source, path, place, bool);
  }

  update(source: unknown, path: string, data: Type): UpdateCode {
    const known = this.updates.get(source);
    if (known !== undefined) return known;
    const code = compileUpdate(source, path, this.placeOf(data), this.context, this.report);
    this.updates.set(source, code);
    return code;
  }

  /** The data of an event that a key of handlers names. */
  eventData(key: unknown): Type {
    return (typeof key === "string" ? this.events.get(key) : undefined) ?? dyn;
  }

  activity(name: unknown): { readonly input: Type; readonly output: Type } {
    return (typeof name === "string" ? this.activities.get(name) : undefined) ?? { input: dyn, output: dyn };
  }

  private keep(source: unknown, path: string, place: Place, wanted: Type): Typed {
    const isObjectSource = typeof source === "object" && source !== null;
    const known = isObjectSource ? this.values.get(source) : undefined;
    if (known !== undefined) return known;
    const typed = compileTemplate(source, path, place, this.report);
    const wrong = mismatch(typed.type, wanted);
    if (wrong !== undefined) this.report(`${path}${wrong.path}`, wrong.why);
    if (isObjectSource) this.values.set(source, typed);
    return typed;
  }

  private placeOf(data: Type, more: readonly Variable[] = []): Place {
    const variables = [
      { name: "context", type: this.context },
      { name: "event", type: eventType(data) },
      { name: "at", type: int },
    ];
    return { variables: [...variables, ...more], patterns: this.patterns };
  }
}

function eventType(data: Type): ObjectType {
  const texts = [
    "kind",
    "sendId",
    "origin",
    "originType",
    "invokeId",
    "invocation",
    "timer",
    "replyTo",
    "raw",
  ];
  const fields = Object.fromEntries(texts.map((name) => [name, string]));
  return record({ type: string, data, ...fields }, ["data", ...texts]);
}

const delayType = unionOf([double, string]);

/** Compiles every expression of a definition in its place; what is wrong goes to the typing's report. */
export function typeDefinition(definition: JsonObject, typing: Typing): void {
  typing.start(definition.start);
  for (const [name, guard] of entriesOf(definition.guards)) typeGuard(typing, guard, `guards.${name}`, dyn);
  for (const [name, update] of entriesOf(definition.updates)) typing.update(update, `updates.${name}`, dyn);
  typeState(typing, definition, "");
}

function typeState(typing: Typing, state: JsonObject, place: string): void {
  const at = (key: string) => (place === "" ? key : `${place}.${key}`);
  const transitions = (key: string, given: unknown, data: Type) =>
    typeTransitions(typing, given, at(key), data);
  if (Array.isArray(state.on)) {
    for (const [index, one] of state.on.entries())
      if (isObject(one)) transitions(`on[${index}]`, one, typing.eventData(one.event));
  } else
    for (const [key, given] of entriesOf(state.on)) transitions(`on.${key}`, given, typing.eventData(key));
  transitions("always", state.always, dyn);
  transitions("onDone", state.onDone, dyn);
  if (Array.isArray(state.after)) {
    for (const [index, one] of state.after.entries()) {
      if (!isObject(one)) continue;
      typeExpression(typing, one.delay, at(`after[${index}].delay`), dyn, delayType);
      transitions(`after[${index}]`, one, dyn);
    }
  } else for (const [delay, given] of entriesOf(state.after)) transitions(`after.${delay}`, given, dyn);
  for (const [index, one] of listOf(state.invoke).entries())
    if (isObject(one))
      typeInvoke(
        typing,
        one,
        at(Array.isArray(state.invoke) && state.invoke.length > 1 ? `invoke[${index}]` : "invoke"),
      );
  for (const key of ["entry", "exit"]) typeActions(typing, state[key], at(key), dyn);
  if (isObject(state.initial)) typeWork(typing, state.initial, at("initial"), dyn);
  typeWork(typing, state, place, dyn);
  typeContracts(typing, state, place, dyn);
  typeExpression(typing, state.output, at("output"), dyn);
  for (const [key, child] of entriesOf(state.states))
    if (isObject(child)) typeState(typing, child, at(`states.${key}`));
}

function typeTransitions(typing: Typing, given: unknown, place: string, data: Type): void {
  const list = listOf(given);
  for (const [index, one] of list.entries()) {
    if (!isObject(one)) continue;
    const at = list.length > 1 ? `${place}[${index}]` : place;
    if (one.guard !== undefined) typeGuard(typing, one.guard, `${at}.guard`, data);
    typeWork(typing, one, at, data);
    typeContracts(typing, one, at, data);
  }
}

function typeWork(typing: Typing, parts: JsonObject, place: string, data: Type): void {
  const at = (key: string) => (place === "" ? key : `${place}.${key}`);
  if (parts.update !== undefined && typeof parts.update !== "string")
    typing.update(parts.update, at("update"), data);
  typeActions(typing, parts.actions, at("actions"), data);
}

function typeContracts(typing: Typing, parts: JsonObject, place: string, data: Type): void {
  for (const key of ["invariants", "require", "ensure"]) {
    for (const [name, guard] of entriesOf(parts[key])) {
      const at = [place, key, name].filter((part) => part !== "").join(".");
      typeGuard(typing, guard, at, data, key === "ensure");
    }
  }
}

function typeGuard(typing: Typing, guard: unknown, path: string, data: Type, old = false): void {
  if (!isObject(guard)) return;
  if (expressionText(guard) !== undefined) typing.condition(guard, path, data, old);
  for (const key of ["and", "or", "not"]) {
    for (const [index, one] of listOf(guard[key]).entries())
      typeGuard(typing, one, key === "not" ? `${path}.not` : `${path}.${key}[${index}]`, data, old);
  }
}

function typeExpression(typing: Typing, source: unknown, path: string, data: Type, wanted: Type = dyn): void {
  if (source !== undefined) typing.value(source, path, data, wanted);
}

function typeInvoke(typing: Typing, invoke: JsonObject, place: string): void {
  const { input, output } = typing.activity(invoke.activity);
  for (const key of ["id", "activity", "machine"])
    typeExpression(typing, invoke[key], `${place}.${key}`, dyn, string);
  typeExpression(typing, invoke.input, `${place}.input`, dyn, input);
  typeTransitions(typing, invoke.onDone, `${place}.onDone`, output);
  for (const key of ["onError", "onUnknown"]) typeTransitions(typing, invoke[key], `${place}.${key}`, dyn);
  typeActions(typing, invoke.finalize, `${place}.finalize`, dyn);
  if (isObject(invoke.compensate)) {
    const wanted = typing.activity(invoke.compensate.activity).input;
    typeExpression(typing, invoke.compensate.input, `${place}.compensate.input`, output, wanted);
  }
}

function typeActions(typing: Typing, given: unknown, path: string, data: Type): void {
  for (const [index, action] of listOf(given).entries()) {
    const at = `${path}[${index}]`;
    if (Array.isArray(action)) typeActions(typing, action, at, data);
    else if (isObject(action)) typeAction(typing, action, at, data);
  }
}

function typeAction(typing: Typing, action: JsonObject, at: string, data: Type): void {
  const expression = (source: unknown, key: string, wanted: Type = dyn) =>
    typeExpression(typing, source, `${at}.${key}`, data, wanted);
  if (action.update !== undefined && typeof action.update !== "string")
    typing.update(action.update, `${at}.update`, data);
  for (const key of ["raise", "emit", "send"]) {
    const parts = action[key];
    if (!isObject(parts)) continue;
    expression(parts.type, `${key}.type`, string);
    expression(parts.data, `${key}.data`, key === "raise" ? typing.eventData(parts.type) : dyn);
    expression(parts.delay, `${key}.delay`, delayType);
    for (const part of ["to", "id", "via"]) expression(parts[part], `${key}.${part}`);
  }
  for (const key of ["cancel", "stop", "to"]) expression(action[key], key, string);
  for (const key of ["log", "reply"]) expression(action[key], key);
  if (isObject(action.spawn)) {
    for (const part of ["machine", "id"]) expression(action.spawn[part], `spawn.${part}`, string);
    expression(action.spawn.input, "spawn.input");
  }
  for (const [index, branch] of listOf(action.choose).entries()) {
    if (!isObject(branch)) continue;
    if (branch.guard !== undefined) typeGuard(typing, branch.guard, `${at}.choose[${index}].guard`, data);
    typeActions(typing, branch.actions, `${at}.choose[${index}].actions`, data);
  }
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

function listOf(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
