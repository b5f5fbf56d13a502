/**
 * A short life in which everything happens once, in the same order each time: time stands still until it is told to
 * pass, and ids are counted. So the n-th system call of one life is the n-th of the next, and each can be made to fail.
 *
 * `short.ts PATH` says what it did as the victim does, `error CODE` for an error that somebody who waited was given, and
 * `closed` at the end. An error that nobody was given ends it as `crashed`.
 */
import { writeSync } from "node:fs";
import { createRuntime, isHoldfastError, type Run } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { machineEntries, machines, type RunId } from "./machines.ts";

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
  const clock = new VirtualClock(1_700_000_000_000);
  const runtime = await createRuntime({
    store: sqlite(path),
    clock,
    ids: countedIds(),
    machines: machineEntries(say),
  });
  const open = async (id: RunId) =>
    (await through(clock, runtime.start(machines[id] as never, { id }))) as unknown as Run;
  const send = async (run: Run, type: string, n: number) => {
    await through(clock, run.send(type, n, { key: `${type} ${n}` }));
    say(`acked ${run.id} ${type} ${n}`);
  };
  try {
    const count = await open("count");
    await send(count, "add", 0);
    await send(count, "add", 1);
    await through(clock, count.send("call", undefined, { key: "call 0" }));
    const nap = await open("nap");
    await Promise.all([send(nap, "nap", 0), send(nap, "later", 0), send(nap, "later", 1)]);
    await open("pong");
    const [boss, ping, mail] = [await open("boss"), await open("ping"), await open("mail")];
    await Promise.all([send(boss, "delegate", 0), send(ping, "serve", 0), send(mail, "mail", 0)]);
    // The tool that may happen once takes a turn of the process, and of its event loop.
    for (let turn = 0; turn < 20; turn++) {
      await clock.advance(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const [run, state] of [
      [count, "open"],
      [nap, "awake"],
      [boss, "idle"],
      [mail, "idle"],
    ] as const)
      await through(clock, run.waitFor(state));
    await send(count, "add", 2);
  } finally {
    await through(clock, runtime.close());
  }
}

try {
  await live(process.argv[2] as string);
  say("closed");
} catch (error) {
  say(`error ${codeOf(error)}`);
}
