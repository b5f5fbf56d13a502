/**
 * One measurement: a SQLite store with so many steps in runs that have ended, a writer that commits a step every few
 * milliseconds, and what its commits take while the others are removed and swept beside it.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { retain, sweep } from "../../src/runtime/housekeeping/index.ts";
import {
  commitOn,
  committed,
  firstCommit,
  headOf,
  leaseMs,
  noon,
  owned,
  tenant,
} from "../../src/store/conformance/sample.ts";
import type { EntryRow, RunHead } from "../../src/store/records.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";

const [steps = 100_000, windowMs = 1_000] = process.argv.slice(2).map(Number);
const stepsPerRun = 1_000;
/** How often the writer wants to commit, and how much a step weighs. */
const everyMs = 20;
const entryBytes = 300;

async function run(): Promise<object> {
  await fill();
  const store = sqlite(path);
  await store.open();
  const epoch = await owned(store, "bench", noon + 2 * leaseMs);
  const writer = new Writer(store, epoch, await committed(store, firstCommit("writer", epoch)));
  const quiet: number[] = await writer.during(pause(windowMs));
  const removing: number[] = [];
  const sweeping: number[] = [];
  const began = performance.now();
  const removal = retain({ store, epoch: () => epoch, tenants: [tenant], rules: [{ keep: 0 }] });
  removing.push(...(await writer.during(removal.then(() => {}))));
  const removedMs = performance.now() - began;
  let [swept, sweptMs] = [0, 0];
  // Windows with and without sweeping by turns, so that what else the machine does falls on both alike.
  for (let rows = 1; rows > 0; swept += rows) {
    quiet.push(...(await writer.during(pause(windowMs))));
    const since = performance.now();
    const stop = new AbortController();
    setTimeout(() => stop.abort(), windowMs);
    const work = sweep({ store, signal: stop.signal }).then((count) => {
      rows = count;
    });
    sweeping.push(...(await writer.during(work)));
    sweptMs += performance.now() - since;
  }
  const left = await store.findRuns({ tenant, limit: 9 });
  await store.close();
  if (left.length !== 1 || swept < steps)
    throw new Error(`${left.length} runs are left and ${swept} rows were swept`);
  const told = {
    quiet: latenciesOf(quiet),
    removing: latenciesOf(removing),
    sweeping: latenciesOf(sweeping),
  };
  return { steps, bytes: statSync(path).size, removedMs, sweptMs, swept, ...told };
}

/** Steps of runs that have ended, written in large groups. */
async function fill(): Promise<void> {
  const store = sqlite(path, { synchronous: "normal" });
  await store.open();
  const epoch = await owned(store, "bench", noon);
  const bytes = randomBytes(entryBytes);
  for (let made = 0; made < steps; made += stepsPerRun) {
    const head = headOf({ run: `run-${made}`, subject: `run-${made}` });
    const commit = commitOn(head, epoch, { steps: stepsPerRun, head: { status: "done", completedAt: noon } });
    const entries: EntryRow[] = commit.entries.map((entry) => ({ ...entry, bytes }));
    await committed(store, { ...commit, entries });
  }
  await store.close();
}

interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Commits at fixed times, whether or not the one before is over: waiting counts from when a commit was wanted. */
class Writer {
  readonly #store: Store;
  readonly #epoch: number;
  #head: RunHead;

  constructor(store: Store, epoch: number, head: RunHead) {
    this.#store = store;
    this.#epoch = epoch;
    this.#head = head;
  }

  /** Milliseconds of each commit while some work is under way. */
  async during(work: Promise<void>): Promise<number[]> {
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    const took: number[] = [];
    for (let wanted = performance.now(); !isOver; wanted += everyMs) {
      while (performance.now() < wanted) await pause(1);
      this.#head = await committed(this.#store, commitOn(this.#head, this.#epoch));
      took.push(performance.now() - wanted);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await over;
    return took;
  }
}

function latenciesOf(took: readonly number[]): Latencies {
  const sorted = took.toSorted((one, other) => one - other);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: took.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
const path = join(folder, "runs.db");
try {
  console.log(JSON.stringify(await run()));
} finally {
  rmSync(folder, { recursive: true });
}
