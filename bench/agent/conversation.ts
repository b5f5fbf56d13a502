/** Measures one long conversation, in a process of its own; prints JSON. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createRuntime, defineMachine, type Run } from "holdfast";
import {
  append,
  buildWindow,
  emptyThread,
  estimate,
  type Message,
  type Part,
  type Thread,
} from "holdfast/agent";
import { sqlite } from "holdfast/sqlite";

export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

export interface ConversationFigures {
  readonly step: Spread;
  readonly bytesPerTurn: number;
  /** With windows of 8, 32 and 128 thousand tokens, a message having come since the last one. */
  readonly windows: readonly Spread[];
  /** The first window of a process, when nothing is counted yet. */
  readonly firstMs: number;
}

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

const words =
  "the tide came in over the flat sand and nobody had thought of the boat that lay there since spring".split(
    " ",
  );
const prose = (seed: number, length: number) =>
  Array.from({ length }, (_, index) => words[(seed * 7 + index * 3) % words.length]).join(" ");

/** A turn: a question, every other one looked up, an answer. */
function turnOf(turn: number): Message[] {
  const say = (id: string, role: Message["role"], ...parts: Part[]): Message => ({
    id: `${id}${turn}`,
    role,
    at: turn,
    parts,
  });
  const call = `c${turn}`;
  const lookedUp = [
    say("l", "assistant", { type: "call", id: call, tool: "search", input: { query: prose(turn, 4) } }),
    say("r", "tool", { type: "result", call, tool: "search", output: prose(turn, 120) }),
  ];
  return [
    say("u", "user", { type: "text", text: prose(turn, 30) }),
    ...(turn % 2 === 0 ? lookedUp : []),
    say("a", "assistant", { type: "text", text: prose(turn + 1, 80) }),
  ];
}

const samples = 300;
const budgets = [8_000, 32_000, 128_000];
const turns = Number(process.argv[2]);
const directory = mkdtempSync(join(tmpdir(), "holdfast-agent-"));
const path = join(directory, "agent.db");
try {
  const runtime = await createRuntime({ store: sqlite(path), machines: [chat] });
  const run = await runtime.start(chat, { id: "long" });
  await talk(run as unknown as Run, turns);
  const bytesPerTurn = weigh(path) / turns;
  const step = await spread(async (n) => {
    await run.send("say", turnOf(turns + n)[0] as never);
  });
  const { thread } = (await run.state()).context;
  await runtime.close();
  console.log(
    JSON.stringify({ step, bytesPerTurn, ...(await measureWindows(thread)) } satisfies ConversationFigures),
  );
} finally {
  rmSync(directory, { recursive: true });
}

async function talk(run: Run, count: number): Promise<void> {
  let seq = (await run.head()).seq;
  for (let from = 0; from < count; from += 100) {
    const messages = Array.from({ length: Math.min(100, count - from) }, (_, n) => turnOf(from + n)).flat();
    await run.sendAll(messages.map((data) => ({ type: "say", data: data as never })));
    seq += messages.length;
    while ((await run.head()).seq < seq) await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Of a copy, so that it can be added to: every window is built after a message that was not there for the last one. */
async function measureWindows(kept: Thread): Promise<Pick<ConversationFigures, "windows" | "firstMs">> {
  const thread = structuredClone(kept);
  const count = estimate();
  const build = (budget: number) =>
    buildWindow(thread, { budget, count, now: turns, refetchable: () => true });
  const begin = performance.now();
  build(128_000);
  const firstMs = performance.now() - begin;
  const windows: Spread[] = [];
  for (const budget of budgets) {
    const times: number[] = [];
    for (let n = 0; n < samples; n++) {
      append(thread, {
        id: `x${budget}.${n}`,
        role: "user",
        at: n,
        parts: [{ type: "text", text: prose(n, 30) }],
      });
      const start = performance.now();
      build(budget);
      times.push(performance.now() - start);
    }
    windows.push(spreadOf(times));
  }
  return { windows, firstMs };
}

async function spread(act: (n: number) => Promise<void>): Promise<Spread> {
  const times: number[] = [];
  for (let n = 0; n < samples; n++) {
    const begin = performance.now();
    await act(n);
    times.push(performance.now() - begin);
  }
  return spreadOf(times);
}

function spreadOf(times: number[]): Spread {
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))] as number;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Bytes of what is stored, row by row: pages would count in fours of kilobytes. */
function weigh(at: string): number {
  const database = new DatabaseSync(at, { readOnly: true });
  const sum = (table: string) =>
    (Object.values(database.prepare(`SELECT sum(length(bytes)) FROM ${table}`).get() ?? {})[0] as
      | number
      | null) ?? 0;
  const bytes = sum("entry") + sum("snapshot") + sum("content");
  database.close();
  return bytes;
}
