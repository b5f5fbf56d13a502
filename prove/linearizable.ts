/**
 * `npm run prove:linearizable`: concurrent clients in several processes on cells held by runs, whose owner is killed again and
 * again; what each of them was answered, and when, must fit some order in which a cell that nobody shares would have
 * answered the same. `--rounds N` says how long each lane is, `--seed N` starts elsewhere, `--lane NAME` takes just one.
 * `--bug NAME` plants a bug in the owners, and passes if it is caught.
 */
import { parseArgs } from "node:util";
import { findBug } from "./linearizable/bugs.ts";
import { laneNames } from "./linearizable/lane.ts";
import { huntBug, proveLinearizable } from "./linearizable/proof.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    rounds: { type: "string", default: "5" },
    lane: { type: "string" },
    bug: { type: "string" },
  },
});

function numberOf(name: "seed" | "rounds"): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be a whole number, and is ${JSON.stringify(values[name])}`);
}

const chosen = laneNames.filter((name) => values.lane === undefined || values.lane === name);
if (chosen.length === 0)
  throw new Error(`--lane must be one of ${laneNames.join(", ")}, and is ${JSON.stringify(values.lane)}`);
const bug = values.bug === undefined ? undefined : findBug(values.bug);
const [seed, rounds] = [numberOf("seed"), numberOf("rounds")];
const print = (line: string) => console.log(line);
const options = { seed, rounds, lanes: chosen, print };
const passed = bug === undefined ? await proveLinearizable(options) : await huntBug(bug, options);
process.exitCode = passed ? 0 : 1;
