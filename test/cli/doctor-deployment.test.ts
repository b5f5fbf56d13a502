/** `holdfast doctor` on deployments that are wrong, each on real servers: what it finds, why that matters, what to do. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { postgres } from "../../src/store/postgres/store.ts";
import { Node } from "../postgres/cluster.ts";
import { createDatabase, type Database } from "../postgres/database.ts";
import { Pair } from "../postgres/pair.ts";
import { startServer } from "../postgres/server.ts";
import { findRedis, startRedis } from "../redis/server.ts";
import { doctor } from "./doctor.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-deployment-"));
// The servers may run as somebody else.
chmodSync(folder, 0o755);
let database: Database;
const stops: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  database = await createDatabase();
  const store = postgres(database.url);
  await store.open();
  await store.close();
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});
afterAll(async () => {
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** A role that the test's database knows, until it has ended. */
async function role(name: string, ...grants: string[]): Promise<string> {
  await database.query(`CREATE ROLE ${name} LOGIN`);
  stops.push(() => database.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`));
  for (const grant of grants) await database.query(`GRANT ${grant} TO ${name}`);
  return database.url.replace("holdfast@", `${name}@`);
}

test("a role that may only look, or nothing, is told with what it lacks", async () => {
  const looker = await role(
    "doctor_looker",
    "USAGE ON SCHEMA holdfast",
    "SELECT ON ALL TABLES IN SCHEMA holdfast",
  );
  const looked = await doctor(looker);
  expect(looked).toMatchObject({ code: 1, troubles: { rights: "bad" } });
  expect(looked.found.rights).toMatch(/^doctor_looker may not read and write \d+ tables, such as activity$/);
  expect(looked.remedies.rights).toContain("INSERT, UPDATE and DELETE");
  const stranger = await doctor(await role("doctor_stranger"));
  expect(stranger).toMatchObject({ code: 1, troubles: { rights: "bad", "store version": "bad" } });
  expect(await doctor(database.url)).toMatchObject({
    code: 0,
    found: { rights: expect.stringMatching(/all tables$/) },
  });
});

test("a role that may not have the connections a worker takes is told, and one that may have them is well", async () => {
  const all = ["USAGE ON SCHEMA holdfast", "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA holdfast"];
  const url = await role("doctor_narrow", ...all);
  expect(await doctor(url)).toMatchObject({
    code: 0,
    found: { connections: expect.not.stringContaining("allowed") },
  });
  await database.query("ALTER ROLE doctor_narrow CONNECTION LIMIT 5");
  const narrow = await doctor(url);
  expect(narrow).toMatchObject({ code: 1, troubles: { connections: "bad" } });
  expect(narrow.found.connections).toContain("5 allowed to this role or database; 1 worker may use 11");
  expect(narrow.remedies.connections).toContain("CONNECTION LIMIT");
});

test("a role that may not make the store where there is none is told, and one that may is well", async () => {
  const poor = await doctor(await role("doctor_poor"), "--schema", "fresh");
  expect(poor).toMatchObject({ code: 1, troubles: { rights: "bad", "store version": "warning" } });
  expect(poor.remedies.rights).toContain("holdfast db migrate");
  const rich = await role("doctor_rich");
  const [{ name } = {}] = await database.query("SELECT current_database() AS name");
  await database.query(`GRANT CREATE ON DATABASE ${name} TO doctor_rich`);
  expect((await doctor(rich, "--schema", "fresh")).found.rights).toBe("doctor_rich may make the store");
});

test("a standby that is given as the primary is told, and is no crash", async () => {
  const pair = await Pair.start({ folder: join(folder, "pair") });
  stops.push(() => pair.stop());
  const told = await doctor(pair.standby.url);
  expect(told).toMatchObject({ code: 1, troubles: { writable: "bad" } });
  expect(told.remedies.writable).toBe("give the URL of the primary server");
  expect(told.found).not.toHaveProperty("backups");
  expect(told.found).not.toHaveProperty("server");
  expect((await doctor(pair.url)).found.replication).toBe("1 of 1 synchronous");
  await pair.standby.kill();
  expect((await doctor(pair.primary.url)).troubles).toMatchObject({ replication: "bad" });
}, 120_000);

test("a server that loses what it acknowledged is told: fsync, synchronous_commit, full_page_writes", async () => {
  const server = await startServer({ fsync: "off", synchronous_commit: "off", full_page_writes: "off" });
  stops.push(() => server.stop());
  expect(await doctor(server.url("postgres"))).toMatchObject({
    code: 1,
    troubles: { fsync: "bad", synchronous_commit: "warning", full_page_writes: "bad" },
  });
}, 60_000);

test("a log that is not archived is a warning, one that cannot be is bad, and one that is is well", async () => {
  expect((await doctor(database.url)).troubles).toEqual({ backups: "warning", workers: "warning" });
  const server = await Node.in(join(folder, "archiving"));
  await server.create();
  const archive = server.makeFolder("archive");
  const gone = join(archive, "gone");
  server.configure({ archive_mode: "on", archive_command: `cp %p ${gone}/%f` });
  await server.start();
  stops.push(() => server.stop());
  await server.query("SELECT pg_switch_wal()");
  await server.until("SELECT last_failed_wal IS NOT NULL FROM pg_stat_archiver");
  const failing = await doctor(server.url);
  expect(failing).toMatchObject({ code: 1, troubles: { backups: "bad" } });
  expect(failing.found.backups).toMatch(/^[\dA-F]{24} could not be archived$/);
  mkdirSync(gone, { mode: 0o777 });
  await server.query("ALTER SYSTEM SET archive_command = 'true'");
  await server.query("SELECT pg_reload_conf(), pg_switch_wal()");
  await server.until("SELECT last_archived_time > last_failed_time FROM pg_stat_archiver");
  expect((await doctor(server.url)).found.backups).toMatch(/of the log archived$/);
  await server.query("ALTER SYSTEM SET archive_command = ''");
  await server.query("SELECT pg_reload_conf()");
  await server.until("SELECT current_setting('archive_command') = ''");
  expect((await doctor(server.url)).troubles).toMatchObject({ backups: "bad" });
}, 120_000);

test("the disk of a server on this machine is told, and of a SQLite file", async () => {
  expect((await doctor(database.url)).found.disk).toMatch(/^[\d.]+ GiB of [\d.]+ GiB free at \//);
});

test.skipIf(findRedis() === undefined)(
  "a Redis that is well, full of its own, stopped and away is told, and is never bad: workers do without",
  async () => {
    const redis = await startRedis("--maxmemory-policy", "allkeys-lru");
    stops.push(() => redis.stop());
    expect((await doctor(database.url, "--redis", redis.url)).found.redis).toMatch(/^answers in \d+ ms$/);
    redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    const full = await doctor(database.url, "--redis", redis.url);
    expect(full).toMatchObject({ code: 0, troubles: { redis: "warning" } });
    expect(full.remedies.redis).toContain("allkeys-lru");
    redis.signal("SIGSTOP");
    const stalled = await doctor(database.url, "--redis", redis.url);
    redis.signal("SIGCONT");
    expect(stalled).toMatchObject({ code: 0, found: { redis: "nobody answers within 2 s" } });
    await redis.kill();
    expect(await doctor(database.url, "--redis", redis.url)).toMatchObject({
      ...{ code: 0, troubles: { redis: "warning" } },
    });
  },
);
