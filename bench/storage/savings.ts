/**
 * One piece of work, with something that saves or without it, in a process of its own; prints JSON. What saves is switched
 * off by the limit from which on it is done: the code is the same.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createRuntime, defineMachine, freezeStates, type Json, limits, type Runtime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { messageOf, pad } from "../durable/workload.ts";
import { median } from "../process.ts";

export interface SavingFigures {
  readonly workMs: number;
  /** Processor time of the work, the kernel's included: what a busy machine leaves as it is. */
  readonly cpuMs: number;
  /** Reading the run into a process that has not got it. */
  readonly loadMs: number;
  /** Of all rows' bytes: pages would count in fours of kilobytes. */
  readonly bytes: number;
  /** Of the cache that is in question, where there is one. */
  readonly hitRate?: number;
}

/** Loads take milliseconds, so one would say little. */
const loadsTimed = 9;

interface Question {
  /** The limit with which it is never done. */
  readonly off: Partial<Record<keyof typeof limits, number>>;
  work(runtime: Runtime): Promise<void>;
  load(runtime: Runtime): Promise<void>;
  hitRate(runtime: Runtime): number | undefined;
}

interface Keeper {
  readonly n: number;
  readonly pad: string;
  readonly kept: Json[];
}

const keeper = defineMachine<Keeper>({
  id: "keeper",
  start: () => ({ n: 0, pad, kept: [] }),
  initial: "open",
  states: {
    open: {
      on: {
        add: { update: (draft) => void draft.n++ },
        keep: { update: (draft, { event }) => void draft.kept.push(event.data as Json) },
      },
    },
  },
});

const [name, how, quick] = process.argv.slice(2) as [string, "with" | "without", string];
const much = quick === "true" ? 0.2 : 1;
const times = (count: number) => Array.from({ length: Math.round(count * much) }, (_, index) => index);
const runNames = times(1_000).map((index) => `run-${index}`);
/** A document of 20 KB, as one that an agent is given again and again. */
const page = times(50 / much)
  .map(messageOf)
  .join("\n");

const questions: Readonly<Record<string, Question>> = {
  /** A conversation of many short messages: what is compressed is its snapshots. */
  compression: {
    off: { compressedBytesMin: Number.POSITIVE_INFINITY },
    async work(runtime) {
      const run = await runtime.start(keeper, { id: "one" });
      for (const turn of times(1_500)) await run.send("keep", messageOf(turn));
    },
    load: async (runtime) => void (await runtime.run("one")),
    hitRate: () => undefined,
  },
  /** The same document in every tenth event of a run. */
  sharing: {
    off: { contentLengthMin: Number.POSITIVE_INFINITY },
    async work(runtime) {
      const run = await runtime.start(keeper, { id: "one" });
      for (const turn of times(1_000))
        await run.send("keep", turn % 10 === 0 ? { page, turn } : { note: messageOf(turn) });
    },
    load: async (runtime) => void (await runtime.run("one")),
    hitRate: (runtime) => runtime.profile()?.caches.contents.rate,
  },
  /** Many runs, all at once, step after step. */
  memory: {
    off: { liveRunsMax: 1 },
    async work(runtime) {
      await Promise.all(runNames.map((id) => runtime.start(keeper, { id })));
      for (let step = 0; step < 10; step++)
        await Promise.all(runNames.map(async (id) => (await runtime.run(id)).send("add")));
    },
    load: async (runtime) => void (await Promise.all(runNames.map((id) => runtime.run(id)))),
    hitRate: (runtime) => runtime.profile()?.caches.runs.rate,
  },
};

const question = questions[name] as Question;
freezeStates(false);
const directory = mkdtempSync(join(tmpdir(), "holdfast-storage-"));
try {
  if (how === "without") Object.assign(limits, question.off);
  // Before the clock starts, on another file: what is measured is a process that has been up for a while.
  await use(join(directory, "warm-up.db"), question.work);
  const path = join(directory, "store.db");
  let hitRate: number | undefined;
  const { ms: workMs, cpuMs } = await use(path, question.work, (runtime) => {
    hitRate = question.hitRate(runtime);
  });
  const loads: number[] = [];
  for (let load = 0; load < loadsTimed; load++) loads.push((await use(path, question.load)).ms);
  const figures = { workMs, cpuMs, loadMs: median(loads), bytes: weigh(path) };
  console.log(
    JSON.stringify({ ...figures, ...(hitRate !== undefined && { hitRate }) } satisfies SavingFigures),
  );
} finally {
  rmSync(directory, { recursive: true });
}

async function use(
  path: string,
  work: Question["work"],
  look: (runtime: Runtime) => void = () => {},
): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const runtime = await createRuntime({ store: sqlite(path), machines: [keeper as never], profile: true });
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  await work(runtime);
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  look(runtime);
  await runtime.close();
  return { ms, cpuMs: (user + system) / 1_000 };
}

function weigh(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const tables = ["entry", "snapshot", "content"];
  const sums = tables.map((table) => `(SELECT coalesce(sum(length(bytes)), 0) FROM ${table})`);
  const row = database.prepare(`SELECT ${sums.join(" + ")} AS bytes`).get();
  database.close();
  return row?.bytes as number;
}
