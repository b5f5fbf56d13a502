/** What users say of table changes: which ones count, and what becomes of each. */
import type { Json, JsonObject } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import type { NotedChange } from "../../store/postgres/changes/outbox.ts";
import type { Operation, TableRule } from "../../store/postgres/changes/rule.ts";
import { checkName } from "../name.ts";
import type { AnyMachine } from "../registry.ts";

export type { Operation } from "../../store/postgres/changes/rule.ts";

/** A change to a row of a watched table, as its transaction committed it. */
export interface Change<On extends Operation = Operation> {
  /** Its place in the outbox. */
  readonly number: number;
  /** The same whenever it is delivered, and no other change's. */
  readonly key: string;
  readonly rule: string;
  readonly table: string;
  readonly operation: On;
  /** When its transaction began, in milliseconds since 1970. */
  readonly at: number;
  /** The row before; null for an insert. */
  readonly old: On extends "insert" ? null : JsonObject;
  /** The row after; null for a delete. */
  readonly new: On extends "delete" ? null : JsonObject;
}

/** JSON, with fields that may be left out. */
export type Sendable = Json | readonly Sendable[] | { readonly [key: string]: Sendable | undefined };

/** An event to send. What it says must follow from the change alone, so that a second delivery is the same. */
export interface SendRule<On extends Operation = Operation> {
  /** The run's id. */
  readonly run: (change: Change<On>) => string;
  readonly type: string;
  /** `{ table, operation, old, new }` unless given. */
  readonly data?: (change: Change<On>) => Sendable | undefined;
  readonly tenant?: (change: Change<On>) => string;
}

/** A run to start; one of the same id, machine and input is attached to. */
export interface StartRule<On extends Operation = Operation> {
  readonly machine: AnyMachine;
  /** The change's key unless given. */
  readonly id?: (change: Change<On>) => string;
  /** `{ table, operation, old, new }` unless given. */
  readonly input?: (change: Change<On>) => Sendable | undefined;
  readonly tenant?: (change: Change<On>) => string;
  /** Whose data the run holds; the run's own id unless given. */
  readonly subject?: (change: Change<On>) => string;
}

/** Which changes to a table count, and what becomes of them. */
export type ChangeRule<On extends Operation = Operation> = {
  /** As SQL writes it: `public.orders`, or `"My Schema"."Orders"`. */
  readonly table: string;
  readonly on: readonly On[];
  /** A condition of SQL on `NEW` and `OLD`, such as `NEW.status = 'paid'`. It is code: never take it from somebody else. */
  readonly when?: string;
  /** Of updates only those that change one of these columns. */
  readonly columns?: readonly string[];
} & (
  | { readonly send: SendRule<On>; readonly start?: never }
  | { readonly start: StartRule<On>; readonly send?: never }
);

/** Throws RULE_INVALID or NAME_INVALID for a rule that cannot be meant; what only the server can tell, it tells later. */
export function checkRule(name: string, rule: ChangeRule, notify: boolean): TableRule {
  checkName("rule", name);
  const problem = problemOf(rule);
  if (problem !== undefined) {
    throw new HoldfastError("RULE_INVALID", `The rule ${JSON.stringify(name)} ${problem}`, {
      details: { rule: name },
    });
  }
  const { table, on, when, columns } = rule;
  return { name, table, on, when, columns, notify };
}

const operations: readonly Operation[] = ["insert", "update", "delete"];

function problemOf({ table, on, when, columns, send, start }: ChangeRule): string | undefined {
  if (typeof table !== "string" || table === "") return "names no table";
  if (!Array.isArray(on) || on.length === 0 || on.some((one) => !operations.includes(one)))
    return `says not on what; give some of ${operations.join(", ")}`;
  if (when?.trim() === "") return "has an empty condition; leave it out to take every change";
  if (columns?.length === 0) return "has an empty list of columns; leave it out to take every update";
  if (columns !== undefined && !on.includes("update"))
    return "names columns, which are for updates, and is not for updates";
  if ((send === undefined) === (start === undefined)) return "must either send or start";
  return undefined;
}

/** A change as its rule's functions are given it. */
export function changeOf(noted: NotedChange, table: string): Change {
  const { number, rule, operation, atMicros, old, new: after } = noted;
  const change = { number, key: keyOf(noted), rule, table, operation, at: Math.floor(atMicros / 1000) };
  return { ...change, old: old as JsonObject, new: after as JsonObject };
}

/** A number alone may come back, when the outbox was made anew or its database restored, but not with its time. */
function keyOf({ number, atMicros }: NotedChange): string {
  return `change-${number}-${atMicros.toString(36)}`;
}
