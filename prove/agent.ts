/**
 * `npm run prove:agent`: an agent on SQLite is killed with SIGKILL at every moment of a conversation: while it recalls, plans,
 * thinks, speaks, calls tools, waits for a person, sums up, looks back, and rests. Each time the next process goes on, and
 * whoever listens goes on listening: nothing is repeated without its key, no thread is wedged, every word is heard once, and
 * what it remembers and sums up is what it would have been.
 *
 * `--kills N` kills that many processes in a row at the same moment, `--every N` takes only every so many moments, `--only NAME`
 * those that are called so, `--bug NAME` plants one of `agent/bugs.ts`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { proveAgent } from "./agent/proof.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "1" },
    every: { type: "string", default: "1" },
    only: { type: "string" },
    bug: { type: "string" },
  },
});

function numberOf(name: "kills" | "every"): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`--${name} must be a number above 0, and is ${JSON.stringify(values[name])}`);
}

const folder = mkdtempSync(join(tmpdir(), "holdfast-agent-"));
let problems = 0;
try {
  const figures = await proveAgent({
    ...{ folder, kills: numberOf("kills"), every: numberOf("every"), only: values.only, bug: values.bug },
    progress: (text) => process.stderr.write(`\r${text}   `),
    report: (problem) => {
      problems++;
      console.log(problem);
    },
  });
  process.stderr.write("\n");
  const counts = Object.entries(figures).map(([name, count]) => `${count} ${name}`);
  console.log(
    `prove:agent ${problems === 0 ? "passed" : "failed"}: ${counts.join(", ")}; ${problems} problems`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = problems === 0 ? 0 : 1;
