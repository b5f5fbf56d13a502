/**
 * The process whose writes are recorded: the production runtime on the production store, from a file that is not there
 * yet, through commits of many sizes, checkpoints of the log and a second opening. It acknowledges by writing
 * `RUN SEQ DIGEST` to a file of its own, so that the recording has acknowledgements and writes in one order.
 *
 * `workload.ts PATH LEDGER SEED STEPS SYNCHRONOUS`: chance and length of the work, and `full` or `normal`.
 */
import { openSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { createRuntime, type Run, type Runtime } from "holdfast";
import { type SqliteOptions, sqlite } from "holdfast/sqlite";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { createRandom, type Random } from "../../test/generate/random.ts";
import { machines, type RunId } from "../kill/machines.ts";
import { notes, recordedMachines } from "./machines.ts";

const [path = "", ledger = "", seed = "1", steps = "100", synchronous = "full"] = process.argv.slice(2);
const random = createRandom(Number(seed));
const clock = new VirtualClock(1_700_000_000_000);
let counted = 0;
const ids = { next: () => `id-${String(++counted).padStart(9, "0")}`, chance: () => random.next() };
const out = openSync(ledger, "a");

async function acknowledge(run: Run): Promise<void> {
  const { seq, digest } = await run.head();
  writeSync(out, `${run.id} ${seq} ${digest}\n`);
}

/** Numbers for each kind of event, through both lives. */
const sent = new Map<string, number>();
function next(type: string): number {
  const n = sent.get(type) ?? 0;
  sent.set(type, n + 1);
  return n;
}

function textOf(length: number): string {
  return Array.from({ length }, () => String.fromCharCode(random.between(32, 126))).join("");
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

async function live(lifeSteps: number): Promise<void> {
  const store = sqlite(path, { synchronous } as SqliteOptions);
  const runtime: Runtime = await createRuntime({ store, clock, ids, machines: recordedMachines() });
  // A second connection, as an operator's would be: it moves the log into the file at moments nobody planned.
  const operator = new DatabaseSync(path);
  operator.exec(`PRAGMA synchronous = ${synchronous}`);
  const runs = new Map<string, Run>();
  const begin = async (id: string) => {
    const machine = id === "notes" ? notes : machines[id as RunId];
    const run = (await runtime.start(machine as never, { id })) as unknown as Run;
    runs.set(id, run);
    await acknowledge(run);
  };
  for (const id of ["notes", ...Object.keys(machines)]) await begin(id);
  for (let step = 0; step < lifeSteps; step++) await takeStep(runs, random);
  operator.close();
  await runtime.close();

  async function takeStep(all: ReadonlyMap<string, Run>, chance: Random): Promise<void> {
    if (chance.chance(0.02)) {
      const mode = chance.pick(["PASSIVE", "FULL", "RESTART", "TRUNCATE"]);
      operator.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
    }
    if (chance.chance(0.5)) {
      const run = all.get("notes") as Run;
      await run.send("note", textOf(chance.pick([5, 100, 900, 4_000, 9_000])));
      return acknowledge(run);
    }
    const several = chance.some(work, chance.between(1, 3));
    await Promise.all(several.map(([id, type]) => (all.get(id) as Run).send(type, next(type))));
    for (const id of new Set(several.map(([one]) => one))) await acknowledge(all.get(id) as Run);
    await clock.advance(chance.below(8));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const first = Math.ceil(Number(steps) * (0.3 + 0.5 * random.next()));
await live(first);
await live(Number(steps) - first);
