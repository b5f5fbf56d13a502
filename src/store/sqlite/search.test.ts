/** What is left of words in the file once they are removed. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { begun, sample } from "../conformance/sample.ts";
import { sqlite } from "./store.ts";

test("X3: what was removed stands nowhere in the file any more, in no page and no index", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-words-"));
  const path = join(folder, "runs.db");
  const store = sqlite(path);
  await store.open();
  await begun(store);
  const rare = (number: number) => `theremin${number}`;
  const put = Array.from({ length: 300 }, (_, number) => ({
    id: `f${number}`,
    words: ["plays", rare(number)],
  }));
  await store.search.writeWords(sample, { expect: 0, mark: 1, put, remove: [] });
  const other = new DatabaseSync(path);
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
  other.close();
  await store.close();
  rmSync(folder, { recursive: true });
});
