/**
 * From a syntax tree to typed code. Every part is typed as it is compiled, so that an expression that cannot work where
 * it stands never gets to run; and every part pays for itself when it runs. Names are looked up among the variables,
 * fields among the value's own, and nothing else can be reached.
 */
import { limits } from "../../limits.ts";
import { put } from "../json.ts";
import { nearest } from "../nearest.ts";
import type { Place, Run, Typed, Variable } from "./code.ts";
import { failed, invalid } from "./failure.ts";
import { fits, functions, mathFunctions, mayFit, methods, type Overload } from "./functions.ts";
import { compileMacro, isMacro } from "./macros.ts";
import { binary, kindOf, logical, negative, not, truth } from "./operators.ts";
import { parseExpression, type Syntax } from "./parse.ts";
import {
  bool,
  double,
  dyn,
  fieldsOf,
  int,
  listOf,
  mapOf,
  mayBe,
  membersOf,
  nullType,
  type ObjectType,
  optionalOf,
  showType,
  string,
  type Type,
  unionOf,
} from "./static-type.ts";

/** An expression's text as typed code; throws EXPRESSION_INVALID if it cannot work in this place. */
export function compileText(text: string, place: Place): Typed {
  return compileSyntax(parseExpression(text), place, 0);
}

export function compileSyntax(syntax: Syntax, place: Place, depth: number): Typed {
  if (depth > limits.expressionDepthMax) invalid(`is nested deeper than ${limits.expressionDepthMax} levels`);
  const part = (one: Syntax) => compileSyntax(one, place, depth + 1);
  switch (syntax.op) {
    case "value":
      return constant(syntax.args);
    case "id":
      return variable(syntax.args, place);
    case ".":
      return select(part(syntax.args[0]), syntax.args[1], false);
    case ".?":
      return select(part(syntax.args[0]), syntax.args[1], true);
    case "[]":
      return index(part(syntax.args[0]), part(syntax.args[1]), false);
    case "[?]":
      return index(part(syntax.args[0]), part(syntax.args[1]), true);
    case "list":
      return list(syntax.args.map(part));
    case "map":
      return map(syntax.args.map(([key, value]) => [part(key), part(value)]));
    case "?:":
      return conditional(part(syntax.args[0]), part(syntax.args[1]), part(syntax.args[2]));
    case "!_":
      return not(part(syntax.args));
    case "-_":
      return negative(part(syntax.args));
    case "&&":
    case "||":
      return logical(syntax.op, part(syntax.args[0]), part(syntax.args[1]));
    case "call": {
      const [name, given] = syntax.args;
      if (name === "has") return has(given, place, depth);
      return call(name, functions, given.map(part), "function");
    }
    case "rcall":
      return method(syntax.args[0], syntax.args[1], syntax.args[2], { place, depth });
    default: {
      const [left, right] = syntax.args as [Syntax, Syntax];
      return binary(syntax.op, part(left), part(right));
    }
  }
}

function constant(value: unknown): Typed {
  switch (typeof value) {
    case "string":
      return { type: string, run: () => value };
    case "boolean":
      return { type: bool, run: () => value };
    case "number":
      return { type: double, run: () => value };
    case "bigint": {
      const whole = Number(value);
      if (!Number.isSafeInteger(whole))
        invalid(`has ${value}, which is larger than whole numbers that are kept exactly`);
      return { type: int, run: () => whole };
    }
    default:
      if (value === null) return { type: nullType, run: () => null };
      return invalid("has bytes or an unsigned number in it, and JSON has neither");
  }
}

function variable(name: string, { variables }: Place): Typed {
  const slot = variables.findLastIndex((one) => one.name === name);
  if (slot < 0) {
    const names = variables.map((one) => one.name);
    const near = nearest(name, names);
    return invalid(
      `names nothing that is known: ${name}; ${near === undefined ? "" : `did you mean ${near}? `}There are ${names.join(", ")}`,
    );
  }
  return { type: (variables[slot] as Variable).type, run: (frame) => frame.slots[slot] };
}

/** What an object's field is, by its type; a field that cannot be there is an error of the author. */
function fieldType(type: Type, name: string): Type {
  const types: Type[] = [];
  let closed: ObjectType | undefined;
  for (const one of membersOf(type.kind === "optional" ? type.of : type)) {
    if (one.kind === "dyn") return dyn;
    if (one.kind !== "object") continue;
    const field = one.fields.get(name)?.type ?? one.rest;
    if (field === undefined) closed = one;
    else types.push(field);
  }
  if (types.length > 0) return unionOf(types);
  if (closed !== undefined)
    return invalid(`asks for a field ${JSON.stringify(name)} that is not there; ${fieldsOf(closed, name)}`);
  return invalid(`asks for a field ${JSON.stringify(name)} of ${showType(type)}, which has no fields`);
}

