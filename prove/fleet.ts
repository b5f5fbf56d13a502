/** `npm run prove:fleet`: several worker processes on one PostgreSQL, one fault after another. */
import { clusterTools } from "../test/postgres/cluster.ts";
import { findBinaries } from "../test/postgres/server.ts";
import { number, oneOf, readFlags } from "./flags.ts";
import { faults as kinds, proveFleet } from "./fleet/proof.ts";
import { conclude, concludeSkipped, countsOf, inFolder, progress, whyNot } from "./verdict.ts";

const { seed, faults, workers, only, takeover } = readFlags(
  "fleet",
  `Several worker processes on one PostgreSQL, one fault after another, and a ledger kept outside: nothing acknowledged is lost,
nothing is doubled, nobody writes who was put out, and others take over in time.`,
  {
    faults: number("how many", 60, { least: 1 }),
    workers: number("how many processes there are", 3, { least: 1 }),
    seed: number("where chance begins", 1, { least: 1 }),
    only: oneOf("keeps to one kind of fault", Object.keys(kinds), undefined),
    takeover: number("the milliseconds within which others must serve", 5_000, { least: 1 }),
  },
);

const spread = (times: readonly number[]): string => {
  const sorted = [...times].sort((one, other) => one - other);
  return `${times.length} p50 ${sorted[Math.floor(sorted.length / 2)]} most ${sorted.at(-1)} ms`;
};

async function prove(folder: string): Promise<void> {
  const options = { seed, faults, workers, takeoverMsMax: takeover, only, folder, progress };
  const { problems, figures, backMs } = await proveFleet(options);
  process.stderr.write("\n");
  for (const problem of problems) console.log(problem);
  const back = [...backMs].map(([kind, times]) => `${kind} ${spread(times)}`).join(", ");
  const line = `${countsOf(figures)}; others served after ${back}; ${problems.length} problems`;
  conclude("fleet", problems.length === 0, line);
}

console.log(`prove:fleet seed ${seed}`);
const missing = await whyNot(() => findBinaries(clusterTools));
if (missing === undefined) await inFolder("fleet", prove);
else concludeSkipped("fleet", missing);
