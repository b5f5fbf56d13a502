/**
 * `npm run prove:scxml`: the W3C and SCION cases of `@scion-scxml/test-framework`, in four lanes. The pairs are compared
 * configuration by configuration; then the same with every state sent through JSON after every step; then the cases
 * that need HTTP, against a real local server; then those made for a person to look at.
 *
 * `--only <part of a name>` runs some of them, `--verbose` names each. The corpus is fixed, so `--seed`, `--seeds` and
 * `--minutes`, which every proof takes, change nothing here.
 */
import { parseArgs } from "node:util";
import { proveScxml } from "./scxml/proof.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    verbose: { type: "boolean" },
    seed: { type: "string" },
    seeds: { type: "string" },
    minutes: { type: "string" },
  },
});
const { only, verbose } = values;
const passed = await proveScxml({
  ...(only === undefined ? {} : { only }),
  ...(verbose === undefined ? {} : { verbose }),
  print: (line) => console.log(line),
});
process.exitCode = passed ? 0 : 1;
