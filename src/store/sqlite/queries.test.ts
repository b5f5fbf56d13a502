import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunQuery } from "../store.ts";
import { connect } from "./connect.ts";
import { findQuery } from "./find.ts";
import { prepareQueries, queryNames } from "./queries.ts";

let folder: string;
let database: DatabaseSync;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-"));
  database = connect(join(folder, "runs.db"));
});

afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

const planOf = (sql: string): string[] =>
  database
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail));

/** Reading a whole table, or sorting what an index did not give in order. */
const isSlow = (step: string): boolean => /^SCAN|TEMP B-TREE/.test(step);

test("G1: every statement goes through an index, and sorts nothing but one run's inbox and what a dead worker left", () => {
  const statements = prepareQueries(database);
  const slow = queryNames.flatMap((name) =>
    planOf(statements[name].sourceSQL)
      .filter(isSlow)
      .map((step) => `${name}: ${step}`),
  );
  expect(slow).toEqual([
    "readInbox: USE TEMP B-TREE FOR ORDER BY",
    "buryInbox: USE TEMP B-TREE FOR ORDER BY",
    "hasDue: SCAN CONSTANT ROW",
    "hasDue: SCAN inbox USING COVERING INDEX inbox_at",
    "dueEvents: SCAN i USING COVERING INDEX inbox_at",
    "orphanedActivities: USE TEMP B-TREE FOR ORDER BY",
    "orphanedActivitiesOf: USE TEMP B-TREE FOR ORDER BY",
    // Of the index of words: by rowid, by its own index, and the texts of one run in order.
    "deleteWords: SCAN indexed_word VIRTUAL TABLE INDEX 0:=",
    "findWords: SCAN indexed_word VIRTUAL TABLE INDEX 0:M1",
    "sweepWords: SCAN indexed_word VIRTUAL TABLE INDEX 0:=",
    "sweepWords: USE TEMP B-TREE FOR ORDER BY",
    "sweepTexts: USE TEMP B-TREE FOR ORDER BY",
  ]);
});

const filters: readonly Partial<RunQuery>[] = [
  {},
  { subject: "ada" },
  { machine: "booking" },
  { status: "active" },
  { subject: "ada", machine: "booking", status: "done" },
  { createdFrom: 1, createdBefore: 2 },
  { after: { createdAt: 1, run: "run-1" } },
  { attributes: { a: 1 } },
  {
    attributes: { a: 1 },
    subject: "ada",
    machine: "booking",
    status: "done",
    after: { createdAt: 1, run: "run-1" },
  },
];

test.each(filters)("runs are found through an index that has their order: %o", (filter) => {
  const plan = planOf(findQuery({ tenant: "acme", limit: 9, ...filter }).sql);
  expect(plan.filter(isSlow)).toEqual([]);
  if (filter.attributes !== undefined) expect(plan[0]).toMatch(/^SEARCH a USING PRIMARY KEY/);
  if (filter.subject !== undefined && filter.attributes === undefined)
    expect(plan[0]).toMatch(/^SEARCH r USING INDEX run_subject/);
});

test("the text of the query depends on which filters there are, never on what is asked for", () => {
  const sqlOf = (attributes: Record<string, string>) => findQuery({ tenant: "t", limit: 1, attributes }).sql;
  expect(sqlOf({ "a'--": "b" })).toBe(sqlOf({ c: "d" }));
  expect(sqlOf({ a: "1", b: "2" })).toBe(sqlOf({ a: "1", b: "2", c: "3", "'": "'" }));
});
