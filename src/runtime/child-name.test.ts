/** The names of child runs. */
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import { childName } from "./child-name.ts";

const max = limits.nameLengthMax;

test("the name of a child is its parent's and its key, as long as that is a name", () => {
  const longest = "x".repeat(max - "/1.0".length);
  expect(childName(longest, "1.0")).toBe(`${longest}/1.0`);
  const shortened = childName(`${longest}x`, "1.0");
  expect(shortened).toMatch(/^x+~[\w-]{22}\/1\.0$/);
  expect([shortened.length, childName(`${longest}x`, "1.0")]).toEqual([max, shortened]);
});

test("names of children that are shortened are each their own, at any depth, and well formed", () => {
  const parents = [
    "x".repeat(max),
    `${"x".repeat(max - 1)}y`,
    "🪸".repeat(max / 2),
    `y${"🪸".repeat(max / 2 - 1)}z`,
  ];
  const children = parents.flatMap((parent) => ["1.0", "1.1", "12.34"].map((key) => childName(parent, key)));
  const all = [...children, ...children.map((child) => childName(child, "2.0"))];
  expect(new Set(all).size).toBe(all.length);
  for (const name of all) expect([name.isWellFormed(), name.length <= max]).toEqual([true, true]);
});
