/**
 * `npm run prove:timers`: timers and schedules of the real runtime in random worlds, through crashes, restarts, outages,
 * clocks that are set by up to ten years, and changes between summer and winter time. An independent model says which
 * timers are pending and when each is due. `--timers N` says how many in all, `--seed N` where chance begins, `--seeds N`
 * how many worlds at most. `--plants` hunts the bugs of `timers/plants.ts` instead.
 */
import { parseArgs } from "node:util";
import { huntPlants } from "./timers/hunt.ts";
import { proveTimers } from "./timers/proof.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string" },
    timers: { type: "string", default: "100000" },
    plants: { type: "boolean", default: false },
  },
});

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new Error(`--${name} must be a number, and is ${JSON.stringify(text)}`);
}

const print = (line: string) => console.log(line);
const passed = values.plants
  ? huntPlants(print)
  : await proveTimers({
      seed: numberOf("seed", values.seed),
      timers: numberOf("timers", values.timers),
      ...(values.seeds === undefined ? {} : { worlds: numberOf("seeds", values.seeds) }),
      print,
      progress: (timers) => process.stderr.write(`\r${timers} timers`),
    });
process.exitCode = passed ? 0 : 1;
