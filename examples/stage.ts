/**
 * Where frames are shown: on a terminal each replaces the last one, anywhere else they follow one another as plain text.
 * Colours are for terminals that want them (NO_COLOR says no).
 */
import { beside, colours, type Paint, plain, widthOf } from "./draw.ts";

const panelWidthMin = 30;
const panelWidthMax = 62;

export class Stage {
  readonly #stream: NodeJS.WriteStream;
  /** Whether frames replace one another. */
  readonly moving: boolean;
  readonly paint: Paint;
  #shown = 0;

  constructor(stream: NodeJS.WriteStream, fast: boolean) {
    const terminal = stream.isTTY === true;
    this.#stream = stream;
    this.moving = terminal && !fast;
    this.paint = terminal && !process.env.NO_COLOR ? colours : plain;
  }

  /** A chart with text beside it, or above it where there is no room for both. `text` gets the width it has. */
  compose(chart: readonly string[], text: (width: number) => string[]): string[] {
    const room = (this.#stream.columns ?? 120) - widthOf(chart[0] ?? "") - 3;
    if (room < panelWidthMin) return [...text(panelWidthMax), ...chart];
    return beside(chart, text(Math.min(room, panelWidthMax)), "  ");
  }

  /** Shows a frame, in place of the last one if both fit. */
  show(lines: readonly string[]): void {
    const { rows, columns } = this.#stream;
    const fits = this.moving && lines.length < rows && lines.every((line) => widthOf(line) < columns);
    if (fits && this.#shown > 0) this.#stream.write(`\x1b[${this.#shown}A\x1b[J`);
    this.#stream.write(`${lines.join("\n")}\n${fits ? "" : "\n"}`);
    this.#shown = fits ? lines.length : 0;
  }

  /** Says something that stays; the next frame goes below it. */
  say(line: string): void {
    this.#stream.write(`${line}\n`);
    this.#shown = 0;
  }

  /** A line below the frame was used for something else, and goes with it. */
  grow(): void {
    if (this.#shown > 0) this.#shown++;
  }
}
