/** The checking of one value under way, and what the checks of a schema are made of. */
import { limits } from "../../limits.ts";
import { isObject } from "../json.ts";
import type { Patterns } from "../pattern.ts";

export interface Issue {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** The checking of one value under way. */
export class Visit {
  issues: Issue[] = [];
  readonly path: (string | number)[] = [];
  private left: number = limits.schemaChecksMax;
  /** Nobody listens: the first thing that is wrong is enough. */
  quiet = false;

  /** Pays for so many looks; throws TooCostly when there are none left. */
  spend(checks: number): void {
    this.left -= checks;
    if (this.left < 0) throw new TooCostly();
  }

  fail(message: string | (() => string)): false {
    if (!this.quiet)
      this.issues.push({ message: typeof message === "string" ? message : message(), path: [...this.path] });
    return false;
  }

  /** The same with problems that others have found, if anybody listens. */
  failWith(issues: () => readonly Issue[]): false {
    if (!this.quiet) this.issues.push(...issues());
    return false;
  }

  /** What a check says of a part of the value. */
  inside(key: string | number, check: Check, value: unknown): boolean {
    this.path.push(key);
    const deep = this.path.length > limits.jsonDepthMax;
    const held = deep
      ? this.fail(`is nested deeper than ${limits.jsonDepthMax} levels`)
      : check(value, this, undefined);
    this.path.pop();
    return held;
  }

  /** Whether a check holds, and nothing more: what is wrong is not even worked out. */
  passes(check: Check, value: unknown, seen: Seen | undefined): boolean {
    const before = this.quiet;
    this.quiet = true;
    const held = check(value, this, seen);
    this.quiet = before;
    return held;
  }

  /** What a check finds wrong, without counting it yet. */
  complaints(check: Check, value: unknown): Issue[] {
    const before = this.issues;
    this.issues = [];
    check(value, this, undefined);
    const { issues } = this;
    this.issues = before;
    return issues;
  }

  /** Whether all hold. All are asked, so that each can say what is wrong, unless nobody listens. */
  every<Item>(items: Iterable<Item>, holds: (item: Item) => boolean): boolean {
    let held = true;
    for (const item of items) {
      if (holds(item)) continue;
      held = false;
      if (this.quiet) return false;
    }
    return held;
  }
}

export class TooCostly extends Error {}

/** The fields of an object that some schema has spoken of; undefined where nobody asks. */
export type Seen = Set<string>;
export type Check = (value: unknown, visit: Visit, seen: Seen | undefined) => boolean;

/** What making checks needs to know. */
export interface Maker {
  readonly patterns: Patterns;
  /** A check of a value of its own. */
  own(schema: unknown): Check;
  /** A check of a value that another schema looks at as well. */
  beside(schema: unknown): Check;
  /** The schema a reference leads to. */
  referred(reference: string): unknown;
  /** What is known already of which schemas speak of objects. */
  readonly speaking: Map<unknown, boolean>;
}

/** A value as text in which equal values are equal; objects by sorted keys. */
export function canonical(value: unknown, visit?: Visit): string {
  // Writing a value takes longer than looking at it.
  visit?.spend(typeof value === "string" ? 4 + value.length / 16 : 4);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, visit)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? String(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key], visit)}`).join(",")}}`;
}
