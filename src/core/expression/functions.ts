/**
 * The functions expressions may call: CEL's own as far as JSON has their types, and of its common extensions those for
 * text, lists and numbers. Each pays for its work before it does it. What is not in this table cannot be called.
 */
import { durationMs } from "../duration.ts";
import type { Frame } from "./code.ts";
import { failed } from "./failure.ts";
import { isEqual, kindOf, numberWithin } from "./operators.ts";
import {
  bool,
  double,
  dyn,
  int,
  listOf,
  mayBe,
  membersOf,
  string,
  type Type,
  unionOf,
} from "./static-type.ts";
import { timestampMs } from "./timestamp.ts";

export type Kind = "string" | "number" | "bool" | "list" | "object" | "any";

export interface Overload {
  /** The kinds of the arguments; of a method, its receiver is the first. */
  readonly takes: readonly Kind[];
  readonly gives: (types: readonly Type[]) => Type;
  readonly run: (values: never[], frame: Frame) => unknown;
}

const text = () => string;
const whole = () => int;
const number = () => double;
const truth = () => bool;
const same = (types: readonly Type[]) => (types.every(({ kind }) => kind === "int") ? int : double);
const itemOf = ([list]: readonly Type[]) =>
  unionOf(membersOf(list as Type).map((one) => (one.kind === "list" ? one.item : dyn)));

const sizes: readonly Overload[] = [
  {
    takes: ["string"],
    gives: whole,
    run: ([value]: string[], frame) => pointsOf(value as string, frame).length,
  },
  { takes: ["list"], gives: whole, run: ([list]: unknown[][]) => (list as unknown[]).length },
  { takes: ["object"], gives: whole, run: ([map]: object[]) => Object.keys(map as object).length },
];

/** Functions by name. */
export const functions: Readonly<Record<string, readonly Overload[]>> = {
  size: sizes,
  string: [
    { takes: ["string"], gives: text, run: ([value]) => value },
    { takes: ["number"], gives: text, run: ([value]) => String(value) },
    { takes: ["bool"], gives: text, run: ([value]) => String(value) },
  ],
  int: [
    { takes: ["number"], gives: whole, run: ([value]: number[]) => wholeOf(value as number) },
    { takes: ["string"], gives: whole, run: ([value]: string[]) => wholeText(value as string) },
  ],
  double: [
    { takes: ["number"], gives: number, run: ([value]) => value },
    { takes: ["string"], gives: number, run: ([value]: string[]) => numberText(value as string) },
  ],
  bool: [
    { takes: ["bool"], gives: truth, run: ([value]) => value },
    { takes: ["string"], gives: truth, run: ([value]: string[]) => truthText(value as string) },
  ],
  dyn: [{ takes: ["any"], gives: () => dyn, run: ([value]) => value }],
  /** Milliseconds since 1970 of a time such as `2026-07-01T12:00:00Z`: what `at` is. */
  timestamp: [{ takes: ["string"], gives: whole, run: ([value]: string[]) => timestampMs(value as string) }],
  /** Milliseconds of a delay such as `2 days`. */
  duration: [{ takes: ["string"], gives: number, run: ([value]: string[]) => durationMs(value) }],
  /** Whether a state is active: a path such as `a.b`, or `#id`. */
  inState: [
    {
      takes: ["string"],
      gives: truth,
      run: ([name]: string[], { scope }) => scope?.in(name as string) ?? false,
    },
  ],
};

/** Functions of `math`. */
export const mathFunctions: Readonly<Record<string, readonly Overload[]>> = {
  abs: [{ takes: ["number"], gives: same, run: ([value]: number[]) => Math.abs(value as number) }],
  ceil: [
    { takes: ["number"], gives: whole, run: ([value]: number[]) => wholeOf(Math.ceil(value as number)) },
  ],
  floor: [
    { takes: ["number"], gives: whole, run: ([value]: number[]) => wholeOf(Math.floor(value as number)) },
  ],
  round: [
    { takes: ["number"], gives: whole, run: ([value]: number[]) => wholeOf(Math.round(value as number)) },
  ],
  least: [{ takes: ["number", "number"], gives: same, run: (values: number[]) => Math.min(...values) }],
  greatest: [{ takes: ["number", "number"], gives: same, run: (values: number[]) => Math.max(...values) }],
};

/** Methods by name. `matches` is not here: its pattern is compiled with the expression. */
export const methods: Readonly<Record<string, readonly Overload[]>> = {
  size: sizes,
  contains: search(truth, (value, part) => value.includes(part)),
  startsWith: search(truth, (value, part) => value.startsWith(part)),
  endsWith: search(truth, (value, part) => value.endsWith(part)),
  indexOf: search(whole, (value, part) => pointIndex(value, value.indexOf(part))),
  lastIndexOf: search(whole, (value, part) => pointIndex(value, value.lastIndexOf(part))),
  lowerAscii: [{ takes: ["string"], gives: text, run: ascii(/[A-Z]+/g, (part) => part.toLowerCase()) }],
  upperAscii: [{ takes: ["string"], gives: text, run: ascii(/[a-z]+/g, (part) => part.toUpperCase()) }],
  trim: [{ takes: ["string"], gives: text, run: spending((value) => value.trim()) }],
  substring: [
    { takes: ["string", "number"], gives: text, run: substring },
    { takes: ["string", "number", "number"], gives: text, run: substring },
  ],
  replace: [{ takes: ["string", "string", "string"], gives: text, run: replace }],
  split: [{ takes: ["string", "string"], gives: () => listOf(string), run: split }],
  join: [
    { takes: ["list"], gives: text, run: join },
    { takes: ["list", "string"], gives: text, run: join },
  ],
  sum: [
    {
      takes: ["list"],
      gives: (types) => numberOf(itemOf(types)),
      run: ([list]: unknown[][], frame) => sum(list, frame),
    },
  ],
  min: [
    { takes: ["list"], gives: itemOf, run: ([list]: unknown[][], frame) => extreme(list, Math.min, frame) },
  ],
  max: [
    { takes: ["list"], gives: itemOf, run: ([list]: unknown[][], frame) => extreme(list, Math.max, frame) },
  ],
  /** Each value once, in order. */
  distinct: [{ takes: ["list"], gives: ([list]) => list as Type, run: distinct }],
};

