import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  begun,
  bytesOf,
  commitOn,
  committed,
  eventOf,
  headOf,
  noon,
  owned,
  sample,
  tenant,
} from "../conformance/sample.ts";
import { connect } from "./connect.ts";
import { identify, migrate } from "./migrate.ts";
import { migrations } from "./schema.ts";
import { sqlite } from "./store.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-"));
  path = join(folder, "runs.db");
});

afterEach(() => rmSync(folder, { recursive: true }));

const versionOf = (database: DatabaseSync): unknown =>
  database.prepare("PRAGMA user_version").get()?.user_version;
const tablesOf = (database: DatabaseSync): unknown[] =>
  database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
    .all()
    .map(({ name }) => name);

test("a new file is brought from version 0 to the newest, with a table for every word", () => {
  const database = connect(path);
  expect(versionOf(database)).toBe(migrations.length);
  expect(tablesOf(database)).toEqual([
    ...["activity", "attribute", "chunk", "content", "dead_letter", "document", "document_removed", "entry"],
    ...["inbox", "index_mark", "indexed_text"],
    // FTS5 keeps its words in tables of its own.
    ...["", "_config", "_content", "_data", "_idx"].map((part) => `indexed_word${part}`),
    ...["lease", "removal", "run", "seen_key", "snapshot"],
  ]);
  database.close();
});

test("a store that has the newest version is left as it was", async () => {
  const store = sqlite(path);
  await store.open();
  const { head } = await begun(store);
  await store.close();
  const before = readFileSync(path);
  connect(path).close();
  expect(readFileSync(path).equals(before)).toBe(true);
  await store.open();
  expect(await store.readHead(sample)).toEqual(head);
  await store.close();
});

describe("a store of version 1", () => {
  const head = headOf({ seq: 3, digest: "d3", updatedAt: noon + 3, subject: "ada" });
  const about = JSON.stringify({ version: head.version, hash: head.hash, attributes: {} });

  /** Two runs of three checkpoints, one of them done; each took the event of key `old`, and `e1` and `e2` wait. */
  beforeEach(() => {
    const database = new DatabaseSync(path);
    migrate(database, path, migrations.slice(0, 1));
    for (const [id, run, status] of [
      [1, "run-1", "active"],
      [2, "ended", "done"],
    ] as const) {
      database
        .prepare("INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 0, ?)")
        .run(id, tenant, run, "ada", head.machine, status, noon, about);
      for (const seq of [1, 2, 3])
        database.prepare("INSERT INTO entry VALUES (?, ?, ?, ?, x'00')").run(id, seq, noon + seq, `d${seq}`);
      for (const key of ["old", "waiting"])
        database.prepare("INSERT INTO seen_key VALUES (?, ?)").run(id, key);
      const open = status === "active" ? 1 : 0;
      const insertEvent = database.prepare("INSERT INTO inbox VALUES (?, ?, ?, ?, ?, ?, ?)");
      insertEvent.run(id, "e1", null, 1, noon, open, bytesOf("event e1"));
      insertEvent.run(id, "e2", "waiting", 2.5, noon, open, bytesOf("event e2"));
    }
    database.exec("UPDATE lease SET owner = 'worker-0', epoch = 4, taken_at = 5, until = 6");
    expect(versionOf(database)).toBe(1);
    database.close();
  });

  const rows = (run: string) => [
    eventOf("e2", { run, key: "waiting", priority: 2.5 }),
    eventOf("e1", { run, priority: 1 }),
  ];

  test("keeps its runs, and what waits has the subject of its run", async () => {
    const store = sqlite(path);
    await store.open();
    const loaded = await store.load(sample);
    expect([loaded?.head, loaded?.entries.length, loaded?.inbox]).toEqual([head, 3, rows("run-1")]);
    expect(await store.own("worker-1", 10, 7)).toEqual({
      outcome: "owned",
      epoch: 5,
      until: 17,
      outages: [{ from: 5, until: 7 }],
    });
    await store.close();
  });

  test("tells of keys it took that they were, and goes on with those that wait", async () => {
    const store = sqlite(path);
    await store.open();
    expect(await store.readKeys(sample, ["old", "waiting"])).toEqual([
      { key: "old", seq: 3 },
      { key: "waiting" },
    ]);
    const epoch = await owned(store);
    await committed(store, commitOn(head, epoch, { consumed: ["e2"] }));
    expect(await store.readKeys(sample, ["waiting"])).toEqual([{ key: "waiting", seq: 4 }]);
    await store.close();
  });

  test("has what waited for ended runs as dead letters", async () => {
    const store = sqlite(path);
    await store.open();
    const ended = { tenant, run: "ended" };
    expect([await store.readInbox(ended, 9), await store.readKeys(ended, ["old", "waiting"])]).toEqual([
      [],
      [{ key: "old", seq: 3 }],
    ]);
    const letters = await store.readDeadLetters(tenant, 0, 9);
    expect(letters).toEqual(
      rows("ended").map((row, index) => ({ ...row, number: index + 1, reason: "ended" })),
    );
    await store.close();
  });

  test("is changed as a whole or not at all", () => {
    const database = new DatabaseSync(path);
    const broken = [...migrations.slice(0, 1), `${migrations[1]}; INSERT INTO nowhere VALUES (1)`];
    expect(() => migrate(database, path, broken)).toThrow();
    expect([versionOf(database), tablesOf(database).includes("dead_letter")]).toEqual([1, false]);
    expect(database.prepare("SELECT count(*) AS count FROM inbox").get()?.count).toBe(4);
    database.close();
  });
});

