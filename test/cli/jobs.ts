/**
 * Machines for workers in processes of their own. A job waits until it is told to go; its activity writes into a ledger,
 * which no store can take back, that it has begun and that it has ended: after so long, and not while a file beside the
 * ledger holds this one.
 */
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type ActivityScope, defineMachine } from "../../src/index.ts";

export const job = defineMachine<{ readonly ms: number }>({
  id: "job",
  start: ({ input }) => ({ ms: input as number }),
  initial: "waiting",
  states: {
    waiting: { on: { go: "working" } },
    working: {
      invoke: { activity: "work", input: ({ context }) => context.ms, onDone: "done", onError: "failed" },
    },
    done: { type: "final" },
    failed: { type: "final" },
  },
});

async function work(ms: unknown, { run }: ActivityScope): Promise<void> {
  const note = (what: string) =>
    appendFileSync(process.env.LEDGER as string, `${run} ${what} ${process.pid}\n`);
  note("begun");
  await sleep(ms as number);
  const hold = `${process.env.LEDGER}.hold-${run}`;
  while (existsSync(hold)) await sleep(20);
  note("ended");
}

export default [{ machine: job, activities: { work } }];
