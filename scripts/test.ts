/**
 * `npm test`: format and lint, types, tests, then the proofs at their short sizes, two at a time where they do not
 * disturb each other. After the first stage that fails no other is begun, and the end says which were not run. A stage
 * that hangs is ended, with everything it began, and has failed. The last line stands alone: `N passed, N failed`, where a
 * test counts one and every other stage counts one. The exit code says the same.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export interface Stage {
  readonly name: string;
  /** What Node runs: a script and its arguments. */
  readonly command: readonly string[];
  /** Where the stage leaves a report of many tests; without one the stage itself counts as one. */
  readonly report?: string;
  /** Nothing else runs meanwhile: it keeps every core busy by itself, or has a bound on time. */
  readonly isAlone?: true;
  /** After so long it hangs; several times what it takes on a slow machine. */
  readonly limitMs?: number;
}

const limitMs = 20 * 60_000;

export interface RunOptions {
  /** The project's top. */
  readonly folder: string;
  /** How many stages may run at the same time. */
  readonly atOnce: number;
  readonly say: (line: string) => void;
  /** How long servers that a stage began may take to clear up behind it. */
  readonly graceMs?: number;
}

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** The part of vitest's JSON report that is counted and told. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly FileReport[];
}

interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages?: readonly string[];
  }[];
}

/** Counts the tests of a report. A file that failed before it had any test counts as one failure. */
export function countReport(report: Report): Count {
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
}

/** A line for each failure, with the first line of why: what is left to read when a long output was cut. */
export function failuresOf({ testResults }: Report): string[] {
  const line = (file: string, title: string, why = "") => `✗ ${file}${title}: ${why.split("\n", 1)[0]}`;
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    if (assertionResults.length === 0) return status === "failed" ? [line(name, "", message)] : [];
    return assertionResults
      .filter((test) => test.status === "failed")
      .map(({ fullName, failureMessages }) => line(name, ` > ${fullName}`, failureMessages?.[0]));
  });
}

const readReport = ({ report }: Stage): Report | undefined =>
  report !== undefined && existsSync(report)
    ? (JSON.parse(readFileSync(report, "utf8")) as Report)
    : undefined;

/** A stage that exits badly has failed, whatever its report says; one without a report counts as one. */
function countStage(report: Report | undefined, succeeded: boolean): Count {
  const counted = report === undefined ? { passed: succeeded ? 1 : 0, failed: 0 } : countReport(report);
  return succeeded ? counted : { ...counted, failed: Math.max(1, counted.failed) };
}

/** Begins the stages in order, until one fails; what runs beside it then comes to its end, and counts. */
export async function runStages(stages: readonly Stage[], options: RunOptions): Promise<Count> {
  let total: Count = { passed: 0, failed: 0 };
  const running = new Set<Promise<unknown>>();
  const hasRoomFor = ({ isAlone }: Stage) => running.size < (isAlone ? 1 : options.atOnce);
  const left = [...stages];
  for (let stage = left[0]; stage !== undefined && total.failed === 0; stage = left[0]) {
    if (hasRoomFor(stage)) {
      left.shift();
      const place = `${stages.length - left.length}/${stages.length}`;
      const run = runStage(stage, place, options).then((count) => {
        total = { passed: total.passed + count.passed, failed: total.failed + count.failed };
        running.delete(run);
      });
      running.add(run);
      if (stage.isAlone) await run;
    } else await Promise.race(running);
  }
  await Promise.all(running);
  if (left.length > 0) options.say(`\nNot run: ${left.map(({ name }) => name).join(", ")}`);
  return total;
}

