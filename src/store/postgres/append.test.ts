/** A1, A2: the short way to commit, and where it leads back to the long one. */
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, createPool, type Database, openStore } from "../../../test/postgres/database.ts";
import {
  begun,
  bytesOf,
  commitOn,
  committed,
  firstCommit,
  leaseMs,
  noon,
  sample,
} from "../conformance/sample.ts";
import type { Commit, Store } from "../store.ts";
import type { Query } from "./connect.ts";
import { postgres } from "./store.ts";

let database: Database;
let pool: pg.Pool;
let store: Store;
let other: Store;
/** What was asked of the database, by name or by what it calls. */
const asked: string[] = [];
/** How many of the next statements are undone in favour of another, as where two wait for each other. */
let undone = 0;
/** Whether the connection is lost under the next one. */
let isLost = false;

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(() => database?.drop());

beforeEach(async () => {
  ({ store: other } = await openStore(database));
  pool = createPool(database.url, 1);
  const watched = {
    connect: () => pool.connect(),
    end: async () => {},
    query: async (query: Query) => {
      asked.push(query.name?.replace(/\(.*/, " prepared") ?? /\w+(?=\()/.exec(query.text)?.[0] ?? query.text);
      if (isLost) {
        isLost = false;
        throw new Error("Connection terminated unexpectedly");
      }
      if (undone-- > 0) throw Object.assign(new Error("undone"), { code: "40P01", severity: "ERROR" });
      return pool.query(query);
    },
  };
  store = postgres(watched, { clock: "caller" });
  await store.open();
});

afterEach(() => pool.end());

async function askedBy(work: () => Promise<unknown>): Promise<string[]> {
  asked.length = 0;
  await work();
  return [...asked];
}

const one = ["holdfast.commit prepared"];

test("A1: a step of one run is one prepared statement, and steps of several runs are one call", async () => {
  let { epoch, head } = await begun(store);
  const second = await committed(store, firstCommit("run-2", epoch));
  for (let step = 0; step < 8; step++) {
    const commit = commitOn(head, epoch);
    expect(await askedBy(() => committed(store, commit))).toEqual(one);
    ({ head } = commit);
  }
  const both = [commitOn(head, epoch, { steps: 3 }), commitOn(second, epoch)];
  expect(await askedBy(() => store.commit(both))).toEqual(["append"]);
  expect((await other.load(sample))?.head).toEqual(both[0]?.head);
  expect((await other.readJournal(sample, 1, 99)).map(({ seq }) => seq)).toEqual(
    [...Array(12).keys()].map((n) => n + 1),
  );
});

test("A1: what comes back is what was given, whatever is in it", async () => {
  let { epoch, head } = await begun(store);
  const second = await committed(store, firstCommit("run-2", epoch));
  const odd = (commit: Commit): Commit => {
    const entries = commit.entries.map((entry) => ({
      ...entry,
      at: -0.1 - entry.seq,
      digest: `Ünï "{,}" \\ 日本 😀 ${entry.seq}`,
      bytes: bytesOf('\0\\x00{"}'),
    }));
    const newest = entries.at(-1)!;
    return { ...commit, entries, head: { ...commit.head, digest: newest.digest, updatedAt: newest.at } };
  };
  const alone = odd(commitOn(head, epoch));
  head = await committed(store, alone);
  const together = [odd(commitOn(head, epoch, { steps: 2 })), odd(commitOn(second, epoch))];
  await store.commit(together);
  expect(await other.readJournal(sample, 2, 9)).toEqual([...alone.entries, ...together[0]!.entries]);
});

test.each(["one", "many"])(
  "A1: another's step at the same checkpoint is a conflict, %s at a time",
  async (much) => {
    const { epoch, head } = await begun(store);
    const second = await committed(store, firstCommit("run-2", epoch));
    const theirs = commitOn(head, epoch, { head: { attributes: { by: "them" } } });
    await committed(other, theirs);
    const ours = [commitOn(head, epoch), ...(much === "many" ? [commitOn(second, epoch)] : [])];
    const outcomes = await store.commit(ours);
    expect(outcomes[0]).toEqual({ outcome: "conflict", run: "run-1", seq: 2 });
    expect(outcomes.slice(1)).toEqual(ours.slice(1).map(() => ({ outcome: "committed" })));
    expect(await other.readHead(sample)).toEqual(theirs.head);
  },
);

test.each(["one", "many"])("I2: a stale worker cannot append, %s at a time", async (much) => {
  const { epoch, head } = await begun(store);
  const second = await committed(store, firstCommit("run-2", epoch));
  await other.own("worker-2", leaseMs, noon + 2 * leaseMs);
  const ours = [commitOn(head, epoch), ...(much === "many" ? [commitOn(second, epoch)] : [])];
  expect(await store.commit(ours)).toEqual(ours.map(() => ({ outcome: "fenced", epoch: epoch + 1 })));
  expect(await other.readHead(sample)).toEqual(head);
});

test("I2: of commits under several epochs each is judged by its own", async () => {
  const { epoch, head } = await begun(store);
  const second = await committed(store, firstCommit("run-2", epoch));
  const next = (await other.own("worker-2", leaseMs, noon + 2 * leaseMs)).epoch;
  const newest = await committed(store, commitOn(head, next));
  // Now both are known again.
  expect((await store.load(second))?.head).toEqual(second);
  expect(await store.commit([commitOn(newest, next), commitOn(second, epoch)])).toEqual([
    { outcome: "committed" },
    { outcome: "fenced", epoch: next },
  ]);
  expect(await other.readHead(second)).toEqual(second);
});

test.each(["one", "many"])("A1: a run that was removed takes no step, %s at a time", async (much) => {
  const { epoch, head } = await begun(store);
  const second = await committed(store, firstCommit("run-2", epoch));
  await committed(other, commitOn(head, epoch, { head: { status: "done" } }));
  expect(await other.removeRuns([sample], epoch)).toEqual([true]);
  await other.sweep(1_000);
  const ours = [commitOn(head, epoch), ...(much === "many" ? [commitOn(second, epoch)] : [])];
  expect((await store.commit(ours))[0]).toEqual({ outcome: "conflict", run: "run-1", seq: 0 });
  expect(
    await database.query(
      "SELECT 1 FROM holdfast.entry e LEFT JOIN holdfast.run r ON r.id = e.run_id WHERE r.id IS NULL",
    ),
  ).toEqual([]);
});

test.each(["one", "many"])("A1: a place that was pruned takes no entry, %s at a time", async (much) => {
  const { epoch, head } = await begun(store);
  const second = await committed(store, firstCommit("run-2", epoch));
  let newest = head;
  for (const step of [1, 2, 3])
    newest = await committed(other, commitOn(newest, epoch, { withSnapshot: step === 2 }));
  expect(await other.pruneJournal(sample, 3, epoch)).toBe(true);
  while ((await other.sweep(1_000)) > 0);
  const ours = [commitOn(head, epoch), ...(much === "many" ? [commitOn(second, epoch)] : [])];
  expect((await store.commit(ours))[0]).toEqual({ outcome: "conflict", run: "run-1", seq: newest.seq });
  expect(await other.readHead(sample)).toEqual(newest);
});

test("a run that was removed and has begun anew takes the step that was made from it", async () => {
  const { epoch, head } = await begun(store);
  await committed(other, commitOn(head, epoch, { head: { status: "done" } }));
  expect(await other.removeRuns([sample], epoch)).toEqual([true]);
  const anew = await committed(other, firstCommit("run-1", epoch));
  const next = await committed(store, commitOn(anew, epoch));
  expect(await other.readHead(sample)).toEqual(next);
});

test("nothing is known any more once a connection was lost: the server may be another one", async () => {
  const { epoch, head } = await begun(store);
  const commit = commitOn(head, epoch);
  isLost = true;
  await expect(store.commit([commit])).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(await askedBy(() => committed(store, commit))).toEqual(["commit"]);
});

test("a run that was mended under another owner is not taken for what it was", async () => {
  const { head } = await begun(store, { head: { attributes: { colour: "red" } } });
  const tool = (await other.own("tool", leaseMs, noon + 2 * leaseMs)).epoch;
  const [run] = await other.scan("run", { limit: 1 });
  const blue = { ...head, attributes: { colour: "blue" } };
  expect(await other.mend([{ change: "set", run: run!.place, head: blue }], tool)).toBe(true);
  const { epoch } = await store.own("worker-2", leaseMs, noon + 4 * leaseMs);
  const red = await committed(store, commitOn(head, epoch));
  expect(await other.readHead(sample)).toEqual(red);
});

test("what the database undid in favour of another is made all the same", async () => {
  const { epoch, head } = await begun(store);
  const commit = commitOn(head, epoch);
  undone = 2;
  expect(await askedBy(() => committed(store, commit))).toEqual([...one, "commit", "commit"]);
  expect(await other.readHead(sample)).toEqual(commit.head);
  undone = Number.POSITIVE_INFINITY;
  await expect(store.readHead(sample)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
  undone = 0;
});

test("A2: a statement that the connection has lost is no error, and is not looked for again", async () => {
  let { epoch, head } = await begun(store);
  head = await committed(store, commitOn(head, epoch));
  await pool.query("DEALLOCATE ALL");
  expect(await askedBy(async () => (head = await committed(store, commitOn(head, epoch))))).toEqual([
    ...one,
    "append",
  ]);
  expect(await askedBy(async () => (head = await committed(store, commitOn(head, epoch))))).toEqual([
    "append",
  ]);
  expect(await other.readHead(sample)).toEqual(head);
});
