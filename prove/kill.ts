/**
 * `npm run prove:kill`: a real process on SQLite is killed with SIGKILL at random moments and started again, over and
 * over. What it acknowledged, and what its tool did, is counted here, outside. In the end nothing acknowledged is lost,
 * nothing is doubled, and nothing had to be repaired. `--seeds N` says how many kills, `--seed N` where chance begins.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createRuntime } from "../src/runtime/runtime.ts";
import { sqlite } from "../src/store/sqlite/store.ts";
import { createRandom } from "../test/generate/random.ts";
import { ledgerMachine } from "./kill/victim.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "30" },
    minutes: { type: "string" },
  },
});
const kills = Number(values.seeds);
const random = createRandom(Number(values.seed));
console.log(`prove:kill seed ${values.seed}`);

const folder = mkdtempSync(join(tmpdir(), "holdfast-kill-"));
const path = join(folder, "victim.db");
const acked = new Set<number>();
const tools = new Map<string, number>();
let lives = 0;

/** One life: from its start to its end by SIGKILL, some moments after it was ready. */
function live(): Promise<void> {
  const script = fileURLToPath(new URL("./kill/victim.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=source", script, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [word, value = ""] = line.split(" ");
      if (word === "acked") acked.add(Number(value));
      if (word === "tool") tools.set(value, (tools.get(value) ?? 0) + 1);
      if (word === "ready") setTimeout(() => child.kill("SIGKILL"), random.between(0, 60));
    }
  });
  return new Promise((resolve, reject) => {
    child.on("close", (code, signal) => {
      lives++;
      if (signal === "SIGKILL") resolve();
      else reject(new Error(`life ${lives} ended by itself with code ${code}`));
    });
  });
}

const problems: string[] = [];
try {
  for (let kill = 0; kill < kills; kill++) {
    await live();
    process.stderr.write(`\r${kill + 1} of ${kills} kills, ${acked.size} events acknowledged`);
  }
  process.stderr.write("\n");
  const runtime = await createRuntime({
    store: sqlite(path),
    machines: [{ machine: ledgerMachine as never }],
  });
  const run = await runtime.run("victim");
  const { numbers, answers } = (await run.state()).context as unknown as {
    numbers: number[];
    answers: string[];
  };
  const lost = [...acked].filter((number) => !numbers.includes(number));
  if (lost.length > 0) problems.push(`lost: ${lost.join(", ")}`);
  if (numbers.some((number, index) => number !== index)) problems.push("events doubled or out of order");
  if (new Set(answers).size !== answers.length) problems.push("a tool's answer was applied twice");
  for (const key of answers)
    if (!tools.has(key)) problems.push(`an answer of ${key} that the tool never gave`);
  let entries = 0;
  for await (const { seq } of run.journal())
    if (seq !== ++entries) problems.push(`the journal jumps to ${seq}`);
  await runtime.close();
  const figures = `${lives} kills, ${acked.size} events acknowledged, ${numbers.length} kept, ${tools.size} tool calls, ${answers.length} answers, ${entries} entries`;
  for (const problem of problems) console.log(problem);
  console.log(`prove:kill ${problems.length === 0 ? "passed" : "failed"}: ${figures}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = problems.length === 0 ? 0 : 1;
