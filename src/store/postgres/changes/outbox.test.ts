/** The outbox by itself: what is taken, in which order, and by whom. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase, type Database } from "../../../../test/postgres/database.ts";
import { installRules } from "./install.ts";
import { Outbox } from "./outbox.ts";
import type { TableRule } from "./rule.ts";

let database: Database;
let outbox: Outbox;

beforeEach(async () => {
  database = await createDatabase();
  await database.query("CREATE TABLE orders (id int)");
  const rule: TableRule = { name: "new", table: "orders", on: ["insert"], notify: false };
  const { pool } = database;
  const tables = await installRules(pool, "holdfast", [rule]);
  outbox = new Outbox({ pool, schema: "holdfast", tables });
});

afterEach(() => database.drop());

/** What a holder is given: the rows' ids, or who has the turn. */
async function taken(holder: string, turnMs = 60_000, limit = 9): Promise<unknown> {
  const answer = await outbox.take(holder, turnMs, limit);
  if (answer.outcome === "theirs") return answer.holder;
  return answer.outcome === "ours" ? answer.changes.map((change) => change.new?.id) : "empty";
}

test("what waits is taken from the lowest number on, so many at a time, wherever its row lies", async () => {
  await database.query("INSERT INTO orders SELECT generate_series(1, 4)");
  // The server writes a row that is changed behind the others.
  await database.query("UPDATE holdfast.table_change SET operation = operation WHERE number = 1");
  expect(await taken("a", 60_000, 2)).toEqual([1, 2]);
  await outbox.settle([1], []);
  expect(await taken("a", 60_000, 2)).toEqual([2, 3]);
});

test("no more bytes are taken at a time than fit, and a change that has more by itself", async () => {
  await database.query("ALTER TABLE orders ADD about text");
  await database.query(`INSERT INTO orders SELECT id, string_agg(md5(n::text), '')
    FROM generate_series(1, 2) id, generate_series(1, 600000) n GROUP BY id ORDER BY id`);
  expect(await taken("a")).toEqual([1]);
  await outbox.settle([1], []);
  expect(await taken("a")).toEqual([2]);
});

test("a column is text where it is a bigint, and not in another table that has one of its name", async () => {
  await database.query("CREATE TABLE large (id bigint)");
  const rules: TableRule[] = ["orders", "large"].map((table) => ({
    ...{ name: table, table, on: ["insert"], notify: false },
  }));
  const tables = await installRules(database.pool, "holdfast", rules);
  outbox = new Outbox({ pool: database.pool, schema: "holdfast", tables });
  await database.query("INSERT INTO orders VALUES (1); INSERT INTO large VALUES (2)");
  expect(await taken("a")).toEqual([1, "2"]);
});

test("one at a time has the turn, until that is over or it gives it back", async () => {
  expect(await taken("a")).toBe("empty");
  await database.query("INSERT INTO orders VALUES (1)");
  expect(await taken("a")).toEqual([1]);
  expect(await taken("b")).toBe("a");
  await outbox.release("b");
  expect(await taken("b"), "it is not another's to give back").toBe("a");
  await outbox.release("a");
  expect(await taken("b", 0)).toEqual([1]);
  expect(await taken("a")).toEqual([1]);
  expect(await taken("a"), "it goes on").toEqual([1]);
});
