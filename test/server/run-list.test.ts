/** Long lists of runs: a page far down is read as fast as the first, as an index leads to where the last page ended. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test } from "vitest";
import { type Client, createClient } from "../../src/client/index.ts";
import { createRuntime } from "../../src/index.ts";
import { limits } from "../../src/limits.ts";
import { createServer } from "../../src/server/index.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { token } from "./house.ts";
import { counter } from "./machines.ts";

/** A million takes half a minute to make: HOLDFAST_RUNS=1000000. */
const size = Number(process.env.HOLDFAST_RUNS ?? 100_000);
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

test("E4: a page deep in the list of many runs is read as fast as the first, with and without a filter", async () => {
  const client = await openMany(size);
  for (const filter of [{}, { status: "active" }, { machine: "counter" }, { subject: "ada" }] as const) {
    const first = () => client.runs.list({ ...filter, limit: 100 });
    const cursor = Buffer.from(JSON.stringify([createdAt(size - 200), `run-${size - 200}`]));
    const deep = () => client.runs.list({ ...filter, limit: 100, cursor: cursor.toString("base64url") });
    expect((await first()).runs.map(({ run }) => run)).toEqual(names(0, 100));
    expect((await deep()).runs.map(({ run }) => run)).toEqual(names(size - 199, 100));
    const [fast, slow] = await inTurns(first, deep);
    // Reading from the top to there takes more than ten times as long, and ever longer as runs become more.
    expect(slow).toBeLessThan(3 * fast + 2);
    if (size > 100_000)
      console.log(`${JSON.stringify(filter)}: ${fast.toFixed(1)} ms, ${slow.toFixed(1)} ms`);
  }
  let [pages, cursor] = [0, ""];
  for (; pages < 50; pages++) {
    const page = await client.runs.list({ limit: 100, ...(cursor === "" ? {} : { cursor }) });
    expect(page.runs[0]?.run).toBe(`run-${pages * 100}`);
    cursor = page.next ?? "";
  }
});

test("E4: every run that is stuck is listed, page by page, however many there are", async () => {
  const count = limits.scannedRunsMax + 600;
  const client = await openMany(count, "parked");
  const listed: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.runs.list({ stuck: true, limit: 500, ...(cursor && { cursor }) });
    for (const { run } of page.runs) listed.push(run);
    cursor = page.next;
  } while (cursor !== undefined);
  expect(listed).toEqual(names(0, count));
});

/** The newest is `run-0`. */
const createdAt = (number: number): number => 1_000_000_000_000 - number;
const names = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `run-${from + index}`);

/** A server over a store with so many runs: one that really was started, and its rows again under other names. */
async function openMany(count: number, status = "active"): Promise<Client> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-list-"));
  closing.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "runs.db");
  const before = await createRuntime({ store: sqlite(path), machines: [counter] });
  await before.start(counter, { id: "first", subject: "ada" });
  await before.close();
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < ${count - 1})
    INSERT INTO run (tenant, run, subject, machine, status, created_at, wake_at, snapshot_seq, about)
      SELECT tenant, 'run-' || n, subject, machine, '${status}', ${createdAt(0)} - n, wake_at, snapshot_seq, about
      FROM number, run WHERE run = 'first' ORDER BY n;
    INSERT INTO entry (run_id, seq, at, digest, bytes)
      SELECT r.id, seq, at, digest, bytes FROM run r, entry WHERE r.run <> 'first' AND run_id = 1;
    DELETE FROM entry WHERE run_id = 1;
    DELETE FROM run WHERE run = 'first';
    COMMIT;
  `);
  database.close();
  const store = sqlite(path);
  const runtime = await createRuntime({ store, machines: [counter] });
  const server = await createServer({ runtime, store, dev: { token } });
  closing.push(async () => {
    server.close();
    await runtime.close();
  });
  return createClient({
    ...{ url: "http://127.0.0.1:4400", key: token },
    fetch: async (request: Request) => server.fetch(request),
  });
}

/** The least milliseconds of both, which are called in turns: what else the machine does only adds to them. */
async function inTurns(
  ...both: readonly [one: () => Promise<unknown>, other: () => Promise<unknown>]
): Promise<readonly [number, number]> {
  const took: [number[], number[]] = [[], []];
  for (let round = 0; round < 15; round++)
    for (const [index, act] of both.entries()) {
      const from = performance.now();
      await act();
      took[index]?.push(performance.now() - from);
    }
  return [Math.min(...took[0]), Math.min(...took[1])];
}
