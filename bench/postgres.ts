/**
 * What does a durable step cost on PostgreSQL? Holdfast beside `pg` used by hand, LangGraph's PostgresSaver, DBOS, Restate
 * and two queues, on one server that syncs every commit. See METHOD.md for how and what not.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type Server, startServer } from "../test/postgres/server.ts";
import { Results } from "./durable/results.ts";
import { hasPeers, installPeers } from "./peers.ts";
import { contestants } from "./postgres/contestants.ts";
import { type FleetFigures, measureFleet, measureRecovery, type Sender } from "./postgres/fleet.ts";
import { judge } from "./postgres/goals.ts";
import type { Figures, Task } from "./postgres/measure.ts";
import { quickSizes, sizes, type WorkloadName } from "./postgres/workload.ts";
import { type BenchOptions, columns, measure } from "./process.ts";

const workloads: readonly WorkloadName[] = ["sequential", "many"];
/** What only Holdfast is asked, as a fleet. */
const fleetQuestions = ["fleet", "recovery"] as const;
type FleetQuestion = (typeof fleetQuestions)[number];
/** Runs of a member that is killed. */
const [errands, quickErrands] = [100, 20];
const script = new URL("./postgres/measure.ts", import.meta.url);

interface Bench {
  readonly server: Server;
  readonly pid: number;
  readonly sizes: typeof sizes;
  readonly results: Results;
}

export async function benchPostgres(options: BenchOptions): Promise<void> {
  if (options.peers && !hasPeers()) installPeers();
  const { asked, names, ofFleet } = planOf(options);
  // Users run what was built, and importing the sources would count the removal of their types.
  execFileSync("npm", ["run", "build"], { stdio: "ignore" });
  const server = await startServer({
    shared_preload_libraries: "pg_stat_statements",
    max_connections: "200",
  });
  try {
    const bench = {
      server,
      pid: pidOf(server),
      sizes: options.quick ? quickSizes : sizes,
      results: new Results(),
    };
    await inDatabase(server, "postgres", "CREATE EXTENSION pg_stat_statements");
    for (let round = 0; round < options.rounds; round++)
      for (const workload of asked)
        for (const name of names) {
          const { perSecond } = await measureOne(bench, workload, name, round);
          const figure = `${Math.round(perSecond).toLocaleString("en")} steps/s`;
          console.error(`round ${round + 1} of ${options.rounds}: ${workload}: ${name}: ${figure}`);
        }
    for (let round = 0; round < options.rounds; round++)
      for (const question of ofFleet) await askFleet(bench, question, round);
    for (const workload of asked) console.log(`\n${table(bench.results, workload, names)}`);
    for (const question of ofFleet) console.log(`\n${fleetTable(bench.results, question)}`);
    console.log(`\n${columns([["holdfast", "measured", "goal", ""], ...judge(bench.results)])}`);
  } finally {
    await server.stop();
  }
  if (options.quick)
    console.log("\n--quick: small sizes and one round, so the goals are not judged by this.");
}

interface Plan {
  readonly asked: readonly WorkloadName[];
  readonly names: readonly string[];
  readonly ofFleet: readonly FleetQuestion[];
}

/** `--only` names questions, contestants or both; whichever kind it does not name is asked in full. */
function planOf({ only }: BenchOptions): Plan {
  const all = Object.keys(contestants);
  const questions: readonly string[] = [...workloads, ...fleetQuestions];
  // Names of contestants have commas in them, which --only is divided by.
  const isAsked = (name: string): boolean => only.includes(name.split(",")[0] as string);
  const unknown = only.filter(
    (name) => !questions.includes(name) && !all.some((each) => each.split(",")[0] === name),
  );
  if (unknown.length > 0) {
    console.error(`--only does not know ${unknown.join(", ")}`);
    process.exit(2);
  }
  const isAny = !questions.some((name) => only.includes(name));
  const isWanted = (name: string): boolean => isAny || only.includes(name);
  let names = all.some(isAsked) ? all.filter(isAsked) : all;
  if (!hasPeers()) {
    names = names.filter((name) => contestants[name]?.isPeer !== true);
    console.error("Peers are left out: --peers installs them into bench/peers (344 MB)");
  }
  return {
    asked: workloads.filter(isWanted),
    names,
    ofFleet: names.includes("holdfast") ? fleetQuestions.filter(isWanted) : [],
  };
}

