/** `npm run prove:linearizable`: what concurrent clients were answered, held against a cell that nobody shares. */
import { number, oneBug, oneOf, readFlags } from "./flags.ts";
import { bugs } from "./linearizable/bugs.ts";
import { laneNames } from "./linearizable/lane.ts";
import { huntBug, proveLinearizable } from "./linearizable/proof.ts";

const { seed, rounds, lane, bug } = readFlags(
  "linearizable",
  `Concurrent clients in several processes on cells held by runs, whose owner is killed again and again. What each of them was
answered, and when, must fit some order in which a cell that nobody shares would have answered the same.`,
  {
    seed: number("where chance begins", 1),
    rounds: number("how long each lane is", 5),
    lane: oneOf("takes just one", laneNames, undefined),
    bug: oneBug("plants a bug of prove/linearizable/bugs.ts in the owners, and passes if it is caught", bugs),
  },
);
const lanes = laneNames.filter((name) => lane === undefined || name === lane);
const options = { seed, rounds, lanes, print: (line: string) => console.log(line) };
const passed = bug === undefined ? await proveLinearizable(options) : await huntBug(bug, options);
process.exitCode = passed ? 0 : 1;
