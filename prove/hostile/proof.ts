/** The proof: victims meet attack after attack; one that dies or hangs is told of, and the next goes on after it. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { attackOf, type Report } from "./victim.ts";

export interface ProofOptions {
  readonly seed: number;
  readonly cases: number;
  /** The first attack; those before it are left out. */
  readonly from?: number;
  readonly plant?: string;
  readonly print: (line: string) => void;
  readonly progress?: (done: number) => void;
}

/** Silence of this length means that an attack holds the victim up. Only a hang is as long. */
const silenceMsMax = 15_000;
const problemsMax = 5;

interface Tally {
  done: number;
  accepted: number;
  evaluationMs: number;
  readingMs: number;
  readonly outcomes: Map<string, number>;
  readonly problems: { readonly index: number; readonly problem: string }[];
}

/** True if every attack was met as it must be. */
export async function proveHostile({
  seed,
  cases,
  from = 0,
  plant,
  print,
  progress,
}: ProofOptions): Promise<boolean> {
  print(`prove:hostile seed ${seed}`);
  const tally: Tally = {
    done: 0,
    accepted: 0,
    evaluationMs: 0,
    readingMs: 0,
    outcomes: new Map(),
    problems: [],
  };
  for (let next = from; next < from + cases && tally.problems.length < problemsMax; ) {
    next = await victimFrom({ seed, from: next, to: from + cases, plant }, tally, progress);
  }
  for (const { index, problem } of tally.problems) {
    print(`attack ${index}: ${problem}`);
    print(`  ${JSON.stringify(attackOf(seed, index)).slice(0, 600)}`);
    print(`  Repeat it with --seed ${seed} --from ${index} --cases 1`);
  }
  const passed = tally.problems.length === 0 && tally.done === cases;
  print(`prove:hostile ${passed ? "passed" : "failed"}: ${figures(tally)}`);
  return passed;
}

function figures({ done, outcomes, accepted, evaluationMs, readingMs }: Tally): string {
  const refusals = [...outcomes]
    .sort(([, one], [, other]) => other - one)
    .map(([code, count]) => `${count} ${code}`);
  return [
    `${done} attacks, ${accepted} of them harmless and let in`,
    `refused: ${refusals.join(", ")}`,
    `the longest evaluation took ${evaluationMs.toFixed(1)} ms, the longest reading ${readingMs.toFixed(1)} ms`,
  ].join("; ");
}

interface Life {
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  readonly plant: string | undefined;
}

/** One victim, until it is done, dies or hangs; gives the attack to go on with. */
async function victimFrom(
  { seed, from, to, plant }: Life,
  tally: Tally,
  progress: ((done: number) => void) | undefined,
): Promise<number> {
  const script = join(import.meta.dirname, "victim.ts");
  const options = ["--conditions=source", "--permission", "--allow-fs-read=*", "--max-old-space-size=1024"];
  const victim = spawn(
    process.execPath,
    [...options, script, String(seed), String(from), String(to), ...(plant === undefined ? [] : [plant])],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let meeting = from;
  let hung = false;
  let said = "";
  victim.stderr.on("data", (data: Buffer) => {
    said = (said + String(data)).slice(-2_000);
  });
  let alarm: NodeJS.Timeout | undefined;
  const wind = () => {
    clearTimeout(alarm);
    alarm = setTimeout(() => {
      hung = true;
      victim.kill("SIGKILL");
    }, silenceMsMax);
  };
  wind();
  const ended = new Promise<number | null>((resolve) => victim.once("close", resolve));
  let open = false;
  for await (const line of createInterface({ input: victim.stdout })) {
    wind();
    const report = JSON.parse(line) as Report;
    meeting = report.index;
    open = report.outcome === undefined && report.problem === undefined;
    if (!open) count(report, tally, progress);
  }
  const code = await ended;
  clearTimeout(alarm);
  if (code === 0 && !open) return meeting + 1;
  const problem = hung ? "held the process up" : `ended the process with ${code}: ${said.trim()}`;
  tally.problems.push({ index: meeting, problem });
  return meeting + 1;
}

function count(
  { index, problem, outcome = "", evaluationMs = 0, readingMs = 0 }: Report,
  tally: Tally,
  progress: ((done: number) => void) | undefined,
): void {
  tally.done++;
  tally.evaluationMs = Math.max(tally.evaluationMs, evaluationMs);
  tally.readingMs = Math.max(tally.readingMs, readingMs);
  if (problem !== undefined) tally.problems.push({ index, problem });
  else if (outcome === "accepted") tally.accepted++;
  else tally.outcomes.set(outcome, (tally.outcomes.get(outcome) ?? 0) + 1);
  if (tally.done % 500 === 0) progress?.(tally.done);
}
