/** `npm run prove:evolution`: live runs through versions of their machine. */
import { bugs } from "./evolution/bugs.ts";
import { number, oneBug, readFlags } from "./flags.ts";
import { plant } from "./simulation/plant.ts";

const { seed, worlds, bug } = readFlags(
  "evolution",
  `Random pairs of versions of a machine and live runs on the real runtime, through events, crashes, deploys and migrations
there and back.`,
  {
    seed: number("where to begin", 1),
    worlds: number("how many worlds", 1_000),
    bug: oneBug("plants a bug of prove/evolution/bugs.ts first, and passes if it is caught", bugs),
  },
);
if (bug !== undefined) plant([bug]);
// What is planted must be there before the first world is.
const { huntBug, proveEvolution } = await import("./evolution/proof.ts");
const options = {
  ...{ seed, worlds, print: (line: string) => console.log(line) },
  progress: (count: number) => process.stderr.write(`\r${count} worlds`),
};
const passed = bug === undefined ? await proveEvolution(options) : await huntBug(bug, options);
process.exitCode = passed ? 0 : 1;
