/** What a JSON Schema says of an object's fields. */

import { isObject, type JsonObject } from "../json.ts";
import { nearest } from "../nearest.ts";
import type { Pattern } from "../pattern.ts";
import type { Check, Maker, Seen, Visit } from "./visit.ts";

export function fieldChecks(schema: JsonObject, maker: Maker): Check[] {
  const checks: Check[] = [(value, visit) => !isObject(value) || safeKeys(value, visit)];
  const forObject = (holds: (value: JsonObject, visit: Visit, seen: Seen | undefined) => boolean) =>
    checks.push((value, visit, seen) => !isObject(value) || holds(value, visit, seen));
  const { required, minProperties, maxProperties, propertyNames, dependentRequired } = schema;
  if (Array.isArray(required)) forObject((value, visit) => hasAll(value, required as string[], visit));
  if (typeof minProperties === "number")
    forObject(
      (value, visit) =>
        Object.keys(value).length >= minProperties ||
        visit.fail(`must have at least ${minProperties} fields`),
    );
  if (typeof maxProperties === "number")
    forObject(
      (value, visit) =>
        Object.keys(value).length <= maxProperties || visit.fail(`must have at most ${maxProperties} fields`),
    );
  if (isObject(dependentRequired))
    forObject((value, visit) =>
      Object.entries(dependentRequired).every(
        ([name, others]) =>
          !Object.hasOwn(value, name) || hasAll(value, others as unknown as string[], visit),
      ),
    );
  if (propertyNames !== undefined) {
    const names = maker.own(propertyNames);
    forObject((value, visit) => visit.every(Object.keys(value), (key) => visit.inside(key, names, key)));
  }
  const named = namedFields(schema, maker);
  if (named !== undefined) forObject(named);
  return checks;
}

/** `__proto__` is a field that other code may take for something else: it is never let in. */
function safeKeys(value: JsonObject, visit: Visit): boolean {
  if (!Object.hasOwn(value, "__proto__")) return true;
  visit.path.push("__proto__");
  visit.fail("is a name that no field may have");
  visit.path.pop();
  return false;
}

function hasAll(value: JsonObject, names: readonly string[], visit: Visit): boolean {
  return visit.every(names, (name) => {
    if (Object.hasOwn(value, name)) return true;
    visit.path.push(name);
    visit.fail("is missing");
    visit.path.pop();
    return false;
  });
}

/** `properties`, `patternProperties` and `additionalProperties`: each field by what speaks of it. */
function namedFields(schema: JsonObject, maker: Maker) {
  const { properties, patternProperties, additionalProperties } = schema;
  if (properties === undefined && patternProperties === undefined && additionalProperties === undefined)
    return undefined;
  const byName = new Map(
    Object.entries((properties ?? {}) as JsonObject).map(([name, one]) => [name, maker.own(one)]),
  );
  const byPattern: [Pattern, Check][] = Object.entries((patternProperties ?? {}) as JsonObject).map(
    ([text, one]) => [maker.patterns.compile(text), maker.own(one)],
  );
  const others =
    additionalProperties === false
      ? unknownField([...byName.keys()])
      : additionalProperties === undefined
        ? undefined
        : maker.own(additionalProperties);
  const byNameOnly = (value: JsonObject, visit: Visit, seen: Seen | undefined) => {
    let held = true;
    for (const key of Object.keys(value)) {
      const check = byName.get(key) ?? others;
      if (check === undefined) continue;
      seen?.add(key);
      if (visit.inside(key, check, value[key])) continue;
      held = false;
      if (visit.quiet) break;
    }
    return held;
  };
  if (byPattern.length === 0) return byNameOnly;
  return (value: JsonObject, visit: Visit, seen: Seen | undefined) =>
    visit.every(Object.keys(value), (key) => {
      visit.spend(1 + (byPattern.length * key.length) / 4);
      const checks = byPattern.filter(([pattern]) => pattern.test(key)).map(([, check]) => check);
      const named = byName.get(key);
      if (named !== undefined) checks.push(named);
      if (checks.length === 0 && others !== undefined) checks.push(others);
      if (checks.length > 0) seen?.add(key);
      return visit.every(checks, (check) => visit.inside(key, check, value[key]));
    });
}

/** Says that a field is not known, and which are. */
export function unknownField(names: readonly string[]): Check {
  const [few, more] = [names.slice(0, 30), names.length > 30 ? " and others" : ""];
  const known = names.length === 0 ? "there are none" : `there are ${few.join(", ")}${more}`;
  return (_value, visit) => {
    const near = nearest(String(visit.path.at(-1)), names);
    return visit.fail(
      `is a field that is not known here; ${near === undefined ? known : `did you mean ${near}?`}`,
    );
  };
}
