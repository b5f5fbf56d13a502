/** The rehearsal sees what it is there to see: too little restored, and too much. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { proveRestore } from "./proof.ts";

/** Only ends what hangs. */
const patienceMs = 300_000;

test.each([
  ["early", "lacks what was acknowledged before the moment", /R1: F1: .* lost/],
  ["late", "has what was sent after the moment", /R2: .* after the moment/],
] as const)(
  "G3: a restore that is too %s %s, and that is found",
  { timeout: patienceMs },
  async (plant, _, rule) => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-restore-"));
    try {
      const { problems } = await proveRestore({ events: 100, workers: 1, folder, plant, progress: () => {} });
      expect(problems.join("\n")).toMatch(rule);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
