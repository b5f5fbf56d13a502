/**
 * `npm run prove:kill`: real processes on SQLite are killed, and a ledger kept outside is held against what they leave.
 * Part `signals` kills at random moments; part `syscalls` kills, and fails with EIO and ENOSPC, at each system call that
 * touches the store. `--seed N` starts elsewhere, `--seeds N` says how many kills, `--part` which part.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { proveSignals } from "./kill/signals.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "300" },
    part: { type: "string", default: "all" },
  },
});
console.log(`prove:kill seed ${values.seed}`);
const folder = mkdtempSync(join(tmpdir(), "holdfast-kill-"));
let failed = false;
try {
  const { problems, figures } = await proveSignals({
    seed: Number(values.seed),
    kills: Number(values.seeds),
    folder,
    progress: (text) => process.stderr.write(`\r${text}   `),
  });
  process.stderr.write("\n");
  for (const problem of problems) console.log(problem);
  failed = problems.length > 0;
  console.log(`prove:kill ${failed ? "failed" : "passed"}: ${JSON.stringify(figures)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
