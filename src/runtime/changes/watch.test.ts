import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { delivered, listOf, notebook, notesOf, openRuntime } from "../../../test/changes/world.ts";
import { createDatabase, type Database } from "../../../test/postgres/database.ts";
import type { JsonObject } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import type { Runtime } from "../run.ts";
import { type ChangeRule, type TableChanges, type WatchOptions, watchTables } from "./index.ts";

let database: Database;
let runtime: Runtime;
let open: TableChanges[];

beforeEach(async () => {
  database = await createDatabase();
  await database.query("CREATE TABLE orders (id int PRIMARY KEY, status text, amount int, about json)");
  runtime = await openRuntime("a", "b");
  open = [];
});

afterEach(async () => {
  for (const changes of open) await changes.close();
  await runtime.close();
  await database.drop();
});

/** Watches by one rule, which notes the id and status of every change of `orders` in the run `a` unless told otherwise. */
async function watch(
  given: Partial<ChangeRule> = {},
  options: Partial<Omit<WatchOptions, "rules">> = {},
): Promise<TableChanges> {
  const order = {
    table: "public.orders",
    on: ["insert", "update", "delete"],
    ...(given.start === undefined && { send: { run: () => "a", type: "note", data: shown } }),
    ...given,
  } as ChangeRule;
  const changes = await watchTables({ runtime, database: database.pool, rules: { order }, ...options });
  open.push(changes);
  return changes;
}

const shown = ({ old, new: row }: { old: JsonObject | null; new: JsonObject | null }) => [
  row?.id ?? old?.id ?? null,
  row?.status ?? null,
];

