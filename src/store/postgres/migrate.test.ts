import { afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase, type Database } from "../../../test/postgres/database.ts";
import { activityOf, begun, commitOn, committed, eventOf, sample } from "../conformance/sample.ts";
import { shardOf } from "../shard.ts";
import { identify, migrate } from "./migrate.ts";
import { migrations } from "./schema.ts";
import { shardedTables } from "./shards.ts";
import { postgres } from "./store.ts";

let database: Database;

beforeEach(async () => {
  database = await createDatabase();
});

afterEach(() => database.drop());

const opening = (schema?: string): Promise<unknown> =>
  postgres(database.url, schema === undefined ? {} : { schema })
    .open()
    .catch((error: unknown) => error);

const tablesOf = async (schema: string): Promise<unknown[]> =>
  (
    await database.query("SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY tablename", [schema])
  ).map(({ tablename }) => tablename);

const version = async (): Promise<unknown> =>
  (await database.query("SELECT version FROM holdfast.store_version"))[0]?.version;

test("an empty database is brought from version 0 to the newest, with a table for every word", async () => {
  await migrate(database.pool, "holdfast");
  expect(await version()).toBe(migrations.length);
  expect(await tablesOf("holdfast")).toEqual([
    ...[
      "activity",
      "attribute",
      "chunk",
      "content",
      "dead_letter",
      "document",
      "document_removed",
      "entry",
      "inbox",
      "index_mark",
      "indexed_text",
      "lease",
    ],
    ...["removal", "run", "seen_key", "snapshot", "store_version", "turn"],
  ]);
  expect(await tablesOf("public")).toEqual([]);
});

test("many that open an empty database at once make one store", async () => {
  const stores = Array.from({ length: 5 }, () => postgres(database.url));
  await Promise.all(stores.map((store) => store.open()));
  const { head } = await begun(stores[0]!);
  expect(await stores[4]!.readHead(sample)).toEqual(head);
  await Promise.all(stores.map((store) => store.close()));
});

test("schemas are stores of their own, whatever they are called", async () => {
  const names = ["holdfast", 'a "quoted"; name', "UPPER"];
  for (const [index, schema] of names.entries()) {
    const store = postgres(database.url, { schema });
    await store.open();
    await begun(store, { head: { machine: `machine ${index}` } });
    await store.close();
  }
  for (const [index, schema] of names.entries()) {
    const store = postgres(database.url, { schema });
    await store.open();
    expect((await store.readHead(sample))?.machine).toBe(`machine ${index}`);
    await store.close();
  }
});

test("a schema that was made beforehand is used as it is, by a role that may make none", async () => {
  await database.query(
    "CREATE SCHEMA prepared; CREATE ROLE guest LOGIN; GRANT ALL ON SCHEMA prepared TO guest",
  );
  const url = database.url.replace("holdfast@", "guest@");
  const store = postgres(url, { schema: "prepared" });
  await store.open();
  await begun(store);
  await store.close();
  const refused = await postgres(url, { schema: "other" })
    .open()
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "STORE_UNAVAILABLE", details: { state: "42501" } });
  expect((refused as Error).message).toContain("grant it the schema");
  await database.query("DROP OWNED BY guest; DROP ROLE guest");
});

test("a schema may have any name", async () => {
  const store = postgres(database.url, { schema: `it's "mine"` });
  await store.open();
  const { head, epoch } = await begun(store);
  await store.enqueue([eventOf("e1")]);
  // What waits for a run that ends becomes a dead letter, under a lock of the schema's own.
  await committed(store, commitOn(head, epoch, { head: { status: "done" } }));
  expect((await store.readDeadLetters(head.tenant, 0, 9)).length).toBe(1);
  await store.close();
});

test("later migrations are done in order, and what is there stays", async () => {
  await migrate(database.pool, "holdfast");
  await database.query("INSERT INTO holdfast.document VALUES ('acme', 'board', 1, '')");
  const steps = [
    ...migrations,
    (schema: string) => `CREATE TABLE ${schema}.later (a int); INSERT INTO ${schema}.later VALUES (1)`,
    (schema: string) => `UPDATE ${schema}.later SET a = a + 1`,
  ];
  await migrate(database.pool, "holdfast", steps);
  expect([await version(), (await database.query("SELECT a FROM holdfast.later"))[0]?.a]).toEqual([
    migrations.length + 2,
    2,
  ]);
  expect(await database.query("SELECT name FROM holdfast.document")).toEqual([{ name: "board" }]);
});

/** What a store holds of the sample run, in the words of the port. */
async function heldBy(partitions: number): Promise<unknown> {
  const store = postgres(database.url, { clock: "caller", partitions });
  await store.open();
  const loaded = await store.load(sample);
  const held = [
    loaded,
    await store.readJournal(sample, 1, 9),
    await store.findRuns({ tenant: "acme", limit: 9 }),
  ];
  await store.close();
  return held;
}

