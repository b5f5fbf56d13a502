/**
 * `npm run prove:simulation`: the production runtime in simulated worlds, where processes die before and after every
 * call to the store, replies get lost, clocks jump and the power fails. `--seeds N` says how many worlds, `--from N`
 * where to begin, and `--seed N` shows one of them, event by event.
 */
import { parseArgs } from "node:util";
import { proveSimulation, showSeed } from "./simulation/proof.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    from: { type: "string", default: "1" },
    seeds: { type: "string", default: "2000" },
  },
});

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be a whole number, and is ${JSON.stringify(text)}`);
}

const print = (line: string) => console.log(line);
const passed =
  values.seed === undefined
    ? await proveSimulation({
        seed: numberOf("from", values.from),
        seeds: numberOf("seeds", values.seeds),
        print,
        progress: (worlds) => process.stderr.write(`\r${worlds} worlds`),
      })
    : await showSeed(numberOf("seed", values.seed), print);
process.exitCode = passed ? 0 : 1;
