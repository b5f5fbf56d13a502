/**
 * `npm run start:durable`: starts the agent of `agent.ts`, kills it with SIGKILL again and again in the middle of its
 * work, and starts it anew each time until it has finished. The ledger of its tools is kept here, outside the process
 * that dies; in the end it is compared with the journal.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRuntime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { agent } from "./agent.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-durable-"));
const path = join(folder, "agents.db");
const ledger: string[] = [];

/** One life of the agent; it is killed right after it has said so many lines, if a number is given. */
function live(linesMax: number | undefined): Promise<boolean> {
  const script = fileURLToPath(new URL("./agent.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=source", script, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let lines = 0;
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const whole = (rest + text).split("\n");
    rest = whole.pop() ?? "";
    for (const line of whole) {
      console.log(`  agent ${child.pid}: ${line}`);
      if (line.startsWith("tool ")) ledger.push(line.slice("tool ".length));
      if (++lines === linesMax) child.kill("SIGKILL");
    }
  });
  return new Promise((resolve) => {
    child.on("close", (_, signal) => resolve(signal === null));
  });
}

try {
  for (const linesMax of [2, 3, 2, undefined]) {
    const finished = await live(linesMax);
    console.log(finished ? "The agent has finished." : "✗ killed with SIGKILL");
  }
  const runtime = await createRuntime({ store: sqlite(path), machines: [{ machine: agent as never }] });
  console.log("\nIts journal:");
  const run = await runtime.run("question-1");
  const settled: string[] = [];
  for await (const { seq, event, outcome } of run.journal()) {
    console.log(`  ${String(seq).padStart(2)} ${event.type} (${outcome})`);
    if (event.invocation !== undefined) settled.push(event.invocation);
  }
  await runtime.close();
  console.log("\nThe ledger of its tools, kept outside:");
  for (const [call, times] of Map.groupBy(ledger, (line) => line)) {
    console.log(`  ${call}${times.length > 1 ? ` (tried ${times.length} times, under one key)` : ""}`);
  }
  const once = new Set(settled).size === settled.length;
  console.log(once ? "\nEach tool's result was applied exactly once." : "\nA result was applied twice!");
  process.exitCode = once ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
