/** `npm run prove:timers`: timers and schedules of the real runtime in random worlds. */
import { given, number, readFlags } from "./flags.ts";
import { huntPlants } from "./timers/hunt.ts";
import { proveTimers } from "./timers/proof.ts";

const { seed, seeds, timers, plants } = readFlags(
  "timers",
  `Timers and schedules of the real runtime in random worlds, through crashes, restarts, outages, clocks that are set by up to
ten years, and changes between summer and winter time. An independent model says which timers are pending and when each is
due.`,
  {
    seed: number("where chance begins", 1),
    seeds: number("how many worlds at most", undefined),
    timers: number("how many timers in all", 100_000),
    plants: given("hunts the bugs of prove/timers/plants.ts instead"),
  },
);
const print = (line: string) => console.log(line);
const passed = plants
  ? huntPlants(print)
  : await proveTimers({
      ...{ seed, timers, print, ...(seeds !== undefined && { worlds: seeds }) },
      progress: (count) => process.stderr.write(`\r${count} timers`),
    });
process.exitCode = passed ? 0 : 1;
