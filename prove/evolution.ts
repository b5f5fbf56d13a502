/**
 * `npm run prove:evolution`: random pairs of versions of a machine and live runs on the real runtime, through events,
 * crashes, deploys and migrations there and back. `--worlds N` says how many, `--seed N` where to begin. `--bug NAME`
 * plants a bug first, and passes if it is caught.
 */
import { parseArgs } from "node:util";
import { findBug } from "./evolution/bugs.ts";
import { plant } from "./simulation/plant.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    worlds: { type: "string", default: "1000" },
    bug: { type: "string" },
  },
});

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be a whole number, and is ${JSON.stringify(text)}`);
}

const bug = values.bug === undefined ? undefined : findBug(values.bug);
if (bug !== undefined) plant([bug]);
// What is planted must be there before the first world is.
const { huntBug, proveEvolution } = await import("./evolution/proof.ts");
const options = {
  seed: numberOf("seed", values.seed),
  worlds: numberOf("worlds", values.worlds),
  print: (line: string) => console.log(line),
  progress: (worlds: number) => process.stderr.write(`\r${worlds} worlds`),
};
const passed = bug === undefined ? await proveEvolution(options) : await huntBug(bug, options);
process.exitCode = passed ? 0 : 1;
