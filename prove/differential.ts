/** `npm run prove:differential`: random statecharts on Holdfast and on two other engines. */
import { proveDifferential } from "./differential/proof.ts";
import { number, readFlags } from "./flags.ts";

const { seed, seeds, minutes } = readFlags(
  "differential",
  `Random statecharts and events, step by step on Holdfast, on the literal W3C algorithm and on SCION, an engine of other
people.`,
  {
    seed: number("where chance begins", 1),
    seeds: number("how many charts", 5_000),
    minutes: number("goes on for so long", undefined, { isWhole: false }),
  },
);
const passed = proveDifferential({
  ...{ seed, charts: seeds, ...(minutes !== undefined && { minutes }) },
  print: (line) => console.log(line),
  progress: (charts) => process.stderr.write(`\r${charts} charts`),
  now: () => Date.now(),
});
process.exitCode = passed ? 0 : 1;