test.each([1, 16])("a store from before shards keeps what it has, in %i parts", async (partitions) => {
  await migrate(database.pool, "holdfast");
  const store = postgres(database.url, { clock: "caller" });
  await store.open();
  const plan = {
    withSnapshot: true,
    begun: [activityOf("a")],
    keys: ["k"],
    head: { attributes: { city: "Ulm" } },
  };
  const { epoch, head } = await begun(store, plan);
  await store.enqueue([eventOf("e1")]);
  await store.appendChunks(sample, "a", [{ offset: 0, attempt: 1, bytes: Buffer.from("piece") }], epoch);
  const before = await heldBy(1);
  await backToVersion5();
  // A row of a run that was removed and is not swept yet.
  await database.query(
    "INSERT INTO holdfast.entry (run_id, seq, at, digest, bytes) VALUES (999, 1, 0, '', '')",
  );
  expect(await heldBy(partitions)).toEqual(before);
  for (const table of shardedTables) {
    const rows = await database.query(`SELECT DISTINCT shard FROM holdfast.${table} WHERE run_id <> 999`);
    expect([table, rows]).toEqual([table, [{ shard: shardOf(sample) }]]);
  }
  const parts = await database.query(
    "SELECT count(*)::int FROM pg_inherits WHERE inhparent = 'holdfast.entry'::regclass",
  );
  expect(parts).toEqual([{ count: partitions === 1 ? 0 : partitions }]);
  expect(await store.commit([commitOn(head, epoch)])).toEqual([{ outcome: "committed" }]);
  await store.close();
});

/** Takes the newest version back from a store, as it was when it was made. */
async function backToVersion5(): Promise<void> {
  await migrate(database.pool, "older", migrations.slice(0, 5));
  const tables = ["run", "entry", "snapshot", "attribute", "inbox", "seen_key", "activity", "chunk", "lease"];
  for (const table of tables) {
    const columns = await database.query(
      `SELECT string_agg(quote_ident(attname), ', ') AS names FROM pg_attribute
        WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
      [`older.${table}`],
    );
    const names = columns[0]?.names;
    await database.query(`DELETE FROM older.${table}`);
    const overriding = table === "run" ? "OVERRIDING SYSTEM VALUE" : "";
    await database.query(
      `INSERT INTO older.${table} (${names}) ${overriding} SELECT ${names} FROM holdfast.${table}`,
    );
  }
  await database.query("SELECT setval('older.run_id_seq', 100)");
  await database.query("DROP SCHEMA holdfast CASCADE; ALTER SCHEMA older RENAME TO holdfast");
}

test("the database finds the same shard as everybody else", async () => {
  await migrate(database.pool, "holdfast");
  const names = [
    sample,
    { tenant: "", run: "" },
    { tenant: "a😀", run: "日本" },
    { tenant: "äö", run: "x".repeat(999) },
  ];
  for (const { tenant, run } of names) {
    const rows = await database.query("SELECT holdfast.shard_of($1, $2) AS shard", [tenant, run]);
    expect(rows).toEqual([{ shard: shardOf({ tenant, run }) }]);
  }
});

test("a migration that fails leaves the version before it", async () => {
  const steps = [...migrations, (schema: string) => `CREATE TABLE ${schema}.run (a int)`];
  await expect(migrate(database.pool, "holdfast", steps)).rejects.toThrow();
  expect(await tablesOf("holdfast")).toEqual([]);
  await migrate(database.pool, "holdfast");
  await expect(migrate(database.pool, "holdfast", steps)).rejects.toThrow();
  expect(await version()).toBe(migrations.length);
});

test("a store of a newer version is refused, with both versions, and left as it was", async () => {
  await migrate(database.pool, "holdfast");
  const newer = migrations.length + 2;
  await database.query(`UPDATE holdfast.store_version SET version = ${newer}`);
  const error = await opening();
  const details = { schema: "holdfast", version: newer, newest: migrations.length };
  expect(error).toMatchObject({ code: "STORE_NEWER", retry: "after-fix", details });
  expect((error as Error).message).toContain("use the newer Holdfast that wrote it");
  expect(await version()).toBe(newer);
  expect(await identify(database.pool, "holdfast", newer)).toBe(newer);
});

test("a schema with anything of another program's in it is refused, and left as it was", async () => {
  const others = [
    "CREATE TABLE theirs.run (a int)",
    "CREATE VIEW theirs.anything AS SELECT 1 AS a",
    "CREATE TABLE theirs.store_version (version int)",
    "CREATE TABLE theirs.store_version (program text, version int); INSERT INTO theirs.store_version VALUES ('other', 1)",
  ];
  for (const sql of others) {
    await database.query(`DROP SCHEMA IF EXISTS theirs CASCADE; CREATE SCHEMA theirs; ${sql}`);
    const before = await tablesOf("theirs");
    const error = await opening("theirs");
    expect(error, sql).toMatchObject({
      code: "STORE_FOREIGN",
      retry: "after-fix",
      details: { schema: "theirs" },
    });
    expect((error as Error).message).toContain("give the store a schema of its own");
    expect(await tablesOf("theirs")).toEqual(before);
  }
});
