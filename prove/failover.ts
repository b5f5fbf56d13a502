/** `npm run prove:failover`: the primary of two PostgreSQL servers is killed under load. */
import { clusterTools } from "../test/postgres/cluster.ts";
import { findBinaries } from "../test/postgres/server.ts";
import { backMsMax, proveFailover } from "./failover/proof.ts";
import { given, number, readFlags } from "./flags.ts";
import { conclude, concludeSkipped, countsOf, inFolder, progress, whyNot } from "./verdict.ts";

const { seed, failovers, workers, plant } = readFlags(
  "failover",
  `The primary of two PostgreSQL servers in step is killed under load, the standby promoted, and the workers go on by
themselves; a ledger kept outside is held against what is left.`,
  {
    failovers: number("how often", 5, { least: 1 }),
    workers: number("how many worker processes there are", 2, { least: 1 }),
    seed: number("where chance begins", 1, { least: 1 }),
    plant: given("has commits not wait for the standby: what is lost then must be found"),
  },
);

const spread = (times: readonly number[]): string => {
  if (times.length === 0) return "never";
  const sorted = [...times].sort((one, other) => one - other);
  return `p50 ${sorted[Math.floor(sorted.length / 2)]} ms, at most ${sorted.at(-1)} ms`;
};

async function prove(folder: string): Promise<void> {
  const options = { seed, failovers, workers, folder, isAsynchronous: plant, progress };
  const { problems, figures, firstMs, allMs } = await proveFailover(options);
  process.stderr.write("\n");
  for (const problem of problems) console.log(problem);
  const back = `first served after promotion ${spread(firstMs)}; all served ${spread(allMs)} (${backMsMax} allowed)`;
  conclude("failover", problems.length === 0, `${countsOf(figures)}; ${back}; ${problems.length} problems`);
}

console.log(`prove:failover seed ${seed}`);
const missing = await whyNot(() => findBinaries(clusterTools));
if (missing === undefined) await inFolder("failover", prove);
else concludeSkipped("failover", missing);