/** What a stage that is alone says is shown as it comes; what one beside others says is shown whole, at its end. */
async function runStage(
  stage: Stage,
  place: string,
  { folder, say, graceMs = 10_000 }: RunOptions,
): Promise<Count> {
  const output = stage.isAlone ? "inherit" : "pipe";
  const title = `\n▸ ${place} ${stage.name}`;
  if (stage.isAlone) say(title);
  const beganMs = performance.now();
  // In a group of its own, so that all it began can be ended with it: one server left behind keeps vitest waiting for ever.
  const child = spawn(process.execPath, [...stage.command], {
    cwd: folder,
    stdio: ["ignore", output, output],
    detached: true,
  });
  const group = child.pid;
  const interrupt = () => {
    killGroup(group);
    process.exit(130);
  };
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  let hangs = false;
  const limit = setTimeout(() => {
    hangs = true;
    killGroup(group);
  }, stage.limitMs ?? limitMs);
  child.once("exit", () => void endGroup(group, graceMs));
  const said = { out: "", errors: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said.errors += text));
  const problem = await once(child, "close").then(
    ([status]) => {
      if (hangs) return `${stage.name} failed: it was ended after ${(stage.limitMs ?? limitMs) / 1_000} s`;
      return status === 0 ? undefined : `${stage.name} failed`;
    },
    (error: Error) => `${stage.name} failed: ${error.message}`,
  );
  clearTimeout(limit);
  process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  const seconds = `${Math.round((performance.now() - beganMs) / 1_000)} s`;
  const outcome = problem === undefined ? `✓ ${stage.name}: ${seconds}` : `✗ ${problem}`;
  // How far a stage has come, on a line that is written over, is of no use when it has ended.
  const errors = said.errors.replaceAll(/\r[^\r\n]*\n?/g, "");
  say(stage.isAlone ? outcome : `${title}\n${said.out}${errors}${outcome}`);
  const report = readReport(stage);
  for (const failure of report === undefined ? [] : failuresOf(report))
    say(failure.replace(`${folder}/`, ""));
  return countStage(report, problem === undefined);
}

/** Ends every process of a group; whether there was one. */
function killGroup(group: number | undefined, signal: NodeJS.Signals | 0 = "SIGKILL"): boolean {
  try {
    return group !== undefined && process.kill(-group, signal);
  } catch {
    return false;
  }
}

/** Ends what a stage has left behind, once that had time to end by itself. */
async function endGroup(group: number | undefined, graceMs: number): Promise<void> {
  const untilMs = performance.now() + graceMs;
  while (killGroup(group, 0) && performance.now() < untilMs) await pause(50);
  killGroup(group);
}

/** What `npm test` runs; `folder` is where vitest leaves its reports. */
export function allStages(folder: string): Stage[] {
  const tests = (name: string, ...options: string[]): Stage => {
    const report = join(folder, `${name.replace(":", "-")}.json`);
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    return {
      ...{ name, isAlone: true, report, limitMs: 40 * 60_000 },
      command: ["node_modules/vitest/vitest.mjs", "run", ...options, ...reporters],
    };
  };
  const proof = (name: string, ...size: string[]): Stage => ({
    name: `prove:${name}`,
    command: ["--conditions=holdfast-source", `prove/${name}.ts`, ...size],
  });
  return [
    { name: "format and lint", command: ["node_modules/@biomejs/biome/bin/biome", "check", "."] },
    { name: "types", command: ["node_modules/typescript/bin/tsc", "--noEmit"] },
    { name: "types of Studio", command: ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "studio"] },
    tests("tests", "--coverage"),
    tests("test:e2e", "--config", "test/e2e/vitest.config.ts"),
    // There must be service again within 5 s.
    { ...proof("failover", "--failovers", "2"), isAlone: true },
    // From here on the longest come first, so that in the end nothing long is left over. Time only ends what hangs in a
    // fleet here; the proof by itself allows 5 s.
    proof("fleet", "--faults", "12", "--takeover", "60000"),
    proof("board"),
    proof("linearizable", "--rounds", "4"),
    proof("simulation", "--seeds", "1000"),
    { ...proof("simulation", "--members", "3", "--seeds", "200"), name: "prove:simulation of fleets" },
    proof("differential"),
    proof("kill", "--seeds", "30", "--cases", "60"),
    proof("powerloss", "--seeds", "200"),
    proof("agent", "--every", "5"),
    proof("api", "--requests", "1500"),
    proof("stores", "--scripts", "6"),
    proof("hostile", "--cases", "3000"),
    proof("restore"),
    proof("evolution", "--worlds", "200"),
    proof("timers", "--timers", "15000"),
    proof("scxml"),
  ];
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  // Most of what a short process costs is reading its sources: what is compiled once is kept for those that follow.
  process.env.NODE_COMPILE_CACHE ??= join(folder, "compiled");
  const { passed, failed } = await runStages(allStages(folder), {
    folder: join(import.meta.dirname, ".."),
    atOnce: Math.min(2, availableParallelism()),
    say: (line) => console.log(line),
  });
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
