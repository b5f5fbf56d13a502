/** CEL's macros over lists and objects: all, exists, exists_one, filter, map. Each round is paid for. */
import type { Frame, Run, Typed, Variable } from "./code.ts";
import { failed, invalid } from "./failure.ts";
import { kindOf, truth } from "./operators.ts";
import type { Syntax } from "./parse.ts";
import { bool, dyn, listOf, mayBe, membersOf, showType, string, type Type, unionOf } from "./static-type.ts";

const argumentsOf: Readonly<Record<string, readonly number[]>> = {
  all: [2],
  exists: [2],
  exists_one: [2],
  filter: [2],
  map: [2, 3],
};

export function isMacro(name: string, given: number): boolean {
  return Object.hasOwn(argumentsOf, name) && (argumentsOf[name] as readonly number[]).includes(given);
}

interface Around {
  readonly variables: readonly Variable[];
  readonly compile: (syntax: Syntax, variables: readonly Variable[]) => Typed;
}

/** A macro as typed code: its variable stands for one item after the other, of an object for one key after the other. */
export function compileMacro(name: string, list: Typed, given: readonly Syntax[], around: Around): Typed {
  // The parser has seen to it that a name comes first.
  const [variable, ...bodies] = given as [Syntax, ...Syntax[]];
  const item = itemType(name, list.type);
  const slot = around.variables.length;
  const inner = [...around.variables, { name: variable.args as string, type: item }];
  const compiled = bodies.map((body) => around.compile(body, inner));
  const [first, second] = compiled as [Typed, Typed | undefined];
  const each = rounds(list.run, slot);
  const filters = name !== "map" || second !== undefined;
  if (filters && !mayBe(first.type, "bool"))
    invalid(`has ${showType(first.type)} in ${name}(), which asks for true or false`);
  const holds = (frame: Frame) => truth(first.run(frame));
  switch (name) {
    case "all":
      return { type: bool, run: quantifier(each, holds, false) };
    case "exists":
      return { type: bool, run: quantifier(each, holds, true) };
    case "exists_one":
      return { type: bool, run: (frame) => each(frame).filter(() => holds(frame)).length === 1 };
    case "filter":
      return { type: listOf(item), run: (frame) => each(frame).filter(() => holds(frame)).items };
    default: {
      const made = second ?? first;
      return {
        type: listOf(made.type.kind === "optional" ? made.type.of : made.type),
        run: (frame) =>
          each(frame).map(second === undefined ? undefined : () => holds(frame), () => made.run(frame)),
      };
    }
  }
}

function itemType(name: string, type: Type): Type {
  const items = membersOf(type).flatMap((one) =>
    one.kind === "list" ? [one.item] : one.kind === "object" ? [string] : one.kind === "dyn" ? [dyn] : [],
  );
  return items.length === 0
    ? invalid(`has ${showType(type)}.${name}(), which is for lists and objects`)
    : unionOf(items);
}

interface Rounds {
  filter(holds: () => boolean): { readonly length: number; readonly items: unknown[] };
  map(holds: (() => boolean) | undefined, make: () => unknown): unknown[];
  /** Whether the decisive answer came; an error counts only if it never does. */
  decide(holds: () => boolean, decisive: boolean): boolean;
}

function rounds(list: Run, slot: number): (frame: Frame) => Rounds {
  return (frame) => {
    const given = list(frame);
    const items = Array.isArray(given) ? given : keysOf(given);
    const enter = (item: unknown) => {
      frame.budget.spend(2);
      frame.slots[slot] = item;
    };
    return {
      filter(holds) {
        const kept: unknown[] = [];
        for (const item of items) {
          enter(item);
          if (holds()) kept.push(item);
        }
        return { length: kept.length, items: kept };
      },
      map(holds, make) {
        const made: unknown[] = [];
        for (const item of items) {
          enter(item);
          if (holds !== undefined && !holds()) continue;
          const value = make();
          made.push(value === undefined ? failed("an absent value inside a list: use orValue") : value);
        }
        return made;
      },
      decide: (holds, decisive) => decide(items, { enter, holds, decisive, frame }),
    };
  };
}

interface Deciding {
  readonly enter: (item: unknown) => void;
  readonly holds: () => boolean;
  readonly decisive: boolean;
  readonly frame: Frame;
}

function decide(items: readonly unknown[], { enter, holds, decisive, frame }: Deciding): boolean {
  let error: { readonly cause: unknown } | undefined;
  for (const item of items) {
    enter(item);
    try {
      if (holds() === decisive) return decisive;
    } catch (cause) {
      frame.budget.spendError();
      error ??= { cause };
    }
  }
  if (error !== undefined) throw error.cause;
  return !decisive;
}

function quantifier(
  each: (frame: Frame) => Rounds,
  holds: (frame: Frame) => boolean,
  decisive: boolean,
): Run {
  return (frame) => each(frame).decide(() => holds(frame), decisive);
}

function keysOf(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.keys(value);
  return failed(`a list was to be gone through, and is ${kindOf(value)}`);
}