async function measureOne(
  bench: Bench,
  workload: WorkloadName,
  name: string,
  round: number,
): Promise<Figures> {
  const { server, pid, results } = bench;
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const database = `bench_${workload}_${round}_${Object.keys(contestants).indexOf(name)}`;
  // Nobody pays for what the one before left in memory.
  await inDatabase(server, "postgres", `CREATE DATABASE ${database}`, "CHECKPOINT");
  const task: Task = {
    ...{ name, size: bench.sizes[workload], url: server.url(database), folder, pid },
    flushes: round === 0,
  };
  try {
    const figures = await measure<Figures>(script, [JSON.stringify(task)], { built: true });
    for (const [figure, value] of Object.entries(figures))
      if (value !== undefined) results.add(name, `${workload}.${figure}`, round, value as number);
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await inDatabase(server, "postgres", `DROP DATABASE ${database} WITH (FORCE)`);
  }
}

/** Fleets, by what is asked of them. */
const fleets: Readonly<Record<string, Fleet>> = {
  "1 member": { members: 1, sender: "home", load: "many" },
  "2 members": { members: 2, sender: "home", load: "many" },
  "2 members, any run": { members: 2, sender: "any", load: "many" },
  "a client and a worker": { members: 2, sender: "client", load: "many" },
  "the same, one event": { members: 2, sender: "client", load: "sequential" },
};

interface Fleet {
  readonly members: number;
  readonly sender: Sender;
  readonly load: WorkloadName;
}

const measureMembers = (
  server: { readonly url: string; readonly pid: number },
  { members, sender, load }: Fleet,
  of: Bench["sizes"],
): Promise<FleetFigures> => measureFleet(server, members, of[load], sender);

async function askFleet(
  { server, pid, sizes, results }: Bench,
  question: FleetQuestion,
  round: number,
): Promise<void> {
  const database = `bench_${question}`;
  const asked = question === "recovery" ? ["holdfast"] : Object.keys(fleets);
  for (const name of asked) {
    await inDatabase(server, "postgres", `CREATE DATABASE ${database}`, "CHECKPOINT");
    const url = server.url(database);
    const figures = await (question === "recovery"
      ? measureRecovery(url, sizes === quickSizes ? quickErrands : errands)
      : measureMembers({ url, pid }, fleets[name] as Fleet, sizes));
    for (const [figure, value] of Object.entries(figures))
      results.add(name, `${question}.${figure}`, round, value as number);
    console.error(`round ${round + 1}: ${question}: ${name}: ${JSON.stringify(figures)}`);
    await inDatabase(server, "postgres", `DROP DATABASE ${database} WITH (FORCE)`);
  }
}

function fleetTable(results: Results, question: FleetQuestion): string {
  const show = (name: string, figure: string, digits = 0): string =>
    (results.median(name, `${question}.${figure}`) ?? Number.NaN).toLocaleString("en", {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
  if (question === "recovery")
    return columns([
      [question, "first ms", "all ms"],
      ["holdfast", show("holdfast", "firstMs"), show("holdfast", "allMs")],
    ]);
  const rows = Object.keys(fleets).map((name) => [
    ...[name, show(name, "perSecond"), show(name, "p50", 1), show(name, "p99", 1)],
    ...[show(name, "statements", 2), show(name, "cpuUs"), show(name, "serverCpuUs")],
  ]);
  return columns([[question, "steps/s", "p50 ms", "p99 ms", "statements", "CPU µs", "server's"], ...rows]);
}

async function inDatabase(server: Server, name: string, ...texts: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: server.url(name) });
  await client.connect();
  for (const text of texts) await client.query(text);
  await client.end();
}

function pidOf({ socketFolder }: Server): number {
  return Number.parseInt(readFileSync(join(socketFolder, "data", "postmaster.pid"), "utf8"), 10);
}

const shown: Readonly<Record<string, [keyof Figures, (value: number) => string]>> = {
  "steps/s": ["perSecond", (value) => Math.round(value).toLocaleString("en")],
  "p50 ms": ["p50", (value) => value.toFixed(2)],
  "p99 ms": ["p99", (value) => value.toFixed(2)],
  statements: ["statements", (value) => value.toFixed(3)],
  "WAL bytes": ["walBytes", (value) => Math.round(value).toLocaleString("en")],
  flushes: ["flushes", (value) => value.toFixed(3)],
  "CPU µs": ["cpuUs", (value) => Math.round(value).toLocaleString("en")],
  "server's": ["serverCpuUs", (value) => Math.round(value).toLocaleString("en")],
};

/** The figures of one workload, each for a step; medians of the rounds. */
function table(results: Results, workload: WorkloadName, names: readonly string[]): string {
  const rows = names.map((name) => [
    name,
    ...Object.values(shown).map(([figure, format]) => {
      const value = results.median(name, `${workload}.${figure}`);
      return value === undefined ? "–" : format(value);
    }),
  ]);
  return columns([[workload, ...Object.keys(shown)], ...rows]);
}
