/** `npm run prove:hostile`: malicious input, met by a process that may touch nothing. */
import { number, oneOf, readFlags } from "./flags.ts";
import { plants } from "./hostile/plants.ts";
import { proveHostile } from "./hostile/proof.ts";

const { seed, cases, from, plant } = readFlags(
  "hostile",
  `Malicious machines, YAML, SCXML, expressions, JSON Schemas and payloads, written by hand and drawn at random, are met by a
process that may touch nothing. None may crash it, hold it up, change a prototype, reach a file or the network, or be
refused without a clear error.`,
  {
    seed: number("where chance begins", 1),
    cases: number("how many", 20_000),
    from: number("leaves the first out", 0),
    plant: oneOf("puts a weakness of prove/hostile/plants.ts in", Object.keys(plants), undefined),
  },
);
const passed = await proveHostile({
  ...{ seed, cases, from, ...(plant !== undefined && { plant }) },
  print: (line) => console.log(line),
  progress: (done) => process.stderr.write(`\r${done} attacks`),
});
process.exitCode = passed ? 0 : 1;
