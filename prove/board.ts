/**
 * `npm run prove:board`: several processes on one PostgreSQL write to boards and take leases, are killed and replaced: every answer
 * fits a cell that nobody shares, no update is lost, no two are in one critical section, late writes are fenced, nobody waits for
 * more than so many turns, and every change is told once.
 *
 * `--processes N`, `--writes N` and `--leases N` (of each process) say how much, `--seed N` starts elsewhere, `--bug NAME` plants a bug, and passes if
 * it is caught.
 */
import { parseArgs } from "node:util";
import { findBinaries } from "../test/postgres/server.ts";
import { findBug } from "./board/bugs.ts";
import { huntBug, proveBoard } from "./board/proof.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    processes: { type: "string", default: "8" },
    writes: { type: "string", default: "60" },
    leases: { type: "string" },
    bug: { type: "string" },
  },
});

function numberOf(name: "seed" | "processes" | "writes" | "leases", unlessGiven?: number): number {
  const value = Number(values[name] ?? unlessGiven);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`--${name} must be a number above 0, and is ${JSON.stringify(values[name])}`);
}

const options = {
  seed: numberOf("seed"),
  processes: numberOf("processes"),
  writes: numberOf("writes"),
  leases: numberOf("leases", Math.ceil(numberOf("writes") / 4)),
  progress: (text: string) => void process.stderr.write(`\r${text}   `),
};

async function prove(): Promise<boolean> {
  const { problems, figures } = await proveBoard(options);
  process.stderr.write("\n");
  for (const problem of problems.slice(0, 20)) console.log(problem);
  const counts = Object.entries(figures).map(([name, count]) => `${count} ${name}`);
  const verdict = problems.length === 0 ? "passed" : "failed";
  console.log(`prove:board ${verdict}: ${counts.join(", ")}; ${problems.length} problems`);
  return problems.length === 0;
}

async function hunt(name: string): Promise<boolean> {
  const found = await huntBug({ ...options, bug: findBug(name).name });
  process.stderr.write("\n");
  console.log(found);
  return found.startsWith("caught");
}

const missing = await findBinaries().then(
  () => undefined,
  (error: Error) => error.message,
);
if (values.bug !== undefined) process.exitCode = (await hunt(values.bug)) ? 0 : 1;
else {
  console.log(`prove:board seed ${options.seed}`);
  if (missing === undefined) process.exitCode = (await prove()) ? 0 : 1;
  else {
    const isDemanded = process.env.CI === "true";
    console.log(`prove:board ${isDemanded ? "failed" : "passed"}: skipped, all of it: ${missing}`);
    process.exitCode = isDemanded ? 1 : 0;
  }
}
