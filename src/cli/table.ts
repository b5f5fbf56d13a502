/** Text for people: tables, times and values, each in as little room as it needs. */
import { stripVTControlCharacters } from "node:util";

export type Cell = string | number | undefined;

/** Columns under their titles, two spaces apart. What others wrote cannot move the cursor or break a line. */
export function tableOf(titles: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const lines = [titles, ...rows.map((row) => row.map(plain))];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines.map((line) =>
    line
      .map((text, column) => (column === line.length - 1 ? text : text.padEnd(widths[column] as number)))
      .join("  ")
      .trimEnd(),
  );
}

/** A name in front of each value, as many as have one. */
export function fieldsOf(fields: Readonly<Record<string, Cell>>): string[] {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  const width = Math.max(...given.map(([name]) => name.length));
  return given.map(([name, value]) => `${name.padEnd(width)}  ${plain(value)}`);
}

/** Text on one line, without what a terminal would obey. */
export function plain(value: Cell): string {
  const text = stripVTControlCharacters(String(value ?? ""));
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}

/** JSON on one line, cut where it becomes long. */
export function shortJson(value: unknown, lengthMax = 80): string {
  const text = value === undefined ? "" : JSON.stringify(value);
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`;
}

/** A time as everybody writes it, to the second, in UTC. */
export function timeText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")}Z`;
}
