/**
 * `npm run prove:powerloss`: what a power cut may leave of a store, as images made from recorded writes. Everything a
 * real process did to the files of its store is recorded by strace, with what it acknowledged in between. A power cut is
 * drawn after any of those operations: what was synced is there, and each later write is kept, lost or torn, in any
 * order. Every image must open, hold all that was acknowledged and go on.
 *
 * `--seed N` starts elsewhere, `--seeds N` (an image each) goes on for longer, `--steps N` makes longer recordings, and
 * `--plant normal|no-sync|no-folder-sync|early-ack` shows that the proof finds a store that does not keep its word, and
 * `--bug NAME` that it finds a bug of `prove/kill/bugs.ts`.
 */
import { parseArgs } from "node:util";
import { findBug } from "./kill/bugs.ts";
import { whyNoStrace } from "./kill/strace.ts";
import { type Plant, plants, provePowerloss } from "./powerloss/proof.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "5000" },
    steps: { type: "string", default: "120" },
    plant: { type: "string" },
    bug: { type: "string" },
  },
});

function numberOf(name: "seed" | "seeds" | "steps"): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be a number, and is ${JSON.stringify(values[name])}`);
}

const plant = values.plant as Plant | undefined;
if (plant !== undefined && !plants.includes(plant))
  throw new Error(`--plant must be one of ${plants.join(", ")}`);

console.log(`prove:powerloss seed ${values.seed}`);
const missing = whyNoStrace();
if (missing !== undefined) {
  console.log(`prove:powerloss skipped, all of its images: ${missing}`);
} else {
  const { problems, figures } = await provePowerloss({
    seed: numberOf("seed"),
    images: numberOf("seeds"),
    steps: numberOf("steps"),
    plant,
    bug: values.bug === undefined ? undefined : findBug(values.bug),
    progress: (text) => process.stderr.write(`\r${text}   `),
  });
  process.stderr.write("\n");
  for (const problem of problems.slice(0, 20)) console.log(problem);
  const { images, recordings, operations, syncs, files } = figures;
  console.log(
    `prove:powerloss ${problems.length === 0 ? "passed" : "failed"}: ${images} images of ${recordings} recordings, ${operations} operations, ${syncs} syncs, ${files} files, ${problems.length} problems`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
}
