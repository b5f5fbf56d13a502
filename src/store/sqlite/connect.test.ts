import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isHoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { begun, commitOn, committed } from "../conformance/sample.ts";
import { connect } from "./connect.ts";
import { storeError } from "./errors.ts";
import { sqlite } from "./store.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-"));
  path = join(folder, "runs.db");
});

afterEach(() => rmSync(folder, { recursive: true }));

function pragmas(options?: { synchronous: "full" | "normal" }): Record<string, unknown> {
  const database = connect(path, options);
  const names = [
    "journal_mode",
    "synchronous",
    "busy_timeout",
    "fullfsync",
    "foreign_keys",
    "trusted_schema",
    "cell_size_check",
    "checkpoint_fullfsync",
    "journal_size_limit",
  ];
  const read = names.map((name) => [name, Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]]);
  database.close();
  return Object.fromEntries(read);
}

const failure = async (where: string): Promise<unknown> =>
  sqlite(where)
    .open()
    .catch((error: unknown) => error);

describe("a connection", () => {
  test("has a write-ahead log, syncs every commit and waits for other writers", () => {
    expect(pragmas()).toEqual({
      journal_mode: "wal",
      synchronous: 2,
      busy_timeout: 5_000,
      fullfsync: 1,
      foreign_keys: 0,
      trusted_schema: 0,
      cell_size_check: 1,
      checkpoint_fullfsync: 1,
      journal_size_limit: limits.logBytesMax,
    });
  });

  test("syncs less when told that it may", () => {
    expect(pragmas({ synchronous: "normal" })).toMatchObject({
      journal_mode: "wal",
      synchronous: 1,
      fullfsync: 0,
    });
  });

  test("leaves one file behind when it is closed", async () => {
    const store = sqlite(path);
    await store.open();
    const { epoch, head } = await begun(store);
    await committed(store, commitOn(head, epoch));
    await store.close();
    expect(readdirSync(folder)).toEqual(["runs.db"]);
  });
});

describe("a path that cannot be a store", () => {
  test("in a folder that does not exist", async () => {
    const error = await failure(join(folder, "none", "runs.db"));
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    expect((error as Error).message).toContain("check that its folder exists");
  });

  test("that is a folder", async () => {
    mkdirSync(path);
    expect(await failure(path)).toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("that is not a database, and is left as it was", async () => {
    const text = "Dear diary, this is no database. ".repeat(100);
    writeFileSync(path, text);
    const error = await failure(path);
    expect(error).toMatchObject({ code: "STORE_FOREIGN", retry: "after-fix", details: { path } });
    expect((error as Error).message).toContain("give another path, or restore it");
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("that is another program's database, and is left as it was", async () => {
    for (const sql of ["CREATE TABLE mine (a)", "PRAGMA user_version = 3", "PRAGMA application_id = 7"]) {
      rmSync(path, { force: true });
      const other = new DatabaseSync(path);
      other.exec(sql);
      other.close();
      const before = readFileSync(path);
      expect(await failure(path), sql).toMatchObject({ code: "STORE_FOREIGN" });
      expect(readFileSync(path).equals(before)).toBe(true);
    }
  });

  test("that was cut to no bytes while its log is there, and both are left as they were", async () => {
    const store = sqlite(path);
    await store.open();
    const { epoch, head } = await begun(store);
    await committed(store, commitOn(head, epoch));
    // What a crash leaves: a file and a log.
    for (const part of ["", "-wal"]) copyFileSync(path + part, `${path}.copy${part}`);
    await store.close();
    writeFileSync(`${path}.copy`, "");
    const log = readFileSync(`${path}.copy-wal`);
    expect(log.length).toBeGreaterThan(0);
    expect(await failure(`${path}.copy`)).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining("cut to no bytes"),
    });
    expect([readFileSync(`${path}.copy`).length, readFileSync(`${path}.copy-wal`)]).toEqual([0, log]);
  });

  test("that can only be read", async () => {
    connect(path).close();
    const error = await failure(`file:${path}?mode=ro`);
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((error as Error).message).toContain("give this process the right to write");
  });

  test("that has no write-ahead log, as memory has none", async () => {
    const error = await failure(":memory:");
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", details: { mode: "memory" } });
  });
});

describe("a damaged file", () => {
  test("is told as such, whichever page is overwritten", async () => {
    const store = sqlite(path);
    await store.open();
    let { epoch, head } = await begun(store);
    for (let step = 0; step < 50; step++) head = await committed(store, commitOn(head, epoch));
    await store.close();
    const good = readFileSync(path);
    const size = statSync(path).size;
    const codes = new Set<unknown>();
    for (let at = 0; at < size; at += 4_096) {
      const damaged = Buffer.from(good);
      damaged.fill(0xa5, at, at + 4_096);
      writeFileSync(path, damaged);
      codes.add(await codeOfReading());
    }
    writeFileSync(path, good.subarray(0, size / 2));
    codes.add(await codeOfReading());
    expect([...codes].filter((code) => code !== "readable").sort()).toEqual([
      "STORE_CORRUPT",
      "STORE_FOREIGN",
    ]);
  });

  test("is not told as a backup: its copy is looked at, and what is damaged does not stay", async () => {
    const store = sqlite(path);
    await store.open();
    await begun(store);
    await store.close();
    const database = new DatabaseSync(path);
    // A page that nobody reads on opening.
    const page = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'run_created'").get()
      ?.rootpage as number;
    database.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xa5, (page - 1) * 4_096, page * 4_096));
    await store.open();
    await expect(store.backup(join(folder, "copy.db"))).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    expect(readdirSync(folder).filter((name) => name.startsWith("copy"))).toEqual([]);
    await store.close();
  });

  /** Reads everything; a page that holds none of it may be damaged unseen. */
  async function codeOfReading(): Promise<unknown> {
    const store = sqlite(path);
    try {
      await store.open();
      const loaded = await store.load({ tenant: "acme", run: "run-1" });
      await store.findRuns({ tenant: "acme", limit: 9 });
      await store.due(0, 9);
      return loaded?.entries.length === 51 ? "readable" : "something else was read";
    } catch (error) {
      return isHoldfastError(error) ? error.code : error;
    } finally {
      await store.close();
    }
  }
});

describe("what SQLite throws", () => {
  const thrown = (body: () => unknown): unknown => {
    try {
      body();
    } catch (error) {
      return storeError(error, path);
    }
    return undefined;
  };

  test("a lock that is never given up is unavailability, with what to do", () => {
    const holder = new DatabaseSync(path);
    holder.exec("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE");
    const waiter = new DatabaseSync(path, { timeout: 0 });
    const error = thrown(() => waiter.exec("BEGIN IMMEDIATE"));
    holder.close();
    waiter.close();
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later", details: { path, result: 5 } });
    expect((error as Error).message).toContain("find and stop it");
  });

  test("a full disk is unavailability, and says that nothing was changed", () => {
    const database = new DatabaseSync(":memory:");
    database.exec("PRAGMA max_page_count = 3; CREATE TABLE t (a)");
    const error = thrown(() => database.exec(`INSERT INTO t VALUES (zeroblob(100000))`));
    database.close();
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", details: { result: 13 } });
    expect((error as Error).message).toContain("make room and try again");
  });

  test("what is not SQLite's stays what it is", () => {
    const bug = new TypeError("a bug");
    expect(storeError(bug, path)).toBe(bug);
    expect(storeError("text", path)).toBe("text");
    const constraint = Object.assign(new Error("constraint"), { code: "ERR_SQLITE_ERROR", errcode: 1299 });
    expect(storeError(constraint, path)).toBe(constraint);
  });
});
