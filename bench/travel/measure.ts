/** Measures travel in one long run, in a process of its own; prints JSON. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createRuntime, defineMachine, type Run } from "holdfast";
import { sqlite } from "holdfast/sqlite";

export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

export interface TravelFigures {
  readonly state: Spread;
  readonly fork: Spread;
  /** What one more fork adds to the rows of the store. */
  readonly forkBytes: number;
  /** What the snapshots that are kept weigh beside the journal. */
  readonly keptShare: number;
}

/** An order that is changed again and again: a state of some hundred bytes, and entries of some more than that. */
const ledger = defineMachine<{ total: number; last: string; items: Record<string, number> }>({
  id: "ledger",
  start: { total: 0, last: "", items: {} },
  initial: "open",
  states: {
    open: {
      on: {
        add: {
          update: (draft, { event }) => {
            const { item, count } = event.data as { item: string; count: number };
            draft.items[item] = (draft.items[item] ?? 0) + count;
            draft.total += count;
            draft.last = item;
          },
        },
      },
    },
  },
});

const samples = 400;
const forks = 50;
const batch = 500;

const steps = Number(process.argv[2]);
const directory = mkdtempSync(join(tmpdir(), "holdfast-travel-"));
const path = join(directory, "travel.db");
try {
  await build(path, steps);
  const runtime = await createRuntime({ store: sqlite(path), machines: [ledger] });
  const run = (await runtime.run("long")) as unknown as Run;
  const draw = random(7);
  const state = await spread(samples, async () => void (await run.at(1 + Math.floor(draw() * steps))));
  const before = weigh(path);
  const fork = await spread(forks, async (n) => {
    await run.fork({ at: 1 + Math.floor(draw() * steps), id: `fork ${n}` });
  });
  const after = weigh(path);
  await runtime.close();
  const forkBytes = Math.round((after.rows - before.rows) / forks);
  console.log(
    JSON.stringify({
      state,
      fork,
      forkBytes,
      keptShare: before.kept / before.journal,
    } satisfies TravelFigures),
  );
} finally {
  rmSync(directory, { recursive: true });
}

/** In batches, each one commit: what is measured is how it is read. */
async function build(at: string, count: number): Promise<void> {
  const runtime = await createRuntime({ store: sqlite(at), machines: [ledger] });
  const run = await runtime.start(ledger, { id: "long" });
  for (let from = 1; from < count; from += batch) {
    const length = Math.min(batch, count - from);
    const events = Array.from({ length }, (_, n) => {
      return { type: "add", data: { item: `item ${(from + n) % 40}`, count: (from + n) % 9 } };
    });
    await run.sendAll(events);
    // A batch too large for one turn is durable before it is taken.
    while ((await run.head()).seq < from + length) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await runtime.close();
}

async function spread(count: number, act: (n: number) => Promise<void>): Promise<Spread> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const begin = performance.now();
    await act(n);
    times.push(performance.now() - begin);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(count - 1, Math.floor(share * count))] as number;
  return { p50: at(0.5), p99: at(0.99), most: at(1) };
}

/** Bytes of what is stored, row by row: pages would count in fours of kilobytes. */
function weigh(at: string): { readonly journal: number; readonly kept: number; readonly rows: number } {
  const database = new DatabaseSync(at, { readOnly: true });
  const sum = (sql: string) => (Object.values(database.prepare(sql).get() ?? {})[0] as number | null) ?? 0;
  const journal = sum("SELECT sum(length(bytes)) FROM entry");
  const kept = sum("SELECT sum(length(bytes)) FROM snapshot");
  const contents = sum("SELECT sum(length(bytes)) FROM content");
  const heads = sum("SELECT sum(length(about)) FROM run");
  database.close();
  return { journal, kept, rows: journal + kept + contents + heads };
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
