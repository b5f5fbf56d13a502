/** `npm run prove:simulation`: the production runtime in simulated worlds. */
import { given, number, oneBug, readFlags } from "./flags.ts";
import { bugs } from "./simulation/bugs.ts";
import { huntFrom } from "./simulation/hunt.ts";
import { plant } from "./simulation/plant.ts";
import { progress } from "./verdict.ts";

const { seed, from, seeds, bug, members, ...flags } = readFlags(
  "simulation",
  `The production runtime in simulated worlds, where processes die before and after every call to the store, replies get lost,
clocks jump and the power fails.`,
  {
    seeds: number("how many worlds", 2_000),
    from: number("where to begin", 1),
    seed: number("shows one of them, event by event", undefined),
    members: number("so many processes share the store of each world, as a fleet does", undefined),
    bug: oneBug("plants a bug of prove/simulation/bugs first, and passes if it is caught", bugs),
    bugs: given("plants each of them in turn, and passes if all are caught within 500 worlds"),
  },
);
if (bug !== undefined) plant([bug, ...(bug.also ?? [])]);
// What is planted must be there before the first world is.
const { huntBug, proveSimulation, showSeed } = await import("./simulation/proof.ts");
const print = (line: string) => console.log(line);
const options = {
  ...{ seed: from, seeds, members: members ?? bug?.members ?? 0, print },
  progress: (worlds: number) => progress(`${worlds} worlds`),
};
let passed: boolean;
if (flags.bugs) passed = await huntFrom(from, bugs, print);
else if (seed !== undefined) passed = await showSeed(seed, options);
else if (bug !== undefined) passed = await huntBug(bug, options);
else passed = await proveSimulation(options);
process.exitCode = passed ? 0 : 1;
