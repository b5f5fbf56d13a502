/** A rule of which changes to a table are noted, and the triggers that come of it. */
import { createHash } from "node:crypto";
import { quote } from "../migrate.ts";

export type Operation = "insert" | "update" | "delete";

/** Which changes are noted. */
export interface TableRule {
  readonly name: string;
  /** As SQL writes it: `public.orders`, or `"My Schema"."Orders"`. */
  readonly table: string;
  readonly on: readonly Operation[];
  /** A condition of SQL on `NEW` and `OLD`. It is a part of the program and must never come from somebody else. */
  readonly when?: string | undefined;
  /** Of updates only those that change one of these columns. */
  readonly columns?: readonly string[] | undefined;
  /** Whether those who listen are woken; they poll otherwise. */
  readonly notify: boolean;
}

export interface Trigger {
  readonly rule: string;
  readonly name: string;
  /** The statement that makes it, or puts it in place of one of the same name. */
  readonly text: string;
  /** Two triggers of the same one do the same. */
  readonly fingerprint: string;
}

/** The triggers of a rule, one for each operation, on a table given by its quoted name; `schema` is that of the outbox. */
export function triggersOf(rule: TableRule, table: string, schema: string): readonly Trigger[] {
  return [...new Set(rule.on)].map((operation) => {
    const name = triggerName(schema, rule.name, operation);
    const head = `AFTER ${operation.toUpperCase()} ON ${table} FOR EACH ROW ${conditionOf(rule, operation)}`;
    const wake = rule.notify ? "notify" : "poll";
    const fingerprint = digest([head, wake]).slice(0, 16);
    const given = [rule.name, fingerprint, wake].map(literal).join(", ");
    const text = `CREATE OR REPLACE TRIGGER ${quote(name)} ${head} EXECUTE FUNCTION ${quote(schema)}.note_change(${given})`;
    return { rule: rule.name, name, text, fingerprint };
  });
}

/** A line of its own for the condition, so that a comment at its end takes nothing with it. */
function conditionOf({ when, columns }: TableRule, operation: Operation): string {
  const conditions = when === undefined ? [] : [`(\n${when}\n)`];
  if (operation === "update") {
    // By their bytes: there are types without equality, as json.
    conditions.push("NOT (OLD *= NEW)");
    const changed = columns?.map((column) => `OLD.${quote(column)} IS DISTINCT FROM NEW.${quote(column)}`);
    if (changed !== undefined) conditions.push(`(${changed.join(" OR ")})`);
  }
  return conditions.length === 0 ? "" : `WHEN (${conditions.join(" AND ")})`;
}

/** Names end at 63 bytes. The digest keeps apart what is cut, and the outboxes of several schemas. */
function triggerName(schema: string, rule: string, operation: Operation): string {
  let shown = rule;
  while (Buffer.byteLength(shown) > 36) shown = [...shown].slice(0, -1).join("");
  return `holdfast_${shown}_${operation}_${digest([schema, rule, operation]).slice(0, 8)}`;
}

/** A text as SQL writes it, whatever the server takes backslashes for. */
function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes("\\") ? ` E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}

function digest(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
