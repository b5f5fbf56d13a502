/**
 * The name somebody meant: the nearest of those there are, if it is near enough. What it may cost in all is bounded, so
 * that a definition full of wrong names is told quickly too.
 */
import { limits } from "../limits.ts";

export class Nearest {
  #left: number = limits.comparedNamesMax;

  /** The candidate with the fewest slips from `name`; undefined if all are too far off. */
  find(name: string, candidates: Iterable<string>): string | undefined {
    let best: string | undefined;
    // A third of the letters may be wrong, and at most three; whether they are capitals does not count.
    let least = Math.min(3, Math.floor(name.length / 3)) + 1;
    if (name.length > limits.comparedLengthMax) return undefined;
    for (const candidate of candidates) {
      if (Math.abs(candidate.length - name.length) >= least) continue;
      if (--this.#left < 0) break;
      const slips = slipsBetween(name.toLowerCase(), candidate.toLowerCase(), least);
      if (slips < least) {
        least = slips;
        best = candidate;
      }
    }
    return best;
  }

  /** What would be right: the nearest name, and the rest of the advice. */
  fix(name: unknown, candidates: Iterable<string>, advice: string): string {
    const found = typeof name === "string" ? this.find(name, candidates) : undefined;
    return found === undefined ? advice : `did you mean ${JSON.stringify(found)}? ${advice}`;
  }
}

/** The name somebody meant, among those there are; undefined if none is near enough. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  return new Nearest().find(name, candidates);
}

/** Letters to insert, drop, change or swap with their neighbour to get from one to the other; `most` if there are as many. */
function slipsBetween(one: string, other: string, most: number): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let line = 1; line <= one.length; line++) {
    const next = [line];
    let least = line;
    for (let column = 1; column <= other.length; column++) {
      const changed = one[line - 1] === other[column - 1] ? 0 : 1;
      let slips = Math.min(
        (row[column] as number) + 1,
        (next[column - 1] as number) + 1,
        (row[column - 1] as number) + changed,
      );
      if (
        line > 1 &&
        column > 1 &&
        one[line - 1] === other[column - 2] &&
        one[line - 2] === other[column - 1]
      )
        slips = Math.min(slips, (before[column - 2] as number) + 1);
      next.push(slips);
      least = Math.min(least, slips);
    }
    if (least >= most) return most;
    before = row;
    row = next;
  }
  return row[other.length] as number;
}
