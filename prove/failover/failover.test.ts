/** The proof sees what it is there to see: a standby that is not in step loses what was acknowledged. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { proveFailover } from "./proof.ts";

/** Only ends what hangs. */
const patienceMs = 300_000;

test("G3: a failover without synchronous replication is found to lose what was acknowledged", {
  timeout: patienceMs,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-failover-"));
  try {
    const options = { seed: 1, failovers: 1, workers: 1, folder, progress: () => {} };
    const { problems } = await proveFailover({ ...options, isAsynchronous: true });
    expect(problems.join("\n")).toMatch(/F1: .* lost/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
