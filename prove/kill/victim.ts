/**
 * The process that is killed. For as long as it lives it sends numbered events to its runs, several at a time, and says
 * `acked RUN EVENT N` only after an event is durable; its tools say when they act. Some of its runs it changes meanwhile
 * (`tasks.ts`). Whoever started it keeps the ledger.
 *
 * `victim.ts PATH SEED TASK` works on the store at PATH, only at that task if one is given; without a path it only loads, so
 * that later ones start faster.
 */
import { writeSync } from "node:fs";
import { createRuntime, type Run, type Runtime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { createRandom, type Random } from "../../test/generate/random.ts";
import { Changes } from "./changes.ts";
import { changingEntries } from "./changing.ts";
import { backupsOf } from "./judge.ts";
import { moment } from "./ledger.ts";
import { machineEntries, machines, type RunId } from "./machines.ts";
import { changers, type TaskName } from "./tasks.ts";

/** Whoever keeps the ledger may be judging another store: while the pipe is full, everything here waits for it. */
function say(line: string): void {
  for (;;) {
    try {
      writeSync(1, `${line}\n`);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** Sends number `n`, tells once it is durable, and repeats some: the run must take each once. */
async function send(run: Run, type: string, n: number, again = false): Promise<void> {
  await run.send(type, n, { key: `${type} ${n}` });
  say(`acked ${run.id} ${type} ${n}`);
  if (again) await run.send(type, n, { key: `${type} ${n}` });
}

/** Of what there is to do a life does some, so that there is enough of each. */
const [sendersPerLife, changersPerLife] = [2, 3];

/** The version of `swap` that its run has; a newer one may be known, and was not deployed to the end. */
async function versionIn(path: string): Promise<number> {
  const store = sqlite(path);
  await store.open();
  const head = await store.readHead({ tenant: "default", run: "swap" });
  await store.close();
  return head?.version ?? 1;
}

/** How many of a kind a run has taken, or keeps for later. */
async function found(run: Run, type: string, list: string): Promise<number> {
  const { context, deferred } = await run.state();
  const taken = (context as unknown as Record<string, number[]>)[list] as number[];
  return taken.length + deferred.filter((event) => event.type === type).length;
}

/** Numbers from where the last life stopped; its last one is sent once more, in case it was not told of. */
async function* numbers(run: Run, type: string, list: string): AsyncGenerator<number, never> {
  const first = await found(run, type, list);
  say(`found ${run.id} ${type} ${first}`);
  if (first > 0) await send(run, type, first - 1);
  for (let n = first; ; n++) yield n;
}

/** What sends numbers without end, to each kind of run. */
async function senders(runtime: Runtime, random: Random): Promise<(() => Promise<void>)[]> {
  const open = async (id: RunId) => (await runtime.start(machines[id] as never, { id })) as unknown as Run;
  const runs = { count: await open("count"), nap: await open("nap"), boss: await open("boss") };
  const pair = { pong: await open("pong"), ping: await open("ping"), mail: await open("mail") };
  return [
    async () => {
      for await (const n of numbers(runs.count, "add", "numbers")) {
        await send(runs.count, "add", n, random.chance(0.1));
        if (!random.chance(0.2)) continue;
        await runs.count.send("call", undefined, { key: `call ${n}` });
        await runs.count.waitFor("open");
        for (const key of ((await runs.count.state()).context as { answers: string[] }).answers.slice(-1))
          say(`answered ${key} ${moment()}`);
      }
    },
    async () => {
      say(`found nap later ${await found(runs.nap, "later", "laters")}`);
      for await (const n of numbers(runs.nap, "nap", "naps")) {
        const later = await found(runs.nap, "later", "laters");
        await Promise.all([
          send(runs.nap, "nap", n),
          send(runs.nap, "later", later, random.chance(0.3)),
          send(runs.nap, "later", later + 1),
        ]);
        await runs.nap.waitFor("awake");
      }
    },
    async () => {
      for await (const n of numbers(runs.boss, "delegate", "asked")) {
        await send(runs.boss, "delegate", n, random.chance(0.2));
        await runs.boss.waitFor("idle");
      }
    },
    async () => {
      for await (const n of numbers(pair.ping, "serve", "served")) await send(pair.ping, "serve", n);
    },
    async () => {
      for await (const n of numbers(pair.mail, "mail", "asked")) {
        await send(pair.mail, "mail", n, random.chance(0.2));
        await pair.mail.waitFor("idle");
      }
    },
  ];
}

async function work(path: string, seed: number, only: TaskName | undefined): Promise<never> {
  const random = createRandom(seed);
  const store = sqlite(path);
  const tools = { say, wait: () => new Promise<void>((resolve) => setTimeout(resolve, random.below(12))) };
  const runtime = await createRuntime({
    store,
    machines: [...machineEntries(say), ...changingEntries(tools, await versionIn(path))],
    onEmit: ({ event }) => say(`${event.type} ${event.data}`),
  });
  const tasks = await senders(runtime, random);
  const changes = new Changes({ ...tools, runtime, store, directory: backupsOf(path) });
  const scene = { runtime, changes, random, say, life: seed };
  const changing =
    only === undefined ? random.some(Object.values(changers), changersPerLife) : [changers[only]];
  const chosen = [
    ...(only === undefined ? random.some(tasks, sendersPerLife) : []),
    ...changing.map((task) => () => task(scene)),
  ];
  say("ready");
  await Promise.all(chosen.map((task) => task()));
  throw new Error("There was nothing left to do");
}

const [path, seed = "1", only] = process.argv.slice(2);
if (path !== undefined) await work(path, Number(seed), only as TaskName | undefined);
