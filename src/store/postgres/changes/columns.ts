/**
 * A table's row as JSON, without loss. The server writes every value as JSON; only its numbers can be more than JSON's
 * readers hold. So:
 *
 * - what is bigint or numeric, also in arrays and by way of domains, becomes text, always;
 * - any other number stays one if it is exactly that number here, and becomes text if not, as may happen inside json.
 */
import type { Json, JsonObject } from "../../../core/json.ts";

/**
 * Reads a row that the server wrote as JSON; `exact` are the columns whose numbers are text. The server is not asked to take
 * the row apart: it refuses to read some of what a json column may hold, `\\u0000` and halves of characters.
 */
export function readRow(row: string, exact: ReadonlySet<string>): JsonObject {
  const entries = [...columnsOf(row)].map(
    ([column, text]) => [column, readValue(text, exact.has(column) ? asText : asRead)] as const,
  );
  return Object.fromEntries(entries);
}

/** The columns of a row, each with its value as text. */
function* columnsOf(row: string): Iterable<readonly [string, string]> {
  for (let at = row.indexOf('"'); at >= 0; ) {
    const colon = afterText(row, at);
    const end = afterValue(row, colon + 1);
    yield [JSON.parse(row.slice(at, colon)) as string, row.slice(colon + 1, end)];
    at = row.indexOf('"', end);
  }
}

/** Where a value ends: at the comma or bracket that is not inside it. */
function afterValue(row: string, from: number): number {
  let depth = 0;
  for (let at = from; ; at++) {
    const sign = row[at];
    if (sign === '"') at = afterText(row, at) - 1;
    else if (sign === "{" || sign === "[") depth++;
    else if (sign === "," && depth === 0) return at;
    else if ((sign === "}" || sign === "]") && depth-- === 0) return at;
    else if (sign === undefined) throw new SyntaxError("The row ends in the middle of a value");
  }
}

/** Where a text ends: after the next quote that is not escaped. */
function afterText(row: string, from: number): number {
  for (let at = from + 1; ; at++) {
    const sign = row[at];
    if (sign === "\\") at++;
    else if (sign === '"') return at + 1;
    else if (sign === undefined) throw new SyntaxError("The row ends in the middle of a text");
  }
}

function readValue(text: string, reviver: Reviver): Json {
  try {
    return JSON.parse(text, reviver);
  } catch (error) {
    // It is nested so deeply that it cannot be walked through, and no event can have it; that is told when one is sent.
    if (error instanceof RangeError) return JSON.parse(text);
    throw error;
  }
}

type Reviver = (key: string, value: unknown) => unknown;
const reviver = (read: (source: string, number: number) => Json): Reviver =>
  ((_key: string, value: unknown, { source }: { readonly source: string }) =>
    typeof value === "number" ? read(source, value) : value) as Reviver;

const asText = reviver((source) => source);
const asRead = reviver((source, number) => (isExact(source, number) ? number : source));

function isExact(source: string, number: number): boolean {
  // Most are short, and then there is no doubt.
  if (/^-?\d{1,15}$/.test(source)) return true;
  return Number.isFinite(number) && sameNumber(source, String(number));
}

/** Whether two decimal numbers are the same one, however they are written. */
function sameNumber(one: string, other: string): boolean {
  const first = partsOf(one);
  const second = partsOf(other);
  return first.digits === second.digits && (first.digits === "" || first.exponent === second.exponent);
}

/** The digits between the zeros at both ends, and the power of ten of the last one. */
function partsOf(number: string): { digits: string; exponent: number } {
  const [mantissa = "", power = "0"] = number.replace("-", "").toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const significant = (whole + fraction).replace(/^0+/, "");
  const digits = significant.replace(/0+$/, "");
  return { digits, exponent: Number(power) - fraction.length + significant.length - digits.length };
}
