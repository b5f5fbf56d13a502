/** Does removing what has ended make writers wait? See METHOD.md. `--only 1000000` sets the number of steps. */
import { type BenchOptions, columns, measure, median } from "./process.ts";

interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

interface Measured {
  readonly steps: number;
  readonly removedMs: number;
  readonly sweptMs: number;
  readonly swept: number;
  readonly quiet: Latencies;
  readonly removing: Latencies;
  readonly sweeping: Latencies;
}

export async function benchRetention({ rounds, only, quick }: BenchOptions): Promise<void> {
  const steps = Number(only[0] ?? (quick ? 20_000 : 100_000));
  if (!(steps >= 1_000)) throw new Error("--only takes a number of steps, 1000 or more");
  const script = new URL("./retention/measure.ts", import.meta.url);
  const measured: Measured[] = [];
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}: ${steps} steps`);
    measured.push(await measure<Measured>(script, [String(steps), quick ? "300" : "1000"]));
  }
  const of = (pick: (one: Measured) => number): number => median(measured.map(pick));
  const row = (name: string, latencies: (one: Measured) => Latencies): string[] => [
    name,
    of((one) => latencies(one).p50).toFixed(2),
    of((one) => latencies(one).p99).toFixed(2),
    of((one) => latencies(one).max).toFixed(1),
    of((one) => latencies(one).p99 / one.quiet.p99).toFixed(2),
  ];
  console.log(
    columns([
      ["a commit, wanted every 20 ms", "p50 ms", "p99 ms", "max ms", "p99, of quiet"],
      row("quiet", (one) => one.quiet),
      row(`while ${steps.toLocaleString("en")} steps are removed`, (one) => one.removing),
      row("while they are swept", (one) => one.sweeping),
    ]),
  );
  console.log(
    `\nremoved in ${of((one) => one.removedMs).toFixed(0)} ms, swept in ${(of((one) => one.sweptMs) / 1000).toFixed(1)} s (${Math.round(of((one) => one.swept / (one.sweptMs / 1000))).toLocaleString("en")} rows/s)`,
  );
}
