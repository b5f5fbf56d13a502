/** One bit of a store is not what was written: it is detected, or it makes no difference. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../generate/random.ts";
import { flipFile, flipStored, makeFile, readStored, type Stored, scratchFolder } from "./bit-flip.ts";

const folder = scratchFolder();
const seed = 1;
let file: Buffer;
let values: Stored[];

beforeAll(async () => {
  file = await makeFile(folder);
  values = readStored(file, folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const ofTables = (...tables: string[]): Stored[] => values.filter(({ table }) => tables.includes(table));

test("the file has every kind of row that waits or is read again", () => {
  const tables = new Set(values.map(({ table }) => table));
  expect([...tables]).toEqual(expect.arrayContaining(["entry", "snapshot", "content", "inbox", "activity"]));
});

/** One bit of every so many bytes; by hand, `--stored` of the module flips every bit there is. */
function oneIn(bytes: number, stored: Stored): { stored: Stored; bit: number }[] {
  const random = createRandom(seed + stored.rowid);
  return Array.from({ length: Math.ceil(stored.bytes.length / bytes) }, (_, part) => ({
    stored,
    bit: Math.min(8 * bytes * part + random.below(8 * bytes), 8 * stored.bytes.length - 1),
  }));
}

test("every bit of an event that waits and of an activity", { timeout: 900_000 }, async () => {
  const flips = ofTables("inbox", "activity").flatMap((stored) =>
    Array.from({ length: stored.bytes.length * 8 }, (_, bit) => ({ stored, bit })),
  );
  const { problems, harmless } = await flipStored(file, folder, flips);
  expect({ problems, harmless }).toEqual({ problems: [], harmless: 0 });
});

test("a bit of every byte of a snapshot", { timeout: 900_000 }, async () => {
  const flips = ofTables("snapshot").flatMap((stored) => oneIn(1, stored));
  const { problems, harmless } = await flipStored(file, folder, flips);
  expect({ problems, harmless }).toEqual({ problems: [], harmless: 0 });
});

test("bits all over the journal, of every digest in it and of the texts it refers to", {
  timeout: 900_000,
}, async () => {
  const flips = ofTables("entry", "content").flatMap((stored) => oneIn(40, stored));
  const { problems, harmless } = await flipStored(file, folder, flips);
  expect({ problems, harmless }).toEqual({ problems: [], harmless: 0 });
});

test("any bit of the file: a damaged store, the same state, or found by SQLite's own check", {
  timeout: 900_000,
}, async () => {
  const random = createRandom(seed);
  const bits = Array.from({ length: 500 }, () => random.below(8 * file.length));
  const { problems, detected, harmless } = await flipFile(file, folder, bits);
  expect(problems).toEqual([]);
  expect(detected).toBeGreaterThan(0);
  expect(harmless).toBeGreaterThan(0);
});
