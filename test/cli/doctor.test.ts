/** `holdfast doctor` on real stores: what is well, and what is made wrong on purpose. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRuntime, limits } from "../../src/index.ts";
import { countDue } from "../../src/server/due.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { createDatabase, type Database } from "../postgres/database.ts";
import { pgbouncer, startPooler } from "../postgres/pooler.ts";
import { counter } from "../runtime/machines.ts";
import { doctor, run } from "./doctor.ts";

let database: Database;
const folder = mkdtempSync(join(tmpdir(), "holdfast-doctor-"));
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  await database?.drop();
  rmSync(folder, { recursive: true });
});

/** The server of the tests keeps no archive. */
const unarchived = { backups: "warning" };

test("a server without a store, and one with a worker on it, are well; what is found is one line each", async () => {
  expect(await doctor(database.url)).toMatchObject({
    code: 0,
    troubles: { ...unarchived, "store version": "warning" },
  });
  const runtime = await createRuntime({ store: postgres(database.url), machines: [counter] });
  const told = await doctor(database.url);
  expect(told.troubles).toEqual(unarchived);
  expect(told).toMatchObject({ code: 0, isWell: true });
  expect(told.found).toMatchObject({ encoding: "UTF8", fsync: "on", signals: "what is notified is heard" });
  expect(told.found.workers).toContain(`${process.pid}`);
  const { code, out } = await run(["doctor", "--store", database.url]);
  expect(code).toBe(0);
  for (const line of out.trim().split("\n"))
    expect(line).toMatch(/^(✓ [\w ]+: \S|! (backups|disk): .* → \S)/);
  await runtime.close();
});

test("G4: runs that nobody takes up, parked ones, dead letters and lapsed leases are found", async () => {
  const runtime = await createRuntime({
    store: postgres(database.url, { schema: "left" }),
    machines: [counter],
  });
  const parked = await runtime.start(counter, { id: "parked" });
  await parked.pause();
  const ended = await runtime.start(counter, { id: "ended" });
  await ended.send("end");
  await ended.finished();
  await runtime.start(counter, { id: "left" });
  await runtime.close();
  await database.query("UPDATE \"left\".run SET wake_at = 1 WHERE run = 'left'");
  await database.query(`INSERT INTO "left".dead_letter (tenant, run, id, subject, priority, at, reason, bytes)
    VALUES ('default', 'gone', '1', 'gone', 0, 0, 'ended', '')`);
  const sign = JSON.stringify({ isLeaving: false, slots: 1, running: 0, waiting: 0 });
  await database.query(
    `INSERT INTO "left".lease (id, epoch, owner, taken_at, until, sign) VALUES (2, 77, 'somewhere', 1, 2, $1)`,
    [sign],
  );
  expect(await doctor(database.url, "--schema", "left")).toMatchObject({
    code: 1,
    isWell: false,
    troubles: {
      ...{ workers: "warning", "lapsed leases": "warning", "due runs": "bad" },
      ...{ "parked runs": "warning", "dead letters": "warning" },
    },
  });
});

test("due runs are counted to the limit and no further", async () => {
  const store = postgres(database.url, { schema: "many" });
  await store.open();
  const add = (from: number, to: number) =>
    database.query(
      `INSERT INTO many.run (tenant, run, subject, machine, status, created_at, wake_at, snapshot_seq, about, shard)
        SELECT 'default', 'run-' || n, 'a', 'm', 'active', 1, 1, 1, '{}', many.shard_of('default', 'run-' || n)
        FROM generate_series($1::int, $2::int) n`,
      [from, to],
    );
  await add(1, limits.dueCountedMax - 1);
  expect(await countDue(store, Date.now())).toBe(limits.dueCountedMax - 1);
  await add(limits.dueCountedMax, limits.dueCountedMax + 1);
  expect(await countDue(store, Date.now())).toBe(limits.dueCountedMax);
  const { found } = await doctor(database.url, "--schema", "many");
  expect(found["due runs"]).toMatch(/^1000 or more runs/);
  await store.close();
  expect(await countDue(store, Date.now())).toBeUndefined();
});

test.skipIf(pgbouncer === undefined)(
  "behind PgBouncer only signals want an address of their own",
  async () => {
    const pooler = await startPooler(database.socketFolder);
    const url = pooler.url(database.url);
    const runtime = await createRuntime({
      store: postgres(url, { listen: database.url }),
      machines: [counter],
    });
    expect((await doctor(url)).troubles).toEqual({ ...unarchived, signals: "warning" });
    expect((await doctor(url, "--signals", database.url)).troubles).toEqual(unarchived);
    await runtime.close();
    await pooler.stop();
  },
);

test("signals that are sent where nobody hears them, and too few connections, are found", async () => {
  // A notification stays in its database, so whoever listens in another one hears nothing.
  const elsewhere = database.url.replace(/\/test_\w+/, "/postgres");
  expect((await doctor(database.url, "--signals", elsewhere)).troubles).toMatchObject({ signals: "warning" });
  expect((await doctor(database.url, "--workers", "100")).troubles).toMatchObject({ connections: "bad" });
});

test("another program's schema, a newer store and an older one are told apart", async () => {
  await database.query("CREATE SCHEMA theirs; CREATE TABLE theirs.run (id int)");
  expect(await doctor(database.url, "--schema", "theirs")).toMatchObject({
    code: 1,
    troubles: { "store version": "bad" },
  });
  const store = postgres(database.url, { schema: "ages" });
  await store.open();
  await store.close();
  await database.query("UPDATE ages.store_version SET version = 999");
  expect(await doctor(database.url, "--schema", "ages")).toMatchObject({
    code: 1,
    troubles: { "store version": "bad" },
  });
  await database.query("UPDATE ages.store_version SET version = 3");
  expect(await doctor(database.url, "--schema", "ages")).toMatchObject({
    code: 0,
    troubles: { "store version": "warning" },
  });
  const [{ version } = {}] = await database.query("SELECT version FROM ages.store_version");
  expect(version).toBe(3);
});

test("a server that does not answer is one finding, without the password", async () => {
  const { code, out } = await run(["doctor", "--store", `postgres://a:secret@localhost/x?host=${folder}`]);
  expect(code).toBe(1);
  expect(out).toMatch(/^✗ server: STORE_UNAVAILABLE/);
  expect(out).not.toContain("secret");
});

test("a SQLite file: sound, owned, of another program, damaged, absent", async () => {
  const path = join(folder, "runs.db");
  expect(await doctor(path)).toMatchObject({ code: 0, troubles: { file: "warning" } });
  const runtime = await createRuntime({ store: sqlite(path), machines: [counter] });
  expect((await doctor(path)).troubles).toEqual({});
  await runtime.close();
  expect(await doctor(path)).toMatchObject({ code: 0, troubles: { owner: "warning" } });
  const damaged = join(folder, "damaged.db");
  const bytes = readFileSync(path);
  writeFileSync(damaged, bytes.fill(7, 4_096, bytes.length));
  expect(await doctor(damaged)).toMatchObject({ code: 1, troubles: { integrity: "bad" } });
  const other = join(folder, "other.db");
  writeFileSync(other, "not a database at all, but long enough to be taken for one ".repeat(100));
  expect(await doctor(other)).toMatchObject({ code: 1, troubles: { "store version": "bad" } });
});
