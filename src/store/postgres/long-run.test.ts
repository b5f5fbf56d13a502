/** What a commit of a long run looks at: rows of the journal, counted by the server in the commit's own transaction. */
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, createPool, type Database } from "../../../test/postgres/database.ts";
import { begun, commitOn, committed } from "../conformance/sample.ts";
import type { Query } from "./connect.ts";
import { postgres } from "./store.ts";

let database: Database;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createDatabase();
  pool = createPool(database.url, 2);
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const read = `SELECT coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::int AS rows
  FROM pg_stat_xact_user_tables WHERE relname = 'entry'`;

test("a commit with more than a step looks at as much of a long run as of a short one", async () => {
  const rows: number[] = [];
  const counting = {
    connect: () => pool.connect(),
    end: async () => {},
    query: async (query: Query) => {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        const answer = await client.query(query);
        if (query.text.includes(".commit(")) rows.push((await client.query(read)).rows[0].rows);
        await client.query("COMMIT");
        return answer;
      } finally {
        client.release();
      }
    },
  };
  const store = postgres(counting, { clock: "caller", shared: false });
  await store.open();
  let { epoch, head } = await begun(store);
  rows.length = 0;
  for (let part = 0; part < 4; part++) {
    head = await committed(store, commitOn(head, epoch, { steps: 200 }));
    head = await committed(store, commitOn(head, epoch, { withSnapshot: true }));
  }
  expect(head.seq).toBeGreaterThan(800);
  expect(rows).toHaveLength(4);
  for (const looked of rows) expect(looked).toBeLessThan(10);
  await store.close();
});
