/** The proof itself: it passes on a sample, and finds every weakness that is put in on purpose. */
import { expect, test } from "vitest";
import { byHand } from "./by-hand.ts";
import { plants } from "./plants.ts";
import { proveHostile } from "./proof.ts";

const timeout = 120_000;

async function prove(
  plant: string | undefined,
  cases: number,
): Promise<{ passed: boolean; lines: string[] }> {
  const lines: string[] = [];
  const passed = await proveHostile({
    seed: 1,
    cases,
    problemsMax: 1,
    // Only a hang is silent for as long, and what it shows need not be waited for any longer.
    ...(plant === undefined ? {} : { plant, silenceMsMax: 6_000 }),
    print: (line) => lines.push(line),
  });
  return { passed, lines };
}

test("A5: what is written by hand and a sample of what is drawn are met", { timeout }, async () => {
  const { passed, lines } = await prove(undefined, byHand.length + 200);
  expect(lines.slice(0, -1)).toEqual(["prove:hostile seed 1"]);
  expect(passed).toBe(true);
});

test.each(Object.keys(plants))(
  "the weakness %s is found, with what repeats it",
  { timeout },
  async (plant) => {
    const { passed, lines } = await prove(plant, byHand.length);
    expect(passed).toBe(false);
    expect(lines.join("\n")).toMatch(/attack \d+: .*Repeat it with --seed 1 --from \d+ --cases 1/s);
  },
);
