/**
 * A short life in which everything happens once, in the same order each time: time stands still until it is told to
 * pass, and ids are counted. So the n-th system call of one life is the n-th of the next, and each can be made to fail.
 *
 * `short.ts PATH` says what it did as the victim does, `error CODE` for an error that somebody who waited was given, and
 * `closed` at the end. An error that nobody was given ends it as `crashed`.
 */
import { writeSync } from "node:fs";
import { createRuntime, isHoldfastError, type Run, type Runtime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { createRandom } from "../../test/generate/random.ts";
import { Changes } from "./changes.ts";
import { changingEntries, diary, path, workshop } from "./changing.ts";
import { backupsOf } from "./judge.ts";
import { machineEntries, machines, type RunId } from "./machines.ts";
import { shortNoon } from "./strace.ts";
import { textOf } from "./tasks.ts";

const say = (line: string) => writeSync(1, `${line}\n`);
const codeOf = (error: unknown): string =>
  isHoldfastError(error) ? error.code : `none: ${(error as Error).stack ?? error}`.replaceAll("\n", " ");

for (const kind of ["unhandledRejection", "uncaughtException"] as const) {
  process.on(kind, (error) => {
    say(`crashed ${codeOf(error)}`);
    process.exit(4);
  });
}

/** Ids that sort after one another, the same in every life. */
function countedIds(): { next(): string; chance(): number } {
  let count = 0;
  return { next: () => `id-${String(++count).padStart(9, "0")}`, chance: () => 0.5 };
}

/** Waits for it, and lets time pass when it does not come at once: a call that failed may be tried again later. */
async function through<Answer>(clock: VirtualClock, work: Promise<Answer>): Promise<Answer> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  work.then(settle, settle);
  for (let turn = 0; !settled && turn < 2_000; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (turn > 20) await clock.advance(100);
  }
  return work;
}

async function live(path: string): Promise<void> {
  const clock = new VirtualClock(shortNoon);
  // A piece of work takes as long as it needs to be swapped in the middle.
  const tools = { say, wait: () => new Promise<void>((resolve) => void clock.after(5, resolve)) };
  const store = sqlite(path);
  const runtime = await createRuntime({
    store,
    clock,
    ids: countedIds(),
    machines: [...machineEntries(say), ...changingEntries(tools, 1)],
  });
  try {
    await sendNumbers(runtime, clock);
    const changes = new Changes({ ...tools, runtime, store, clock, directory: backupsOf(path) });
    await changeThings(runtime, changes, clock);
    await changeHouse(runtime, changes, clock);
  } finally {
    await through(clock, runtime.close());
  }
}

/** Lets what is under way go on, and so much time pass. */
async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let turn = 0; turn < ms; turn++) {
    await clock.advance(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function sendNumbers(runtime: Runtime, clock: VirtualClock): Promise<void> {
  const open = async (id: RunId) =>
    (await through(clock, runtime.start(machines[id] as never, { id }))) as unknown as Run;
  const send = async (run: Run, type: string, n: number) => {
    await through(clock, run.send(type, n, { key: `${type} ${n}` }));
    say(`acked ${run.id} ${type} ${n}`);
  };
  const count = await open("count");
  await send(count, "add", 0);
  await send(count, "add", 1);
  await through(clock, count.send("call", undefined, { key: "call 0" }));
  const nap = await open("nap");
  await Promise.all([send(nap, "nap", 0), send(nap, "later", 0), send(nap, "later", 1)]);
  await open("pong");
  const [boss, ping, mail] = [await open("boss"), await open("ping"), await open("mail")];
  await Promise.all([send(boss, "delegate", 0), send(ping, "serve", 0), send(mail, "mail", 0)]);
  await pass(clock, 20);
  for (const [run, state] of [
    [count, "open"],
    [nap, "awake"],
    [boss, "idle"],
    [mail, "idle"],
  ] as const)
    await through(clock, run.waitFor(state));
  await send(count, "add", 2);
}

/** A run goes back, one is forked, one is migrated, and one swapped while everything of it is pending. */
async function changeThings(runtime: Runtime, changes: Changes, clock: VirtualClock): Promise<void> {
  const open = async (id: string, machine: object) =>
    (await through(clock, runtime.start(machine as never, { id }))) as unknown as Run;
  const way = await open("path", path);
  await through(clock, changes.send(way, "walk", 0));
  await through(clock, changes.send(way, "rest", 1));
  await through(clock, changes.goBack(way, 2));
  const twin = await through(clock, changes.fork(way, { id: "twin-0-0", at: 3, edited: true }));
  await through(clock, changes.send(twin, "walk", 2));
  for (const id of ["shift", "swap"] as const) {
    const run = await open(id, workshop(id, 1));
    await through(clock, changes.send(run, "begin", 0));
    await through(clock, changes.send(run, "order", 0));
    await through(clock, changes.send(run, "hint", 0));
    await through(clock, id === "shift" ? changes.migrate(run, 2) : changes.deploy(2));
  }
  await pass(clock, 20);
}

/** What has ended is removed but for what is held, a journal is pruned, and all of it is copied. */
async function changeHouse(runtime: Runtime, changes: Changes, clock: VirtualClock): Promise<void> {
  const way = await runtime.run("path");
  const twin = await runtime.run("twin-0-0");
  const held = await through(clock, changes.fork(way, { id: "twin-0-1", at: 1, edited: false }));
  await through(clock, changes.hold(held.id));
  for (const run of [held, twin]) await through(clock, changes.end(run));
  await pass(clock, 2);
  await through(clock, changes.retain(0));
  const random = createRandom(1);
  const run = (await through(clock, runtime.start(diary, { id: "diary" }))) as unknown as Run;
  for (let n = 0; n < 12; n++) await through(clock, changes.note(run, n, textOf(random, 2_000)));
  await pass(clock, 2);
  await through(clock, changes.prune(1));
  // Copying is the work of other threads, which know nothing of this clock.
  await changes.backup(shortNoon);
}

try {
  await live(process.argv[2] as string);
  say("closed");
} catch (error) {
  say(`error ${codeOf(error)}`);
}
