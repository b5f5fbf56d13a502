/** Copies to come back from: made while the store is written, looked through, and kept by a scheme. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { counter } from "../../../test/runtime/machines.ts";
import { fileStore } from "../../store/file/store.ts";
import { memory } from "../../store/memory/store.ts";
import { sqlite } from "../../store/sqlite/store.ts";
import type { Store } from "../../store/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { systemClock } from "../clock.ts";
import { createRuntime, type Runtime } from "../runtime.ts";
import type { Seal } from "../seal.ts";
import { backup, listBackups, restore, unkept } from "./backup.ts";
import { Housekeeper } from "./housekeeper.ts";

let folder: string;
let directory: string;
let store: Store;
let runtime: Runtime;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-backup-"));
  directory = join(folder, "backups");
  store = sqlite(join(folder, "runs.db"));
  runtime = await createRuntime({ store, machines: [counter] });
});

afterEach(async () => {
  await runtime.close();
  rmSync(folder, { recursive: true });
});

const open = (path: string): Store => sqlite(path, { synchronous: "normal" });
const clock = { ...systemClock, now: () => 1_800_000_000_000 };
/** Stands for encryption: without it nothing can be read. */
const flipped = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 0xff);
const seal: Seal = { close: flipped, open: flipped };

describe("a backup", () => {
  test("B10: is made while runs are written, is good, and has what was committed before it began", async () => {
    const run = await runtime.start(counter, { id: "a" });
    for (let turn = 0; turn < 50; turn++) await run.send("add", 1);
    let isOver = false;
    const writing = (async () => {
      while (!isOver) await run.send("add", 1);
    })();
    const made = await backup({ store, open, directory, clock });
    isOver = true;
    await writing;
    expect(made.verified).toMatchObject({ problems: [], runs: 1 });
    expect(made.verified.entries).toBeGreaterThanOrEqual(51);
    expect(readdirSync(directory)).toEqual(["2027-01-15T08-00-00.000Z.backup"]);
    expect(listBackups(directory)).toEqual([{ path: made.path, at: 1_800_000_000_000 }]);
  });

  test("B10: is restored where nothing is, and goes on from there", async () => {
    const run = await runtime.start(counter, { id: "a" });
    await run.send("add", 7);
    const { path } = await backup({ store, open, directory, clock });
    await run.send("add", 1);
    const to = join(folder, "restored.db");
    await restore({ from: path, to, open });
    expect(readdirSync(folder).filter((name) => name.startsWith("restored"))).toEqual(["restored.db"]);
    const old = sqlite(to);
    await old.open();
    const [lease] = await old.scan("lease", { limit: 1 });
    await old.release(lease?.row?.owner as string, lease?.row?.epoch as number, undefined);
    await old.close();
    const second = await createRuntime({ store: old, machines: [counter] });
    expect((await (await second.run("a")).state()).context.n).toBe(7);
    await second.close();
  });

  test("B10: of a store of files is a directory, thinned out and restored as any other", async () => {
    const files = fileStore({ directory: join(folder, "files") });
    const first = await createRuntime({ store: files, machines: [counter] });
    await (await first.start(counter, { id: "a" })).send("add", 7);
    const openFiles = (path: string): Store => fileStore({ directory: path });
    const options = { store: files, open: openFiles, directory, keep: { last: 1 } };
    const early = await backup({ ...options, clock: { ...clock, now: () => clock.now() - 9_000 } });
    const { path, verified } = await backup({ ...options, clock });
    expect(verified).toMatchObject({ problems: [], runs: 1 });
    expect(listBackups(directory).map((one) => one.path)).toEqual([path]);
    expect(early.path).not.toBe(path);
    const to = join(folder, "restored");
    await restore({ from: path, to, open: openFiles });
    const old = openFiles(to);
    await old.open();
    expect((await old.readHead({ tenant: "default", run: "a" }))?.seq).toBe(2);
    await old.close();
    await first.close();
  });

  test("B10: is not restored over something, nor if it is damaged", async () => {
    await runtime.start(counter, { id: "a" });
    const { path } = await backup({ store, open, directory, clock });
    const to = join(folder, "there.db");
    writeFileSync(to, "mine");
    await expect(restore({ from: path, to, open })).rejects.toMatchObject({ code: "BACKUP_UNUSABLE" });
    expect(readFileSync(to, "utf8")).toBe("mine");
    // What SQLite left of a store that is gone would be read into the one that is put in its place.
    for (const suffix of ["-wal", "-shm"]) {
      const beside = join(folder, `gone${suffix}.db`);
      writeFileSync(beside + suffix, "left");
      await expect(restore({ from: path, to: beside, open })).rejects.toMatchObject({
        code: "BACKUP_UNUSABLE",
        message: expect.stringContaining(beside + suffix),
      });
      expect(readdirSync(folder).filter((name) => name.startsWith("gone-"))).toEqual([
        `gone${suffix}.db${suffix}`,
      ]);
      rmSync(beside + suffix);
    }
    const bad = join(folder, "bad.backup");
    cpSync(path, bad);
    const database = new DatabaseSync(bad);
    database.exec("UPDATE entry SET bytes = x'00'");
    database.close();
    const free = join(folder, "free.db");
    await expect(restore({ from: bad, to: free, open })).rejects.toMatchObject({ code: "BACKUP_UNUSABLE" });
    expect(readdirSync(folder).filter((name) => name.startsWith("free"))).toEqual([]);
    await expect(restore({ from: join(folder, "nothing"), to: free, open })).rejects.toMatchObject({
      code: "BACKUP_UNUSABLE",
    });
  });

  test("B10: of a damaged store is not kept, and the good ones before it stay", async () => {
    await runtime.start(counter, { id: "a" });
    await backup({ store, open, directory, clock });
    const database = new DatabaseSync(join(folder, "runs.db"));
    database.exec("UPDATE entry SET bytes = x'00'");
    database.close();
    const later = { ...clock, now: () => 1_800_000_060_000 };
    await expect(backup({ store, open, directory, clock: later })).rejects.toMatchObject({
      code: "BACKUP_UNUSABLE",
    });
    expect(readdirSync(directory).length).toBe(1);
  });

  test("says what the file system has against it, and so does restoring it", async () => {
    await runtime.start(counter, { id: "a" });
    const { path } = await backup({ store, open, directory, clock });
    const file = join(folder, "file");
    writeFileSync(file, "not a folder");
    const made = backup({ store, open, directory: join(file, "backups"), clock });
    await expect(made).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", details: { code: "ENOTDIR" } });
    const restored = restore({ from: path, to: join(file, "again.db"), open });
    await expect(restored).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", details: { code: "ENOTDIR" } });
  });

  test("of sealed runs is looked through with their seal, and is not good without it", async () => {
    await runtime.close();
    runtime = await createRuntime({ store, machines: [counter], seal });
    await (await runtime.start(counter, { id: "a" })).send("add", 7);
    const unread = backup({ store, open, directory, clock });
    await expect(unread).rejects.toMatchObject({ code: "BACKUP_UNUSABLE" });
    const { path } = await backup({ store, open, directory, clock, seal });
    const to = join(folder, "restored.db");
    await expect(restore({ from: path, to, open })).rejects.toMatchObject({ code: "BACKUP_UNUSABLE" });
    expect(await restore({ from: path, to, open, seal })).toMatchObject({ problems: [], runs: 1 });
  });

  test("is made where an earlier one was broken off, and leaves alone what is no backup", async () => {
    await runtime.start(counter, { id: "a" });
    mkdirSync(directory);
    const other = ["notes.txt", "mine.backup"];
    for (const name of other) writeFileSync(join(directory, name), "mine");
    const name = "2027-01-15T08-00-00.000Z.backup";
    const early = "2027-01-15T06-59-59.000Z.backup.partial";
    const left = [`${name}.partial`, early, `${early}-journal`, "2027-01-14T08-00-00.000Z.backup.partial"];
    for (const one of left) writeFileSync(join(directory, one), "half");
    // Somebody may still be at this one; and this has only a name like it.
    const kept = ["2027-01-15T07-30-00.000Z.backup.partial", "mine.backup.partial"];
    for (const one of kept) writeFileSync(join(directory, one), "half");
    const { path } = await backup({ store, open, directory, clock, keep: { last: 1 } });
    expect(readdirSync(directory).toSorted()).toEqual([name, ...other, ...kept].toSorted());
    expect(listBackups(directory).map((one) => one.path)).toEqual([path]);
    const to = join(folder, "restored.db");
    writeFileSync(`${to}.partial`, "half");
    await restore({ from: path, to, open });
    expect(readdirSync(folder).filter((one) => one.startsWith("restored"))).toEqual(["restored.db"]);
  });

  test("B10: that was just made stays, although a clock that was set back makes it the oldest", async () => {
    const keep = { last: 1 };
    const first = await backup({ store, open, directory, keep, clock });
    const before = { ...clock, now: () => clock.now() - 60_000 };
    const second = await backup({ store, open, directory, keep, clock: before });
    expect(listBackups(directory).map(({ path }) => path)).toEqual([second.path, first.path]);
  });

  test("is refused where something is already, and by stores that have other means", async () => {
    await runtime.start(counter, { id: "a" });
    await expect(store.backup(join(folder, "runs.db"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect(memory().backup("anywhere")).rejects.toMatchObject({ code: "STORE_UNSUPPORTED" });
  });
});

test("B10: recovery points are thinned out with age", () => {
  const hour = 3_600_000;
  const start = Date.UTC(2027, 0, 1);
  const all = Array.from({ length: 24 * 90 }, (_, index) => ({
    path: String(index),
    at: start + index * hour,
  }));
  const gone = new Set(unkept(all, { last: 3, hourly: 24, daily: 7, weekly: 4, monthly: 3 }));
  const left = all.filter((one) => !gone.has(one));
  expect(left.length).toBeLessThanOrEqual(24 + 7 + 4 + 3);
  expect(left.at(-1)).toBe(all.at(-1));
  const ages = left.map(({ at }) => ((all.at(-1)?.at ?? 0) - at) / hour);
  expect(ages.filter((age) => age < 24).length).toBe(24);
  expect(Math.max(...ages)).toBeGreaterThan(24 * 28);
  // One at a time, as they come, leaves the same points.
  let kept: typeof all = [];
  for (const one of all) {
    kept = [...kept, one];
    const old = new Set(unkept(kept, { last: 3, hourly: 24, daily: 7, weekly: 4, monthly: 3 }));
    kept = kept.filter((each) => !old.has(each));
  }
  expect(kept.length).toBeGreaterThanOrEqual(24 + 6);
  expect(unkept(all, {}).length).toBe(all.length - 1);
});

test.each([
  ["hourly", ["03-01T10:00", "03-01T10:59", "03-01T11:00"], ["03-01T10:59", "03-01T11:00"]],
  ["daily", ["03-01T00:00", "03-01T23:59", "03-02T00:00"], ["03-01T23:59", "03-02T00:00"]],
  // The first of March 2027 is a Monday.
  ["weekly", ["02-22T00:00", "02-28T23:59", "03-01T00:00", "03-07T23:59"], ["02-28T23:59", "03-07T23:59"]],
  ["monthly", ["02-01T00:00", "02-28T23:59", "03-01T00:00", "03-31T23:59"], ["02-28T23:59", "03-31T23:59"]],
] as const)("a recovery point that is kept %s is the newest of its time", (period, all, left) => {
  const backups = all.map((path) => ({ path, at: Date.parse(`2027-${path}:00Z`) }));
  const gone = unkept(backups, { [period]: 2 });
  expect(backups.filter((one) => !gone.includes(one)).map(({ path }) => path)).toEqual(left);
  expect(unkept(backups, { [period]: 1 }).length).toBe(all.length - 1);
});

test("a day of hours, a week of days and a quarter of weeks stay unless something is said", async () => {
  const clockAt = (at: number) => ({ ...clock, now: () => at });
  const start = Date.UTC(2027, 0, 4);
  mkdirSync(directory);
  for (let hours = 1; hours <= 24 * 20; hours++) {
    const name = new Date(start - hours * 3_600_000).toISOString().replaceAll(":", "-");
    writeFileSync(join(directory, `${name}.backup`), "earlier");
  }
  await backup({ store, open, directory, clock: clockAt(start) });
  const left = listBackups(directory).map(({ at }) => (start - at) / 3_600_000);
  expect(left.filter((hours) => hours < 24).length).toBe(24);
  // The last of each day before, and the last of each week before those. It is Monday, at midnight.
  expect(left.filter((hours) => hours >= 24)).toEqual([337, 169, 121, 97, 73, 49, 25]);
});

test("B10: backups are made by a calendar, and one that was missed is made up for", async () => {
  const rest = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  await runtime.close();
  runtime = await createRuntime({ store, machines: [counter], seal });
  await runtime.start(counter, { id: "a" });
  const virtual = new VirtualClock(Date.UTC(2027, 0, 1, 12, 30), rest);
  const problems: unknown[] = [];
  const world = {
    ...{ store, clock: virtual, seal, epoch: () => 0, runtime },
    problem: (error: unknown) => void problems.push(error),
  };
  const plan = { backup: { directory, open, cron: "0 * * * *", keep: { last: 2 } } };
  const first = new Housekeeper(world, plan);
  first.start();
  await virtual.advance(1);
  /** Copying is done in other threads, which no clock of ours knows of. */
  const made = async (count: number) => {
    while (listBackups(directory).length < count) await rest();
    await rest();
    return listBackups(directory).map(({ at }) => new Date(at).toISOString().slice(11, 16));
  };
  expect(await made(1)).toEqual(["12:30"]);
  await virtual.advance(30 * 60_000);
  expect(await made(2)).toEqual(["12:30", "13:00"]);
  await first.close();
  const second = new Housekeeper(world, plan);
  second.start();
  await virtual.advance(1_000);
  expect(await made(2)).toEqual(["12:30", "13:00"]);
  await second.close();
  expect(problems).toEqual([]);
  expect(() => new Housekeeper(world, { backup: { ...plan.backup, cron: "never" } })).toThrow(
    expect.objectContaining({ code: "SCHEDULE_INVALID" }),
  );
});