function select(object: Typed, name: string, optional: boolean): Typed {
  const type = fieldType(object.type, name);
  const absent = optional || object.type.kind === "optional";
  const run: Run = (frame) => {
    frame.budget.spend(1);
    return fieldOf(object.run(frame), name, absent);
  };
  return { type: absent ? optionalOf(type) : type, run };
}

function fieldOf(value: unknown, name: string, optional: boolean): unknown {
  // What has no fields lacks this one, too.
  if (optional && !fits(value, "object")) return undefined;
  if (!fits(value, "object"))
    return failed(`the field ${JSON.stringify(name)} of ${kindOf(value)}, which has no fields`);
  if (Object.hasOwn(value as object, name)) return (value as Record<string, unknown>)[name];
  return optional ? undefined : failed(`there is no field ${JSON.stringify(name)}`);
}

function index(container: Typed, key: Typed, optional: boolean): Typed {
  const of = container.type.kind === "optional" ? container.type.of : container.type;
  const types = membersOf(of).flatMap((one) => indexType(one, key.type));
  if (types.length === 0) invalid(`has ${showType(of)}[${showType(key.type)}], and these do not go together`);
  const absent = optional || container.type.kind === "optional";
  const run: Run = (frame) => {
    frame.budget.spend(1);
    const value = container.run(frame);
    const at = key.run(frame);
    if (!Array.isArray(value))
      return typeof at === "string"
        ? fieldOf(value, at, absent)
        : failed(`an object's field by ${kindOf(at)}`);
    if (typeof at !== "number") return failed(`a list's item by ${kindOf(at)}`);
    if (Number.isInteger(at) && at >= 0 && at < value.length) return value[at];
    return absent ? undefined : failed(`there is no item ${at} in a list of ${value.length}`);
  };
  return { type: absent ? optionalOf(unionOf(types)) : unionOf(types), run };
}

function indexType(container: Type, key: Type): readonly Type[] {
  if (container.kind === "dyn") return [dyn];
  if (container.kind === "list") return mayBe(key, "number") ? [container.item] : [];
  if (container.kind !== "object" || !mayBe(key, "string")) return [];
  return [
    ...[...container.fields.values()].map(({ type }) => type),
    ...(container.rest === undefined ? [] : [container.rest]),
  ];
}

function list(items: readonly Typed[]): Typed {
  const runs = items.map(({ run }) => run);
  return {
    type: listOf(unionOf(items.map(({ type }) => presentType(type)))),
    run(frame) {
      frame.budget.spend(1 + runs.length);
      return runs.map((run) => present(run(frame)));
    },
  };
}

function map(entries: readonly (readonly [Typed, Typed])[]): Typed {
  for (const [key] of entries)
    if (!mayBe(key.type, "string")) invalid(`has ${showType(key.type)} as a key, and JSON has only texts`);
  const type = mapOf(unionOf(entries.map(([, value]) => presentType(value.type))));
  return {
    type,
    run(frame) {
      frame.budget.spend(1 + entries.length);
      const made = {};
      for (const [key, value] of entries) {
        const name = key.run(frame);
        if (typeof name !== "string") return failed(`${kindOf(name)} as a key: JSON has only texts`);
        put(made, name, present(value.run(frame)));
      }
      return made;
    },
  };
}

function presentType(type: Type): Type {
  return type.kind === "optional" ? type.of : type;
}

function present(value: unknown): unknown {
  return value === undefined ? failed("an absent value inside a list or an object: use orValue") : value;
}

function conditional(condition: Typed, yes: Typed, no: Typed): Typed {
  if (!mayBe(condition.type, "bool"))
    invalid(`has ${showType(condition.type)} before ?, which is for true and false`);
  return {
    type: unionOf([yes.type, no.type]),
    run(frame) {
      frame.budget.spend(1);
      return truth(condition.run(frame)) ? yes.run(frame) : no.run(frame);
    },
  };
}

/** `has(a.b)`: whether the last field is there. The ones before it must be. */
function has(given: readonly Syntax[], place: Place, depth: number): Typed {
  const [field] = given;
  if (given.length !== 1 || (field?.op !== "." && field?.op !== ".?"))
    return invalid("has() takes a field, as in has(context.amount)");
  const [object, name] = field.args as [Syntax, string];
  const { run } = select(compileSyntax(object, place, depth + 1), name, true);
  return { type: bool, run: (frame) => run(frame) !== undefined };
}

