/**
 * CEL's operators over JSON. Numbers are JSON's: a whole number and another go together, and what a division of two
 * whole numbers gives is decided by their types, as CEL wants it (7 / 2 is 3, 7.0 / 2 is 3.5). Whole numbers stay
 * within those JSON keeps exactly.
 */
import { showValue } from "../json.ts";
import type { Budget } from "./budget.ts";
import type { Run, Typed } from "./code.ts";
import { failed, invalid } from "./failure.ts";
import {
  bool,
  double,
  dyn,
  int,
  isNumber,
  listOf,
  mayBe,
  membersOf,
  overlap,
  showType,
  string,
  type Type,
  unionOf,
} from "./static-type.ts";

type Operation = (left: unknown, right: unknown, budget: Budget) => unknown;

/** A binary operation, typed; refuses types it is not for. */
export function binary(operator: string, left: Typed, right: Typed): Typed {
  const type = resultOf(operator, left.type, right.type);
  const run = operationOf(operator, left.type, right.type);
  const [one, other] = [left.run, right.run];
  return {
    type,
    run(frame) {
      frame.budget.spend(1);
      return run(one(frame), other(frame), frame.budget);
    },
  };
}

function resultOf(operator: string, left: Type, right: Type): Type {
  const results: Type[] = [];
  for (const one of membersOf(left)) {
    for (const other of membersOf(right)) {
      const result = pairResult(operator, one, other);
      if (result !== undefined) results.push(result);
    }
  }
  if (results.length > 0) return unionOf(results);
  return invalid(`has ${showType(left)} ${operator} ${showType(right)}, and these do not go together`);
}

/** What an operation on two types gives; undefined if it is not for them. */
function pairResult(operator: string, left: Type, right: Type): Type | undefined {
  const either = left.kind === "dyn" || right.kind === "dyn";
  switch (operator) {
    case "==":
    case "!=":
      return overlap(left, right) ? bool : undefined;
    case "in":
      return isMember(left, right) ? bool : undefined;
    case "<":
    case "<=":
    case ">":
    case ">=": {
      const comparable = ["number", "string", "bool"] as const;
      return comparable.some((kind) => mayBe(left, kind) && mayBe(right, kind)) ? bool : undefined;
    }
    case "+": {
      if (either) return sumWithUnknown(left.kind === "dyn" ? right : left);
      if (left.kind === "string" && right.kind === "string") return string;
      if (left.kind === "list" && right.kind === "list") return listOf(unionOf([left.item, right.item]));
      return numeric(left, right);
    }
    default:
      return numeric(left, right);
  }
}

function isMember(left: Type, right: Type): boolean {
  if (right.kind === "dyn") return true;
  if (right.kind === "list") return overlap(left, right.item);
  return right.kind === "object" && mayBe(left, "string");
}

function sumWithUnknown(known: Type): Type | undefined {
  if (isNumber(known)) return double;
  if (known.kind === "list") return listOf(dyn);
  return known.kind === "string" || known.kind === "dyn" ? known : undefined;
}

function numeric(left: Type, right: Type): Type | undefined {
  if (!mayBe(left, "number") || !mayBe(right, "number")) return undefined;
  return left.kind === "int" && right.kind === "int" ? int : double;
}

function operationOf(operator: string, left: Type, right: Type): Operation {
  const whole = left.kind === "int" && right.kind === "int";
  switch (operator) {
    case "==":
      return isEqual;
    case "!=":
      return (one, other, budget) => !isEqual(one, other, budget);
    case "in":
      return isIn;
    case "<":
      return (one, other, budget) => compare(one, other, budget) < 0;
    case "<=":
      return (one, other, budget) => compare(one, other, budget) <= 0;
    case ">":
      return (one, other, budget) => compare(one, other, budget) > 0;
    case ">=":
      return (one, other, budget) => compare(one, other, budget) >= 0;
    case "+":
      return add;
    case "-":
      return arithmetic("-", (one, other) => one - other);
    case "*":
      return arithmetic("*", (one, other) => one * other);
    case "/":
      return arithmetic("/", whole ? (one, other) => Math.trunc(one / other) : (one, other) => one / other);
    default:
      return arithmetic("%", (one, other) => one % other);
  }
}

