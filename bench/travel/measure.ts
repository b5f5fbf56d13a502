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
  /** Processor time of those forks: what no disk and no other process can be blamed for. */
  readonly forkCpu: Spread;
  /** One insert by hand of as many bytes, synced, after each fork. */
  readonly raw: Spread;
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
/** Enough that the 99th of a hundred is not the slowest of all. */
const forks = 400;
const batch = 500;

const steps = Number(process.argv[2]);
const directory = mkdtempSync(join(tmpdir(), "holdfast-travel-"));
const path = join(directory, "travel.db");
try {
  await build(path, steps);
  const runtime = await createRuntime({ store: sqlite(path), machines: [ledger] });
  const run = (await runtime.run("long")) as unknown as Run;
  const draw = random(7);
  const anywhere = () => 1 + Math.floor(draw() * steps);
  const state = await times(samples, async () => void (await run.at(anywhere())));
  const before = weigh(path);
  const forked = await forkBesideRaw((n) => run.fork({ at: anywhere(), id: `fork ${n}` }));
  const after = weigh(path);
  await runtime.close();
  const forkBytes = Math.round((after.rows - before.rows) / forks);
  console.log(
    JSON.stringify({
      state: spread(state),
      ...forked,
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

async function times(count: number, act: (n: number) => Promise<unknown>): Promise<number[]> {
  const list: number[] = [];
  for (let n = 0; n < count; n++) {
    const begin = performance.now();
    await act(n);
    list.push(performance.now() - begin);
  }
  return list;
}

/** Forks, and after each an insert by hand in a file beside it: so both meet the same disk at the same moments. */
async function forkBesideRaw(
  fork: (n: number) => Promise<unknown>,
): Promise<Pick<TravelFigures, "fork" | "forkCpu" | "raw">> {
  const database = new DatabaseSync(join(directory, "raw.db"));
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE row (id INTEGER, body TEXT)",
  );
  const insert = database.prepare("INSERT INTO row VALUES (?, ?)");
  const lists = { fork: [] as number[], forkCpu: [] as number[], raw: [] as number[] };
  for (let n = 0; n < forks; n++) {
    const cpu = process.cpuUsage();
    lists.fork.push(...(await times(1, () => fork(n))));
    const { user, system } = process.cpuUsage(cpu);
    lists.forkCpu.push((user + system) / 1_000);
    lists.raw.push(...(await times(1, async () => insert.run(n, "x".repeat(350)))));
  }
  database.close();
  return { fork: spread(lists.fork), forkCpu: spread(lists.forkCpu), raw: spread(lists.raw) };
}

function spread(list: readonly number[]): Spread {
  const sorted = list.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(list.length - 1, Math.floor(share * list.length))] as number;
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
