/** The proof: a trial on each lane. A bug that was planted is hunted with one trial after the other. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../../test/postgres/server.ts";
import type { Bug } from "./bugs.ts";
import type { LaneName } from "./lane.ts";
import { type TrialOutcome, tryLane } from "./trial.ts";

export interface ProofOptions {
  readonly seed: number;
  /** How many rounds each lane has. */
  readonly rounds: number;
  readonly lanes: readonly LaneName[];
  readonly print: (line: string) => void;
}

/** True if every cell of every lane answered as one that nobody shares. */
export async function proveLinearizable({ seed, rounds, lanes, print }: ProofOptions): Promise<boolean> {
  print(`prove:linearizable seed ${seed}`);
  const parts: string[] = [];
  let count = 0;
  for (const lane of lanes) {
    const { problems, figures } = await tryOn(lane, { seed, rounds });
    for (const problem of problems) print(`${lane}: ${problem}`);
    count += problems.length;
    const counts = Object.entries(figures).map(([name, figure]) => `${figure} ${name}`);
    parts.push(`${lane}: ${counts.join(", ")}`);
  }
  print(`prove:linearizable ${count === 0 ? "passed" : "failed"}: ${parts.join("; ")}; ${count} problems`);
  return count === 0;
}

/** How many trials a bug has to show itself in: some need a kill at the right moment. */
const trialsMax = 6;

/** True if a bug that was planted is caught, as answers that do not fit. */
export async function huntBug(bug: Bug, { seed, rounds, print }: ProofOptions): Promise<boolean> {
  for (let trial = 0; trial < trialsMax; trial++) {
    const { problems } = await tryOn(bug.lane, { seed: seed + trial, rounds, bug: bug.name });
    const found = problems.find((problem) => problem.includes("not linearizable"));
    if (found === undefined && problems.length === 0) continue;
    print(`${found === undefined ? "NOT CAUGHT" : "caught"}: ${bug.name}: ${found ?? problems[0]}`);
    return found !== undefined;
  }
  print(`NOT CAUGHT: ${bug.name}: nothing was found in ${trialsMax} trials`);
  return false;
}

interface Trial {
  readonly seed: number;
  readonly rounds: number;
  readonly bug?: string;
}

async function tryOn(store: LaneName, trial: Trial): Promise<TrialOutcome> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-cells-"));
  const isOnServer = store === "PostgreSQL" || store === "fleet";
  const server = isOnServer ? await startServer() : undefined;
  try {
    const lane = { store, place: server?.url("postgres") ?? join(folder, store) };
    const progress = (text: string) => process.stderr.write(`\r${store}: ${text}   `);
    return await tryLane({ ...trial, lane, folder, progress });
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
