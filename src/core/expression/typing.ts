/**
 * What is known of a definition's expressions: the types its schemas give to the context, to each event, and to what
 * goes into and comes out of each activity; and every expression compiled for the place it stands in. The walk goes
 * wherever an expression may be, so that each ill-typed one is reported with its path before the machine is made.
 */
import { isObject, type JsonObject } from "../json.ts";
import { Patterns } from "../pattern.ts";
import { inside, itemsAt } from "../problem.ts";
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

/** Compiled expressions by the places they stand in. */
export class Typing {
  readonly values = new Map<string, Typed>();
  readonly updates = new Map<string, UpdateCode>();
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
    const known = this.updates.get(path);
    if (known !== undefined) return known;
    const code = compileUpdate(source, path, this.placeOf(data), this.context, this.report);
    this.updates.set(path, code);
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
    const known = this.values.get(path);
    if (known !== undefined) return known;
    const typed = compileTemplate(source, path, place, this.report);
    const wrong = mismatch(typed.type, wanted);
    if (wrong !== undefined) this.report(`${path}${wrong.path}`, wrong.why);
    this.values.set(path, typed);
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
    "by",
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
  for (const [name, guard] of entriesOf(definition.guards))
    typeGuard(typing, guard, inside("guards", name), dyn);
  for (const [name, update] of entriesOf(definition.updates))
    typing.update(update, inside("updates", name), dyn);
  typeState(typing, definition, "");
}

function typeState(typing: Typing, state: JsonObject, place: string): void {
  typeHandlers(typing, state, place);
  for (const key of ["always", "onDone"]) typeTransitions(typing, state[key], inside(place, key), dyn);
  for (const [one, at] of itemsAt(state.invoke, inside(place, "invoke")))
    if (isObject(one)) typeInvoke(typing, one, at);
  for (const key of ["entry", "exit"]) typeActions(typing, state[key], inside(place, key), dyn);
  if (isObject(state.initial)) typeWork(typing, state.initial, inside(place, "initial"), dyn);
  typeWork(typing, state, place, dyn);
  typeContracts(typing, state, place, dyn);
  typeExpression(typing, state.output, inside(place, "output"), dyn);
  for (const [key, child] of entriesOf(state.states))
    if (isObject(child)) typeState(typing, child, inside(place, "states", key));
}

/** Handlers and timed transitions, which are lists or records. */
function typeHandlers(typing: Typing, state: JsonObject, place: string): void {
  const transitions = (given: unknown, at: string, data: Type) => typeTransitions(typing, given, at, data);
  if (Array.isArray(state.on)) {
    for (const [one, at] of itemsAt(state.on, inside(place, "on")))
      if (isObject(one)) transitions(one, at, typing.eventData(one.event));
  } else
    for (const [key, given] of entriesOf(state.on))
      transitions(given, inside(place, "on", key), typing.eventData(key));
  if (Array.isArray(state.after)) {
    for (const [one, at] of itemsAt(state.after, inside(place, "after"))) {
      if (!isObject(one)) continue;
      typeExpression(typing, one.delay, inside(at, "delay"), dyn, delayType);
      transitions(one, at, dyn);
    }
  } else
    for (const [delay, given] of entriesOf(state.after))
      transitions(given, inside(place, "after", delay), dyn);
}

function typeTransitions(typing: Typing, given: unknown, place: string, data: Type): void {
  for (const [one, at] of itemsAt(given, place)) {
    if (!isObject(one)) continue;
    if (one.guard !== undefined) typeGuard(typing, one.guard, inside(at, "guard"), data);
    typeWork(typing, one, at, data);
    typeContracts(typing, one, at, data);
  }
}

function typeWork(typing: Typing, parts: JsonObject, place: string, data: Type): void {
  if (parts.update !== undefined && typeof parts.update !== "string")
    typing.update(parts.update, inside(place, "update"), data);
  typeActions(typing, parts.actions, inside(place, "actions"), data);
}

function typeContracts(typing: Typing, parts: JsonObject, place: string, data: Type): void {
  for (const key of ["invariants", "require", "ensure"])
    for (const [name, guard] of entriesOf(parts[key]))
      typeGuard(typing, guard, inside(place, key, name), data, key === "ensure");
}

function typeGuard(typing: Typing, guard: unknown, path: string, data: Type, old = false): void {
  if (!isObject(guard)) return;
  if (expressionText(guard) !== undefined) typing.condition(guard, path, data, old);
  for (const key of ["and", "or", "not"])
    for (const [one, at] of itemsAt(guard[key], inside(path, key))) typeGuard(typing, one, at, data, old);
}

function typeExpression(typing: Typing, source: unknown, path: string, data: Type, wanted: Type = dyn): void {
  if (source !== undefined) typing.value(source, path, data, wanted);
}

function typeInvoke(typing: Typing, invoke: JsonObject, place: string): void {
  const { input, output } = typing.activity(invoke.activity);
  for (const key of ["id", "activity", "machine"])
    typeExpression(typing, invoke[key], `${place}.${key}`, dyn, string);
  typeExpression(typing, invoke.input, `${place}.input`, dyn, input);
  for (const key of ["concurrency", "rate"]) {
    const parts = invoke[key];
    if (isObject(parts)) typeExpression(typing, parts.key, `${place}.${key}.key`, dyn, string);
  }
  typeExpression(typing, invoke.priority, `${place}.priority`, dyn, double);
  typeTransitions(typing, invoke.onDone, `${place}.onDone`, output);
  for (const key of ["onError", "onUnknown"]) typeTransitions(typing, invoke[key], `${place}.${key}`, dyn);
  typeActions(typing, invoke.finalize, `${place}.finalize`, dyn);
  if (isObject(invoke.compensate)) {
    const wanted = typing.activity(invoke.compensate.activity).input;
    typeExpression(typing, invoke.compensate.input, `${place}.compensate.input`, output, wanted);
  }
}

function typeActions(typing: Typing, given: unknown, path: string, data: Type): void {
  for (const [action, at] of itemsAt(given, path)) {
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
  for (const [branch, place] of itemsAt(action.choose, inside(at, "choose"))) {
    if (!isObject(branch)) continue;
    if (branch.guard !== undefined) typeGuard(typing, branch.guard, inside(place, "guard"), data);
    typeActions(typing, branch.actions, inside(place, "actions"), data);
  }
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}
