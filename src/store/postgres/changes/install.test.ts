import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, createPool, type Database } from "../../../../test/postgres/database.ts";
import { postgres } from "../store.ts";
import { installRules, removeRules } from "./install.ts";
import type { TableRule } from "./rule.ts";

let database: Database;

beforeEach(async () => {
  database = await createDatabase();
  await database.query("CREATE TABLE orders (id int PRIMARY KEY, status text, about json)");
});

afterEach(() => database.drop());

const order: TableRule = { name: "order", table: "orders", on: ["insert"], notify: true };
const install = (...rules: TableRule[]) => installRules(database.pool, "holdfast", rules);
const refused = (rule: Partial<TableRule>) =>
  install({ ...order, name: "good" }, { ...order, ...rule }).then(
    () => undefined,
    (error: unknown) => error as { code: string; message: string },
  );
/** The triggers there are, with what changes when one is made anew. */
const triggers = async (): Promise<string[]> =>
  (
    await database.query(`SELECT tgrelid::regclass::text || ' ' || tgname || ' ' || xmin::text AS trigger
      FROM pg_trigger WHERE NOT tgisinternal AND tgparentid = 0 ORDER BY 1`)
  ).map(({ trigger }) => trigger as string);
const noted = async (): Promise<unknown[]> =>
  (await database.query("SELECT rule, operation FROM holdfast.table_change ORDER BY number")).map(
    ({ rule, operation }) => `${rule} ${operation}`,
  );
const hasOutbox = async (): Promise<unknown> =>
  (await database.query("SELECT to_regclass('holdfast.table_change') IS NOT NULL AS there"))[0]?.there;

