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
  expect([...tables]).toEqual(expect.arrayContaining(["entry", "snapshot", "inbox", "activity"]));
});

test("every bit of a snapshot, of an event that waits and of an activity", { timeout: 900_000 }, async () => {
  const flips = ofTables("snapshot", "inbox", "activity").flatMap((stored) =>
    Array.from({ length: stored.bytes.length * 8 }, (_, bit) => ({ stored, bit })),
  );
  const { problems, harmless } = await flipStored(file, folder, flips);
  expect({ problems, harmless }).toEqual({ problems: [], harmless: 0 });
});

test("bits all over the journal, and of every digest in it", { timeout: 900_000 }, async () => {
  const random = createRandom(seed);
  const flips = ofTables("entry").flatMap((stored) =>
    // Of long entries a part stands for the rest, which is one text. `--stored` of the module flips every bit there is.
    Array.from({ length: Math.min(stored.bytes.length, 500) / 5 }, (_, five) => ({
      stored,
      bit: 40 * five + random.below(40),
    })),
  );
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
