/**
 * What does a durable step cost? Holdfast on SQLite beside `node:sqlite` used by hand, XState with hand-written
 * persistence and LangGraph with its saver, all of them with `synchronous=FULL`. See METHOD.md for how and what not.
 */
import { execFileSync } from "node:child_process";
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { contestants } from "./durable/contestants.ts";
import { report } from "./durable/report.ts";
import { Results } from "./durable/results.ts";
import { countSyncs, hasStrace } from "./durable/syncs.ts";
import { type Figures, fullSize, quickSize, type Size, type WorkloadName } from "./durable/workload.ts";
import { hasPeers, installPeers } from "./peers.ts";
import { type BenchOptions, measure, median } from "./process.ts";

const workloads: readonly WorkloadName[] = ["sequential", "conversation", "many"];
const questions = [...workloads, "resume", "memory", "syncs"];
/** Cold resumes of each conversation: they take milliseconds, so one would say little. */
const resumesPerRound = 5;

const scripts = {
  measure: new URL("./durable/measure.ts", import.meta.url),
  resume: new URL("./durable/resume.ts", import.meta.url),
  memory: new URL("./durable/memory.ts", import.meta.url),
};

/** One bench under way. */
interface Bench {
  readonly names: readonly string[];
  readonly asked: ReadonlySet<string>;
  readonly size: Size;
  readonly rounds: number;
  readonly results: Results;
}

export async function benchDurable(options: BenchOptions): Promise<void> {
  if (options.peers && !hasPeers()) installPeers();
  const bench = planOf(options);
  // Users run what was built, and importing the sources would count the removal of their types.
  execFileSync("npm", ["run", "build"], { stdio: "ignore" });
  console.error(`a sync of 4 KB takes ${syncMs().toFixed(3)} ms in ${tmpdir()}`);
  for (let round = 0; round < bench.rounds; round++) {
    for (const workload of workloads) {
      for (const name of bench.names) await measureRound(bench, workload, name, round);
    }
  }
  if (bench.asked.has("memory")) for (const name of bench.names) await weigh(bench, name);
  if (bench.asked.has("syncs")) await countAll(bench);
  console.log(`\n${report(bench.results, bench.names)}`);
  if (options.quick)
    console.log("\n--quick: small sizes and one round, so the goals are not judged by this.");
}

/** `--only` names questions, contestants or both; whichever kind it does not name is asked in full. */
function planOf({ rounds, only, quick }: BenchOptions): Bench {
  const known = [...questions, ...Object.keys(contestants)];
  const unknown = only.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`--only does not know ${unknown.join(", ")}; it knows ${known.join(", ")}`);
    process.exit(2);
  }
  const among = (all: readonly string[]) => {
    const some = all.filter((name) => only.includes(name));
    return some.length > 0 ? some : all;
  };
  let names = among(Object.keys(contestants));
  if (!hasPeers()) {
    names = names.filter((name) => !name.startsWith("langgraph"));
    console.error("LangGraph is left out: --peers installs it into bench/peers (344 MB)");
  }
  const size = quick ? quickSize : fullSize;
  return { names, asked: new Set(among(questions)), size, rounds, results: new Results() };
}

async function measureRound(
  bench: Bench,
  workload: WorkloadName,
  name: string,
  round: number,
): Promise<void> {
  const { asked, size, rounds, results } = bench;
  const resumes = workload === "conversation" && asked.has("resume");
  if ((!asked.has(workload) && !resumes) || !takesPart(name, workload)) return;
  console.error(`round ${round + 1} of ${rounds}: ${workload}: ${name}`);
  await inFolder(async (folder) => {
    const path = join(folder, "bench.db");
    const figures = await measure<Figures>(scripts.measure, [name, workload, path, JSON.stringify(size)], {
      built: true,
    });
    const add = (question: string, value: number) => results.add(name, question, round, value);
    add(`${workload}.perSecond`, figures.perSecond);
    add(`${workload}.cpuUs`, figures.cpuUs);
    if (workload !== "conversation") return;
    const { firstMs = 0, lastMs = 0, contentBytes = 0 } = figures;
    const bytes = bytesOnDisk(path);
    add("conversation.firstMs", firstMs);
    add("conversation.lastMs", lastMs);
    add("conversation.growth", lastMs / firstMs);
    add("conversation.bytes", bytes);
    add("conversation.overhead", bytes / contentBytes);
    if (resumes) await resumeCold(bench, name, path, round);
  });
}

/** Bare rows hold no state, so they can neither talk, nor resume, nor be held in memory; a log that is long helps single steps. */
function takesPart(name: string, question: string): boolean {
  if (name === "raw long log") return question === "sequential";
  if (name === "bare rows") return question === "sequential" || question === "many" || question === "syncs";
  return name !== "langgraph chat" || question === "conversation";
}

async function resumeCold(
  { size, results }: Bench,
  name: string,
  path: string,
  round: number,
): Promise<void> {
  const times: { ms: number; withImportMs: number }[] = [];
  for (let index = 0; index < resumesPerRound; index++) {
    const messages = String(size.messages + index);
    times.push(await measure(scripts.resume, [name, path, messages], { built: true }));
  }
  results.add(name, "resume.ms", round, median(times.map(({ ms }) => ms)));
  results.add(name, "resume.withImportMs", round, median(times.map(({ withImportMs }) => withImportMs)));
}

/** Idle runs in memory, weighed once: a heap after a collection is the same every time. */
async function weigh({ size, results }: Bench, name: string): Promise<void> {
  if (!takesPart(name, "memory")) return;
  console.error(`memory: ${name}`);
  await inFolder(async (folder) => {
    const ask = async (task: string, file: string, runs: number) => {
      const args = [task, name, join(folder, file), String(runs)];
      return (
        await measure<{ bytes: number }>(scripts.memory, args, { built: true, nodeFlags: ["--expose-gc"] })
      ).bytes;
    };
    await ask("prepare", "runs.db", size.idleRuns);
    const parked = (await ask("parked", "runs.db", 0)) - (await ask("parked", "none.db", 0));
    results.add(name, "memory.parked", 0, parked / size.idleRuns);
    results.add(name, "memory.hydrated", 0, await ask("hydrated", "runs.db", size.idleRuns));
  });
}

async function countAll({ names, results }: Bench): Promise<void> {
  if (!hasStrace()) {
    console.error("syncs are not counted: there is no strace here");
    return;
  }
  for (const name of names.filter((each) => takesPart(each, "syncs"))) {
    for (const workload of ["sequential", "many"] as const) {
      console.error(`syncs: ${workload}: ${name}`);
      await inFolder(async (folder) => {
        const syncs = await countSyncs(name, workload, folder);
        results.add(name, `syncs.${workload}`, 0, syncs);
        if (workload === "sequential" && syncs < 0.99)
          throw new Error(`${name} syncs ${syncs.toFixed(2)} times a step: its steps are not durable`);
      });
    }
  }
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Bytes of the file once everything in its write-ahead log is in it. */
function bytesOnDisk(path: string): number {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return statSync(path).size;
}

/** What the disk takes at least: where it takes nothing, as in memory, no figure says anything about durability. */
function syncMs(): number {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const file = openSync(join(folder, "sync"), "w");
  const page = Buffer.alloc(4_096, 1);
  const times = Array.from({ length: 200 }, () => {
    const begun = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    return performance.now() - begun;
  });
  closeSync(file);
  rmSync(folder, { recursive: true });
  return median(times);
}
