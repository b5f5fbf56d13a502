/**
 * Queues as references: a step is a job that is taken, done and noted as done. They keep no state and no history. One
 * after the other: a job is added when the one before is done. At once: the jobs are there before the clock starts, so
 * what is timed is fetching and completing them, in ones and in batches.
 */
import { Logger, makeWorkerUtils, runMigrations, run as runWorker } from "../peers/graphile-worker.mjs";
import { PgBoss } from "../peers/pg-boss.mjs";
import type { Contestant, Lap, Opened } from "./workload.ts";

interface Job {
  readonly run: string;
  readonly step: number;
}

/** What a queue of any kind can do. */
interface Queue {
  add(jobs: readonly Job[]): Promise<unknown>;
  /** Begins to take jobs, each handed to `take`. */
  start(take: (job: Job) => void): Promise<void>;
  stop(): Promise<void>;
  /** How many jobs are not done. */
  left(): Promise<number>;
}

/** What was done in this process, by run: who opens the queue anew finds it here, and nothing left in the queue. */
const done = new Map<string, Set<number>>();

function openedWith(queue: Queue): Opened {
  let isStarted = false;
  let taken: (job: Job) => void = () => {};
  const note = (job: Job): void => {
    const steps = done.get(job.run) ?? new Set();
    if (steps.has(job.step)) throw new Error(`Step ${job.step} of ${job.run} was done twice`);
    done.set(job.run, steps.add(job.step));
    taken(job);
  };
  const start = async (): Promise<void> => {
    if (!isStarted) await queue.start(note);
    isStarted = true;
  };
  const allLeft = async (): Promise<void> => {
    while ((await queue.left()) > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return {
    async begin(runs, steps) {
      if (runs.length === 1) return start();
      const jobs = runs.flatMap((run) => Array.from({ length: steps }, (_, step) => ({ run, step })));
      for (let from = 0; from < jobs.length; from += 1_000) await queue.add(jobs.slice(from, from + 1_000));
    },
    async take(run, steps, lap) {
      for (let step = 0; step < steps; step++) {
        const begun = performance.now();
        const ends = new Promise<void>((resolve) => {
          taken = () => resolve();
        });
        await queue.add([{ run, step }]);
        await ends;
        lap(performance.now() - begun);
      }
      await allLeft();
    },
    async takeAll(runs, steps, lap: Lap) {
      const begun = performance.now();
      let count = runs.length * steps;
      const ends = new Promise<void>((resolve) => {
        taken = () => {
          lap(performance.now() - begun);
          if (--count === 0) resolve();
        };
      });
      await start();
      await ends;
      await allLeft();
    },
    async read(runs) {
      if ((await queue.left()) > 0) throw new Error("Jobs are left in the queue");
      return runs.map((run) => done.get(run)?.size ?? 0);
    },
    async close() {
      await queue.stop();
    },
  };
}

/** `batched`: as its documentation has it for throughput. */
const graphile = (batched: boolean): Contestant => ({
  async open({ url }) {
    const logger = new Logger(() => () => {});
    const worker = batched
      ? { concurrentJobs: 24, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }
      : { concurrentJobs: 10 };
    const preset = {
      worker: { connectionString: url, maxPoolSize: 12, pollInterval: 2_000, ...worker, logger },
    };
    await runMigrations({ preset });
    const utils = await makeWorkerUtils({ preset });
    let runner: { stop(): Promise<void> } | undefined;
    return openedWith({
      add: (jobs) => utils.addJobs(jobs.map((payload) => ({ identifier: "step", payload }))),
      async start(take) {
        const taskList = { step: async (payload: unknown) => take(payload as Job) };
        runner = await runWorker({ preset, taskList, noHandleSignals: true });
      },
      async stop() {
        await runner?.stop();
        await utils.release();
      },
      left: () =>
        utils.withPgClient(async (client) => {
          const { rows } = await client.query("SELECT 1 FROM graphile_worker._private_jobs LIMIT 1");
          return rows.length;
        }),
    });
  },
});

/** By its own `fetch` and `complete`, as fast as they go: its workers wait between two fetches. */
const boss = (batchSize: number, loops: number): Contestant => ({
  async open({ url }) {
    const queue = new PgBoss({ connectionString: url, supervise: false, schedule: false });
    queue.on("error", console.error);
    await queue.start();
    await queue.createQueue("step");
    let isOpen = true;
    const working: Promise<void>[] = [];
    const workOff = async (take: (job: Job) => void): Promise<void> => {
      while (isOpen) {
        const jobs = await queue.fetch("step", { batchSize });
        for (const { data } of jobs) take(data as Job);
        if (jobs.length > 0)
          await queue.complete(
            "step",
            jobs.map(({ id }) => id),
          );
        else await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    return openedWith({
      add: (jobs) =>
        queue.insert(
          "step",
          jobs.map((data) => ({ data })),
        ),
      async start(take) {
        for (let loop = 0; loop < loops; loop++) working.push(workOff(take));
      },
      async stop() {
        isOpen = false;
        await Promise.all(working);
        await queue.stop({ graceful: false });
      },
      async left() {
        const { rows } = await queue
          .getDb()
          .executeSql("SELECT 1 FROM pgboss.job WHERE name = 'step' AND state < 'completed' LIMIT 1");
        return rows.length;
      },
    });
  },
});

export const graphileDefault = graphile(false);
export const graphileBatched = graphile(true);
export const bossDefault = boss(1, 10);
export const bossBatched = boss(100, 2);
