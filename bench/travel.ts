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
  const rows: string[][] = [
    ["steps", "state p50", "p99", "most", "fork p50", "p99", "bytes of a fork", "kept / journal"],
  ];
  for (const steps of sizes) {
    console.error(`${steps} steps …`);
    const figures = await measure<TravelFigures>(script, [String(steps)], { built: true });
    const { state, fork } = figures;
    rows.push([
      String(steps),
      ...[state.p50, state.p99, state.most, fork.p50, fork.p99].map((ms) => `${ms.toFixed(1)} ms`),
      String(figures.forkBytes),
      `${(100 * figures.keptShare).toFixed(0)} %`,
    ]);
  }
  console.log(`\n${columns(rows)}`);
  console.log("\nGoals at 100,000 steps: state p99 < 50 ms, fork < 20 ms and as many bytes as at 1,000.");
}