describe("what cannot be installed is refused, and nothing is changed", () => {
  test.each([
    ["a table that is not there", { table: "ordres" }, "there is no such table"],
    ["a name that is none", { table: 'public."orders' }, "invalid name syntax"],
    ["a column that is not there", { when: "NEW.statsu = 'paid'" }, "statsu"],
    ["a column to look at that is not there", { on: ["update"], columns: ["statsu"] }, "statsu"],
    ["a condition that is none", { when: "NEW.status =" }, "syntax error"],
    ["a condition of another type", { when: "NEW.id" }, "must be type boolean"],
    ["a comparison of other types", { when: "NEW.id = now()" }, "operator does not exist"],
    ["a constant that is none", { when: "NEW.id = 'many'" }, "invalid input syntax"],
    ["the row before an insert", { when: "OLD.id = 1" }, "cannot reference OLD values"],
    ["a query", { when: "EXISTS (SELECT 1 FROM orders)" }, "cannot use subquery"],
    [
      "a second statement",
      {
        when: "true)) EXECUTE FUNCTION suppress_redundant_updates_trigger(); CREATE TRIGGER x AFTER INSERT ON orders FOR EACH ROW WHEN ((true",
      },
      "cannot insert multiple commands",
    ],
    ["the end of its own brackets", { when: "true)) EXECUTE FUNCTION f((" }, "syntax error"],
  ] as [string, Partial<TableRule>, string][])("%s", async (_, rule, message) => {
    const error = await refused(rule);
    expect(error?.code).toBe("RULE_INVALID");
    expect(error?.message).toContain(message);
    expect(error?.message).toContain('The rule "order"');
    expect(await triggers()).toEqual([]);
    expect(await hasOutbox()).toBe(false);
  });

  test("a view", async () => {
    await database.query("CREATE VIEW seen AS SELECT * FROM orders");
    expect(await refused({ table: "seen" })).toMatchObject({ code: "RULE_INVALID" });
  });

  test("a table of somebody else, until its owner grants the right", async () => {
    await database.query(`CREATE ROLE weak_${process.pid} LOGIN;
      GRANT CREATE ON DATABASE ${(await database.query("SELECT current_database() AS name"))[0]?.name} TO weak_${process.pid};
      GRANT SELECT ON orders TO weak_${process.pid}`);
    const pool = createPool(database.url.replace("holdfast@", `weak_${process.pid}@`));
    try {
      await expect(installRules(pool, "theirs", [order])).rejects.toMatchObject({
        code: "RULE_INVALID",
        message: expect.stringContaining("permission denied"),
      });
      await database.query(`GRANT TRIGGER ON orders TO weak_${process.pid}`);
      await installRules(pool, "theirs", [order]);
      await database.query("INSERT INTO orders VALUES (1)");
      expect(await database.query("SELECT rule FROM theirs.table_change")).toEqual([{ rule: "order" }]);
    } finally {
      await pool.end();
      await database.query(`DROP OWNED BY weak_${process.pid} CASCADE; DROP ROLE weak_${process.pid}`);
    }
  });

  test("a schema that is another program's", async () => {
    await expect(installRules(database.pool, "public", [order])).rejects.toMatchObject({
      code: "STORE_FOREIGN",
    });
  });

  test("a table that others write to for too long is left alone", async () => {
    const writer = await database.pool.connect();
    await writer.query("BEGIN; INSERT INTO orders VALUES (1)");
    await expect(install(order)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await writer.query("COMMIT");
    writer.release();
    await install(order);
    expect(await triggers()).toHaveLength(1);
  });
});

describe("installing", () => {
  test("a rule that is there stays as it is, even while others write to its table", async () => {
    await install(order);
    const before = await triggers();
    const writer = await database.pool.connect();
    await writer.query("BEGIN; INSERT INTO orders VALUES (1)");
    await install(order);
    await writer.query("ROLLBACK");
    writer.release();
    expect(await triggers()).toEqual(before);
  });

  test("a rule that changed takes the place of the one before", async () => {
    await database.query("CREATE TABLE other (id int)");
    await install({ ...order, on: ["insert", "update"] });
    await install({ ...order, on: ["insert", "delete"], when: "true" });
    await database.query("INSERT INTO orders VALUES (1); UPDATE orders SET status = 'x'; DELETE FROM orders");
    expect(await noted()).toEqual(["order insert", "order delete"]);
    await install({ ...order, on: ["delete"], when: "true" });
    await database.query("INSERT INTO orders VALUES (1); DELETE FROM orders");
    expect((await noted()).slice(2), "what it says no more is noted no more").toEqual(["order delete"]);
    await install({ ...order, table: "other" });
    await database.query("INSERT INTO orders VALUES (1); INSERT INTO other VALUES (1)");
    expect((await noted()).slice(3)).toEqual(["order insert"]);
    expect(await triggers()).toHaveLength(1);
  });

  test("whether a rule wakes anybody is changed with it", async () => {
    const given = async () =>
      (await database.query("SELECT tgargs FROM pg_trigger WHERE NOT tgisinternal"))[0];
    await install({ ...order, notify: false });
    const before = await given();
    await install(order);
    expect(await given()).not.toEqual(before);
  });

  test("rules of other programs stay", async () => {
    await install(order);
    await install({ ...order, name: "second" });
    await database.query("INSERT INTO orders VALUES (1)");
    expect((await noted()).sort()).toEqual(["order insert", "second insert"]);
  });

  test("many who install at once make one outbox", async () => {
    await Promise.all(Array.from({ length: 5 }, () => install(order)));
    expect(await triggers()).toHaveLength(1);
  });

  test("names may be of any letters and length, in tables, columns, rules and schemas", async () => {
    const nasty = `it's "quoted"; \\ 'ü'`;
    const quoted = `"${nasty.replaceAll('"', '""')}"`;
    await database.query(`CREATE TABLE ${quoted} (${quoted} int)`);
    const schema = `a "quoted"; \\ ü`;
    const rule = { ...order, on: ["insert", "update"], table: quoted, columns: [nasty] } as const;
    const long = "ß".repeat(500);
    await installRules(database.pool, schema, [
      { ...rule, name: nasty },
      { ...rule, name: `${long}1` },
      { ...rule, name: `${long}2` },
    ]);
    await database.query(`INSERT INTO ${quoted} VALUES (1); UPDATE ${quoted} SET ${quoted} = 2`);
    const rows = await database.query(
      `SELECT rule FROM "a ""quoted""; \\ ü".table_change ORDER BY rule, number`,
    );
    expect(rows.map(({ rule }) => rule).sort()).toEqual(
      [nasty, nasty, `${long}1`, `${long}1`, `${long}2`, `${long}2`].sort(),
    );
    await removeRules(database.pool, schema, { discard: true });
    expect(await triggers()).toEqual([]);
  });

  test("outboxes of several schemas watch one table each for itself", async () => {
    await install(order);
    await installRules(database.pool, "second", [order]);
    await database.query("INSERT INTO orders VALUES (1)");
    expect(await noted()).toEqual(["order insert"]);
    expect(await database.query("SELECT rule FROM second.table_change")).toEqual([{ rule: "order" }]);
  });

  test("a store can be opened afterwards in a schema that had only an outbox", async () => {
    await installRules(database.pool, "later", [order]);
    const store = postgres(database.pool, { schema: "later" });
    await store.open();
    await store.close();
  });

  test("partitions are watched with their table, those that come later too", async () => {
    await database.query(`CREATE TABLE parts (id int, part int) PARTITION BY LIST (part);
      CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1)`);
    await install({ ...order, table: "parts", on: ["insert", "update", "delete"] });
    const before = await triggers();
    await database.query(`CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2);
      INSERT INTO parts VALUES (1, 1), (2, 2); UPDATE parts SET id = 3 WHERE id = 1; UPDATE parts SET part = 2 WHERE id = 3`);
    await install({ ...order, table: "parts", on: ["insert", "update", "delete"] });
    expect(await triggers()).toEqual(before);
    // A row that moves to another partition is deleted in one and inserted in the other.
    expect((await noted()).slice(0, 3)).toEqual(["order insert", "order insert", "order update"]);
    expect((await noted()).slice(3).sort()).toEqual(["order delete", "order insert"]);
  });

  test("whoever may write to the table needs no right to the outbox, and has none", async () => {
    await install(order);
    await database.query(
      `CREATE ROLE writer_${process.pid}; GRANT INSERT ON orders TO writer_${process.pid}`,
    );
    const client = await database.pool.connect();
    try {
      await client.query(`CREATE SCHEMA theirs; GRANT USAGE ON SCHEMA theirs TO writer_${process.pid};
        CREATE FUNCTION theirs.lower(text) RETURNS text LANGUAGE sql AS $$ SELECT 'forged' $$`);
      await client.query(`SET ROLE writer_${process.pid}; SET search_path = theirs, pg_catalog, public`);
      await client.query("INSERT INTO orders VALUES (1)");
      await expect(client.query("SELECT * FROM holdfast.table_change")).rejects.toThrow("permission denied");
      await client.query("CREATE TEMP TABLE mine (id int)");
      await expect(
        client.query(
          "CREATE TRIGGER t AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION holdfast.note_change('order')",
        ),
      ).rejects.toThrow("permission denied");
      await client.query("DROP TABLE mine; RESET ROLE");
    } finally {
      client.release(true);
      await database.query(`DROP OWNED BY writer_${process.pid}; DROP ROLE writer_${process.pid}`);
    }
    expect(await noted()).toEqual(["order insert"]);
  });
});

describe("removing", () => {
  test("the triggers of a rule go, and what waits stays unless it is to be discarded", async () => {
    await install(order, { ...order, name: "second" });
    await database.query("INSERT INTO orders VALUES (1)");
    await removeRules(database.pool, "holdfast", { rules: ["order"] });
    await database.query("INSERT INTO orders VALUES (2)");
    expect((await noted()).sort()).toEqual(["order insert", "second insert", "second insert"]);
    await removeRules(database.pool, "holdfast", { rules: ["order"], discard: true });
    expect(await noted()).toEqual(["second insert", "second insert"]);
  });

  test("the rules that stay keep an outbox in which nothing waits", async () => {
    await install(order, { ...order, name: "second" });
    await removeRules(database.pool, "holdfast", { rules: ["order"] });
    await database.query("INSERT INTO orders VALUES (1)");
    expect(await noted()).toEqual(["second insert"]);
  });

  test("what failed stays too, and is discarded by its rule", async () => {
    await install(order, { ...order, name: "second" });
    await database.query(`INSERT INTO holdfast.failed_change (number, at, rule, operation, reason)
      VALUES (1, now(), 'order', 'insert', '{}'), (2, now(), 'second', 'insert', '{}')`);
    await removeRules(database.pool, "holdfast");
    const failed = () => database.query("SELECT rule FROM holdfast.failed_change ORDER BY number");
    expect(await failed()).toEqual([{ rule: "order" }, { rule: "second" }]);
    await removeRules(database.pool, "holdfast", { rules: ["order"], discard: true });
    expect(await failed()).toEqual([{ rule: "second" }]);
  });

  test("an outbox that nothing uses any more goes with the last rule, and not before it is empty", async () => {
    await install(order);
    await database.query("INSERT INTO orders VALUES (1)");
    await removeRules(database.pool, "holdfast");
    expect(await hasOutbox()).toBe(true);
    await removeRules(database.pool, "holdfast", { discard: true });
    expect(await hasOutbox()).toBe(false);
    expect(await triggers()).toEqual([]);
    await removeRules(database.pool, "holdfast");
    await database.query("INSERT INTO orders VALUES (2)");
  });

  test("the store beside it is left as it is", async () => {
    await install(order);
    await removeRules(database.pool, "holdfast");
    const store = postgres(database.pool);
    await store.open();
    await store.close();
  });
});
