/** A conversation of 10,000 turns in a durable run: what a turn writes does not grow with it. `bench/agent.ts` has the times. */
import { createRuntime, defineMachine, type Run } from "holdfast";
import {
  append,
  buildWindow,
  emptyThread,
  estimate,
  lengthOf,
  type Message,
  type Thread,
} from "holdfast/agent";
import { memory } from "holdfast/memory";
import { expect, test } from "vitest";

const chat = defineMachine<{ thread: Thread }>({
  id: "chat",
  start: () => ({ thread: emptyThread() }),
  initial: "open",
  states: {
    open: {
      on: {
        say: { update: (draft, { event }) => void append(draft.thread, event.data as unknown as Message) },
      },
    },
  },
});

const words = "the tide came in over the flat sand and nobody had thought of the boat since spring".split(
  " ",
);
const prose = (seed: number, length: number) =>
  Array.from({ length }, (_, index) => words[(seed * 7 + index * 3) % words.length]).join(" ");

/** A question, what was looked up for every fourth one, and an answer. */
const turnOf = (turn: number): Message[] => {
  const call = `c${turn}`;
  const parts: [Message["role"], Message["parts"]][] = [
    ["user", [{ type: "text", text: prose(turn, 12) }]],
    ["assistant", [{ type: "call", id: call, tool: "search", input: { query: prose(turn, 4) } }]],
    ["tool", [{ type: "result", call, tool: "search", output: prose(turn, 40) }]],
    ["assistant", [{ type: "text", text: prose(turn + 1, 20) }]],
  ];
  const said = turn % 4 === 0 ? parts : [parts[0], parts[3]].filter((one) => one !== undefined);
  return said.map(([role, some], index) => ({ id: `${turn}.${index}`, role, at: turn, parts: some }));
};

async function talk(run: Run, from: number, count: number): Promise<void> {
  for (let turn = from; turn < from + count; turn += 25) {
    const messages = Array.from({ length: 25 }, (_, more) => turnOf(turn + more)).flat();
    const receipts = await run.sendAll(messages.map((data) => ({ type: "say", data: data as never })));
    await receipts.at(-1)?.handled();
  }
}

test("C2: the 10,000th turn writes what the 1,000th did, and its window is within its budget", async () => {
  const store = memory();
  const runtime = await createRuntime({ store, machines: [chat] });
  const run = (await runtime.start(chat, { id: "long" })) as unknown as Run;
  const bytes = async () => {
    let sum = 0;
    const [{ place } = { place: "" }] = await store.scan("run", { limit: 1 });
    for (const kind of ["entry", "snapshot"] as const)
      for (const { row } of await store.scan(kind, { of: place, limit: 100_000 }))
        sum += row?.bytes.length ?? 0;
    return sum;
  };
  await talk(run, 0, 1_000);
  const early = (await bytes()) / 1_000;
  await talk(run, 1_000, 9_000);
  expect((await bytes()) / 10_000).toBeLessThan(1.3 * early);

  const thread = structuredClone((await run.state()).context.thread) as unknown as Thread;
  expect(lengthOf(thread)).toBe(2.5 * 10_000);
  const { tokens, messages } = buildWindow(thread, {
    ...{ budget: 32_000, count: estimate(), now: 20_000 },
    refetchable: () => true,
  });
  expect(tokens).toBeLessThanOrEqual(32_000);
  expect(messages.at(-1)).toMatchObject({ id: "9999.1" });
  await runtime.close();
}, 120_000);
