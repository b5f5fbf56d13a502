/**
 * `npm run prove:simulation`: the production runtime in simulated worlds, where processes die before and after every
 * call to the store, replies get lost, clocks jump and the power fails. `--seeds N` says how many worlds, `--from N`
 * where to begin, and `--seed N` shows one of them, event by event. With `--members N` so many processes share the store of each
 * world, as a fleet does. `--bug NAME` plants a bug first, and passes if it is caught.
 */
import { parseArgs } from "node:util";
import { findBug } from "./simulation/bugs.ts";
import { plant } from "./simulation/plant.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    from: { type: "string", default: "1" },
    seeds: { type: "string", default: "2000" },
    members: { type: "string" },
    bug: { type: "string" },
  },
});

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be a whole number, and is ${JSON.stringify(text)}`);
}

const print = (line: string) => console.log(line);
const bug = values.bug === undefined ? undefined : findBug(values.bug);
if (bug !== undefined) plant([bug, ...(bug.also ?? [])]);
// What is planted must be there before the first world is.
const { huntBug, proveSimulation, showSeed } = await import("./simulation/proof.ts");
const options = {
  seed: numberOf("from", values.from),
  seeds: numberOf("seeds", values.seeds),
  members: numberOf("members", values.members ?? String(bug?.members ?? 0)),
  print,
  progress: (worlds: number) => process.stderr.write(`\r${worlds} worlds`),
};
let passed: boolean;
if (values.seed !== undefined) passed = await showSeed(numberOf("seed", values.seed), options);
else if (bug !== undefined) passed = await huntBug(bug, options);
else passed = await proveSimulation(options);
process.exitCode = passed ? 0 : 1;
