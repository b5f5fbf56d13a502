/** Each bug that can be planted is found: proofs that find nothing would prove nothing. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { provePowerloss } from "../powerloss/proof.ts";
import { change } from "../simulation/plant.ts";
import { type Bug, bugs, findBug } from "./bugs.ts";
import { proveSignals } from "./signals.ts";
import { whyNoStrace } from "./strace.ts";

const root = join(import.meta.dirname, "../..");
/** Only ends what hangs. */
const patienceMs = 600_000;
const killsMax = 150;
const imagesMax = 40;

const breaks = (bug: Bug) => (problem: string) => bug.breaks.some((rule) => problem.includes(rule));

async function killWith(bug: Bug): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-hunt-"));
  const problems: string[] = [];
  const report = (problem: string) => void problems.push(problem);
  const isEnough = () => problems.some(breaks(bug));
  try {
    const options = { seed: 1, kills: killsMax, folder, progress: () => {}, report, isEnough };
    await proveSignals({ ...options, bug });
    return problems;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function cutWith(bug: Bug): Promise<readonly string[]> {
  const options = { seed: 1, images: imagesMax, steps: 100, plant: undefined, progress: () => {} };
  return (await provePowerloss({ ...options, bug, until: breaks(bug) })).problems;
}

test("each bug fits its source exactly once, and has a name of its own", () => {
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
  for (const bug of bugs)
    for (const each of [bug, ...(bug.also ?? [])]) {
      const text = readFileSync(join(root, each.file), "utf8");
      expect(change(text, each), bug.name).not.toBe(text);
    }
  expect(() => findBug("none")).toThrow("There is no bug none");
});

const missing = whyNoStrace();
if (missing !== undefined) console.warn(`Some planted bugs are not hunted: ${missing}`);
const named = (proof: Bug["proof"]) =>
  bugs.filter((bug) => bug.proof === proof).map((bug) => [bug.name, bug] as const);

describe("killed processes", () => {
  test.each(named("signals"))("find that %s", { timeout: patienceMs }, async (_, bug) => {
    const problems = await killWith(bug);
    expect(problems.filter(breaks(bug)), problems.join("\n")).not.toEqual([]);
  });
});

describe.runIf(missing === undefined)("images of power cuts", () => {
  test.each(named("powerloss"))("show that %s", { timeout: patienceMs }, async (_, bug) => {
    const problems = await cutWith(bug);
    expect(problems.filter(breaks(bug)), problems.join("\n")).not.toEqual([]);
  });
});
