import { inspect } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, createPool, type Database, openStore } from "../../../test/postgres/database.ts";
import { startServer } from "../../../test/postgres/server.ts";
import {
  begun,
  bytesOf,
  commitOn,
  committed,
  eventOf,
  firstCommit,
  noon,
  sample,
} from "../conformance/sample.ts";
import type { Lease, Store } from "../store.ts";
import { inTransaction } from "./connect.ts";
import { storeError } from "./errors.ts";
import { postgres } from "./store.ts";

let database: Database;
let store: Store;

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(() => database?.drop());

beforeEach(async () => {
  ({ store } = await openStore(database));
});

const failure = (url: string): Promise<unknown> =>
  postgres(url)
    .open()
    .catch((error: unknown) => error);

describe("a server that cannot be used", () => {
  test.each([
    ["nobody listens", "postgres://holdfast@127.0.0.1:1/none", "check that its server runs"],
    [
      "its socket is not there",
      "postgres://holdfast@localhost/none?host=/nowhere",
      "check that its server runs",
    ],
  ])("%s", async (_, url, advice) => {
    const error = await failure(url);
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    expect((error as Error).message).toContain(advice);
  });

  test("the address is none, and the password in it is not shown", async () => {
    const error = await failure("postgres://app:secret@host:port/agents");
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((error as Error).message).toContain("write postgres://user:password@host:port/database");
    expect(inspect(error, { depth: 9 })).not.toContain("secret");
  });

  test("the database does not exist", async () => {
    const error = await failure(database.url.replace(/test_\w+/, "nowhere"));
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", details: { state: "3D000" } });
    expect((error as Error).message).toContain("create it, or give another one");
  });

  test("the role is not let in", async () => {
    const error = await failure(database.url.replace("holdfast@", "nobody@"));
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", details: { state: "28000" } });
    expect((error as Error).message).toContain("check the user, the password");
  });

  test("the database has another encoding", async () => {
    await database.query(
      "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
    );
    const error = await failure(database.url.replace(/test_\w+/, "latin"));
    await database.query("DROP DATABASE latin WITH (FORCE)");
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((error as Error).message).toContain("use one that has UTF8");
  });

  test("a server that does not sync is refused, unless told that it may", async () => {
    const server = await startServer({ fsync: "off" });
    try {
      const error = await failure(server.url("postgres"));
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect((error as Error).message).toContain("fsync off");
      const careless = postgres(server.url("postgres"), { synchronous: "server" });
      await careless.open();
      await begun(careless);
      await careless.close();
    } finally {
      await server.stop();
    }
  });
});

describe("what is answered is on disk", () => {
  /** What `synchronous_commit` was when a transaction that wrote entries ended. */
  const settings = async (synchronous: "full" | "server", careless = "off"): Promise<unknown[]> => {
    await database.query(`CREATE TABLE witness (setting text);
      CREATE FUNCTION witness() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO witness VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER witness AFTER INSERT ON holdfast.entry DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION witness();
      CREATE CONSTRAINT TRIGGER witness AFTER INSERT ON holdfast.inbox DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION witness()`);
    const url = `${database.url}&options=${encodeURIComponent(`-c synchronous_commit=${careless}`)}`;
    const store = postgres(url, { synchronous, clock: "caller" });
    await store.open();
    const { epoch, head } = await begun(store);
    const next = await committed(store, commitOn(head, epoch));
    await committed(store, commitOn(next, epoch, { steps: 2 }));
    await store.enqueue([eventOf("e1")]);
    await store.close();
    const rows = await database.query("SELECT setting FROM witness");
    await database.query("DROP TABLE witness; DROP FUNCTION witness CASCADE");
    expect(rows.length).toBe(5);
    return [...new Set(rows.map(({ setting }) => setting))];
  };

  test.each([
    ["off", "on"],
    ["local", "on"],
    ["remote_write", "on"],
    ["remote_apply", "remote_apply"],
  ])("also if the role's setting says otherwise: %s becomes %s", async (careless, careful) => {
    expect(await settings("full", careless)).toEqual([careful]);
  });

  test("unless the store is told to take the settings as they are", async () => {
    expect(await settings("server")).toEqual(["off"]);
  });
});

