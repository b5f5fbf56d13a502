/** Many stores on one schema at once, each with connections of its own, as many processes have them. */
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
  commitOn,
  committed,
  eventOf,
  firstCommit,
  leaseMs,
  noon,
  owned,
  sample,
  tenant,
} from "../conformance/sample.ts";
import type { RunHead } from "../records.ts";
import type { CommitOutcome, Store } from "../store.ts";
import { postgres } from "./store.ts";

let database: Database;
let store: Store;
const pools: pg.Pool[] = [];
let stores: Store[];

beforeAll(async () => {
  database = await createDatabase();
  for (let count = 0; count < 6; count++) pools.push(createPool(database.url, 2));
});

afterAll(async () => {
  for (const pool of pools) await pool.end();
  await database?.drop();
});

beforeEach(async () => {
  ({ store } = await openStore(database));
  stores = pools.map((pool) => postgres(pool, { clock: "caller" }));
  for (const other of stores) await other.open();
});

afterEach(async () => {
  for (const other of stores) await other.close();
});

const all = <Answer>(call: (store: Store, index: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(stores.map(call));
const count = (items: readonly unknown[], item: unknown): number =>
  items.filter((other) => other === item).length;

test("I2: of many commits from one checkpoint one is made, over and over", async () => {
  let { epoch, head } = await begun(store);
  for (let round = 0; round < 20; round++) {
    const outcomes = (
      await all((other, by) => other.commit([commitOn(head, epoch, { head: { attributes: { by } } })]))
    ).flat();
    expect(
      count(
        outcomes.map(({ outcome }) => outcome),
        "committed",
      ),
    ).toBe(1);
    const winner = outcomes.findIndex(({ outcome }) => outcome === "committed");
    head = (await store.readHead(sample)) as RunHead;
    expect([head.seq, head.attributes]).toEqual([round + 2, { by: winner }]);
  }
});

test("I2: a run that many begin at once begins once, and those that lost leave nothing", async () => {
  const epoch = await owned(store);
  for (let round = 0; round < 10; round++) {
    const children = (by: number) => [
      firstCommit(`child-${round}-${by}`, epoch),
      firstCommit(`shared-${round}`, epoch),
    ];
    const outcomes = (
      await all((other, by) =>
        other.commit([firstCommit(`parent-${round}-${by}`, epoch, { starts: children(by) })]),
      )
    ).flat();
    expect(
      count(
        outcomes.map(({ outcome }) => outcome),
        "committed",
      ),
    ).toBe(1);
    for (const lost of outcomes.filter(({ outcome }) => outcome !== "committed"))
      expect(lost).toEqual({ outcome: "conflict", run: `shared-${round}`, seq: 1 });
    expect((await store.findRuns({ tenant, limit: 1_000 })).length).toBe(3 * (round + 1));
  }
  const [rows] = await database.query("SELECT count(*)::int AS runs FROM holdfast.run");
  expect(rows).toEqual({ runs: 30 });
});

test("I4: a key that many send at once is one event", async () => {
  await begun(store);
  for (let round = 0; round < 10; round++) {
    const outcomes = (
      await all((other, by) => other.enqueue([eventOf(`e-${round}-${by}`, { key: `k-${round}` })]))
    ).flat();
    expect([count(outcomes, "accepted"), count(outcomes, "duplicate")]).toEqual([1, 5]);
  }
  expect((await store.readInbox(sample, 99)).length).toBe(10);
});

test("I4: a key is either committed or enqueued, never both", async () => {
  let { epoch, head } = await begun(store);
  for (let round = 0; round < 20; round++) {
    const key = `k-${round}`;
    const commit = commitOn(head, epoch, { keys: [key] });
    const [[committing], [enqueued]] = await Promise.all([
      stores[0]!.commit([commit]),
      stores[1]!.enqueue([eventOf(key, { key })]),
    ]);
    expect([committing?.outcome, enqueued]).toBeOneOf([
      ["committed", "duplicate"],
      ["duplicate", "accepted"],
    ]);
    head = (await store.readHead(sample)) as RunHead;
  }
});

test("runs that send to each other at once never wait in a circle", async () => {
  const epoch = await owned(store);
  const runs = Array.from({ length: 6 }, (_, index) => `run-${index}`);
  await store.commit(runs.map((run) => firstCommit(run, epoch)));
  const take = async (other: Store, index: number): Promise<CommitOutcome[]> => {
    const outcomes: CommitOutcome[] = [];
    for (let step = 0; step < 15; step++) {
      const head = (await other.readHead({ tenant, run: runs[index]! })) as RunHead;
      const sends = runs.toReversed().map((run) => eventOf(`${index}-${step}`, { run }));
      const contents = ["d2", "d1"].map((digest) => ({
        digest: `${digest}-${step}`,
        bytes: new Uint8Array(9),
      }));
      outcomes.push(...(await other.commit([commitOn(head, epoch, { sends, contents })])));
    }
    return outcomes;
  };
  const outcomes = (await all(take)).flat();
  expect(outcomes.filter(({ outcome }) => outcome !== "committed")).toEqual([]);
  for (const run of runs) expect((await store.readInbox({ tenant, run }, 999)).length).toBe(6 * 15);
});

test("I4: an event sent while its run ends is refused, or becomes a dead letter", async () => {
  const epoch = await owned(store);
  for (let round = 0; round < 10; round++) {
    const run = `run-${round}`;
    const head = await committed(store, firstCommit(run, epoch));
    const answers = await all(async (other, by) => {
      if (by === 3) return other.commit([commitOn(head, epoch, { head: { status: "done" } })]);
      return other.enqueue([eventOf(`e-${by}`, { run })]);
    });
    const accepted = count(answers.flat(), "accepted");
    expect(accepted + count(answers.flat(), "ended")).toBe(5);
    const letters = await store.readDeadLetters(tenant, 0, 999);
    expect(letters.filter((letter) => letter.run === run).length).toBe(accepted);
    expect(await store.readInbox({ tenant, run }, 9)).toEqual([]);
  }
});

test("dead letters that many lose at once are read without gaps, whoever is still writing", async () => {
  const epoch = await owned(store);
  const lose = async (other: Store, by: number): Promise<void> => {
    let head = await committed(other, firstCommit(`run-${by}`, epoch));
    for (let step = 0; step < 15; step++)
      head = await committed(
        other,
        commitOn(head, epoch, { sends: [eventOf(`${by}-${step}`, { run: "none" })] }),
      );
  };
  let isWriting = true;
  const writing = all(lose).finally(() => {
    isWriting = false;
  });
  const seen: string[] = [];
  let last = 0;
  for (let more = true; more; ) {
    const isLastLook = !isWriting;
    const page = await store.readDeadLetters(tenant, last, 5);
    seen.push(...page.map(({ id }) => id));
    last = page.at(-1)?.number ?? last;
    more = page.length > 0 || !isLastLook;
  }
  await writing;
  expect(new Set(seen).size).toBe(6 * 15);
});

test("I2: once a new owner is told that it is one, nothing of the old one is written", async () => {
  let { epoch } = await begun(store);
  for (let round = 0; round < 10; round++) {
    const head = (await store.readHead(sample)) as RunHead;
    const [first, second] = [commitOn(head, epoch), commitOn(head, epoch, { steps: 2 })];
    const writing = [stores[0]!.commit([first]), stores[1]!.commit([second])];
    const lease = await stores[2]!.own(`worker-${round}`, leaseMs, noon + (round + 1) * 2 * leaseMs);
    const seq = (await store.readHead(sample))?.seq;
    const outcomes = (await Promise.all(writing)).flat();
    expect((await store.readHead(sample))?.seq).toBe(seq);
    expect(
      count(
        outcomes.map(({ outcome }) => outcome),
        "committed",
      ),
    ).toBe(seq === head.seq ? 0 : 1);
    epoch = lease.epoch;
  }
});

test("I2: a new owner waits for the commit that the old one is making", async () => {
  const { epoch, head } = await begun(store);
  await database.query(`CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$;
    CREATE TRIGGER pause AFTER INSERT ON holdfast.entry FOR EACH ROW EXECUTE FUNCTION pause()`);
  const client = await database.pool.connect();
  await client.query("SELECT pg_advisory_lock(42)");
  let isOwned = false;
  const committing = stores[0]!.commit([commitOn(head, epoch)]);
  await waiters(database, 1);
  const owning = stores[1]!.own("worker-2", leaseMs, noon + 2 * leaseMs).finally(() => {
    isOwned = true;
  });
  await waiters(database, 2, () => isOwned);
  const isFirst = isOwned;
  await client.query("SELECT pg_advisory_unlock(42)");
  client.release();
  const answers = [await committing, (await owning).epoch];
  await database.query("DROP FUNCTION pause CASCADE");
  expect([isFirst, ...answers]).toEqual([false, [{ outcome: "committed" }], epoch + 1]);
});

test("of many workers that want the lease at once one has it", async () => {
  for (let round = 0; round < 10; round++) {
    const leases = await all((other, by) => other.own(`worker-${by}`, leaseMs, noon + round * 2 * leaseMs));
    expect(
      count(
        leases.map(({ outcome }) => outcome),
        "owned",
      ),
    ).toBe(1);
    // Whoever had it keeps its epoch; anybody else begins a new one.
    const epochs = new Set(leases.map(({ epoch }) => epoch));
    expect(epochs.size).toBe(1);
    expect(Math.max(...epochs)).toBeLessThanOrEqual(round + 1);
  }
});

test("nothing is left in the connections that anybody depends on: no setting, no lock, one statement (A2)", async () => {
  const pool = createPool(database.url, 1);
  const left = async (): Promise<unknown> => {
    const text = `SELECT (SELECT count(*) FROM pg_prepared_statements)::int AS statements,
      (SELECT count(*) FROM pg_settings WHERE source = 'session')::int AS settings,
      (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory')::int AS locks,
      (SELECT count(*) FROM pg_class WHERE relpersistence = 't')::int AS temporary`;
    return (await pool.query(text)).rows[0];
  };
  const before = (await left()) as { readonly statements: number };
  const single = postgres(pool, { clock: "caller" });
  await single.open();
  const { epoch, head } = await begun(single, { sends: [eventOf("lost", { run: "nobody" })] });
  await single.enqueue([eventOf("e1")]);
  await single.commit([commitOn(head, epoch, { consumed: ["e1"] })]);
  const loaded = await single.load(sample);
  expect(loaded?.head.seq).toBe(2);
  await single.commit([commitOn(loaded!.head, epoch)]);
  await single.close();
  expect(await left()).toEqual({ ...before, statements: before.statements + 1 });
  await pool.end();
});

test("P1: a repair waits for runs before it holds the lease", async () => {
  const { epoch } = await begun(store);
  const client = await database.pool.connect();
  await client.query("BEGIN");
  const { rows } = await client.query("SELECT id FROM holdfast.run FOR UPDATE");
  const mended = store.mend([{ change: "rejoin", run: JSON.stringify([Number(rows[0].id)]) }], epoch);
  await waiters(database, 1);
  const free = client.query("SELECT 1 FROM holdfast.lease FOR UPDATE NOWAIT");
  await expect(free).resolves.toBeDefined();
  await client.query("COMMIT");
  client.release();
  expect(await mended).toBe(true);
});
