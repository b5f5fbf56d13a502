/** `npm run prove:board`: boards that processes share, under kills. */
import { findBinaries } from "../test/postgres/server.ts";
import { bugs } from "./board/bugs.ts";
import { huntBug, proveBoard } from "./board/proof.ts";
import { number, oneBug, readFlags } from "./flags.ts";
import { conclude, concludeSkipped, countsOf, progress, whyNot } from "./verdict.ts";

const { bug, seed, processes, writes, leases } = readFlags(
  "board",
  `Several processes on one PostgreSQL write to boards and take leases, are killed and replaced: every answer fits a cell that
nobody shares, no update is lost, no two are in one critical section, late writes are fenced, nobody waits for more than so
many turns, and every change is told once.`,
  {
    processes: number("how many processes", 8, { least: 1 }),
    writes: number("how many writes of each", 60, { least: 1 }),
    leases: number("how many leases of each; a quarter of the writes unless given", undefined, { least: 1 }),
    seed: number("where chance begins", 1, { least: 1 }),
    bug: oneBug("plants a bug of prove/board/bugs.ts, and passes if it is caught", bugs),
  },
);
const options = { seed, processes, writes, leases: leases ?? Math.ceil(writes / 4), progress };

async function prove(): Promise<void> {
  const { problems, figures } = await proveBoard(options);
  process.stderr.write("\n");
  for (const problem of problems.slice(0, 20)) console.log(problem);
  conclude("board", problems.length === 0, `${countsOf(figures)}; ${problems.length} problems`);
}

async function hunt(name: string): Promise<void> {
  const found = await huntBug({ ...options, bug: name });
  process.stderr.write("\n");
  console.log(found);
  process.exitCode = found.startsWith("caught") ? 0 : 1;
}

if (bug !== undefined) await hunt(bug.name);
else {
  console.log(`prove:board seed ${seed}`);
  const missing = await whyNot(findBinaries);
  if (missing === undefined) await prove();
  else concludeSkipped("board", missing);
}
