/**
 * One measurement on a PostgreSQL server of its own, everything synced: rows written to a table that nobody watches, to one
 * whose condition does not match, and to watched ones; then what was noted is delivered to runs. Nobody delivers while rows
 * are written, so that only the writer's own cost is seen.
 */
import pg from "pg";
import { createRuntime, defineMachine } from "../../src/index.ts";
import { unwatchTables, watchTables } from "../../src/runtime/changes/index.ts";
import { memory } from "../../src/store/memory/index.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { startServer } from "../../test/postgres/server.ts";

const [windowMs = 600, changesMax = 5_000] = process.argv.slice(2).map(Number);
const tables = ["plain", "not matching", "watched", "watched, without notify"];
const counter = defineMachine<{ n: number }>({
  id: "counter",
  start: { n: 0 },
  initial: "on",
  states: { on: { on: { add: { update: (draft) => void draft.n++ } } } },
});

const server = await startServer();
const url = server.url("postgres");
const pool = new pg.Pool({ connectionString: url, max: 20 });
// Connections that go with the server.
pool.on("error", () => {});
try {
  await setUp();
  const written = {
    "a row in a transaction, one connection": await byTable((table) => write(table, 1, 1)),
    "a row in a transaction, eight connections": await byTable((table) => write(table, 1, 8)),
    "a thousand rows in a statement": await byTable((table) => write(table, 1_000, 1)),
  };
  await unwatchTables({ database: pool, discard: true });
  const delivered = {
    "to 100 runs in memory": await deliver(memory()),
    "to 100 runs on the same PostgreSQL": await deliver(postgres(url)),
  };
  console.log(JSON.stringify({ written, delivered }));
} finally {
  await pool.end();
  await server.stop();
}

async function setUp(): Promise<void> {
  for (const table of [...tables, "orders"])
    await pool.query(`CREATE TABLE "${table}" (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer int,
      status text, amount numeric(12, 2), note text, at timestamptz DEFAULT now())`);
  const runtime = await createRuntime({ store: memory(), machines: [counter] });
  const watch = async (name: string, when: string, notify: boolean) => {
    const table = `"${name}"`;
    const rule = { table, on: ["insert"], when, send: { run: () => "none", type: "add" } } as const;
    const changes = await watchTables({ runtime, database: pool, notify, rules: { [name]: rule } });
    await changes.close();
  };
  await watch("not matching", "NEW.status = 'paid'", true);
  await watch("watched", "NEW.status = 'open'", true);
  await watch("watched, without notify", "NEW.status = 'open'", false);
  await runtime.close();
}

/** Twice in turn, so that what else the machine does falls on all alike. */
async function byTable(rate: (table: string) => Promise<number>): Promise<Record<string, number>> {
  const rates = new Map<string, number[]>(tables.map((table) => [table, []]));
  for (let turn = 0; turn < 2; turn++) for (const table of tables) rates.get(table)?.push(await rate(table));
  return Object.fromEntries([...rates].map(([table, [one = 0, other = 0]]) => [table, (one + other) / 2]));
}

/** Rows written in a second by so many connections. */
async function write(table: string, rows: number, connections: number): Promise<number> {
  const text = `INSERT INTO "${table}" (customer, status, amount, note)
    SELECT n, 'open', 12.50, 'A note of some length, as orders have it' FROM generate_series(1, ${rows}) n`;
  const began = performance.now();
  let count = 0;
  const writer = async () => {
    for (; performance.now() - began < windowMs; count += rows)
      await pool.query({ name: `${table} ${rows}`, text });
  };
  await Promise.all(Array.from({ length: connections }, writer));
  return count / ((performance.now() - began) / 1000);
}

/** Changes delivered in a second, of those that waited when it began. */
async function deliver(store: Store): Promise<number> {
  const runtime = await createRuntime({ store, machines: [counter] });
  for (let n = 0; n < 100; n++) await runtime.start(counter, { id: `customer-${n}` });
  const watch = () =>
    watchTables({
      runtime,
      database: pool,
      rules: {
        ordered: {
          table: "orders",
          on: ["insert"],
          send: {
            run: ({ new: row }) => `customer-${row.customer}`,
            type: "add",
            data: ({ new: row }) => row,
          },
        },
      },
    });
  await (await watch()).close();
  await pool.query(
    "INSERT INTO orders (customer, status) SELECT n % 100, 'open' FROM generate_series(1, $1::int) n",
    [changesMax],
  );
  const began = performance.now();
  const changes = await watch();
  while ((await changes.status()).waiting > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const rate = changesMax / ((performance.now() - began) / 1000);
  await changes.close();
  await runtime.close();
  return rate;
}
