/**
 * A statechart as text: a compound state is a box around its children, the regions of a parallel one stand side by side,
 * and what is active is marked and highlighted. It draws definitions and configurations and knows nothing of runs.
 */
import { stripVTControlCharacters, styleText } from "node:util";

/** As much of a state's definition as can be seen. */
export interface Drawable {
  readonly type?: "parallel" | "final" | "history";
  readonly history?: "shallow" | "deep";
  readonly states?: { readonly [key: string]: Drawable };
}

/** How a piece of text is shown. */
export type Style = "active" | "quiet" | "strong" | "good" | "bad";

/** Puts a style on a text, or leaves it plain. */
export type Paint = (style: Style, text: string) => string;

const formats: Readonly<Record<Style, Parameters<typeof styleText>[0]>> = {
  active: ["bold", "green"],
  quiet: "dim",
  strong: "bold",
  good: "green",
  bad: "red",
};

export const colours: Paint = (style, text) => styleText(formats[style], text, { validateStream: false });
export const plain: Paint = (_style, text) => text;

/** How many columns a text takes. */
export const widthOf = (text: string): number => [...stripVTControlCharacters(text)].length;

const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)));
const widest = (lines: readonly string[]): number => Math.max(0, ...lines.map(widthOf));

/** Two blocks of lines next to each other. */
export function beside(left: readonly string[], right: readonly string[], gap = " "): string[] {
  const width = widest(left);
  return Array.from({ length: Math.max(left.length, right.length) }, (_, row) =>
    `${pad(left[row] ?? "", width)}${gap}${right[row] ?? ""}`.trimEnd(),
  );
}

/** Lines inside a frame that carries a title. */
export function box(title: string, lines: readonly string[], edge: (text: string) => string): string[] {
  const width = Math.max(widest(lines), widthOf(title) + 1);
  return [
    `${edge("╭ ")}${title}${edge(` ${"─".repeat(width - widthOf(title))}╮`)}`,
    ...lines.map((line) => `${edge("│")} ${pad(line, width)} ${edge("│")}`),
    edge(`╰${"─".repeat(width + 2)}╯`),
  ];
}

/** The mark of a state: filled when active, ringed when final. */
function markOf(state: Drawable, active: boolean): string {
  if (state.type === "history") return state.history === "deep" ? "H*" : "H";
  if (state.type === "final") return active ? "◉" : "◎";
  return active ? "●" : "○";
}

/** Whether a state, by its path, is on the way to one of the active leaves. */
const isActive = (path: string, configuration: readonly string[]): boolean =>
  configuration.some((leaf) => leaf === path || leaf.startsWith(`${path}.`));

function drawState(
  key: string,
  state: Drawable,
  path: string,
  configuration: readonly string[],
  paint: Paint,
): string[] {
  const active = isActive(path, configuration);
  const style = active ? "active" : "quiet";
  const label = paint(style, `${markOf(state, active)} ${key}${state.type === "parallel" ? " ∥" : ""}`);
  if (state.states === undefined) return [label];
  const children = drawChildren(state, path, configuration, paint);
  return box(label, children, (text) => paint(active ? "good" : "quiet", text));
}

function drawChildren(
  state: Drawable,
  path: string,
  configuration: readonly string[],
  paint: Paint,
): string[] {
  const drawn = Object.entries(state.states ?? {}).map(([key, child]) =>
    drawState(key, child, path === "" ? key : `${path}.${key}`, configuration, paint),
  );
  return state.type === "parallel" ? drawn.reduce((left, right) => beside(left, right)) : drawn.flat();
}

/** The whole chart with its active states highlighted, as lines. */
export function drawChart(
  title: string,
  definition: Drawable,
  configuration: readonly string[],
  paint: Paint,
): string[] {
  const children = drawChildren(definition, "", configuration, paint);
  return box(paint("strong", title), children, (text) => paint("quiet", text));
}

/** Text cut into lines of at most this width, at spaces; later lines are indented. */
export function wrap(text: string, width: number, indent = "  "): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line);
      line = `${indent}${word}`;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
