/**
 * `npm run prove:image`: deploy/Dockerfile built and its image run, by podman and runc, where there is neither a container
 * engine nor a registry beforehand. It wants root on Debian, the packages of Debian and npm, and some minutes, so `npm test`
 * leaves it out.
 *
 * `--folder PATH` keeps the images there for the next time. `--plant root`, `writable`, `sources` or `deaf` builds it with a
 * mistake, which must be found.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Engine, whyNoEngine } from "./image/engine.ts";
import { isPlant, type Plant, plants } from "./image/plants.ts";
import { proveImage } from "./image/proof.ts";

const { values } = parseArgs({ options: { folder: { type: "string" }, plant: { type: "string" } } });

function plantOf(name: string | undefined): Plant | undefined {
  if (name === undefined || isPlant(name)) return name;
  throw new Error(`--plant must be one of ${Object.keys(plants).join(", ")}, and is ${JSON.stringify(name)}`);
}
const plant = plantOf(values.plant);

/** Runs the proof; the last line without its name. */
async function prove(): Promise<{ readonly isGood: boolean; readonly line: string }> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-image-"));
  const engine = await Engine.in(values.folder ?? join(folder, "engine"));
  try {
    const progress = (text: string) => process.stderr.write(`${text}\n`);
    const { problems, figures } = await proveImage({ engine, folder, plant, progress });
    // A mistake about rights is one about every file.
    for (const problem of problems.slice(0, 20)) console.log(problem);
    const counts = Object.entries(figures).map(([name, count]) => `${count} ${name}`);
    return { isGood: problems.length === 0, line: `${counts.join(", ")}; ${problems.length} problems` };
  } finally {
    if (values.folder === undefined) await engine.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

const missing = whyNoEngine();
if (missing === undefined) {
  const { isGood, line } = await prove();
  console.log(`prove:image ${isGood ? "passed" : "failed"}: ${line}`);
  process.exitCode = isGood ? 0 : 1;
} else {
  const isDemanded = process.env.CI === "true";
  console.log(`prove:image ${isDemanded ? "failed" : "passed"}: skipped, all of it: ${missing}`);
  process.exitCode = isDemanded ? 1 : 0;
}
