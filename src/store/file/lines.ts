/**
 * Files of lines: a JSON value on each, added at the end and never changed. Reading is bounded by the length its owner
 * tells, so what a crash left behind it is not seen; and from where it is wanted, so that a long file costs no more than
 * a short one.
 */
import type { ReadPart } from "./files.ts";

/** How much is read at a time. */
const blockBytes = 65_536;
const newline = 0x0a;

export interface Line {
  readonly at: number;
  readonly text: string;
}

/** A value as a line. */
export function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** The lines from a place on where one begins, up to an end; throws if there is no line's end there. */
export function* readLines(read: ReadPart, from: number, end: number): Generator<Line> {
  let at = from;
  let rest: Buffer = Buffer.alloc(0);
  for (let next = from; next < end; ) {
    const block = read(next, Math.min(Math.max(blockBytes, rest.length), end - next));
    if (block.length === 0) throw new Error(`it ends at byte ${next} and should have ${end}`);
    next += block.length;
    rest = Buffer.concat([rest, block]);
    for (let stop = rest.indexOf(newline); stop >= 0; stop = rest.indexOf(newline)) {
      yield { at, text: rest.toString("utf8", 0, stop) };
      at += stop + 1;
      rest = rest.subarray(stop + 1);
    }
  }
  if (rest.length > 0) throw new Error(`there is no end to the line at byte ${at}`);
}

/**
 * A place where a line begins, at most a block before the first one whose number is not below `wanted`. The numbers grow
 * from line to line, and `numberOf` knows one by how its line begins.
 */
export function findLine(
  read: ReadPart,
  end: number,
  wanted: number,
  numberOf: (beginning: string) => number,
): number {
  let low = 0;
  let high = end;
  while (high - low > blockBytes) {
    const middle = Math.floor((low + high) / 2);
    const start = nextStart(read, middle, high);
    if (start !== undefined && numberOf(read(start, 64).toString("utf8")) <= wanted) low = start;
    else high = middle;
  }
  return low;
}

/** Where the first line begins after this byte and before the end. */
function nextStart(read: ReadPart, from: number, end: number): number | undefined {
  for (let at = from; at < end; at += blockBytes) {
    const found = read(at, Math.min(blockBytes, end - at)).indexOf(newline);
    if (found >= 0) return at + found + 1 < end ? at + found + 1 : undefined;
  }
  return undefined;
}
