/**
 * `npm run prove:restore`: a backup and a restore to a named moment, rehearsed on a real PostgreSQL server under load, with
 * the time it takes.
 *
 * `--events N` says how many are acknowledged before the moment, `--workers N` how many worker processes there are.
 * `--plant early` restores the base backup alone and `--plant late` a later moment: both must be found.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { clusterTools } from "../test/postgres/cluster.ts";
import { findBinaries } from "../test/postgres/server.ts";
import { proveRestore } from "./restore/proof.ts";

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "400" },
    workers: { type: "string", default: "2" },
    plant: { type: "string" },
  },
});

function numberOf(name: "events" | "workers"): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`--${name} must be a number above 0, and is ${JSON.stringify(values[name])}`);
}

const { plant } = values;
if (plant !== undefined && plant !== "early" && plant !== "late")
  throw new Error(`--plant must be early or late, and is ${JSON.stringify(plant)}`);

/** Runs the proof; the last line without its name. */
async function prove(): Promise<{ readonly isGood: boolean; readonly line: string }> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-restore-"));
  try {
    const { problems, figures } = await proveRestore({
      events: numberOf("events"),
      workers: numberOf("workers"),
      folder,
      plant: plant as "early" | "late" | undefined,
      progress: (text) => process.stderr.write(`\r${text}   `),
    });
    process.stderr.write("\n");
    for (const problem of problems) console.log(problem);
    const counts = Object.entries(figures).map(([name, count]) => `${count} ${name}`);
    return { isGood: problems.length === 0, line: `${counts.join(", ")}; ${problems.length} problems` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const missing = await findBinaries(clusterTools).then(
  () => undefined,
  (error: Error) => error.message,
);
if (missing === undefined) {
  const { isGood, line } = await prove();
  console.log(`prove:restore ${isGood ? "passed" : "failed"}: ${line}`);
  process.exitCode = isGood ? 0 : 1;
} else {
  const isDemanded = process.env.CI === "true";
  console.log(`prove:restore ${isDemanded ? "failed" : "passed"}: skipped, all of it: ${missing}`);
  process.exitCode = isDemanded ? 1 : 0;
}
