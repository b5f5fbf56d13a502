/** The proof of evolution: that it passes, repeats itself, and finds what it must. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { read, root } from "../../test/project.ts";
import { change } from "../simulation/plant.ts";
import { bugs } from "./bugs.ts";
import { proveEvolution } from "./proof.ts";

const prove = async (seed: number, worlds: number) => {
  const lines: string[] = [];
  const passed = await proveEvolution({ seed, worlds, print: (line) => void lines.push(line) });
  return { passed, lines };
};

test("B9: live runs of random pairs of versions evolve as they must, and the same from the same seed", async () => {
  const first = await prove(7, 12);
  expect(first.lines.join("\n")).toMatch(
    /^prove:evolution seed 7\nprove:evolution passed: 12 worlds, \d+ runs/,
  );
  expect(first.passed).toBe(true);
  expect(await prove(7, 12)).toEqual(first);
});

test("a planted bug has its place in the source, each of them", () => {
  for (const bug of bugs) expect(change(read(bug.file), bug)).not.toBe(read(bug.file));
});

/** Worlds in which each of them has shown itself by far. */
const worlds = "150";

test.each(bugs.map(({ name }) => name))("a planted bug is caught: %s", { timeout: 120_000 }, (name) => {
  const { status, stdout } = spawnSync(
    process.execPath,
    ["--conditions=holdfast-source", "prove/evolution.ts", "--worlds", worlds, "--bug", name],
    { cwd: root, encoding: "utf8" },
  );
  expect([stdout.startsWith(`caught: ${name}: `), status, stdout]).toEqual([true, 0, stdout]);
});
