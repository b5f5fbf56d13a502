/** What comes while another call is under way, which is held up at a chosen moment. */
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  createDatabase,
  createPool,
  type Database,
  openStore,
  waiters,
} from "../../../test/postgres/database.ts";
import {
  begun,
  bytesOf,
  commitOn,
  committed,
  firstCommit,
  leaseMs,
  noon,
  sample,
  tenant,
  worker,
} from "../conformance/sample.ts";
import { fleetOf } from "../fleet.ts";
import type { Store } from "../store.ts";
import type { Query } from "./connect.ts";
import { postgres } from "./store.ts";

let database: Database;
let pool: pg.Pool;
/** One that is held up, and one that goes on. */
let slow: Store;
let store: Store;
/** What is done before the slow one calls a function of this name, once. */
let first: { readonly name: string; act(): Promise<unknown> } | undefined;

beforeAll(async () => {
  database = await createDatabase();
  pool = createPool(database.url);
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

beforeEach(async () => {
  ({ store } = await openStore(database));
  const delayed = {
    connect: () => pool.connect(),
    end: async () => {},
    query: async (query: Query) => {
      if (first !== undefined && query.text.includes(`.${first.name}(`)) {
        const { act } = first;
        first = undefined;
        await act();
      }
      return pool.query(query);
    },
  };
  slow = postgres(delayed, { clock: "caller" });
  await slow.open();
});

afterEach(async () => {
  await slow.close();
  await store.close();
});

/** Calls once somebody has written to a table and waits with its transaction open, then lets that one go on. */
async function whileWriting<Answer>(
  table: string,
  writing: () => Promise<unknown>,
  call: () => Promise<Answer>,
): Promise<{ readonly hasWaited: boolean; readonly answer: Answer }> {
  await database.query(`CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$;
    CREATE TRIGGER pause AFTER INSERT ON holdfast.${table} FOR EACH ROW EXECUTE FUNCTION pause()`);
  const client = await database.pool.connect();
  await client.query("SELECT pg_advisory_lock(42)");
  const written = writing();
  await waiters(database, 1);
  let isOver = false;
  const called = call().finally(() => {
    isOver = true;
  });
  await waiters(database, 2, () => isOver);
  const hasWaited = !isOver;
  await client.query("SELECT pg_advisory_unlock(42)");
  client.release();
  await written;
  const answer = await called;
  await database.query("DROP FUNCTION pause CASCADE");
  return { hasWaited, answer };
}

/** Calls while a statement of somebody's has been made and its transaction is open. */
async function whileOpen<Answer>(statement: string, values: unknown[], call: () => Promise<Answer>) {
  const client = await database.pool.connect();
  await client.query("BEGIN");
  const { rows } = await client.query(statement, values);
  let isOver = false;
  const called = call().finally(() => {
    isOver = true;
  });
  await waiters(database, 1, () => isOver);
  const hasWaited = !isOver;
  await client.query("COMMIT");
  client.release();
  return { hasWaited, made: rows[0], answer: await called };
}

test("contents that a run begins with stay, though the last one that had them is swept meanwhile", async () => {
  const contents = [{ digest: "d1", bytes: bytesOf("large") }];
  const { epoch, head } = await begun(store, { contents });
  await committed(store, commitOn(head, epoch, { head: { status: "done" } }));
  expect(await store.removeRuns([sample], epoch)).toEqual([true]);
  await whileWriting(
    "seen_key",
    () => slow.commit([firstCommit("run-2", epoch, { contents, keys: ["k"] })]),
    () => store.sweep(1_000),
  );
  while ((await store.sweep(1_000)) > 0);
  expect(await store.readContents(tenant, head.subject, ["d1"])).toEqual(contents);
});

test("a run that is there stays when another of the same call turns out to have begun meanwhile", async () => {
  const { epoch, head } = await begun(store);
  const { answer } = await whileWriting(
    "entry",
    () => slow.commit([firstCommit("run-2", epoch)]),
    () => store.commit(["run-1", "run-2", "run-3"].map((run) => firstCommit(run, epoch))),
  );
  expect(answer).toEqual([
    { outcome: "conflict", run: "run-1", seq: 1 },
    { outcome: "conflict", run: "run-2", seq: 1 },
    { outcome: "committed" },
  ]);
  expect(await store.readHead(sample)).toEqual(head);
});

test("U2: what a fork of a fork is worked out from is not removed while that begins", async () => {
  let { epoch, head } = await begun(store);
  head = await committed(store, commitOn(head, epoch, { head: { status: "done" } }));
  const fork = (run: string, of: string, seq: number) =>
    firstCommit(run, epoch, { head: { fork: { run: of, seq } } });
  const second = await committed(store, fork("run-2", "run-1", 1));
  // From here on it needs its source no more.
  await committed(store, commitOn(second, epoch, { withSnapshot: "kept" }));
  const { answer } = await whileWriting(
    "entry",
    () => slow.commit([fork("run-3", "run-2", 1)]),
    () => store.removeRuns([sample], epoch),
  );
  expect(answer).toEqual([false]);
  expect(await store.readHead(sample)).toEqual(head);
});

test("a lease that its owner renews meanwhile is not taken from it", async () => {
  const { epoch } = await begun(store);
  const late = noon + 2 * leaseMs;
  first = { name: "own_all", act: () => store.own(worker, leaseMs, late) };
  expect(await slow.own("worker-2", leaseMs, late)).toEqual({
    ...{ outcome: "taken", owner: worker, epoch, until: late + leaseMs },
  });
});

test("two that join in the same moment have an epoch each", async () => {
  const join = (at: Store, name: string) => fleetOf(at)?.join(name, leaseMs, noon);
  first = { name: "join_fleet", act: async () => join(store, "a") };
  expect(await join(slow, "b")).toMatchObject({ outcome: "owned", epoch: 2 });
  const sign = { isLeaving: false, slots: 0, running: 0, waiting: 0 };
  const members = await fleetOf(store)?.beat(2, leaseMs, sign, noon);
  expect(members?.map(({ worker: name, epoch }) => [name, epoch])).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
});

test("a document that is written anew while it is removed has a version it never had", async () => {
  for (const version of [0, 1]) await store.writeDocument(tenant, "board", version, bytesOf("old"));
  const { made, answer } = await whileOpen(
    "SELECT holdfast.remove_document(true, $1, 'board', 2) AS removed",
    [tenant],
    () => store.writeDocument(tenant, "board", 0, bytesOf("new")),
  );
  expect([made, answer]).toEqual([{ removed: true }, true]);
  expect(await store.readDocument(tenant, "board")).toEqual({ version: 3, bytes: bytesOf("new") });
});

test.each([0, 1])(
  "U3: whoever writes a document of version %i comes after what is removed by it",
  async (version) => {
    const { epoch, head } = await begun(store);
    await committed(store, commitOn(head, epoch, { head: { status: "done" } }));
    if (version > 0) await store.writeDocument(tenant, "holds", 0, bytesOf("held"));
    const seen = JSON.stringify([{ tenant, name: "holds", version }]);
    const { hasWaited, made, answer } = await whileOpen(
      "SELECT holdfast.remove_runs(true, $1, $2, $3) AS removed",
      [epoch, JSON.stringify([sample]), seen],
      () => store.writeDocument(tenant, "holds", version, bytesOf("held now")),
    );
    expect([hasWaited, made, answer]).toEqual([true, { removed: [true] }, true]);
    expect((await store.readDocument(tenant, "holds"))?.version).toBe(version + 1);
  },
);
