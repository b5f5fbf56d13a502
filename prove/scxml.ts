/**
 * `npm run prove:scxml`: the W3C and SCION cases of `@scion-scxml/test-framework`, in four lanes. The pairs are compared
 * configuration by configuration; then the same with every state sent through JSON after every step; then the cases
 * that need HTTP, against a real local server; then those made for a person to look at.
 *
 * `--only <part of a name>` runs some of them, `--verbose` names each.
 */
import { parseArgs } from "node:util";
import { proveScxml } from "./scxml/proof.ts";

const { values } = parseArgs({ options: { only: { type: "string" }, verbose: { type: "boolean" } } });
const passed = await proveScxml({ ...values, print: (line) => console.log(line) });
process.exitCode = passed ? 0 : 1;
