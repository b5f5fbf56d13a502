/** `npm run prove:stores`: the same calls on every store. */
import { number, oneBug, readFlags } from "./flags.ts";
import { plant } from "./simulation/plant.ts";
import { bugs } from "./stores/bugs.ts";
import { progress } from "./verdict.ts";

const { bug, ...sizes } = readFlags(
  "stores",
  `The same on memory, SQLite, files and PostgreSQL: random sequences of the port's verbs, then random scripts on the runtime in
virtual time.`,
  {
    seed: number("where chance begins", 1),
    sequences: number("how many sequences", 5),
    operations: number("how long each of them is", 500),
    scripts: number("how many scripts", 10),
    acts: number("how long each of them is", 60),
    bug: oneBug(
      "plants a bug of prove/stores/bugs.ts, hunts it where it shows, and passes if it is caught",
      bugs,
    ),
  },
);
if (bug !== undefined) plant([bug]);
// What is planted must be there before the first store is.
const { huntBug, proveStores } = await import("./stores/proof.ts");
const options = { ...sizes, progress, print: (line: string) => console.log(line) };
const passed = bug === undefined ? await proveStores(options) : await huntBug(bug, options);
process.exitCode = passed ? 0 : 1;