/** Whether a value is of a kind. */
export function fits(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case "any":
      return true;
    case "list":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "bool":
      return typeof value === "boolean";
    default:
      return typeof value === kind;
  }
}

/** Whether a type may be of a kind. */
export function mayFit(type: Type, kind: Kind): boolean {
  return kind === "any" || mayBe(type, kind);
}

function spending(make: (value: string) => unknown): Overload["run"] {
  return ([value]: string[], frame) => {
    frame.budget.spendText((value as string).length);
    return make(value as string);
  };
}

function ascii(letters: RegExp, change: (part: string) => string): Overload["run"] {
  return spending((value) => value.replace(letters, change));
}

function search(gives: () => Type, find: (value: string, part: string) => unknown): readonly Overload[] {
  const run: Overload["run"] = ([value, part]: string[], frame) => {
    // The engine's search is no slower than the product of both lengths, and usually as fast as their sum.
    frame.budget.spendText((value as string).length);
    frame.budget.spendText((part as string).length);
    return find(value as string, part as string);
  };
  return [{ takes: ["string", "string"], gives, run }];
}

/** A text by code points: what CEL counts. */
function pointsOf(value: string, { budget }: Frame): string | string[] {
  budget.spendText(value.length);
  return /[\ud800-\udfff]/.test(value) ? Array.from(value) : value;
}

function pointIndex(value: string, index: number): number {
  return index <= 0 ? index : Array.from(value.slice(0, index)).length;
}

function substring([value, from, to]: (string | number)[], frame: Frame): string {
  const points = pointsOf(value as string, frame);
  const [start, end] = [from as number, (to ?? points.length) as number];
  const within = Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start <= end;
  if (!within || end > points.length)
    return failed(`substring(${start}, ${end}) is outside a text of ${points.length}`);
  const part = points.slice(start, end);
  return typeof part === "string" ? part : part.join("");
}

function replace([value, part, other]: string[], { budget }: Frame): string {
  const [whole, from, to] = [value as string, part as string, other as string];
  budget.spendText(whole.length);
  const times = from === "" ? whole.length + 1 : whole.split(from).length - 1;
  budget.spendText(whole.length + times * to.length);
  return whole.replaceAll(from, () => to);
}

function split([value, separator]: string[], { budget }: Frame): string[] {
  budget.spend((value as string).length);
  return (value as string).split(separator as string);
}

function join([list, separator]: (string | unknown[])[], { budget }: Frame): string {
  const [items, between] = [list as unknown[], (separator ?? "") as string];
  for (const item of items) {
    if (typeof item !== "string") return failed(`join of a list with ${kindOf(item)} in it: it is for texts`);
    budget.spendText(item.length + between.length);
  }
  return items.join(between);
}

function numberOf(type: Type): Type {
  return type.kind === "int" ? int : double;
}

function sum(list: unknown, { budget }: Frame): number {
  let total = 0;
  for (const item of numbersOf(list, "sum", budget)) total = numberWithin(total + item, [total, item]);
  return total;
}

function extreme(list: unknown, choose: (...values: number[]) => number, { budget }: Frame): number {
  const [first, ...others] = numbersOf(list, "min and max", budget);
  if (first === undefined) return failed("min and max of an empty list: there is none");
  return others.reduce((one, other) => choose(one, other), first);
}

function numbersOf(list: unknown, what: string, budget: Frame["budget"]): number[] {
  const items = list as unknown[];
  budget.spend(items.length);
  for (const item of items)
    if (typeof item !== "number")
      failed(`${what} of a list with ${kindOf(item)} in it: they are for numbers`);
  return items as number[];
}

function distinct([list]: unknown[][], { budget }: Frame): unknown[] {
  const found: unknown[] = [];
  for (const item of list as unknown[])
    if (!found.some((one) => isEqual(one, item, budget))) found.push(item);
  return found;
}

function wholeOf(value: number): number {
  const result = Math.trunc(value);
  if (!Number.isSafeInteger(result))
    return failed(`${value} is larger than whole numbers that are kept exactly`);
  return result === 0 ? 0 : result;
}

function wholeText(value: string): number {
  return /^[+-]?\d{1,20}$/.test(value)
    ? wholeOf(Number(value))
    : failed("int() of a text that is no whole number");
}

function numberText(value: string): number {
  const result = /^[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,4})?$/.test(value)
    ? Number(value)
    : Number.NaN;
  return Number.isFinite(result) ? numberWithin(result, []) : failed("double() of a text that is no number");
}

function truthText(value: string): boolean {
  return value === "true" || value === "false"
    ? value === "true"
    : failed("bool() of a text that is not true or false");
}
