/**
 * The process whose writes are recorded: the production runtime on the production store, from a file that is not there
 * yet, through commits of many sizes, changes of runs and of the house, checkpoints of the log and a second opening. It
 * acknowledges in the words of `prove:kill`, in a file of its own, so that the recording has acknowledgements and writes in
 * one order.
 *
 * `workload.ts PATH LEDGER SEED STEPS SYNCHRONOUS`: chance and length of the work, and `full` or `normal`.
 */
import { openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createRuntime, type Run, type Runtime } from "holdfast";
import { type SqliteOptions, sqlite } from "holdfast/sqlite";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { createRandom } from "../../test/generate/random.ts";
import { Changes } from "../kill/changes.ts";
import { diary, orderType, path as wayOf, workshop } from "../kill/changing.ts";
import { machines, type RunId } from "../kill/machines.ts";
import { textOf } from "../kill/tasks.ts";
import { notes, recordedMachines } from "./machines.ts";
import { recordedBackups } from "./recording.ts";

const [path = "", ledger = "", seed = "1", steps = "100", synchronous = "full"] = process.argv.slice(2);
const random = createRandom(Number(seed));
const clock = new VirtualClock(1_700_000_000_000);
let counted = 0;
const ids = { next: () => `id-${String(++counted).padStart(9, "0")}`, chance: () => random.next() };
const out = openSync(ledger, "a");

const tell = (line: string) => void writeSync(out, `${line}\n`);

async function acknowledge(run: Run): Promise<void> {
  const { seq, digest } = await run.head();
  tell(`stands ${run.id} ${seq} ${digest}`);
}

/** Numbers for each kind of event, through both lives. */
const sent = new Map<string, number>();
function next(type: string): number {
  const n = sent.get(type) ?? 0;
  sent.set(type, n + 1);
  return n;
}

const work: readonly (readonly [id: RunId, type: string])[] = [
  ["count", "add"],
  ["count", "call"],
  ["nap", "nap"],
  ["nap", "later"],
  ["boss", "delegate"],
  ["ping", "serve"],
  ["mail", "mail"],
];

/** Tools take a while, so that a run can be moved meanwhile; what they do is not looked at here. */
const tools = { say: () => {}, wait: () => new Promise<void>((resolve) => void clock.after(4, resolve)) };
/** The version of `swap`, and the backups there are, through both lives. */
let [swapVersion, backups] = [1, 0];

async function live(lifeSteps: number): Promise<void> {
  const store = sqlite(path, { synchronous } as SqliteOptions);
  const machinesNow = recordedMachines(tools, swapVersion);
  const runtime: Runtime = await createRuntime({ store, clock, ids, machines: machinesNow });
  const changes = new Changes({ ...tools, say: tell, runtime, store, clock, directory: dirname(path) });
  // A second connection, as an operator's would be: it moves the log into the file at moments nobody planned.
  const operator = new DatabaseSync(path);
  operator.exec(`PRAGMA synchronous = ${synchronous}`);
  const runs = new Map<string, Run>();
  const starting = {
    notes,
    ...machines,
    path: wayOf,
    diary,
    shift: workshop("shift", 1),
    swap: workshop("swap", 1),
  };
  for (const [id, machine] of Object.entries(starting)) {
    const run = (await runtime.start(machine as never, { id })) as unknown as Run;
    runs.set(id, run);
    await acknowledge(run);
  }
  for (let step = 0; step < lifeSteps; step++) {
    if (random.chance(0.02)) {
      const mode = random.pick(["PASSIVE", "FULL", "RESTART", "TRUNCATE"]);
      operator.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
    }
    if (random.chance(0.5)) await takeStep(runs);
    else await change(changes, runs);
    await pass();
  }
  operator.close();
  await runtime.close();
}

/** Lets what is under way go on, and a little time pass. */
async function pass(): Promise<void> {
  await clock.advance(random.below(8));
  await new Promise((resolve) => setImmediate(resolve));
}

/** Waits for what needs time to pass. */
async function through(promise: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  promise.then(over, over);
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!isOver) await clock.advance(1);
  }
  await promise;
}

async function takeStep(runs: ReadonlyMap<string, Run>): Promise<void> {
  if (random.chance(0.5)) {
    const run = runs.get("notes") as Run;
    await run.send("note", textOf(random, random.pick([5, 100, 900, 4_000, 9_000])));
    return acknowledge(run);
  }
  const several = random.some(work, random.between(1, 3));
  await Promise.all(several.map(([id, type]) => (runs.get(id) as Run).send(type, next(type))));
  for (const id of new Set(several.map(([one]) => one))) await acknowledge(runs.get(id) as Run);
}

/** One change of a run, or of the house. */
async function change(changes: Changes, runs: ReadonlyMap<string, Run>): Promise<void> {
  const way = runs.get("path") as Run;
  const acts: Record<string, () => Promise<void>> = {
    walk: () => changes.send(way, "walk", next("walk")),
    rest: () => changes.send(way, "rest", next("walk")),
    goBack: async () => changes.goBack(way, random.between(1, (await way.head()).seq)),
    fork: async () => {
      const at = random.between(1, (await way.head()).seq);
      const twin = await changes.fork(way, { id: `twin-0-${next("twin")}`, at, edited: random.chance(0.5) });
      if (random.chance(0.3)) await changes.hold(twin.id);
      await changes.end(twin);
      await through(twin.finished());
      await acknowledge(twin);
    },
    retain: () => through(changes.retain(0)),
    note: async () => {
      for (let more = 0; more < 4; more++)
        await changes.note(runs.get("diary") as Run, next("diary"), textOf(random, 3_000));
    },
    prune: () => through(changes.prune(1)),
    shift: () => move(runs.get("shift") as Run, changes),
    swap: () => move(runs.get("swap") as Run, changes),
    backup: async () => {
      // Copying is the work of other threads, which know nothing of this clock.
      const at = recordedBackups[backups++];
      if (at !== undefined) await changes.backup(at);
    },
  };
  await acts[random.pick(Object.keys(acts))]?.();
}

/** A workshop goes to its other version, or to a newer one, with all it has pending. */
async function move(run: Run, changes: Changes): Promise<void> {
  const { version } = await run.head();
  await changes.send(run, "begin", next(`${run.id} begin`));
  await changes.send(run, "hint", next(`${run.id} hint`));
  await run.send(orderType(version), next(`${run.id} order`));
  if (run.id === "shift") return changes.migrate(run, 3 - version);
  await changes.deploy(version + 1);
  swapVersion = version + 1;
  await acknowledge(run);
}

const first = Math.ceil(Number(steps) * (0.3 + 0.5 * random.next()));
await live(first);
await live(Number(steps) - first);