function arithmetic(operator: string, compute: (one: number, other: number) => number): Operation {
  const divides = operator === "/" || operator === "%";
  return (one, other) => {
    if (typeof one !== "number" || typeof other !== "number") return unfit(operator, one, other);
    if (divides && other === 0) return failed(`${one} ${operator} 0 is a division by zero`);
    return numberWithin(compute(one, other), [one, other]);
  };
}

/** A number JSON can hold; whole numbers made of whole numbers must be exact. */
export function numberWithin(result: number, operands: readonly number[]): number {
  if (!Number.isFinite(result)) return failed(`a number is out of range: ${result}`);
  if (Number.isInteger(result) && !Number.isSafeInteger(result) && operands.every(Number.isSafeInteger))
    return failed(`${result} is larger than whole numbers that are kept exactly`);
  return Object.is(result, -0) ? 0 : result;
}

function add(one: unknown, other: unknown, budget: Budget): unknown {
  if (typeof one === "number" && typeof other === "number") return numberWithin(one + other, [one, other]);
  if (typeof one === "string" && typeof other === "string") {
    budget.spendText(one.length + other.length);
    return one + other;
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    budget.spend(one.length + other.length);
    return [...one, ...other];
  }
  return unfit("+", one, other);
}

function compare(one: unknown, other: unknown, budget: Budget): number {
  if (typeof one === "string" && typeof other === "string") {
    budget.spendText(Math.min(one.length, other.length));
    return one < other ? -1 : one > other ? 1 : 0;
  }
  const bothNumbers = typeof one === "number" && typeof other === "number";
  if (bothNumbers || (typeof one === "boolean" && typeof other === "boolean"))
    return Number(one) - Number(other);
  return unfit("<", one, other);
}

/** Whether two values are the same JSON. */
export function isEqual(one: unknown, other: unknown, budget: Budget): boolean {
  budget.spend(1);
  if (typeof one === "string" && typeof other === "string" && one.length === other.length)
    budget.spendText(one.length);
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => isEqual(item, other[index], budget));
  }
  const keys = Object.keys(one);
  budget.spend(keys.length);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isEqual(fieldOf(one, key), fieldOf(other, key), budget))
  );
}

function fieldOf(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}

function isIn(item: unknown, all: unknown, budget: Budget): boolean {
  if (Array.isArray(all)) return all.some((one) => isEqual(one, item, budget));
  if (typeof all === "object" && all !== null && typeof item === "string") return Object.hasOwn(all, item);
  return unfit("in", item, all);
}

function unfit(operator: string, one: unknown, other: unknown): never {
  return failed(`${kindOf(one)} ${operator} ${kindOf(other)}: these do not go together`);
}

/** What a value is, for messages: never the value itself, which may be long, or secret. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "an absent value";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** `!`, typed. */
export function not(operand: Typed): Typed {
  if (!mayBe(operand.type, "bool")) invalid(`has !${showType(operand.type)}, and ! is for true and false`);
  return { type: bool, run: (frame) => !truth(operand.run(frame)) };
}

/** Unary minus, typed. */
export function negative(operand: Typed): Typed {
  if (!mayBe(operand.type, "number")) invalid(`has -${showType(operand.type)}, and - is for numbers`);
  return {
    type: operand.type.kind === "int" ? int : double,
    run(frame) {
      const value = operand.run(frame);
      if (typeof value !== "number") return failed(`- of ${kindOf(value)}: it is for numbers`);
      return numberWithin(-value, [value]);
    },
  };
}

/**
 * `&&` and `||`, typed. As CEL wants it, one side that decides is enough, whichever it is: an error on the other side
 * does not matter then. Only an exhausted budget always does.
 */
export function logical(operator: "&&" | "||", left: Typed, right: Typed): Typed {
  for (const { type } of [left, right])
    if (!mayBe(type, "bool"))
      invalid(`has ${showType(type)} beside ${operator}, which is for true and false`);
  const decides = operator === "||";
  const run: Run = (frame) => {
    frame.budget.spend(1);
    let first: unknown;
    try {
      first = truth(left.run(frame));
    } catch (error) {
      frame.budget.spendError();
      if (truth(right.run(frame)) === decides) return decides;
      throw error;
    }
    return first === decides ? decides : truth(right.run(frame));
  };
  return { type: bool, run };
}

/** A value as true or false; nothing else counts as either. */
export function truth(value: unknown): boolean {
  return typeof value === "boolean" ? value : failed(`${showValue(kindOf(value))} is neither true nor false`);
}
