/**
 * A store of which one bit is not what was written. A real file is made once, with every kind of row in it; then bits
 * are flipped one at a time, and each time the production store and runtime open the file, go on with what is pending,
 * and say in what state every run is. That must be the state it would have been in anyway, or an error that says that
 * the store is damaged.
 *
 * By hand: `node --conditions=holdfast-source test/disk/bit-flip.ts --seed 7 --seeds 10000` flips so many random bits of the file,
 * and with `--stored` every bit of every stored value.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { createRuntime, defineMachine, isHoldfastError, type Run } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { createRandom } from "../generate/random.ts";

const keeper = defineMachine<{ sum: number; heard: number[]; lengths: number[]; got: string }>({
  id: "keeper",
  start: { sum: 0, heard: [], lengths: [], got: "" },
  initial: "open",
  on: {
    add: {
      update: (draft, { event }) => {
        draft.sum += event.data as number;
      },
    },
    read: { update: (draft, { event }) => void draft.lengths.push((event.data as string).length) },
    tell: {
      actions: { send: ({ event }) => ({ type: "hear", data: event.data as number, to: { run: "two" } }) },
    },
    hear: { update: (draft, { event }) => void draft.heard.push(event.data as number) },
  },
  states: {
    open: { on: { call: "calling", nap: "asleep" } },
    asleep: {
      after: {
        "1m": {
          target: "open",
          update: (draft) => {
            draft.sum += 1_000;
          },
        },
      },
    },
    calling: {
      invoke: {
        activity: "tool",
        input: ({ context }) => ({ sum: context.sum }),
        onDone: {
          target: "open",
          update: (draft, { event }) => {
            draft.got = event.data;
          },
        },
      },
    },
  },
});

const start = 1_700_000_000_000;

function countedIds(first: number): { next(): string; chance(): number } {
  let count = first;
  return { next: () => `id-${String(++count).padStart(6, "0")}`, chance: () => 0.5 };
}

/** Images are written where writing is cheap. */
export function scratchFolder(): string {
  return mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "holdfast-flip-"));
}

/** The bytes of a store in which an event, an activity and a timer wait, and one run is old enough for a snapshot. */
export async function makeFile(folder: string): Promise<Buffer> {
  const path = join(folder, "made.db");
  const store = sqlite(path);
  const clock = new VirtualClock(start);
  const machines = [{ machine: keeper as never, activities: { tool: () => new Promise(() => {}) } }];
  const runtime = await createRuntime({ store, clock, ids: countedIds(0), machines });
  const open = async (id: string) => (await runtime.start(keeper, { id })) as unknown as Run;
  const [one, two, three, four] = [
    await open("one"),
    await open("two"),
    await open("three"),
    await open("four"),
  ];
  const random = createRandom(1);
  const text = (length: number) =>
    Array.from({ length }, () => String.fromCharCode(random.between(33, 126))).join("");
  await one.send("read", text(7_000));
  for (let n = 0; n < 40; n++) await one.send("read", text(500));
  await one.send("add", 5, { key: "five" });
  await three.send("add", 7);
  await three.send("call");
  await four.send("nap");
  await two.send("add", 1);
  await clock.advance(1);
  // From here on the process is as good as dead: what it sends is delivered, and nobody is there to take it.
  const commit = store.commit.bind(store);
  let left = 1;
  store.commit = (...args) => (left-- > 0 ? commit(...args) : Promise.reject(new Error("the end")));
  await one.send("tell", 42);
  await clock.advance(1);
  await runtime.close().catch(() => {});
  return readFileSync(path);
}

/**
 * What the next process makes of a file: every run's state once nothing is pending, or the code of the error. With
 * `whole`, journals are read from their beginning, not only what leads to the newest state.
 */
async function observe(path: string, whole = true): Promise<string> {
  const clock = new VirtualClock(start + 3_600_000);
  const tool = (input: unknown) => JSON.stringify(input);
  const machines = [{ machine: keeper as never, activities: { tool: tool as never } }];
  const store = sqlite(path);
  /** What the runtime could not settle by itself, such as a run that it put aside. */
  const codes: string[] = [];
  const onProblem = ({ error }: { error: unknown }) => void codes.push(String(Object(error).code));
  try {
    const runtime = await createRuntime({ store, clock, ids: countedIds(1_000), machines, onProblem });
    await clock.advance(10);
    const states: unknown[] = [];
    for (const id of ["one", "two", "three", "four"]) {
      const run = await runtime.run(id);
      states.push(await run.state());
      const from = whole ? 1 : Math.max(1, (await run.head()).seq - 1);
      for await (const { seq } of run.journal(from)) void seq;
    }
    await runtime.close();
    return codes[0] ?? JSON.stringify(states);
  } catch (error) {
    return isHoldfastError(error) ? error.code : `no code: ${(error as Error).stack ?? error}`;
  } finally {
    await store.close();
  }
}

export interface Flips {
  flips: number;
  harmless: number;
  /** Told as a damaged store. */
  detected: number;
  /** Not seen by the runtime, and found by SQLite's own check of the file. */
  checked: number;
  readonly problems: string[];
}

const noFlips = (): Flips => ({ flips: 0, harmless: 0, detected: 0, checked: 0, problems: [] });

/** Judges what was seen of a file with one bit flipped. */
function judgeFlip(total: Flips, where: string, seen: string, good: string): void {
  total.flips++;
  if (seen === good) total.harmless++;
  else if (seen.startsWith("STORE_")) total.detected++;
  else {
    const from = [...seen].findIndex((letter, index) => letter !== good[index]);
    const what = seen.startsWith("[") ? `another state, …${seen.slice(from - 60, from + 60)}…` : seen;
    total.problems.push(`${where}: ${what}`);
  }
}

