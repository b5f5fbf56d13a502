/**
 * What does travel cost? One long run on SQLite: its state at random checkpoints, in the process that runs it and in one
 * that has just begun, and forks of it. See METHOD.md for how and what not.
 */
import { execFileSync } from "node:child_process";
import { type BenchOptions, columns, measure } from "./process.ts";
import type { TravelFigures } from "./travel/measure.ts";

const script = new URL("./travel/measure.ts", import.meta.url);

export async function benchTravel({ quick }: BenchOptions): Promise<void> {
  execFileSync("npm", ["run", "build"], { stdio: "ignore" });
  const sizes = quick ? [1_000, 4_000] : [1_000, 10_000, 100_000];
  const rows: string[][] = [["steps", "state p50", "p99", "most", "bytes of a fork", "kept / journal"]];
  const forks: string[][] = [["steps", "fork p50", "p99", "its CPU p50", "p99", "raw p50", "p99"]];
  for (const steps of sizes) {
    console.error(`${steps} steps …`);
    const figures = await measure<TravelFigures>(script, [String(steps)], { built: true });
    const { state, fork, forkCpu, raw } = figures;
    const inMs = (...list: number[]) => list.map((ms) => `${ms.toFixed(1)} ms`);
    const share = `${(100 * figures.keptShare).toFixed(0)} %`;
    rows.push([String(steps), ...inMs(state.p50, state.p99, state.most), String(figures.forkBytes), share]);
    forks.push([String(steps), ...inMs(fork.p50, fork.p99, forkCpu.p50, forkCpu.p99, raw.p50, raw.p99)]);
  }
  console.log(`\n${columns(rows)}\n\n${columns(forks)}`);
  console.log("\nGoals at 100,000 steps: state p99 < 50 ms, fork < 20 ms and as many bytes as at 1,000.");
  console.log("Where raw's p99, a synced insert after each fork, is as long, the tail is the disk's.");
}
