/**
 * `npm run prove:kill`: real processes on SQLite die or fail, and a ledger kept outside is held against what they leave.
 *
 * Part `signals` kills them with SIGKILL at random moments; the next one goes on where the last one was, and in the end
 * everything pending must have come to its end by itself. Part `syscalls` goes through the system calls that a short
 * life makes on the files of its store: it is killed at each, or the call fails with EIO, with ENOSPC, or writes nothing.
 *
 * `--seed N` starts elsewhere; `--seeds N` says how many kills, and `--cases N` how many system calls are tried (`--all`:
 * every one, with every fault; `--case 'fsync 3 error=EIO'`: just that); `--part signals|syscalls|all` which part. `--bug NAME`
 * plants one of `kill/bugs.ts` in the processes that are killed with signals.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findBug } from "./kill/bugs.ts";
import type { Judgement } from "./kill/judge.ts";
import { proveSignals } from "./kill/signals.ts";
import { whyNoStrace } from "./kill/strace.ts";
import { proveSyscalls } from "./kill/syscalls.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "300" },
    cases: { type: "string", default: "300" },
    all: { type: "boolean", default: false },
    case: { type: "string" },
    part: { type: "string", default: "all" },
    bug: { type: "string" },
  },
});

function numberOf(name: "seed" | "seeds" | "cases"): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be a number, and is ${JSON.stringify(values[name])}`);
}

const parts = ["signals", "syscalls"].filter((part) => values.part === "all" || values.part === part);
if (parts.length === 0)
  throw new Error(`--part must be signals, syscalls or all, and is ${JSON.stringify(values.part)}`);

const seed = numberOf("seed");
console.log(`prove:kill seed ${seed}`);
const folder = mkdtempSync(join(tmpdir(), "holdfast-kill-"));
const progress = (text: string) => process.stderr.write(`\r${text}   `);
const figures: string[] = [];
let problems = 0;

/** A problem is told as soon as it is found: a long run may be ended early. */
const report = (problem: string) => {
  problems++;
  console.log(problem);
};

function conclude(part: string, { figures: counted }: Pick<Judgement, "figures">): void {
  process.stderr.write("\n");
  const counts = Object.entries(counted).map(([name, count]) => `${count} ${name}`);
  figures.push(`${part}: ${counts.join(", ")}`);
}

try {
  const common = { seed, folder, progress, report };
  if (parts.includes("signals"))
    conclude(
      "signals",
      await proveSignals({
        ...common,
        kills: numberOf("seeds"),
        bug: values.bug === undefined ? undefined : findBug(values.bug),
      }),
    );
  if (parts.includes("syscalls")) {
    const missing = whyNoStrace();
    const cases = values.all ? undefined : numberOf("cases");
    if (missing === undefined)
      conclude("syscalls", await proveSyscalls({ ...common, cases, only: values.case }));
    else figures.push(`syscalls: skipped, all of its cases: ${missing}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(
  `prove:kill ${problems === 0 ? "passed" : "failed"}: ${figures.join("; ")}; ${problems} problems`,
);
process.exitCode = problems === 0 ? 0 : 1;
