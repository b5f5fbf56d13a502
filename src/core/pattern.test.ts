/** Patterns: what they match, and that none is let in that could hold anybody up. */
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import { Patterns } from "./pattern.ts";

test("a pattern is found anywhere in a text, and compiled once", () => {
  const patterns = new Patterns();
  const pattern = patterns.compile("b+c");
  expect(pattern.test("abbc")).toBe(true);
  expect(pattern.test("abb")).toBe(false);
  expect(patterns.compile("b+c")).toBe(pattern);
});

test.each(["(", "a{1001}", "(?=a)", "(a)\\1", "((a{100}){100}){100}"])("%s is refused", (source) => {
  expect(() => new Patterns().compile(source)).toThrow(expect.objectContaining({ code: "PATTERN_INVALID" }));
});

test("what explodes elsewhere takes its time here, and no more", () => {
  expect(new Patterns().compile("^(a+)+$").test(`${"a".repeat(50_000)}!`)).toBe(false);
});

test("the limits of length, size and number are the last that are let through", () => {
  const patterns = new Patterns();
  patterns.compile(`[${"a".repeat(limits.patternLengthMax - 2)}]`);
  expect(() => patterns.compile(`[${"a".repeat(limits.patternLengthMax - 1)}]`)).toThrow("is longer than");
  expect(patterns.compile(`a{${limits.patternSizeMax - 2}}`).costPerCharacter).toBe(limits.patternSizeMax);
  expect(() => patterns.compile(`a{${limits.patternSizeMax - 1}}`)).toThrow("repeats too much");
  for (let count = 2; count < limits.patternsMax; count++) patterns.compile(`p${count}`);
  expect(() => patterns.compile("one")).toThrow("is one too many");
});
