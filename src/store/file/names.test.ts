import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { limits } from "../../limits.ts";
import { fileName } from "./names.ts";

const awkward = [
  ...[
    "trip-42",
    "Trip-42",
    "TRIP-42",
    "trip_42",
    "trip.42",
    "trip 42",
    "trip%2042",
    "trip~42",
    ".",
    "..",
    "/",
  ],
  ...[
    "../trip-42",
    "a/b",
    "a\\b",
    "a:b",
    "con",
    "CON",
    "nul",
    "lpt1",
    "com0",
    "a.json",
    "a.journal",
    "a.snapshot-3",
  ],
  ...[
    "é",
    "e\u0301",
    "日本",
    "\u{1f600}",
    "ß",
    "SS",
    "ı",
    "I",
    "-",
    "--help",
    "*",
    "\n",
    "\u202e",
    "%",
    "%25",
  ],
  ...["x".repeat(120), "x".repeat(121), "x".repeat(512), "é".repeat(512), `${"é".repeat(511)}x`],
];

test("different names have different file names, also where capitals are not told apart", () => {
  const names = awkward.map((name) => fileName(name).toLowerCase().normalize("NFC"));
  expect(new Set(names).size).toBe(awkward.length);
});

test("a name that can be a file's is one, and what cannot stands escaped", () => {
  expect(fileName("trip-42")).toBe("trip-42");
  expect(fileName("Trip/42")).toBe("%54rip%2f42");
  expect(fileName("con")).toBe("%63on");
  expect(fileName("..")).toBe("%2e%2e");
});

test("every name of any text gives a file that can be made, has no dot and leaves room for endings", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
  try {
    const seen = new Map<string, string>();
    const check = (name: string): void => {
      const file = fileName(name);
      expect(file).toMatch(/^[a-z0-9_%~-]{1,125}$/);
      expect(seen.get(file) ?? name).toBe(name);
      seen.set(file, name);
    };
    for (const name of awkward) check(name);
    const anyName = fc.string({ unit: "binary", minLength: 1, maxLength: limits.nameLengthMax });
    fc.assert(fc.property(anyName, check), { numRuns: 500 });
    for (const file of seen.keys())
      writeFileSync(join(folder, `${file}.snapshot-9007199254740991.json.tmp`), "");
    expect(readdirSync(folder).length).toBe(seen.size);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
