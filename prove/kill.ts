/**
 * `npm run prove:kill`: real processes on SQLite die or fail, and a ledger kept outside is held against what they leave.
 *
 * Part `signals` kills them with SIGKILL at random moments; the next one goes on where the last one was, and in the end
 * everything pending must have come to its end by itself. Part `syscalls` goes through the system calls that a short
 * life makes on the files of its store: it is killed at each, or the call fails with EIO, with ENOSPC, or writes nothing.
 */
import { given, number, oneBug, oneOf, readFlags, text } from "./flags.ts";
import { bugs } from "./kill/bugs.ts";
import type { Judgement } from "./kill/judge.ts";
import { proveSignals } from "./kill/signals.ts";
import { whyNoStrace } from "./kill/strace.ts";
import { proveSyscalls } from "./kill/syscalls.ts";
import { conclude, countsOf, inFolder, progress } from "./verdict.ts";

const flags = readFlags(
  "kill",
  `Real processes on SQLite die or fail, and a ledger kept outside is held against what they leave. Part \`signals\` kills them
with SIGKILL at random moments; part \`syscalls\` kills them, or has the call fail, at the system calls of a short life.`,
  {
    part: oneOf("which part", ["signals", "syscalls", "all"], "all"),
    seed: number("where chance begins", 1),
    seeds: number("how many kills with signals", 300),
    bug: oneBug("plants a bug of prove/kill/bugs.ts in the processes that are killed with signals", bugs),
    cases: number("how many system calls are tried", 300),
    all: given("tries every one of them, with every fault"),
    case: text("tries just that one, as in 'fsync 3 error=EIO'", "CASE"),
  },
);
const figures: string[] = [];
let problems = 0;

/** A problem is told as soon as it is found: a long run may be ended early. */
const report = (problem: string) => {
  problems++;
  console.log(problem);
};

function tell(part: string, { figures: counted }: Pick<Judgement, "figures">): void {
  process.stderr.write("\n");
  figures.push(`${part}: ${countsOf(counted)}`);
}

async function prove(folder: string): Promise<void> {
  const { part, seed, seeds, bug, all, case: only } = flags;
  const common = { seed, folder, progress, report };
  if (part !== "syscalls") tell("signals", await proveSignals({ ...common, kills: seeds, bug }));
  if (part === "signals") return;
  const missing = whyNoStrace();
  const cases = all ? undefined : flags.cases;
  if (missing === undefined) tell("syscalls", await proveSyscalls({ ...common, cases, only }));
  else figures.push(`syscalls: skipped, all of its cases: ${missing}`);
}

console.log(`prove:kill seed ${flags.seed}`);
await inFolder("kill", prove);
conclude("kill", problems === 0, `${figures.join("; ")}; ${problems} problems`);
