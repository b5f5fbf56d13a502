/** The proof that all stores do the same: that it passes, and finds a difference in each of them. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { read, root } from "../../test/project.ts";
import { change } from "../simulation/plant.ts";
import { bugs } from "./bugs.ts";
import { canonical, firstDifference } from "./canonical.ts";
import { rivals } from "./grounds.ts";
import { proveStores } from "./proof.ts";

/** Only ends what hangs. */
const patienceMs = 300_000;

test("B3: a script is answered alike by the runtime on every store, and leaves the same", {
  timeout: patienceMs,
}, async () => {
  const lines: string[] = [];
  const sizes = { seed: 77, sequences: 0, operations: 0, scripts: 1, acts: 30 };
  expect([await proveStores({ ...sizes, print: (line) => void lines.push(line) }), lines]).toEqual([
    true,
    [
      "prove:stores seed 77",
      "prove:stores passed: 0 sequences of 0 operations, 1 scripts of 30 acts, on memory, SQLite, file, PostgreSQL; 0 differences",
    ],
  ]);
});

test("values are compared by what they mean, and where they part is shown", () => {
  const bytes = new Uint8Array([1, 2]);
  expect(canonical({ b: 1, a: [undefined, bytes], c: undefined })).toBe(
    canonical({ a: [undefined, Buffer.from(bytes)], b: 1 }),
  );
  expect(canonical([undefined])).not.toBe(canonical([null]));
  expect(canonical(Number.POSITIVE_INFINITY)).not.toBe(canonical(null));
  expect(firstDifference("same one", "same two")).toContain("…same one");
});

test("a planted bug has its place in the source, each of them, and each store has some", () => {
  for (const bug of bugs) expect(change(read(bug.file), bug), bug.name).not.toBe(read(bug.file));
  expect(new Set(bugs.map(({ store }) => store))).toEqual(new Set(rivals));
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
});

test.each(bugs.map(({ name }) => name))("a planted bug is caught: %s", { timeout: patienceMs }, (name) => {
  const { status, stdout } = spawnSync(
    process.execPath,
    ["--conditions=holdfast-source", "prove/stores.ts", "--bug", name],
    { cwd: root, encoding: "utf8" },
  );
  expect([stdout.startsWith(`caught: ${name}: `), status, stdout]).toEqual([true, 0, stdout]);
});
