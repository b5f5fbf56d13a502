/** Each bug that can be planted is caught: a simulation that catches nothing would prove nothing. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { bugs, findBug } from "./bugs.ts";
import { type Hunted, huntAll } from "./hunt.ts";
import { change } from "./plant.ts";

const root = join(import.meta.dirname, "../..");
/** A hunt that takes more worlds than this had better begin elsewhere. */
const worldsSoon = 20;
/** Only ends what hangs. */
const patienceMs = 900_000;

const hunts = bugs.map((bug) => ({ bug, name: bug.name, ...Promise.withResolvers<Hunted>() }));

describe("planted bugs", () => {
  beforeAll(() => {
    const told = (hunted: Hunted) => hunts.find(({ bug }) => bug === hunted.bug)?.resolve(hunted);
    huntAll(bugs, { from: ({ from = 1 }) => from, told }).catch((error: unknown) => {
      for (const { reject } of hunts) reject(error);
    });
  });

  test("there are at least 30, and each has its own name", () => {
    expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
    expect(bugs.length).toBeGreaterThanOrEqual(30);
  });

  test("each one fits its source exactly once", () => {
    for (const bug of bugs) {
      for (const each of [bug, ...(bug.also ?? [])]) {
        const text = readFileSync(join(root, each.file), "utf8");
        expect(change(text, each), bug.name).not.toBe(text);
      }
    }
  });

  test("a bug that no longer fits is an error, and so is one nobody knows", () => {
    expect(() => change("a b a", { file: "f", find: "a", replace: "c" })).toThrow("2 times");
    expect(() => change("a b a", { file: "f", find: "d", replace: "c" })).toThrow("0 times");
    expect(() => findBug("none")).toThrow("There is no bug none");
  });

  test.each(hunts)(
    "the bug '$name' is caught",
    async ({ bug, name, promise }) => {
      const { worlds, said } = await promise;
      expect(worlds, said).toBeGreaterThan(0);
      if ((worlds as number) > worldsSoon)
        console.warn(
          `The bug "${name}" is caught after ${worlds} worlds from ${bug.from ?? 1} on: begin later`,
        );
    },
    patienceMs,
  );
});
