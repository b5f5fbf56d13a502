/** `npm run prove:scxml`: the W3C and SCION cases of `@scion-scxml/test-framework`, in four lanes. */
import { given, number, readFlags, text } from "./flags.ts";
import { proveScxml } from "./scxml/proof.ts";

const fixed = "changes nothing: the corpus is fixed";
const { only, verbose } = readFlags(
  "scxml",
  `The W3C and SCION cases of \`@scion-scxml/test-framework\`, in four lanes. The pairs are compared configuration by
configuration; then the same with every state sent through JSON after every step; then the cases that need HTTP, against a
real local server; then those made for a person to look at.`,
  {
    only: text("runs those with this in their name", "PART"),
    verbose: given("names each"),
    seed: number(fixed, undefined),
    seeds: number(fixed, undefined),
    minutes: number(fixed, undefined, { isWhole: false }),
  },
);
const passed = await proveScxml({
  ...(only !== undefined && { only }),
  ...{ verbose, print: (line) => console.log(line) },
});
process.exitCode = passed ? 0 : 1;
