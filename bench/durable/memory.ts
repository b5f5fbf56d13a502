/**
 * What idle runs weigh in memory, in bytes as JSON. `prepare` makes them; `parked` opens their file and touches none of
 * them; `hydrated` brings each into memory and holds it. Run with --expose-gc.
 */
import { loadContestant } from "./contestants.ts";

const [task, name = "", path = "", runsText = ""] = process.argv.slice(2);
const runs = Number(runsText);
/** Brought in first and not counted: code that runs for the first time leaves things behind. */
const warmUpRuns = Math.min(100, runs);

function heapBytes(): number {
  for (let round = 0; round < 4; round++) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const on = await (await loadContestant(name)).open(path);
if (task === "prepare") {
  const batch = 500;
  for (let from = 0; from < runs; from += batch) {
    const names = Array.from({ length: Math.min(batch, runs - from) }, (_, index) => `run-${from + index}`);
    await Promise.all(names.map((run) => on.beginCount(run)));
    await Promise.all(names.map((run) => on.count(run, 1)));
  }
  console.log(JSON.stringify({ bytes: 0 }));
} else if (task === "parked") {
  // Whatever it does by itself after opening, it has begun by then.
  await new Promise((resolve) => setTimeout(resolve, 200));
  console.log(JSON.stringify({ bytes: heapBytes() }));
} else {
  const held: unknown[] = [];
  for (let index = 0; index < warmUpRuns; index++) held.push(await on.hydrate(`run-${index}`));
  const before = heapBytes();
  for (let index = warmUpRuns; index < runs; index++) held.push(await on.hydrate(`run-${index}`));
  const bytes = (heapBytes() - before) / (runs - warmUpRuns);
  console.log(JSON.stringify({ bytes, held: held.length }));
}
await on.close();