/** What SQLite's own check has against a file; a file it cannot even read has failed it. */
function isDamaged(path: string): boolean {
  const database = new DatabaseSync(path);
  try {
    return database.prepare("PRAGMA integrity_check").get()?.integrity_check !== "ok";
  } catch {
    return true;
  } finally {
    database.close();
  }
}

/** A value that a row holds. */
export interface Stored {
  readonly table: string;
  readonly column: string;
  readonly rowid: number;
  readonly bytes: Buffer;
}

/** Every value of bytes and every digest in a file: what users put in, and what vouches for it. */
export function readStored(file: Buffer, folder: string): Stored[] {
  const path = join(folder, "read.db");
  writeFileSync(path, file);
  const database = new DatabaseSync(path);
  try {
    const columns = database
      .prepare(
        `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema t JOIN pragma_table_info(t.name) c
          WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND (c.type = 'BLOB' OR c.name = 'digest')`,
      )
      .all() as unknown as Pick<Stored, "table" | "column">[];
    return columns.flatMap(({ table, column }) =>
      database
        .prepare(
          `SELECT rowid, CAST(${column} AS BLOB) AS bytes FROM ${table} WHERE ${column} IS NOT NULL ORDER BY rowid`,
        )
        .all()
        .map(({ rowid, bytes }) => ({
          ...{ table, column, rowid: rowid as number },
          bytes: Buffer.from(bytes as Uint8Array),
        })),
    );
  } finally {
    database.close();
  }
}

/** A file that each trial gets anew, and what is made of it when it is as it was written. */
async function pristine(
  file: Buffer,
  folder: string,
): Promise<{ path: string; renew(bytes?: Buffer): void; good: string }> {
  const path = join(folder, "flipped.db");
  const renew = (bytes = file) => {
    for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
    writeFileSync(path, bytes);
  };
  renew();
  const good = await observe(path);
  if (!good.startsWith("[")) throw new Error(`The file cannot be read as it was written: ${good}`);
  return { path, renew, good };
}

function withFlip(bytes: Buffer, bit: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
  return flipped;
}

/** Whether a value can be one that only the past is read from. */
const isPast = ({ table }: Stored): boolean => table === "entry" || table === "content";

/** Flips these bits of stored values, each in a file of its own. */
export async function flipStored(
  file: Buffer,
  folder: string,
  flips: Iterable<{ readonly stored: Stored; readonly bit: number }>,
): Promise<Flips> {
  const { path, renew, good } = await pristine(file, folder);
  const total = noFlips();
  for (const { stored, bit } of flips) {
    const { table, column, rowid, bytes } = stored;
    renew();
    const database = new DatabaseSync(path);
    const value = column === "digest" ? "CAST(? AS TEXT)" : "?";
    database
      .prepare(`UPDATE ${table} SET ${column} = ${value} WHERE rowid = ?`)
      .run(withFlip(bytes, bit), rowid);
    database.close();
    judgeFlip(
      total,
      `bit ${bit} of ${table}.${column} in row ${rowid}`,
      await observe(path, isPast(stored)),
      good,
    );
  }
  return total;
}

/**
 * Flips these bits of the file itself. A name in an index that is no longer what its row says can make a run look as if
 * it were not there, or were a step younger; nothing that reads by the index can see that, and SQLite's check does.
 */
export async function flipFile(file: Buffer, folder: string, bits: Iterable<number>): Promise<Flips> {
  const { path, renew, good } = await pristine(file, folder);
  const total = noFlips();
  for (const bit of bits) {
    renew(withFlip(file, bit));
    const before = total.problems.length;
    judgeFlip(total, `bit ${bit} of the file`, await observe(path), good);
    if (total.problems.length === before) continue;
    renew(withFlip(file, bit));
    if (!isDamaged(path)) continue;
    total.problems.pop();
    total.checked++;
  }
  return total;
}

/** Shows how far it is, now and then. */
function* shown<Item>(items: Iterable<Item>, count: number): Generator<Item> {
  let done = 0;
  for (const item of items) {
    if (done++ % 100 === 0) process.stderr.write(`\r${done - 1} of ${count} bits`);
    yield item;
  }
  process.stderr.write("\n");
}

/** Every bit of every stored value, in order. */
function allBits(values: readonly Stored[]): { stored: Stored; bit: number }[] {
  return values.flatMap((stored) =>
    Array.from({ length: stored.bytes.length * 8 }, (_, bit) => ({ stored, bit })),
  );
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      seeds: { type: "string", default: "1000" },
      stored: { type: "boolean", default: false },
    },
  });
  const folder = scratchFolder();
  try {
    const file = await makeFile(folder);
    const random = createRandom(Number(values.seed));
    console.log(`seed ${values.seed}, a file of ${file.length} bytes`);
    const every = values.stored ? allBits(readStored(file, folder)) : [];
    const drawn = Array.from({ length: Number(values.seeds) }, () => random.below(file.length * 8));
    const { flips, harmless, detected, checked, problems } = values.stored
      ? await flipStored(file, folder, shown(every, every.length))
      : await flipFile(file, folder, shown(drawn, drawn.length));
    for (const problem of problems) console.log(problem.slice(0, 400));
    console.log(
      `${flips} bits flipped: ${harmless} harmless, ${detected} detected, ${checked} found by SQLite's check, ${problems.length} unseen`,
    );
    process.exitCode = problems.length === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
