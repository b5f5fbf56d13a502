import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, createPool, type Database, openStore } from "../../../test/postgres/database.ts";
import type { RunQuery } from "../store.ts";
import { appendOne } from "./append.ts";
import { findQuery } from "./find.ts";
import { onPrimary, queriesFor } from "./queries.ts";

let database: Database;

beforeAll(async () => {
  database = await createDatabase();
  await openStore(database);
});

afterAll(() => database?.drop());

/** The steps of a statement's plan, whatever its values are, on a server that avoids whole tables and sorting if it can. */
async function planOf(text: string): Promise<string[]> {
  const pool = createPool(database.url, 1);
  const count = new Set(text.match(/\$\d+/g)).size;
  const values = Array.from({ length: count }, () => "NULL").join(", ");
  await pool.query(
    "SET enable_seqscan = off; SET enable_sort = off; SET plan_cache_mode = force_generic_plan",
  );
  await pool.query(`PREPARE planned AS ${text}`);
  const { rows } = await pool.query(`EXPLAIN EXECUTE planned${count === 0 ? "" : `(${values})`}`);
  await pool.end();
  return rows.map((row) => String(row["QUERY PLAN"]).trim());
}

/** Reading a whole table, or sorting what an index did not give in order. */
const isSlow = (step: string): boolean => /Seq Scan on (?!lease|store_version)|^(-> +)?Sort /.test(step);

const sortsFew = [
  ...[
    "load",
    "loadSince",
    "readAt",
    "readInbox",
    "readInboxes",
    "readKeys",
    "readContents",
    "readDigests",
    "readForks",
  ],
  "dueOf",
];

test("every statement that reads goes through an index, and sorts nothing but one run's or what was asked for", async () => {
  const slow: string[] = [];
  for (const [name, text] of Object.entries({
    ...Object.fromEntries(
      Object.entries(queriesFor("holdfast")).map(([name, text]) => [name, onPrimary(text)]),
    ),
    appendOne: appendOne("holdfast"),
  })) {
    const steps = (await planOf(text)).filter(isSlow);
    slow.push(
      ...steps
        .filter((step) => !(sortsFew.includes(name) && step.includes("Sort ")))
        .map((step) => `${name}: ${step}`),
    );
  }
  expect(slow).toEqual([]);
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
  { attributes: { a: 1, b: 2 }, subject: "ada", status: "done", after: { createdAt: 1, run: "run-1" } },
];

test.each(filters)("runs are found through an index that has their order: %o", async (filter) => {
  const plan = await planOf(onPrimary(findQuery("holdfast", { tenant: "acme", limit: 9, ...filter }).text));
  expect(plan.filter(isSlow)).toEqual([]);
});

test("the text of the query depends on which filters there are, never on what is asked for", () => {
  const textOf = (attributes: Record<string, string>) =>
    findQuery("holdfast", { tenant: "t", limit: 1, attributes }).text;
  expect(textOf({ "a'--": "b" })).toBe(textOf({ c: "d" }));
  expect(textOf({ a: "1", b: "2" })).toBe(textOf({ a: "1", b: "2", c: "3", "'": "'" }));
});
