import { afterEach, beforeEach, expect, test } from "vitest";
import { delivered, notebook, notesOf, openRuntime } from "../../../test/changes/world.ts";
import { createDatabase, type Database } from "../../../test/postgres/database.ts";
import type { Runtime } from "../run.ts";
import { type TableChanges, watchTables } from "./index.ts";

let database: Database;
let runtime: Runtime;
let changes: TableChanges;

beforeEach(async () => {
  database = await createDatabase();
  await database.query(`CREATE TABLE orders (id int PRIMARY KEY, status text, amount int)`);
  runtime = await openRuntime("a");
});

afterEach(async () => {
  await changes?.close();
  await runtime.close();
  await database.drop();
});

/** Notes every change of `orders` that is asked for in the run `a`. */
const watch = (when?: string) =>
  watchTables({
    runtime,
    database: database.pool,
    rules: {
      order: {
        table: "public.orders",
        on: ["insert", "update", "delete"],
        ...(when !== undefined && { when }),
        send: {
          run: () => "a",
          type: "note",
          data: ({ operation, old, new: after }) => ({ operation, old, new: after }),
        },
      },
    },
  });

test("D3: an insert, an update and a delete are sent to a run, in order, with the row before and after", async () => {
  changes = await watch();
  await database.query("INSERT INTO orders VALUES (1, 'open', 5)");
  await database.query("UPDATE orders SET status = 'paid'");
  await database.query("DELETE FROM orders");
  await delivered(changes);
  const open = { id: 1, status: "open", amount: 5 };
  const paid = { id: 1, status: "paid", amount: 5 };
  expect(await notesOf(runtime, "a")).toEqual([
    { operation: "insert", old: null, new: open },
    { operation: "update", old: open, new: paid },
    { operation: "delete", old: paid, new: null },
  ]);
});

test("D3: an insert starts a run, under an id made from the row", async () => {
  changes = await watchTables({
    runtime,
    database: database.pool,
    rules: {
      opened: {
        table: "orders",
        on: ["insert"],
        start: { machine: notebook, id: ({ new: row }) => `order-${row.id}`, input: ({ new: row }) => row },
      },
    },
  });
  await database.query("INSERT INTO orders VALUES (7, 'open', 5)");
  await delivered(changes);
  expect(await notesOf(runtime, "order-7")).toEqual([{ id: 7, status: "open", amount: 5 }]);
});
