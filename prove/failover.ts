/**
 * `npm run prove:failover`: the primary of two PostgreSQL servers in step is killed under load, the standby promoted, and
 * the workers go on by themselves; a ledger kept outside is held against what is left.
 *
 * `--failovers N` says how often, `--workers N` how many worker processes there are, `--seed N` starts elsewhere. `--plant`
 * has commits not wait for the standby: what is lost then must be found.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { clusterTools } from "../test/postgres/cluster.ts";
import { findBinaries } from "../test/postgres/server.ts";
import { backMsMax, proveFailover } from "./failover/proof.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    failovers: { type: "string", default: "5" },
    workers: { type: "string", default: "2" },
    plant: { type: "boolean", default: false },
  },
});

function numberOf(name: "seed" | "failovers" | "workers"): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`--${name} must be a number above 0, and is ${JSON.stringify(values[name])}`);
}

const spread = (times: readonly number[]): string => {
  if (times.length === 0) return "never";
  const sorted = [...times].sort((one, other) => one - other);
  return `p50 ${sorted[Math.floor(sorted.length / 2)]} ms, at most ${sorted.at(-1)} ms`;
};

/** Runs the proof; the last line without its name. */
async function prove(): Promise<{ readonly isGood: boolean; readonly line: string }> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-failover-"));
  try {
    const { problems, figures, firstMs, allMs } = await proveFailover({
      seed: numberOf("seed"),
      failovers: numberOf("failovers"),
      workers: numberOf("workers"),
      folder,
      isAsynchronous: values.plant,
      progress: (text) => process.stderr.write(`\r${text}   `),
    });
    process.stderr.write("\n");
    for (const problem of problems) console.log(problem);
    const counts = Object.entries(figures).map(([name, count]) => `${count} ${name}`);
    const back = `first served after promotion ${spread(firstMs)}; all served ${spread(allMs)} (${backMsMax} allowed)`;
    return {
      isGood: problems.length === 0,
      line: `${counts.join(", ")}; ${back}; ${problems.length} problems`,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

console.log(`prove:failover seed ${numberOf("seed")}`);
const missing = await findBinaries(clusterTools).then(
  () => undefined,
  (error: Error) => error.message,
);
if (missing === undefined) {
  const { isGood, line } = await prove();
  console.log(`prove:failover ${isGood ? "passed" : "failed"}: ${line}`);
  process.exitCode = isGood ? 0 : 1;
} else {
  const isDemanded = process.env.CI === "true";
  console.log(`prove:failover ${isDemanded ? "failed" : "passed"}: skipped, all of it: ${missing}`);
  process.exitCode = isDemanded ? 1 : 0;
}
