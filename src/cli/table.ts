/** Text for people: tables, times and values, each in as little room as it needs. */
import { stripVTControlCharacters } from "node:util";

export type Cell = string | number | undefined;

/** Columns under their titles, two spaces apart. What others wrote cannot move the cursor or break a line. */
export function tableOf(titles: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const lines = [titles, ...rows.map((row) => row.map(plain))];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ""))));
  const padded = (text: string, width: number) => text + " ".repeat(width - widthOf(text));
  return lines.map((line) =>
    line
      .map((text, column) => (column === line.length - 1 ? text : padded(text, widths[column] as number)))
      .join("  ")
      .trimEnd(),
  );
}

/** What a terminal draws over two cells: East Asian characters and pictures. */
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** How many cells of a terminal a text takes: marks stand on the letter before them. */
function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of letters.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
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
