/**
 * `npm run prove:stores`: the same on memory, SQLite, files and PostgreSQL. Random sequences of the port's verbs, then random
 * scripts on the runtime in virtual time. `--sequences` and `--scripts` say how many, `--operations` and `--acts` how long
 * they are, `--seed` where to begin. `--bug NAME` plants a bug in one of the stores first, hunts it where it shows, and passes if
 * it is caught.
 */
import { parseArgs } from "node:util";
import { plant } from "./simulation/plant.ts";
import { findBug } from "./stores/bugs.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    sequences: { type: "string", default: "5" },
    operations: { type: "string", default: "500" },
    scripts: { type: "string", default: "10" },
    acts: { type: "string", default: "60" },
    bug: { type: "string" },
  },
});

function numberOf(name: Exclude<keyof typeof values, "bug">): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be a whole number, and is ${JSON.stringify(values[name])}`);
}

const bug = values.bug === undefined ? undefined : findBug(values.bug);
if (bug !== undefined) plant([bug]);
// What is planted must be there before the first store is.
const { huntBug, proveStores } = await import("./stores/proof.ts");
const sizes = {
  seed: numberOf("seed"),
  sequences: numberOf("sequences"),
  operations: numberOf("operations"),
  scripts: numberOf("scripts"),
  acts: numberOf("acts"),
};
const progress = (text: string) => process.stderr.write(`\r${text}   `);
const print = (line: string) => console.log(line);
const passed =
  bug === undefined
    ? await proveStores({ ...sizes, print, progress })
    : await huntBug(bug, { ...sizes, print, progress });
process.exitCode = passed ? 0 : 1;
