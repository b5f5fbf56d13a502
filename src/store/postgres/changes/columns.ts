/**
 * A table's row as JSON, without loss. The server writes every value as JSON; only its numbers can be more than JSON's
 * readers hold. So:
 *
 * - what is bigint or numeric, also in arrays and by way of domains, becomes text, always;
 * - any other number stays one if it is exactly that number here, and becomes text if not, as may happen inside json.
 */
import type { Json, JsonObject } from "../../../core/json.ts";

/** The columns of a row: each value as JSON text. */
export type ColumnTexts = Readonly<Record<string, string>>;

/** Reads a row; `exact` are the columns whose numbers are text. */
export function readColumns(texts: ColumnTexts, exact: ReadonlySet<string>): JsonObject {
  const entries = Object.entries(texts).map(
    ([column, text]) => [column, JSON.parse(text, exact.has(column) ? asText : asRead) as Json] as const,
  );
  return Object.fromEntries(entries);
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
