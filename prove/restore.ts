/** `npm run prove:restore`: a backup and a restore to a named moment, rehearsed. */
import { clusterTools } from "../test/postgres/cluster.ts";
import { findBinaries } from "../test/postgres/server.ts";
import { number, oneOf, readFlags } from "./flags.ts";
import { proveRestore } from "./restore/proof.ts";
import { conclude, concludeSkipped, countsOf, inFolder, progress, whyNot } from "./verdict.ts";

const { events, workers, plant } = readFlags(
  "restore",
  "A backup and a restore to a named moment, rehearsed on a real PostgreSQL server under load, with the time it takes.",
  {
    events: number("how many are acknowledged before the moment", 400, { least: 1 }),
    workers: number("how many worker processes there are", 2, { least: 1 }),
    plant: oneOf(
      "restores the base backup alone, or a later moment: both must be found",
      ["early", "late"],
      undefined,
    ),
  },
);

async function prove(folder: string): Promise<void> {
  const { problems, figures } = await proveRestore({ events, workers, folder, plant, progress });
  process.stderr.write("\n");
  for (const problem of problems) console.log(problem);
  conclude("restore", problems.length === 0, `${countsOf(figures)}; ${problems.length} problems`);
}

const missing = await whyNot(() => findBinaries(clusterTools));
if (missing === undefined) await inFolder("restore", prove);
else concludeSkipped("restore", missing);
