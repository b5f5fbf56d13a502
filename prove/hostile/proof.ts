/** The proof: victims meet attack after attack; one that dies or hangs is told of, and the next goes on after it. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { attackOf, type Report } from "./victim.ts";

export interface ProofOptions {
  readonly seed: number;
  readonly cases: number;
  /** The first attack; those before it are left out. */
  readonly from?: number;
  readonly plant?: string;
  /** How many problems to look for; the proof ends with them. */
  readonly problemsMax?: number;
  /** Silence of this length means that an attack holds the victim up. */
  readonly silenceMsMax?: number;
  readonly print: (line: string) => void;
  readonly progress?: (done: number) => void;
}

interface Tally {
  done: number;
  accepted: number;
  evaluationMs: number;
  /** The attack whose evaluation took longest. */
  slowest: number;
  stepMs: number;
  readingMs: number;
  readonly outcomes: Map<string, number>;
  readonly problems: { readonly index: number; readonly problem: string }[];
}

/** True if every attack was met as it must be. */
export async function proveHostile(options: ProofOptions): Promise<boolean> {
  const { seed, cases, from = 0, problemsMax = 5, print } = options;
  print(`prove:hostile seed ${seed}`);
  const tally: Tally = {
    done: 0,
    accepted: 0,
    evaluationMs: 0,
    slowest: 0,
    stepMs: 0,
    readingMs: 0,
    outcomes: new Map(),
    problems: [],
  };
  for (let next = from; next < from + cases && tally.problems.length < problemsMax; )
    next = await victimFrom(next, options, tally);
  for (const { index, problem } of tally.problems) {
    print(`attack ${index}: ${problem}`);
    print(`  ${JSON.stringify(attackOf(seed, index)).slice(0, 600)}`);
    print(`  Repeat it with --seed ${seed} --from ${index} --cases 1`);
  }
  const passed = tally.problems.length === 0 && tally.done === cases;
  print(`prove:hostile ${passed ? "passed" : "failed"}: ${figures(tally)}`);
  return passed;
}

function figures({ done, outcomes, accepted, evaluationMs, slowest, stepMs, readingMs }: Tally): string {
  const refusals = [...outcomes]
    .sort(([, one], [, other]) => other - one)
    .map(([code, count]) => `${count} ${code}`);
  return [
    `${done} attacks, ${accepted} of them harmless and let in`,
    `refused: ${refusals.join(", ")}`,
    `the longest evaluation took ${evaluationMs.toFixed(1)} ms (attack ${slowest}), the longest step ${stepMs.toFixed(1)} ms, the longest reading ${readingMs.toFixed(1)} ms`,
  ].join("; ");
}

/** A victim that meets the attacks from here on. */
function startVictim(
  from: number,
  { seed, cases, from: first = 0, plant }: ProofOptions,
): ChildProcessByStdio<null, Readable, Readable> {
  const script = join(import.meta.dirname, "victim.ts");
  const options = [
    "--conditions=holdfast-source",
    "--permission",
    "--allow-fs-read=*",
    "--max-old-space-size=1024",
  ];
  const range = [seed, from, first + cases].map(String);
  const command = [...options, script, ...range, ...(plant === undefined ? [] : [plant])];
  return spawn(process.execPath, command, { stdio: ["ignore", "pipe", "pipe"] });
}

/** One victim, until it is done, dies, hangs or has shown enough; gives the attack to go on with. */
async function victimFrom(from: number, options: ProofOptions, tally: Tally): Promise<number> {
  const { problemsMax = 5, silenceMsMax = 15_000, progress } = options;
  const victim = startVictim(from, options);
  let end: "hung" | "enough" | undefined;
  const stop = (why: "hung" | "enough") => {
    end ??= why;
    victim.kill("SIGKILL");
  };
  let said = "";
  victim.stderr.on("data", (data: Buffer) => {
    said = (said + String(data)).slice(-2_000);
  });
  const ended = new Promise<number | null>((resolve) => victim.once("close", resolve));
  let alarm = setTimeout(stop, silenceMsMax, "hung");
  let meeting = from;
  let open = false;
  for await (const line of createInterface({ input: victim.stdout })) {
    clearTimeout(alarm);
    alarm = setTimeout(stop, silenceMsMax, "hung");
    const report = JSON.parse(line) as Report;
    meeting = report.index;
    open = report.outcome === undefined && report.problem === undefined;
    if (!open) count(report, tally, progress);
    if (tally.problems.length >= problemsMax) stop("enough");
  }
  const code = await ended;
  clearTimeout(alarm);
  if (end === "hung") tally.problems.push({ index: meeting, problem: "held the process up" });
  else if (end === undefined && (code !== 0 || open))
    tally.problems.push({ index: meeting, problem: `ended the process with ${code}: ${said.trim()}` });
  return meeting + 1;
}

function count(report: Report, tally: Tally, progress: ProofOptions["progress"]): void {
  const { index, problem, outcome = "", evaluationMs = 0, stepMs = 0, readingMs = 0 } = report;
  tally.done++;
  if (evaluationMs > tally.evaluationMs) [tally.evaluationMs, tally.slowest] = [evaluationMs, index];
  tally.stepMs = Math.max(tally.stepMs, stepMs);
  tally.readingMs = Math.max(tally.readingMs, readingMs);
  if (problem !== undefined) tally.problems.push({ index, problem });
  else if (outcome === "accepted") tally.accepted++;
  else tally.outcomes.set(outcome, (tally.outcomes.get(outcome) ?? 0) + 1);
  if (tally.done % 500 === 0) progress?.(tally.done);
}
