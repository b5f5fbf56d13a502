/**
 * `npm run prove:differential`: random statecharts and events, step by step on Holdfast, on the literal W3C algorithm
 * and on SCION, an engine of other people. `--seed N` starts elsewhere, `--seeds N` (a chart each) and `--minutes M` go on for longer.
 */
import { parseArgs } from "node:util";
import { proveDifferential } from "./differential/proof.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "5000" },
    minutes: { type: "string" },
  },
});

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new Error(`--${name} must be a number, and is ${JSON.stringify(text)}`);
}

const passed = proveDifferential({
  seed: numberOf("seed", values.seed),
  charts: numberOf("seeds", values.seeds),
  ...(values.minutes === undefined ? {} : { minutes: numberOf("minutes", values.minutes) }),
  print: (line) => console.log(line),
  progress: (charts) => process.stderr.write(`\r${charts} charts`),
  now: () => Date.now(),
});
process.exitCode = passed ? 0 : 1;
