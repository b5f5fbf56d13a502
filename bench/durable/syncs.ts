/**
 * How often a contestant syncs for one durable step, counted by strace: the figure that travels between machines, and the
 * proof that what is measured is durable at all. Two runs, one twice as long as the other; what only one of them did for
 * its additional steps is counted, so opening, warming up and closing fall out.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { measure } from "../process.ts";
import { type Figures, fullSize, type Size } from "./workload.ts";

const script = new URL("./measure.ts", import.meta.url);
const calls = "fsync,fdatasync,msync,sync_file_range,sync,syncfs";

export function hasStrace(): boolean {
  return spawnSync("strace", ["-V"], { stdio: "ignore" }).status === 0;
}

/** Syncs per step of one run after the other, or of many at once. */
export async function countSyncs(
  contestant: string,
  workload: "sequential" | "many",
  folder: string,
): Promise<number> {
  const once: Size = { ...fullSize, sequential: 250, runs: 200, stepsOfRun: 5 };
  const twice: Size = { ...once, sequential: 500, stepsOfRun: 10 };
  const [few, more] = [
    await counted(contestant, workload, once, join(folder, "once.db")),
    await counted(contestant, workload, twice, join(folder, "twice.db")),
  ];
  return (more.syncs - few.syncs) / (more.steps - few.steps);
}

async function counted(contestant: string, workload: string, size: Size, path: string) {
  const summary = `${path}.syncs`;
  const command = ["strace", "-f", "--seccomp-bpf", "-c", "-o", summary, "-e", `trace=${calls}`];
  const { steps } = await measure<Figures>(script, [contestant, workload, path, JSON.stringify(size)], {
    built: true,
    command,
  });
  return { steps, syncs: totalOf(readFileSync(summary, "utf8")) };
}

/** Calls in strace's summary: its columns are % time, seconds, usecs/call, calls, errors (may be blank), syscall. */
function totalOf(summary: string): number {
  const lines = summary
    .split("\n")
    .filter((line) => calls.split(",").includes(line.trim().split(/\s+/).at(-1) ?? ""));
  return lines.reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[3]), 0);
}
