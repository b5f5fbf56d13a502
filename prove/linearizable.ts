/**
 * `npm run prove:linearizable`: concurrent clients in several processes on cells held by runs, whose owner is killed again and
 * again; what each of them was answered, and when, must fit some order in which a cell that nobody shares would have
 * answered the same. `--rounds N` says how long each lane is, `--seed N` starts elsewhere, `--lane NAME` takes just one.
 * `--bug NAME` plants a bug in the owners, and passes if it is caught.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startServer } from "../test/postgres/server.ts";
import { findBug } from "./linearizable/bugs.ts";
import type { Lane, LaneName } from "./linearizable/lane.ts";
import { proveLane } from "./linearizable/proof.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    rounds: { type: "string", default: "6" },
    lane: { type: "string" },
    bug: { type: "string" },
  },
});

function numberOf(name: "seed" | "rounds"): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be a whole number, and is ${JSON.stringify(values[name])}`);
}

const names: readonly LaneName[] = ["memory", "SQLite", "file", "PostgreSQL"];
const chosen = names.filter((name) => values.lane === undefined || values.lane === name);
if (chosen.length === 0)
  throw new Error(`--lane must be one of ${names.join(", ")}, and is ${JSON.stringify(values.lane)}`);
const bug = values.bug === undefined ? undefined : findBug(values.bug).name;
const [seed, rounds] = [numberOf("seed"), numberOf("rounds")];
console.log(`prove:linearizable seed ${seed}`);

const folder = mkdtempSync(join(tmpdir(), "holdfast-cells-"));
const figures: string[] = [];
const problems: string[] = [];
try {
  for (const store of chosen) {
    const server = store === "PostgreSQL" ? await startServer() : undefined;
    try {
      const lane: Lane = { store, place: server?.url("postgres") ?? join(folder, store) };
      const progress = (text: string) => process.stderr.write(`\r${store}: ${text}   `);
      const outcome = await proveLane({ seed, lane, rounds, folder, progress, ...(bug && { bug }) });
      const counts = Object.entries(outcome.figures).map(([name, count]) => `${count} ${name}`);
      figures.push(`${store}: ${counts.join(", ")}`);
      problems.push(...outcome.problems.map((problem) => `${store}: ${problem}`));
    } finally {
      await server?.stop();
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stderr.write("\n");

if (bug === undefined) for (const problem of problems) console.log(problem);
else {
  const [first = "nothing was found"] = problems.filter((problem) => problem.includes("not linearizable"));
  console.log(`${problems.length > 0 ? "caught" : "NOT CAUGHT"}: ${bug}: ${first}`);
}
console.log(
  `prove:linearizable ${problems.length === 0 ? "passed" : "failed"}: ${figures.join("; ")}; ${problems.length} problems`,
);
process.exitCode = (problems.length === 0) === (bug === undefined) ? 0 : 1;
