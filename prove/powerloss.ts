/** `npm run prove:powerloss`: what a power cut may leave of a store, as images made from recorded writes. */
import { number, oneBug, oneOf, readFlags } from "./flags.ts";
import { bugs } from "./kill/bugs.ts";
import { whyNoStrace } from "./kill/strace.ts";
import { plants, provePowerloss } from "./powerloss/proof.ts";
import { conclude, concludeSkipped, progress } from "./verdict.ts";

const { seed, seeds, steps, plant, bug } = readFlags(
  "powerloss",
  `What a power cut may leave of a store, as images made from recorded writes. Everything a real process did to the files of its
store is recorded by strace, with what it acknowledged in between. A power cut is drawn after any of those operations: what
was synced is there, and each later write is kept, lost or torn, in any order. Every image must open, hold all that was
acknowledged and go on.`,
  {
    seed: number("where chance begins", 1),
    seeds: number("how many images", 5_000),
    steps: number("how long the recordings are", 120),
    plant: oneOf("a store that does not keep its word, which must be found", plants, undefined),
    bug: oneBug("a bug of prove/kill/bugs.ts, which must be found", bugs),
  },
);

async function prove(): Promise<void> {
  const { problems, figures } = await provePowerloss({ seed, images: seeds, steps, plant, bug, progress });
  process.stderr.write("\n");
  for (const problem of problems.slice(0, 20)) console.log(problem);
  const { images, recordings, operations, syncs, files } = figures;
  const line = `${images} images of ${recordings} recordings, ${operations} operations, ${syncs} syncs, ${files} files, ${problems.length} problems`;
  conclude("powerloss", problems.length === 0, line);
}

console.log(`prove:powerloss seed ${seed}`);
const missing = whyNoStrace();
if (missing === undefined) await prove();
else concludeSkipped("powerloss", missing);
