/**
 * What each index of the SQLite store saves, in a process of its own; prints JSON. For each one a copy of the same file
 * is made without it, and the verb that needs it is asked of both, through the store.
 */
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createRuntime, defineMachine, freezeStates } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { median } from "../process.ts";

export interface IndexFigures {
  readonly runs: number;
  readonly fileBytes: number;
  readonly figures: readonly {
    readonly index: string;
    /** The verb that was asked, and for what. */
    readonly asked: string;
    readonly withMs: number;
    readonly withoutMs: number;
    /** What it takes of the file. */
    readonly bytes: number;
  }[];
  /** Indexes that no question here needs. */
  readonly unmeasured: readonly string[];
}

type Store = ReturnType<typeof sqlite>;

interface Question {
  readonly index: string;
  readonly asked: string;
  ask(store: Store): Promise<unknown>;
}

const count = process.argv[2] === "true" ? 2_000 : 10_000;
/** How long each question is asked, again and again; its time is the median. */
const askedMs = 300;
const tenant = "default";
const middle = { tenant, run: `run-${count / 2}` };
const farAway = 8_000_000_000_000;
const find = (query: object) => (store: Store) => store.findRuns({ tenant, limit: 20, ...query });

const questions: readonly Question[] = [
  { index: "run_name", asked: "readHead", ask: (store) => store.readHead(middle) },
  { index: "run_wake", asked: "due, no timer is", ask: (store) => store.due(0, 100) },
  { index: "run_created", asked: "findRuns, the newest 20", ask: find({}) },
  { index: "run_subject", asked: "findRuns of a subject", ask: find({ subject: middle.run }) },
  { index: "run_machine", asked: "findRuns of a rare machine", ask: find({ machine: "rare" }) },
  { index: "run_status", asked: "findRuns of a rare status", ask: find({ status: "done" }) },
  { index: "attribute", asked: "findRuns by an attribute", ask: find({ attributes: { order: count / 2 } }) },
  { index: "entry_seq", asked: "readJournal", ask: (store) => store.readJournal(middle, 1, 10) },
  { index: "snapshot_seq", asked: "readAt", ask: (store) => store.readAt(middle, 1) },
  { index: "content_digest", asked: "readContents", ask: (store) => store.readContents(tenant, "s", ["c5"]) },
  { index: "inbox_id", asked: "readInbox", ask: (store) => store.readInbox(middle, 10) },
  { index: "inbox_at", asked: "due, all events of parked runs", ask: (store) => store.due(0, 100) },
  { index: "seen_key", asked: "readKeys", ask: (store) => store.readKeys(middle, ["key"]) },
  { index: "activity_key", asked: "load", ask: (store) => store.load(middle) },
  { index: "activity_waiting", asked: "due, no activity is", ask: (store) => store.due(0, 100) },
  { index: "activity_running", asked: "due, none was left behind", ask: (store) => store.due(0, 100) },
  { index: "chunk_offset", asked: "readChunks", ask: (store) => store.readChunks(middle, "1.0", 0, 10) },
  { index: "document_name", asked: "readDocument", ask: (store) => store.readDocument(tenant, "d5") },
  {
    index: "dead_letter_number",
    asked: "readDeadLetters of a small tenant",
    ask: (store) => store.readDeadLetters("small", 0, 10),
  },
];

const machineOf = (id: string) =>
  defineMachine({
    id,
    initial: "open",
    states: {
      open: { on: { add: {}, end: "closed" }, after: { "1000 days": "closed" } },
      closed: { type: "final" },
    },
  });
const [common, rare] = [machineOf("common"), machineOf("rare")];

freezeStates(false);
const directory = mkdtempSync(join(tmpdir(), "holdfast-indexes-"));
try {
  console.log(JSON.stringify(await measureAll(join(directory, "whole.db"))));
} finally {
  rmSync(directory, { recursive: true });
}

async function measureAll(whole: string): Promise<IndexFigures> {
  await build(whole);
  const fileBytes = statSync(whole).size;
  const figures: IndexFigures["figures"][number][] = [];
  for (const { index, asked, ask } of questions) {
    console.error(`${index} …`);
    const without = join(directory, "without.db");
    copyFileSync(whole, without);
    change(without, withoutIndex(index));
    const bytes = fileBytes - statSync(without).size;
    figures.push({
      index,
      asked,
      withMs: await time(whole, ask),
      withoutMs: await time(without, ask),
      bytes,
    });
    for (const part of ["", "-wal", "-shm"]) rmSync(without + part, { force: true });
  }
  const unmeasured = indexesOf(whole).filter((index) => questions.every((one) => one.index !== index));
  return { runs: count, fileBytes, figures, unmeasured };
}

/** Runs through the runtime, as users make them; then rows of every other kind, as many as there are runs. */
async function build(path: string): Promise<void> {
  const runtime = await createRuntime({ store: sqlite(path), machines: [common as never, rare as never] });
  const isRare = (n: number) => n % (count / 10) === 0;
  const start = async (n: number) => {
    const id = `run-${n}`;
    const run = await runtime.start(isRare(n) ? rare : common, { id, attributes: { order: n, kind: n % 7 } });
    await run.send("add", undefined, { key: "key" });
    if (isRare(n)) await run.send("end");
  };
  await Promise.all(Array.from({ length: count }, (_, n) => start(n)));
  await runtime.close();
  change(
    path,
    `INSERT INTO inbox (run_id, id, subject, priority, at, open, bytes)
       SELECT id, 'e' || id, subject, 0, created_at, 0, zeroblob(200) FROM run;
     INSERT INTO activity (run_id, key, activity, attempt, status, due_at, epoch, open, bytes)
       SELECT id, '1.0', 'tool', 1, CASE id % 2 WHEN 0 THEN 'waiting' ELSE 'running' END, ${farAway}, 1000, 1,
         zeroblob(200) FROM run;
     INSERT INTO snapshot (run_id, seq, bytes) SELECT id, 1, zeroblob(500) FROM run;
     INSERT INTO content (tenant, subject, digest, bytes)
       SELECT '${tenant}', 's', 'c' || id, zeroblob(1000) FROM run;
     INSERT INTO chunk (run_id, key, offset, attempt, bytes) SELECT id, '1.0', 0, 1, zeroblob(100) FROM run;
     INSERT INTO document (tenant, name, version, bytes) SELECT '${tenant}', 'd' || id, 1, zeroblob(100) FROM run;
     INSERT INTO dead_letter (tenant, run, id, subject, priority, at, reason, bytes)
       SELECT CASE id % 1000 WHEN 0 THEN 'small' ELSE '${tenant}' END, run, 'e' || id, subject, 0, 0, 'missing',
         zeroblob(100) FROM run;`,
  );
}

/** Tables that are their own index are made anew as ones that are not. */
function withoutIndex(index: string): string {
  if (index !== "attribute" && index !== "seen_key") return `DROP INDEX ${index}`;
  return `CREATE TABLE plain AS SELECT * FROM ${index}; DROP TABLE ${index}; ALTER TABLE plain RENAME TO ${index}`;
}

/** Changes a file that nobody has open, and leaves it packed, with everything in it. */
function change(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(`${sql}; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)`);
  database.close();
}

function indexesOf(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    .all();
  database.close();
  return rows.map(({ name }) => name as string);
}

async function time(path: string, ask: Question["ask"]): Promise<number> {
  const store = sqlite(path);
  await store.open();
  const times: number[] = [];
  for (const until = performance.now() + askedMs; performance.now() < until || times.length < 5; ) {
    const begun = performance.now();
    await ask(store);
    times.push(performance.now() - begun);
  }
  await store.close();
  return median(times);
}
