/** `npm run references`: how well phrases such as "it" and "the second one" are resolved, and which are not. */
import { accuracy, answers } from "../test/agent/references.ts";

const all = answers();
const share = (list: typeof all) => `${(100 * accuracy(list)).toFixed(0)} % of ${list.length}`;
console.log(`seen while the rules were written: ${share(all.filter(({ held }) => !held))}`);
console.log(`held back: ${share(all.filter(({ held }) => held))}`);
for (const { dialogue, phrase, given, expected, margin, right } of all)
  if (!right)
    console.log(
      `${dialogue}: “${phrase}” → ${given ?? "nothing"}, not ${expected} (margin ${margin.toFixed(2)})`,
    );
