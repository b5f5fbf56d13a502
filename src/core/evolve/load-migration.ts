/**
 * Migrations as data: the same parts, with CEL where code would stand. The new context is an object of expressions over
 * `context`, the old one; the data of an event is one over `event.data`.
 */
import type { ModelScope } from "../data-model.ts";
import { type Event, migrateEvent } from "../event.ts";
import { celModel } from "../expression/model.ts";
import { typeOfSchema } from "../expression/schema-type.ts";
import type { Type } from "../expression/static-type.ts";
import { Typing } from "../expression/typing.ts";
import { readSource } from "../formats/json/read.ts";
import { dataOf } from "../formats/json/write.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { inside, Problems, show } from "../problem.ts";
import type { MigrationScope } from "./mapping.ts";
import { type Migration, migrationOf } from "./migration.ts";
import type { Evolvable } from "./move.ts";

/** A migration from JSON or YAML text, or from an object; throws MIGRATION_INVALID with every problem if it has any. */
export function loadMigration(from: Evolvable, to: Evolvable, source: unknown): Migration {
  const problems = new Problems();
  const read = readSource(source);
  const value = "problem" in read ? {} : read.value;
  if ("problem" in read) problems.problem("migration", read.problem);
  else if (!isObject(value)) problems.problem("migration", `is ${show(value)}`, "write an object");
  const { back, ...parts } = (isObject(value) ? value : {}) as JsonObject;
  const given = {
    ...withCode({ from, to }, parts, "", problems),
    ...(isObject(back) ? { back: withCode({ from: to, to: from }, back, "back", problems) } : { back }),
  };
  return migrationOf(from, to, given, problems);
}

interface Pair {
  readonly from: Evolvable;
  readonly to: Evolvable;
}

/** The parts with functions in place of expressions. */
function withCode({ from, to }: Pair, parts: JsonObject, place: string, problems: Problems): object {
  const { context, events } = parts;
  const [before, after] = [dataIfAny(from), dataIfAny(to)];
  const typing = new Typing(before, (path, problem) => problems.problem(path, problem));
  const code = (source: Json, path: string, data: Type, wanted: Json | undefined) => {
    typing.value(source, path, data, typeOfSchema(wanted));
    const evaluate = celModel(typing).value(source, path);
    return (old: JsonObject, event: Event, { at }: MigrationScope) => evaluate(scopeOf(old, event, at));
  };
  const schemas = (isObject(after.events) ? after.events : {}) as JsonObject;
  const change = (type: string, given: Json): unknown => {
    if (!isObject(given) || given.data === undefined) return given;
    const path = inside(place, "events", type, "data");
    const make = code(given.data, path, typing.eventData(type), schemas[String(given.type)]);
    return {
      ...given,
      data: (data: Json | undefined, scope: MigrationScope) => make({}, withData(type, data), scope),
    };
  };
  const make =
    context === undefined
      ? undefined
      : code(context, inside(place, "context"), typing.eventData(undefined), after.context);
  const moving = migrateEvent(from.version, to.version);
  return {
    ...parts,
    ...(make === undefined
      ? {}
      : { context: (old: JsonObject, scope: MigrationScope) => make(old, moving, scope) }),
    ...(isObject(events)
      ? {
          events: Object.fromEntries(
            Object.entries(events).map(([type, given]) => [type, change(type, given)]),
          ),
        }
      : {}),
  };
}

function withData(type: string, data: Json | undefined): Event {
  return data === undefined ? { type } : { type, data };
}

/** A definition as data, for the types in it; one that is code says nothing of them. */
function dataIfAny(machine: Evolvable): JsonObject {
  try {
    return dataOf(machine);
  } catch {
    return {};
  }
}

/** What an expression sees outside a step: the old context, or the event, and nothing else. */
function scopeOf(context: JsonObject, event: Event, at: number): ModelScope {
  return {
    context,
    event,
    at,
    in: () => false,
    session: undefined,
    machineId: "",
    run: "",
    environment: {},
    fail: () => {},
  };
}
