/**
 * Regular expressions that cannot hang: they are matched in a time that grows with the text and never explodes, and a
 * pattern is refused when it is too long or takes too much room. https://github.com/google/re2/wiki/Syntax
 */
import { RE2JS } from "re2js";
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { showValue } from "./json.ts";

export interface Pattern {
  /** Whether some part of the text matches. */
  test(text: string): boolean;
  /** What looking at one character may cost: the size of the pattern's program. */
  readonly costPerCharacter: number;
}

/** The patterns of one definition or schema: each is compiled once, and there can only be so many. */
export class Patterns {
  private readonly known = new Map<string, Pattern>();

  /** A pattern from its text; throws PATTERN_INVALID if it is none, is too large, or is one too many. */
  compile(source: string): Pattern {
    const found = this.known.get(source);
    if (found !== undefined) return found;
    if (this.known.size >= limits.patternsMax)
      refuse(source, `is one too many: there can be ${limits.patternsMax}`);
    if (source.length > limits.patternLengthMax)
      refuse(source, `is longer than ${limits.patternLengthMax} characters`);
    const pattern = compilePattern(source);
    this.known.set(source, pattern);
    return pattern;
  }
}

function compilePattern(source: string): Pattern {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source);
  } catch (error) {
    return refuse(source, `cannot be used: ${(error as Error).message}`);
  }
  const size = compiled.programSize();
  if (size > limits.patternSizeMax) refuse(source, `repeats too much: written out it has ${size} parts`);
  return { test: (text) => compiled.test(text), costPerCharacter: size };
}

function refuse(source: string, why: string): never {
  throw new HoldfastError("PATTERN_INVALID", `The pattern ${showValue(source.slice(0, 80))} ${why}`);
}
