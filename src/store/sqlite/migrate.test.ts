import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { begun, sample } from "../conformance/sample.ts";
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
    ...["activity", "attribute", "chunk", "content", "document", "entry"],
    ...["inbox", "lease", "run", "seen_key", "snapshot"],
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

test("a store that another process migrated further meanwhile is refused", () => {
  const database = connect(path);
  database.exec("PRAGMA user_version = 9");
  expect(() => migrate(database, path, migrations)).toThrow(expect.objectContaining({ code: "STORE_NEWER" }));
  expect(() => identify(database, path, 9)).not.toThrow();
  database.close();
});
