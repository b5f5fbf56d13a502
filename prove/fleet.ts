/**
 * `npm run prove:fleet`: several worker processes on one PostgreSQL, one fault after another, and a ledger kept outside: nothing
 * acknowledged is lost, nothing is doubled, nobody writes who was put out, and others take over within 5 s.
 *
 * `--faults N` says how many, `--workers N` how many processes there are, `--seed N` starts elsewhere, `--only KIND` keeps to one
 * kind of fault, `--takeover MS` allows another time.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { clusterTools } from "../test/postgres/cluster.ts";
import { findBinaries } from "../test/postgres/server.ts";
import { faults, proveFleet } from "./fleet/proof.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    faults: { type: "string", default: "60" },
    workers: { type: "string", default: "3" },
    takeover: { type: "string", default: "5000" },
    only: { type: "string" },
  },
});

function numberOf(name: "seed" | "faults" | "workers" | "takeover"): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`--${name} must be a number above 0, and is ${JSON.stringify(values[name])}`);
}

if (values.only !== undefined && !Object.hasOwn(faults, values.only))
  throw new Error(`--only must be one of ${Object.keys(faults).join(", ")}`);

const spread = (times: readonly number[]): string => {
  const sorted = [...times].sort((one, other) => one - other);
  return `${times.length} p50 ${sorted[Math.floor(sorted.length / 2)]} most ${sorted.at(-1)} ms`;
};

/** Runs the proof; the last line without its name. */
async function prove(): Promise<{ readonly isGood: boolean; readonly line: string }> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-fleet-"));
  try {
    const { problems, figures, backMs } = await proveFleet({
      seed: numberOf("seed"),
      faults: numberOf("faults"),
      workers: numberOf("workers"),
      takeoverMsMax: numberOf("takeover"),
      only: values.only,
      folder,
      progress: (text) => process.stderr.write(`\r${text}   `),
    });
    process.stderr.write("\n");
    for (const problem of problems) console.log(problem);
    const counts = Object.entries(figures).map(([name, count]) => `${count} ${name}`);
    const back = [...backMs].map(([kind, times]) => `${kind} ${spread(times)}`);
    return {
      isGood: problems.length === 0,
      line: `${counts.join(", ")}; others served after ${back.join(", ")}; ${problems.length} problems`,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

console.log(`prove:fleet seed ${numberOf("seed")}`);
const missing = await findBinaries(clusterTools).then(
  () => undefined,
  (error: Error) => error.message,
);
if (missing === undefined) {
  const { isGood, line } = await prove();
  console.log(`prove:fleet ${isGood ? "passed" : "failed"}: ${line}`);
  process.exitCode = isGood ? 0 : 1;
} else {
  const isDemanded = process.env.CI === "true";
  console.log(`prove:fleet ${isDemanded ? "failed" : "passed"}: skipped, all of it: ${missing}`);
  process.exitCode = isDemanded ? 1 : 0;
}