interface Around {
  readonly place: Place;
  readonly depth: number;
}

function method(name: string, receiver: Syntax, given: readonly Syntax[], around: Around): Typed {
  const { place, depth } = around;
  const part = (one: Syntax) => compileSyntax(one, place, depth + 1);
  const isNamespace = (word: string) =>
    receiver.op === "id" && receiver.args === word && !place.variables.some((one) => one.name === word);
  if (isNamespace("math")) return call(name, mathFunctions, given.map(part), "function of math");
  if (isNamespace("cel") && name === "bind") return bind(given, around);
  const object = part(receiver);
  if (isMacro(name, given.length)) {
    const inner = (one: Syntax, variables: readonly Variable[]) =>
      compileSyntax(one, { ...place, variables }, depth + 1);
    return compileMacro(name, object, given, { variables: place.variables, compile: inner });
  }
  if (name === "matches") return matches(object, given, place);
  if (object.type.kind === "optional") return ofOptional(name, object, object.type.of, given.map(part));
  return call(name, methods, [object, ...given.map(part)], "method");
}

/** `cel.bind(name, value, expression)`: the expression with a name for the value. */
function bind(given: readonly Syntax[], { place, depth }: Around): Typed {
  const [name, value, body] = given;
  if (name?.op !== "id" || value === undefined || body === undefined || given.length !== 3)
    return invalid("cel.bind takes a name, a value and an expression");
  const bound = compileSyntax(value, place, depth + 1);
  const slot = place.variables.length;
  const variables = [...place.variables, { name: name.args, type: bound.type }];
  const inner = compileSyntax(body, { ...place, variables }, depth + 1);
  return {
    type: inner.type,
    run(frame) {
      frame.budget.spend(1);
      const held = bound.run(frame);
      frame.slots[slot] = held;
      return inner.run(frame);
    },
  };
}

/** `text.matches(pattern)`: the pattern is a constant, and was compiled within its limits. */
function matches(object: Typed, given: readonly Syntax[], { patterns }: Place): Typed {
  const [source] = given;
  if (given.length !== 1 || source?.op !== "value" || typeof source.args !== "string")
    return invalid("matches() takes a pattern written out as text");
  if (!mayBe(object.type, "string")) invalid(`has ${showType(object.type)}.matches(), which is for texts`);
  const pattern = patterns.compile(source.args);
  return {
    type: bool,
    run(frame) {
      const text = object.run(frame);
      if (typeof text !== "string") return failed(`matches() of ${kindOf(text)}: it is for texts`);
      frame.budget.spendText(text.length * pattern.costPerCharacter);
      return pattern.test(text);
    },
  };
}

function ofOptional(name: string, object: Typed, type: Type, given: readonly Typed[]): Typed {
  const [other] = given;
  if (name === "hasValue" && given.length === 0)
    return { type: bool, run: (frame) => object.run(frame) !== undefined };
  if (name !== "orValue" || other === undefined || given.length !== 1)
    return invalid(`calls ${name}() on what may be absent; there are orValue(other) and hasValue()`);
  return { type: unionOf([type, other.type]), run: (frame) => object.run(frame) ?? other.run(frame) };
}

function call(
  name: string,
  table: Readonly<Record<string, readonly Overload[]>>,
  given: readonly Typed[],
  what: string,
): Typed {
  const all = Object.hasOwn(table, name) ? (table[name] as readonly Overload[]) : [];
  if (all.length === 0) {
    const near = nearest(name, Object.keys(table));
    return invalid(
      `calls a ${what} that is not there: ${name}; ${near === undefined ? `there are ${Object.keys(table).join(", ")}` : `did you mean ${near}?`}`,
    );
  }
  const types = given.map(({ type }) => type);
  const possible = all.filter(
    ({ takes }) =>
      takes.length === given.length && takes.every((kind, at) => mayFit(types[at] as Type, kind)),
  );
  if (possible.length === 0) {
    const ways = all.map(({ takes }) => `(${takes.join(", ")})`).join(" or ");
    return invalid(`calls ${name}(${types.map((type) => showType(type)).join(", ")}), and it takes ${ways}`);
  }
  const runs = given.map(({ run }) => run);
  const run: Run = (frame) => {
    frame.budget.spend(1);
    const values = runs.map((one) => one(frame));
    const chosen = possible.find(({ takes }) => takes.every((kind, at) => fits(values[at], kind)));
    if (chosen === undefined) return failed(`${name}(${values.map(kindOf).join(", ")}): it is not for these`);
    return chosen.run(values as never[], frame);
  };
  return { type: unionOf(possible.map(({ gives }) => gives(types))), run };
}
