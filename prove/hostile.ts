/**
 * `npm run prove:hostile`: malicious machines, YAML, SCXML, expressions, JSON Schemas and payloads, written by hand and
 * drawn at random, are met by a process that may touch nothing. None may crash it, hold it up, change a prototype, reach a
 * file or the network, or be refused without a clear error. `--cases N` says how many, `--seed N` where chance begins,
 * `--from N` leaves the first out, `--plant NAME` puts a weakness of `hostile/plants.ts` in.
 */
import { parseArgs } from "node:util";
import { proveHostile } from "./hostile/proof.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    cases: { type: "string", default: "20000" },
    from: { type: "string", default: "0" },
    plant: { type: "string" },
  },
});

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be a whole number, and is ${JSON.stringify(text)}`);
}

const passed = await proveHostile({
  seed: numberOf("seed", values.seed),
  cases: numberOf("cases", values.cases),
  from: numberOf("from", values.from),
  ...(values.plant === undefined ? {} : { plant: values.plant }),
  print: (line) => console.log(line),
  progress: (done) => process.stderr.write(`\r${done} attacks`),
});
process.exitCode = passed ? 0 : 1;
