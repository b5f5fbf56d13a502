/** One contestant on one workload, in a process of its own: prints its figures as JSON and leaves its file. */
import { rmSync } from "node:fs";
import { loadContestant } from "./contestants.ts";
import { check, type Size, type WorkloadName, warmUpSize, workloads } from "./workload.ts";

const [name, workload, path, sizeText] = process.argv.slice(2) as [string, WorkloadName, string, string];
const size = JSON.parse(sizeText) as Size;
const contestant = await loadContestant(name);

async function run(file: string, much: Size) {
  const on = await contestant.open(file);
  const figures = await workloads[workload](on, much);
  await on.close();
  return figures;
}

const warmUp = `${path}.warm-up`;
await run(warmUp, warmUpSize);
for (const part of ["", "-wal", "-shm"]) rmSync(warmUp + part, { force: true });
const figures = await run(path, size);

const again = await contestant.open(path);
await check(workload, again, size);
await again.close();
console.log(JSON.stringify(figures));
