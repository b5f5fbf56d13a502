/** What is left in the file of what was removed. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { begun, bytesOf, commitOn, committed, sample } from "../conformance/sample.ts";
import type { SearchingStore } from "../search.ts";
import type { Scrubbing } from "../upkeep.ts";
import { sqlite } from "./store.ts";

let folder: string;
let path: string;
let store: SearchingStore;
let other: DatabaseSync;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-words-"));
  path = join(folder, "runs.db");
  store = sqlite(path);
  await store.open();
  other = new DatabaseSync(path);
});

afterEach(async () => {
  other.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

test("X3: what was removed stands nowhere in the file any more, in no page and no index", async () => {
  await begun(store);
  const rare = (number: number) => `theremin${number}`;
  const put = Array.from({ length: 300 }, (_, number) => ({
    id: `f${number}`,
    words: ["plays", rare(number)],
  }));
  await store.search.writeWords(sample, { expect: 0, mark: 1, put, remove: [] });
  const bytes = () => {
    other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return readFileSync(path, "latin1");
  };
  expect(bytes()).toContain("theremin");
  const remove = put.slice(0, 299).map(({ id }) => id);
  await store.search.writeWords(sample, { expect: 1, mark: 2, put: [], remove });
  const left = bytes().match(/theremin\d*/g) ?? [];
  expect([...new Set(left)]).toEqual(["theremin299"]);
  expect(other.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  await store.search.writeWords(sample, { expect: undefined, mark: 3, put: [], remove: [] });
  expect(bytes()).not.toContain("theremin");
});

test("X3: an index that is made anew leaves no row of the old one, and one whose run was removed none at all", async () => {
  const { epoch, head } = await begun(store);
  const tables = ["index_mark", "indexed_text", "indexed_word"];
  const counts = () =>
    tables.map((table) => other.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count);
  const put = ["f1", "f2", "f3"].map((id) => ({ id, words: ["plays", id] }));
  await store.search.writeWords(sample, { expect: 0, mark: 1, put, remove: [] });
  expect(counts()).toEqual([1, 3, 3]);
  const [first] = put as [(typeof put)[number]];
  await store.search.writeWords(sample, { expect: undefined, mark: 2, put: [first], remove: [] });
  expect(counts()).toEqual([1, 1, 1]);
  await committed(store, commitOn(head, epoch, { head: { status: "done" } }));
  await store.removeRuns([sample], epoch);
  while ((await store.sweep(1)) > 0);
  expect(counts()).toEqual([0, 0, 0]);
});

test("scrubbing leaves nothing of what was removed in the file or its log", async () => {
  const { epoch, head } = await begun(store, { contents: [{ digest: "d1", bytes: bytesOf("theremin") }] });
  await committed(store, commitOn(head, epoch, { head: { status: "done" } }));
  await store.removeRuns([sample], epoch);
  while ((await store.sweep(9)) > 0);
  const left = () =>
    [path, `${path}-wal`].some(
      (file) => existsSync(file) && readFileSync(file, "latin1").includes("theremin"),
    );
  expect(left()).toBe(true);
  await (store as SearchingStore & Scrubbing).scrub();
  expect(left()).toBe(false);
});