describe("a pool that was given", () => {
  test("stays open when the store is closed, and its own ways of reading values change nothing", async () => {
    const pool = createPool(database.url);
    const parseBigint = pg.types.getTypeParser(20);
    pg.types.setTypeParser(20, (value) => `bigint ${value}`);
    const given = postgres(pool, { clock: "caller" });
    await given.open();
    const { head } = await begun(given);
    expect(await given.readHead(sample)).toEqual(head);
    await given.close();
    pg.types.setTypeParser(20, parseBigint);
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
    await expect(postgres(pool).open()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("a commit of many items, with all they can have, is one statement", async () => {
    const texts: string[] = [];
    const counting = {
      connect: () => database.pool.connect(),
      end: async () => {},
      query: (query: { text: string; values?: unknown[] }) => {
        texts.push(query.text);
        return database.pool.query(query);
      },
    };
    const counted = postgres(counting, { clock: "caller" });
    await counted.open();
    const { epoch, head } = await begun(counted);
    await counted.enqueue([eventOf("e1", { key: "k" })]);
    texts.length = 0;
    const runs = Array.from({ length: 50 }, (_, index) => ({ ...head, run: `run ${index}`, seq: 0 }));
    const commits = runs.map((run) =>
      commitOn(run, epoch, { withSnapshot: true, sends: [eventOf("e", run)] }),
    );
    await counted.commit([...commits, commitOn(head, epoch, { consumed: ["e1"] })]);
    expect(texts.length).toBe(1);
    await counted.load(sample);
    expect(texts.length).toBe(2);
  });
});

describe("when something goes wrong", () => {
  /** Makes every new entry fail as the server would. */
  async function failing<Answer>(state: string, body: () => Promise<Answer>): Promise<Answer> {
    await database.query(`CREATE FUNCTION failing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'planted' USING ERRCODE = '${state}'; END $$;
      CREATE TRIGGER failing AFTER INSERT ON holdfast.entry FOR EACH ROW EXECUTE FUNCTION failing()`);
    try {
      return await body();
    } finally {
      await database.query("DROP FUNCTION failing CASCADE");
    }
  }

  test.each([
    ["53100", "STORE_UNAVAILABLE", "make room and try again"],
    ["53300", "STORE_UNAVAILABLE", "raise max_connections"],
    ["57014", "STORE_UNAVAILABLE", "raise statement_timeout"],
    ["40P01", "STORE_UNAVAILABLE", "try again"],
    ["58030", "STORE_UNAVAILABLE", "check its server's disk"],
    ["XX001", "STORE_CORRUPT", "restore it from a backup"],
  ])(
    "I1: a commit that fails with %s changes nothing, is %s and says what to do",
    async (state, code, advice) => {
      const { epoch, head } = await begun(store);
      await store.enqueue([eventOf("e1")]);
      const commit = commitOn(head, epoch, { consumed: ["e1"], head: { status: "done" } });
      const error = await failing(state, () => store.commit([commit]).catch((thrown: unknown) => thrown));
      expect(error).toMatchObject({ code, details: { state } });
      expect((error as Error).message).toContain(advice);
      expect([await store.readHead(sample), await store.readInbox(sample, 9)]).toEqual([
        head,
        [eventOf("e1")],
      ]);
      expect(await store.commit([commit])).toEqual([{ outcome: "committed" }]);
    },
  );

  test("a server that can only be read says so", async () => {
    await begun(store);
    const url = `${database.url}&options=${encodeURIComponent("-c default_transaction_read_only=on")}`;
    const reader = postgres(url, { clock: "caller" });
    await reader.open();
    expect((await reader.readHead(sample))?.seq).toBe(1);
    await expect(reader.enqueue([eventOf("e1")])).rejects.toMatchObject({
      ...{ code: "STORE_UNAVAILABLE", details: { state: "25006" } },
    });
    await reader.close();
  });

  test("transactions that are not read committed are refused before anything is written", async () => {
    const { epoch, head } = await begun(store);
    const isolation = encodeURIComponent("-c default_transaction_isolation=serializable");
    const strict = postgres(`${database.url}&options=${isolation}`, { clock: "caller" });
    await strict.open();
    const error = await strict.commit([commitOn(head, epoch)]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", details: { state: "HF001" } });
    await strict.close();
  });

  test.each([
    ["a missing entry", "DELETE FROM holdfast.entry WHERE seq = 2"],
    ["a description that is not JSON", "UPDATE holdfast.run SET about = 'x'"],
    ["a number no one can have counted to", "UPDATE holdfast.entry SET seq = 1::bigint << 60 WHERE seq = 3"],
  ])("%s is damage, and is told as such", async (_, sql) => {
    const { epoch, head } = await begun(store);
    await committed(store, commitOn(head, epoch, { steps: 2 }));
    await database.query(sql);
    await expect(store.load(sample)).rejects.toMatchObject({ code: "STORE_CORRUPT", retry: "never" });
  });

  test("tables that are gone are damage too", async () => {
    await database.query("ALTER TABLE holdfast.document RENAME TO elsewhere");
    const reading = store.readDocument("acme", "board");
    await expect(reading).rejects.toMatchObject({ code: "STORE_CORRUPT", details: { state: "42P01" } });
    await database.query("ALTER TABLE holdfast.elsewhere RENAME TO document");
  });

  test("a connection that is lost between two statements of a transaction fails that transaction, and nothing else", async () => {
    const lost = inTransaction(database.pool, async (client) => {
      const { rows } = await client.query({ text: "SELECT pg_backend_pid() AS pid" });
      const died = new Promise<void>((told) => client.on?.("end", told));
      await database.query("SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
      await died;
      await client.query({ text: "SELECT 1" });
    });
    await expect(lost).rejects.toThrow("not queryable");
    expect(await database.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("a store that is not open says so; opening twice is opening once", async () => {
    await store.open();
    await begun(store);
    await store.close();
    await store.close();
    await expect(store.readHead(sample)).rejects.toThrow("is not open; call open() first");
    await expect(postgres(database.url).due(noon, 1)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("what is neither the server's nor the network's stays what it is", () => {
    const bug = new TypeError("a bug");
    expect(storeError(bug, "The store")).toBe(bug);
    expect(storeError("text", "The store")).toBe("text");
    const constraint = Object.assign(new Error("constraint"), { code: "23505", severity: "ERROR" });
    expect(storeError(constraint, "The store")).toBe(constraint);
  });
});

describe("the database's clock", () => {
  test("measures leases, whatever time the workers believe it is", async () => {
    const [first, second] = [postgres(database.url), postgres(database.url)];
    await first.open();
    await second.open();
    const lease = await first.own("a", 60_000, 5);
    expect(lease).toEqual({ outcome: "owned", epoch: 1, until: 60_005, outages: [] });
    const years = 1e12;
    const refused = await second.own("b", 60_000, years);
    expect(refused).toMatchObject({ outcome: "taken", owner: "a", epoch: 1 });
    // The rest of the lease, on the clock of whoever asked.
    expect(refused.until - years).toBeGreaterThan(0);
    expect(refused.until - years).toBeLessThanOrEqual(60_000);
    await first.release("a", 1, 9);
    const taken = await second.own("b", 60_000, years);
    expect(taken).toMatchObject({ outcome: "owned", epoch: 2, until: years + 60_000 });
    // Outages, too, are told by the clock of whoever asked.
    const [outage] = (taken as Extract<Lease, { outcome: "owned" }>).outages;
    expect(outage?.until).toBe(years);
    expect(years - (outage?.from as number)).toBeLessThan(60_000);
    await first.close();
    await second.close();
  });

  test("lets a lease lapse by itself", async () => {
    const clocked = postgres(database.url);
    await clocked.open();
    await clocked.own("a", 1, noon);
    let lease = await clocked.own("b", 1_000, noon);
    while (lease.outcome === "taken") lease = await clocked.own("b", 1_000, noon);
    expect(lease).toMatchObject({ outcome: "owned", epoch: 2 });
    await clocked.close();
  });
});

test.each(["hex", "escape"])(
  "bytes come back as they are, also where the server writes them as %s",
  async (output) => {
    const options = encodeURIComponent(`-c bytea_output=${output}`);
    const other = postgres(`${database.url}&options=${options}`, { clock: "caller" });
    await other.open();
    const { epoch, head } = await begun(other);
    const bytes = Uint8Array.from({ length: 1024 }, (_, index) => (index < 512 ? index : 0x5c));
    await committed(other, commitOn(head, epoch, { contents: [{ digest: "d", bytes }] }));
    const [read] = await other.readContents("acme", "ada", ["d"]);
    expect(read && Buffer.from(read.bytes).equals(Buffer.from(bytes))).toBe(true);
    await other.close();
  },
);

test("runs begin and go on where the server takes no NULL in arrays", async () => {
  const options = encodeURIComponent("-c array_nulls=off");
  const other = postgres(`${database.url}&options=${options}`, { clock: "caller" });
  await other.open();
  const { epoch, head } = await begun(other);
  // One that is known, and one that begins.
  const outcomes = await other.commit([
    commitOn(head, epoch, { contents: [{ digest: "d", bytes: bytesOf("x") }] }),
    firstCommit("another", epoch),
  ]);
  expect(outcomes).toEqual([{ outcome: "committed" }, { outcome: "committed" }]);
  expect((await other.readHead({ tenant: head.tenant, run: "another" }))?.seq).toBe(1);
  await other.close();
});

test("bytes of any size come back, together with none", async () => {
  const { epoch, head } = await begun(store);
  const large = new Uint8Array(3_000_000).fill(7);
  const contents = [
    { digest: "none", bytes: new Uint8Array(0) },
    { digest: "large", bytes: large },
    { digest: "small", bytes: bytesOf("x") },
  ];
  await committed(store, commitOn(head, epoch, { contents }));
  const read = await store.readContents("acme", "ada", ["small", "large", "none"]);
  expect(read.map(({ bytes }) => bytes.length)).toEqual([1, 3_000_000, 0]);
  expect(Buffer.from(read[1]!.bytes).equals(Buffer.from(large))).toBe(true);
});