describe("what is sent", () => {
  test("D3: an insert, an update and a delete are sent in order, with the row before and after", async () => {
    const changes = await watch({
      send: { run: () => "a", type: "note", data: ({ operation: on, old, new: row }) => [on, old, row] },
    });
    await database.query("INSERT INTO orders VALUES (1, 'open', 5)");
    await database.query("UPDATE orders SET status = 'paid'");
    await database.query("DELETE FROM orders");
    await delivered(changes);
    const first = { id: 1, status: "open", amount: 5, about: null };
    const paid = { ...first, status: "paid" };
    expect(await notesOf(runtime, "a")).toEqual([
      ["insert", null, first],
      ["update", first, paid],
      ["delete", paid, null],
    ]);
  });

  test("D3: an insert starts a run, under an id made from the row", async () => {
    const changes = await watch({
      on: ["insert"],
      start: { machine: notebook, id: ({ new: row }) => `order-${row?.id}`, input: ({ new: row }) => row },
    });
    await database.query("INSERT INTO orders VALUES (7, 'open', 5)");
    await delivered(changes);
    expect(await notesOf(runtime, "order-7")).toEqual([{ id: 7, status: "open", amount: 5, about: null }]);
  });

  test("without functions of its own a rule tells the whole change, and starts a run under the change's key", async () => {
    const changes = await watch({ on: ["delete"], start: { machine: notebook } });
    await database.query("INSERT INTO orders VALUES (7, 'open', 5)");
    await database.query("DELETE FROM orders");
    await delivered(changes);
    const heads = await listOf(runtime.find({ machine: "notebook" }));
    const started = heads.map(({ run }) => run).filter((run) => run.startsWith("change-"));
    expect(started).toHaveLength(1);
    const old = { id: 7, status: "open", amount: 5, about: null };
    expect(await notesOf(runtime, started[0] as string)).toEqual([
      { table: "public.orders", operation: "delete", old, new: null },
    ]);
  });

  test("only rows that match the condition count", async () => {
    const changes = await watch({
      on: ["insert", "update"],
      when: "NEW.status = 'paid' -- and nothing else",
    });
    await database.query("INSERT INTO orders VALUES (1, 'open'), (2, 'paid'), (3, NULL)");
    await database.query("UPDATE orders SET amount = 1");
    await delivered(changes);
    expect(await notesOf(runtime, "a")).toEqual([
      [2, "paid"],
      [2, "paid"],
    ]);
  });

  test("an update that leaves a row as it was is no change, whatever types it has", async () => {
    const changes = await watch({ on: ["update"] });
    await database.query(`INSERT INTO orders VALUES (1, 'open', 5, '{"a": 1}')`);
    await database.query("UPDATE orders SET status = 'open', amount = amount");
    await database.query(`UPDATE orders SET about = '{"a": 2}'`);
    await delivered(changes);
    expect(await notesOf(runtime, "a")).toEqual([[1, "open"]]);
  });

  test("of updates only those of the columns that are named count, and inserts as they are", async () => {
    const changes = await watch({ on: ["insert", "update"], columns: ["status"] });
    await database.query("INSERT INTO orders VALUES (1, 'open', 5)");
    await database.query("UPDATE orders SET amount = 6, status = 'open'");
    await database.query("UPDATE orders SET amount = 7, status = NULL");
    await delivered(changes);
    expect(await notesOf(runtime, "a")).toEqual([
      [1, "open"],
      [1, null],
    ]);
  });

  test("of several columns one that changes is enough, where the condition holds", async () => {
    const changes = await watch({ on: ["update"], columns: ["status", "amount"], when: "NEW.id = 1" });
    await database.query("INSERT INTO orders VALUES (1, 'open', 5), (2, 'open', 5)");
    await database.query("UPDATE orders SET amount = 6");
    await database.query("UPDATE orders SET status = 'paid'");
    await delivered(changes);
    expect(await notesOf(runtime, "a")).toEqual([
      [1, "open"],
      [1, "paid"],
    ]);
  });

  test("statements of many rows, COPY, upserts and MERGE are sent row by row", async () => {
    const changes = await watch();
    await database.query("INSERT INTO orders SELECT n, 'many' FROM generate_series(1, 3) n");
    await database.query(`COPY orders (id, status) FROM PROGRAM 'printf "4\\tcopied\\n5\\tcopied\\n"'`);
    await database.query("INSERT INTO orders VALUES (5) ON CONFLICT (id) DO UPDATE SET status = 'upserted'");
    await database.query(`MERGE INTO orders o USING (VALUES (1), (6)) v(id) ON o.id = v.id
      WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (v.id, 'merged')`);
    await database.query("TRUNCATE orders");
    await delivered(changes);
    const told = [...[1, 2, 3].map((id) => [id, "many"]), [4, "copied"], [5, "copied"], [5, "upserted"]];
    const notes = await notesOf(runtime, "a");
    expect(notes.slice(0, 6)).toEqual(told);
    const byMerge: unknown[] = notes.slice(6).sort();
    expect(byMerge).toEqual([
      [1, null],
      [6, "merged"],
    ]);
  });

  test("runs of several tenants are told of their own rows", async () => {
    await runtime.start(notebook, { id: "a", tenant: "acme" });
    const changes = await watch({
      on: ["insert"],
      send: { run: () => "a", type: "note", tenant: ({ new: row }) => row?.status as string },
    });
    await database.query("INSERT INTO orders VALUES (1, 'acme'), (2, 'nobody')");
    await delivered(changes);
    expect(await notesOf(runtime, "a", "acme")).toHaveLength(1);
    expect(await notesOf(runtime, "a")).toEqual([]);
    expect((await changes.status()).failed).toBe(1);
  });

  test("a run is started for the tenant that the row says", async () => {
    const tenant = ({ new: row }: { new: JsonObject | null }) => row?.status as string;
    const changes = await watch({ on: ["insert"], start: { machine: notebook, id: () => "new", tenant } });
    await database.query("INSERT INTO orders VALUES (1, 'acme'), (2, 'globex')");
    await delivered(changes);
    for (const [tenant, id] of [
      ["acme", 1],
      ["globex", 2],
    ] as const)
      expect(await notesOf(runtime, "new", tenant)).toMatchObject([{ new: { id } }]);
    await expect(runtime.run("new")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
  });

  test("a run that is started holds the data of whom the row says", async () => {
    const changes = await watch({
      on: ["insert"],
      start: { machine: notebook, id: () => "new", subject: ({ new: row }) => row?.status as string },
    });
    await database.query("INSERT INTO orders VALUES (1, 'ada')");
    await delivered(changes);
    expect((await (await runtime.run("new")).head()).subject).toBe("ada");
  });

  test("a row of many megabytes arrives, and those behind it", async () => {
    const changes = await watch({ on: ["insert"] });
    await database.query(
      "INSERT INTO orders SELECT 1, string_agg(md5(n::text), '') FROM generate_series(1, 600000) n",
    );
    await database.query("INSERT INTO orders VALUES (2, 'small')");
    await delivered(changes);
    const [large, small] = (await notesOf(runtime, "a")) as unknown as [number, string][];
    expect([large?.[0], large?.[1].length]).toEqual([1, 600_000 * 32]);
    expect(small).toEqual([2, "small"]);
  });
});

describe("what is not committed is not sent", () => {
  test("D3: a transaction that is rolled back sends nothing, and neither does a savepoint", async () => {
    const changes = await watch();
    const client = await database.pool.connect();
    const run = async (...texts: string[]) => {
      for (const text of texts) await client.query(text);
    };
    await run("BEGIN", "INSERT INTO orders VALUES (1, 'lost')", "ROLLBACK");
    await run("BEGIN", "INSERT INTO orders VALUES (2, 'kept')", "SAVEPOINT s");
    await run("INSERT INTO orders VALUES (3, 'lost')", "ROLLBACK TO s");
    await run("INSERT INTO orders VALUES (4, 'kept')", "COMMIT");
    await run("BEGIN", "INSERT INTO orders VALUES (5, 'lost')");
    await expect(run("INSERT INTO orders VALUES (5, 'twice')")).rejects.toThrow("duplicate key");
    await run("COMMIT");
    client.release();
    await delivered(changes);
    expect(await notesOf(runtime, "a")).toEqual([
      [2, "kept"],
      [4, "kept"],
    ]);
  });

  test("a transaction that commits after later ones were delivered is not stepped over", async () => {
    const changes = await watch();
    const slow = await database.pool.connect();
    await slow.query("BEGIN");
    await slow.query("INSERT INTO orders VALUES (1, 'slow')");
    await database.query("INSERT INTO orders VALUES (2, 'quick')");
    await delivered(changes);
    expect(await notesOf(runtime, "a")).toEqual([[2, "quick"]]);
    await slow.query("COMMIT");
    slow.release();
    await delivered(changes);
    expect(await notesOf(runtime, "a")).toEqual([
      [2, "quick"],
      [1, "slow"],
    ]);
  });

  test("changes to one row arrive in the order of their commits, by however many writers", async () => {
    await database.query("INSERT INTO orders VALUES (1, 'row', 0), (2, 'row', 0)");
    const changes = await watch({
      send: {
        run: ({ new: row }) => (row?.id === 1 ? "a" : "b"),
        type: "note",
        data: ({ new: row }) => row?.amount,
      },
    });
    const writer = async () => {
      for (let n = 0; n < 50; n++)
        await database.query("UPDATE orders SET amount = amount + 1 WHERE id = $1", [(n % 2) + 1]);
    };
    await Promise.all(Array.from({ length: 4 }, writer));
    await delivered(changes);
    const inOrder = Array.from({ length: 100 }, (_, index) => index + 1);
    expect(await notesOf(runtime, "a")).toEqual(inOrder);
    expect(await notesOf(runtime, "b")).toEqual(inOrder);
  });
});

describe("through restarts", () => {
  test("D3: what happens while nobody watches is delivered to the next one who does", async () => {
    await (await watch()).close();
    await database.query("INSERT INTO orders VALUES (1, 'meanwhile')");
    expect(await notesOf(runtime, "a")).toEqual([]);
    await delivered(await watch());
    expect(await notesOf(runtime, "a")).toEqual([[1, "meanwhile"]]);
  });

  test("D3: several who watch at once deliver each change once, and in order", async () => {
    const all = [await watch(), await watch(), await watch({}, { notify: false })];
    for (let n = 1; n <= 60; n++) await database.query("INSERT INTO orders VALUES ($1, 'one')", [n]);
    for (const changes of all) await delivered(changes);
    expect(await notesOf(runtime, "a")).toEqual(Array.from({ length: 60 }, (_, n) => [n + 1, "one"]));
    const journal = await listOf((await runtime.run("a")).journal());
    expect(journal.filter(({ event }) => event.type === "note")).toHaveLength(60);
  });

  test("a runtime that is closed leaves changes for the next one", async () => {
    const changes = await watch();
    await runtime.close();
    await changes.close();
    await database.query("INSERT INTO orders VALUES (1, 'later')");
    runtime = await openRuntime("a");
    await delivered(await watch());
    expect(await notesOf(runtime, "a")).toEqual([[1, "later"]]);
  });

  test("whoever delivers to a runtime ends with it", async () => {
    const changes = await watch({}, { database: database.url });
    await runtime.close();
    // Its connections are closed in the end.
    while (await changes.status().then(Boolean, () => false));
    await database.query("INSERT INTO orders VALUES (1, 'later')");
    runtime = await openRuntime("a");
    await delivered(await watch());
    expect(await notesOf(runtime, "a")).toEqual([[1, "later"]]);
  });

  test.each(["STORE_UNAVAILABLE", "RUNTIME_CLOSED"] as const)(
    "what a run cannot take now waits, and what is behind it for that run; others go on (%s)",
    async (code) => {
      let refusals = 3;
      const busy: WatchOptions["runtime"] = {
        start: (machine, ...given) => runtime.start(machine, ...given),
        stopped: runtime.stopped,
        run: async (id, given) => {
          if (id === "a" && refusals-- > 0) throw new HoldfastError(code, "not now");
          return runtime.run(id, given);
        },
      };
      const run = ({ new: row }: { new: JsonObject | null }) => row?.status as string;
      const changes = await watch(
        { on: ["insert"], send: { run, type: "note", data: ({ new: row }) => row?.id } },
        { runtime: busy },
      );
      await database.query("INSERT INTO orders VALUES (1, 'a'), (2, 'b'), (3, 'a')");
      let problem: unknown;
      while (problem === undefined) ({ problem } = await changes.status());
      expect(await notesOf(runtime, "b")).toEqual([2]);
      expect(await notesOf(runtime, "a")).toEqual([]);
      expect(problem).toMatchObject({ code });
      while ((await changes.status()).waiting > 0);
      expect(await notesOf(runtime, "a")).toEqual([1, 3]);
      expect((await changes.status()).failed).toBe(0);
    },
  );

  test("a rule that is not known here waits for whoever knows it, and is told of", async () => {
    await (await watch()).close();
    await database.query("INSERT INTO orders VALUES (1, 'other')");
    await database.query("CREATE TABLE others (id int)");
    const other = await watchTables({
      runtime,
      database: database.pool,
      rules: { other: { table: "others", on: ["insert"], send: { run: () => "b", type: "note" } } },
    });
    open.push(other);
    await database.query("INSERT INTO others VALUES (1)");
    await delivered(other);
    expect((await other.status()).unknown).toEqual(["order"]);
    expect(await notesOf(runtime, "b")).toHaveLength(1);
    expect(await notesOf(runtime, "a")).toEqual([]);
    await delivered(await watch());
    expect(await notesOf(runtime, "a")).toEqual([[1, "other"]]);
  });
});
