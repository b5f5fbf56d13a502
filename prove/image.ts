/**
 * `npm run prove:image`: deploy/Dockerfile built and its image run. It wants root on Debian, the packages of Debian and npm,
 * and some minutes, so `npm test` leaves it out.
 */
import { join } from "node:path";
import { oneOf, readFlags, text } from "./flags.ts";
import { Engine, whyNoEngine } from "./image/engine.ts";
import { type Plant, plants } from "./image/plants.ts";
import { proveImage } from "./image/proof.ts";
import { conclude, concludeSkipped, countsOf, inFolder } from "./verdict.ts";

const { folder: kept, plant } = readFlags(
  "image",
  `deploy/Dockerfile built and its image run, by podman and runc, where there is neither a container engine nor a registry
beforehand. It wants root on Debian, the packages of Debian and npm, and some minutes.`,
  {
    folder: text("keeps the images there for the next time", "PATH"),
    plant: oneOf("builds it with a mistake, which must be found", Object.keys(plants) as Plant[], undefined),
  },
);

async function prove(folder: string): Promise<void> {
  const engine = await Engine.in(kept ?? join(folder, "engine"));
  try {
    const progress = (line: string) => process.stderr.write(`${line}\n`);
    const { problems, figures } = await proveImage({ engine, folder, plant, progress });
    // A mistake about rights is one about every file.
    for (const problem of problems.slice(0, 20)) console.log(problem);
    conclude("image", problems.length === 0, `${countsOf(figures)}; ${problems.length} problems`);
  } finally {
    if (kept === undefined) await engine.remove();
  }
}

const missing = whyNoEngine();
if (missing === undefined) await inFolder("image", prove);
else concludeSkipped("image", missing);
