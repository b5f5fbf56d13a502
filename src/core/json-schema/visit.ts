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

  /** Pays for so many looks; throws TooCostly when there are none left. */
  spend(checks: number): void {
    this.left -= checks;
    if (this.left < 0) throw new TooCostly();
  }

  fail(message: string): false {
    this.issues.push({ message, path: [...this.path] });
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

  /** What a check says, and what it found wrong, without counting it yet. */
  apart(
    check: Check,
    value: unknown,
    seen: Seen | undefined,
  ): { readonly held: boolean; readonly issues: Issue[] } {
    const before = this.issues;
    this.issues = [];
    const held = check(value, this, seen);
    const { issues } = this;
    this.issues = before;
    return { held, issues };
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
  visit?.spend(typeof value === "string" ? 1 + value.length / 16 : 1);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, visit)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? String(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key], visit)}`).join(",")}}`;
}