test("later migrations are done in order, and what is there stays", () => {
  const steps = [
    ...migrations,
    "CREATE TABLE later (a); INSERT INTO later VALUES (1)",
    "UPDATE later SET a = a + 1",
  ];
  const database = connect(path);
  database.exec("INSERT INTO document VALUES ('acme', 'board', 1, x'00')");
  migrate(database, path, steps);
  expect(versionOf(database)).toBe(steps.length);
  expect(database.prepare("SELECT a FROM later").get()?.a).toBe(2);
  expect(database.prepare("SELECT count(*) AS count FROM document").get()?.count).toBe(1);
  database.close();
});

test("a migration that fails leaves the version before it", () => {
  const database = connect(path);
  const steps = [...migrations, "CREATE TABLE half (a)", "CREATE TABLE half (a)"];
  expect(() => migrate(database, path, steps)).toThrow();
  expect([versionOf(database), tablesOf(database).includes("half")]).toEqual([migrations.length, false]);
  expect(database.isTransaction).toBe(false);
  database.close();
});

test("a store of a newer version is refused, with both versions, and left as it was", async () => {
  const database = connect(path);
  database.exec(`PRAGMA user_version = ${migrations.length + 2}`);
  database.close();
  const before = readFileSync(path);
  const error: unknown = await sqlite(path)
    .open()
    .catch((thrown: unknown) => thrown);
  const details = { path, version: migrations.length + 2, newest: migrations.length };
  expect(error).toMatchObject({ code: "STORE_NEWER", retry: "after-fix", details });
  expect((error as Error).message).toContain("use the newer Holdfast that wrote it");
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("a store of a version that nobody writes is damaged, and left as it was", async () => {
  const database = connect(path);
  database.exec("PRAGMA user_version = -1");
  database.close();
  const before = readFileSync(path);
  await expect(sqlite(path).open()).rejects.toMatchObject({
    code: "STORE_CORRUPT",
    details: { version: -1 },
  });
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("a store that another process migrated further meanwhile is refused", () => {
  const database = connect(path);
  database.exec("PRAGMA user_version = 9");
  expect(() => migrate(database, path, migrations)).toThrow(expect.objectContaining({ code: "STORE_NEWER" }));
  expect(() => identify(database, path, 9)).not.toThrow();
  database.close();
});
