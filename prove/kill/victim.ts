/**
 * The process that is killed. It sends numbered events to one run for as long as it lives, says `acked N` only after an
 * event is durable, and its tool says `tool KEY` when it acts. Whoever started it keeps the ledger.
 */
import { writeSync } from "node:fs";
import { defineMachine } from "holdfast";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";

/** Counts what it is sent; every tenth event calls the tool, and the run waits for its answer. */
export const ledgerMachine = defineMachine<{ numbers: number[]; answers: string[] }>({
  id: "ledger",
  start: { numbers: [], answers: [] },
  initial: "open",
  on: { add: { update: (draft, { event }) => void draft.numbers.push(event.data as number) } },
  states: {
    open: { on: { call: "calling" } },
    calling: {
      invoke: {
        activity: "tool",
        retry: { attempts: 100, first: 1, max: 5 },
        onDone: { target: "open", update: (draft, { event }) => void draft.answers.push(event.data) },
      },
    },
  },
});

if (import.meta.main) {
  const say = (line: string) => writeSync(1, `${line}\n`);
  const runtime = await createRuntime({
    store: sqlite(process.argv[2] as string),
    machines: [
      {
        machine: ledgerMachine as never,
        activities: {
          tool: (_: never, { key }: { key: string }) => {
            say(`tool ${key}`);
            return key;
          },
        },
      },
    ],
  });
  const run = await runtime.start(ledgerMachine, { id: "victim" });
  let next = (await run.state()).context.numbers.length;
  say(`ready ${next}`);
  for (;;) {
    await run.send("add", next, { key: `add ${next}` });
    say(`acked ${next}`);
    next++;
    if (next % 10 === 0) {
      await run.send("call", undefined, { key: `call ${next}` });
      await run.waitFor("open");
      say(`called ${next}`);
    }
  }
}
