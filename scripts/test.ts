/**
 * `npm test`: format and lint, types, tests, then the proofs at their short sizes. It stops at the first stage that
 * fails and says which were not run. The last line stands alone: `N passed, N failed`, where a test counts one and every
 * other stage counts one. The exit code says the same.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Stage {
  readonly name: string;
  /** What Node runs: a script and its arguments. */
  readonly command: readonly string[];
  /** Where the stage leaves a report of many tests; without one the stage itself counts as one. */
  readonly report?: string;
}

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** The part of vitest's JSON report that is counted. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

/** Counts the tests of a report. A file that failed before it had any test counts as one failure. */
export function countReport(report: Report): Count {
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
}

/** A stage that exits badly has failed, whatever its report says; one without a report counts as one. */
function countStage(stage: Stage, succeeded: boolean): Count {
  const counted =
    stage.report !== undefined && existsSync(stage.report)
      ? countReport(JSON.parse(readFileSync(stage.report, "utf8")) as Report)
      : { passed: succeeded ? 1 : 0, failed: 0 };
  return succeeded ? counted : { ...counted, failed: Math.max(1, counted.failed) };
}

/** Runs the stages in order until one fails. Their output is shown as it comes. */
export function runStages(stages: readonly Stage[], folder: string, say: (line: string) => void): Count {
  let total: Count = { passed: 0, failed: 0 };
  for (const [index, stage] of stages.entries()) {
    say(`\n▸ ${index + 1}/${stages.length} ${stage.name}`);
    const { status, error } = spawnSync(process.execPath, [...stage.command], {
      cwd: folder,
      stdio: "inherit",
    });
    if (error !== undefined) say(error.message);
    const count = countStage(stage, status === 0);
    total = { passed: total.passed + count.passed, failed: total.failed + count.failed };
    if (count.failed === 0) continue;
    const left = stages.slice(index + 1).map(({ name }) => name);
    say(`\n✗ ${stage.name} failed${left.length === 0 ? "" : `; not run: ${left.join(", ")}`}`);
    break;
  }
  return total;
}

/** What `npm test` runs; `report` is where vitest leaves its figures. */
export function allStages(report: string): Stage[] {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const proof = (name: string, ...size: string[]): Stage => ({
    name: `prove:${name}`,
    command: ["--conditions=holdfast-source", `prove/${name}.ts`, ...size],
  });
  return [
    { name: "format and lint", command: ["node_modules/@biomejs/biome/bin/biome", "check", "."] },
    { name: "types", command: ["node_modules/typescript/bin/tsc", "--noEmit"] },
    { name: "tests", command: ["node_modules/vitest/vitest.mjs", "run", "--coverage", ...reporters], report },
    proof("scxml"),
    proof("differential"),
    proof("kill", "--seeds", "30", "--cases", "60"),
    proof("powerloss", "--seeds", "200"),
    proof("simulation", "--seeds", "1000"),
    proof("timers", "--timers", "15000"),
    proof("evolution", "--worlds", "200"),
    proof("hostile", "--cases", "3000"),
    // Time only ends what hangs here; the proof by itself allows 5 s.
    proof("fleet", "--faults", "12", "--takeover", "60000"),
    proof("failover", "--failovers", "2"),
    proof("restore"),
    proof("stores", "--scripts", "6"),
    proof("linearizable", "--rounds", "4"),
    proof("agent", "--every", "5"),
    proof("board"),
  ];
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  const root = join(import.meta.dirname, "..");
  const { passed, failed } = runStages(allStages(join(folder, "report.json")), root, (line) =>
    console.log(line),
  );
  rmSync(folder, { recursive: true });
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
