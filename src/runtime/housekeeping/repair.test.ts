/** One damaged row of every table, in every column: it is found, and put right without touching anybody else's. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../../../test/generate/random.ts";
import {
  furnish,
  furniture,
  type Row,
  rowsIn,
  runsIn,
  shown,
  tables,
} from "../../../test/runtime/furnished.ts";
import { storeKinds } from "../../../test/runtime/stores.ts";
import { World } from "../../../test/runtime/world.ts";
import { sqlite } from "../../store/sqlite/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { createRuntime } from "../runtime.ts";
import { readHolds } from "./hold.ts";
import { repair } from "./repair.ts";
import { verify } from "./verify.ts";

/** Columns that stand nowhere else, so that nobody can tell what was in them; names are what a seal would bind. */
const untold: Readonly<Record<string, readonly string[]>> = {
  run: ["tenant", "run", "subject", "created_at", "about"],
  inbox: ["id", "subject", "expendable", "priority", "at"],
  seen_key: ["key", "seq"],
  activity: ["attempt", "due_at", "epoch"],
  chunk: ["key", "offset", "attempt"],
  snapshot: ["kept"],
  content: ["tenant", "subject"],
  document: ["tenant", "name", "version"],
  dead_letter: ["number", "tenant", "run", "id", "subject", "key", "priority", "at", "reason"],
  lease: ["owner", "epoch", "taken_at", "until"],
};

let folder: string;
let base: string;
let count = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-repair-"));
  const world = new World(await (storeKinds.SQLite as NonNullable<typeof storeKinds.SQLite>)());
  await furnish(world);
  base = join(folder, "base.db");
  await (await world.look()).backup(base);
  await world.dispose();
});

afterAll(() => rmSync(folder, { recursive: true }));

/** A copy of the store in which one value is another; undefined if that cannot be. */
function damaged(table: string, row: Row, column: string, value: SQLInputValue): string | undefined {
  const path = join(folder, `${count++}.db`);
  copyFileSync(base, path);
  const database = new DatabaseSync(path);
  const columns = Object.keys(row);
  const where = columns.map((one) => `"${one}" IS ?`).join(" AND ");
  try {
    const given = columns.map((one) => row[one] as SQLInputValue);
    database.prepare(`UPDATE "${table}" SET "${column}" = ? WHERE ${where}`).run(value, ...given);
    return path;
  } catch {
    return undefined;
  } finally {
    database.close();
  }
}

/** Another value of the same type. */
function another(value: unknown, random: ReturnType<typeof createRandom>): SQLInputValue | undefined {
  if (value instanceof Uint8Array) {
    const bytes = new Uint8Array(value);
    const at = random.between(0, Math.max(0, bytes.length - 1));
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.between(0, 7));
    return bytes;
  }
  if (typeof value === "number") return value + random.pick([1, -1, 1_000_000]);
  if (typeof value !== "string" || value === "") return undefined;
  const at = random.between(0, value.length - 1);
  return value.slice(0, at) + String.fromCharCode((value.charCodeAt(at) % 90) + 33) + value.slice(at + 1);
}

/** Whose rows they are. */
const ownersOf = (table: string, row: Row): number[] => {
  if ("run_id" in row) return [row.run_id as number];
  const runs = rowsIn(base, "run");
  if (table === "run") return [row.id as number];
  if (table === "attribute") return runs.filter(({ run }) => run === row.run).map(({ id }) => id as number);
  if (table === "content")
    return runs.filter(({ subject }) => subject === row.subject).map(({ id }) => id as number);
  return [];
};

async function check(table: string, row: Row, column: string, path: string): Promise<void> {
  const store = sqlite(path, { synchronous: "normal" });
  await store.open();
  try {
    const found = await verify({ store });
    const where = `${table}.${column}: ${JSON.stringify(found.problems)} of ${shown(row).slice(0, 200)}`;
    if (!untold[table]?.includes(column)) expect(found.problems.length, where).toBeGreaterThan(0);
    const { left, runs } = await repair({ store, clock: new VirtualClock(9_000_000) });
    expect(left, where).toEqual([]);
    const owners = ownersOf(table, row);
    const before = runsIn(base);
    const after = runsIn(path);
    for (const [id, rows] of before) if (!owners.includes(id)) expect(after.get(id), where).toBe(rows);
    for (const mended of runs) expect(mended.is, where).toBeLessThanOrEqual(mended.was);
  } finally {
    await store.close();
  }
}

describe("a store with one damaged row", () => {
  test("B4: is sound before", async () => {
    const store = sqlite(base);
    await store.open();
    const { problems, runs, entries } = await verify({ store });
    expect(problems).toEqual([]);
    expect([runs, entries > 30]).toEqual([7, true]);
    for (const table of tables) expect(rowsIn(base, table).length, table).toBeGreaterThan(0);
    await store.close();
  });

  test.each(tables)(
    "B4: in %s is put right, and every other run is as it was, byte for byte",
    async (table) => {
      const random = createRandom(tables.indexOf(table) + 1);
      const rows = rowsIn(base, table);
      for (const column of Object.keys(rows[0] as Row)) {
        const chosen = [rows[0], rows.at(-1), ...Array.from({ length: 4 }, () => random.pick(rows))] as Row[];
        for (const row of chosen) {
          const value = another(row[column], random);
          const path = value === undefined ? undefined : damaged(table, row, column, value);
          if (path === undefined) continue;
          await check(table, row, column, path);
          for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
        }
      }
    },
    120_000,
  );
});

/** Repairs a store in which one value is another; what came of it, and the runs before and after. */
async function repaired(table: string, pick: (row: Row) => boolean, column: string, value: SQLInputValue) {
  const row = rowsIn(base, table).find(pick) as Row;
  const path = damaged(table, row, column, value) as string;
  const store = sqlite(path);
  await store.open();
  const report = await repair({ store, clock: new VirtualClock(9_000_000) });
  expect(report.left).toEqual([]);
  await store.close();
  return { ...report, path, before: runsIn(base), after: runsIn(path) };
}

const numberOf = (run: string): number => rowsIn(base, "run").find((row) => row.run === run)?.id as number;
const entryOf = (run: string, seq: number) => (row: Row) => row.run_id === numberOf(run) && row.seq === seq;
const lastOf = (run: string): number =>
  Math.max(
    ...rowsIn(base, "entry").flatMap((row) => (row.run_id === numberOf(run) ? [row.seq as number] : [])),
  );
const snapshotsOf = (run: string): number[] =>
  rowsIn(base, "snapshot").flatMap((row) => (row.run_id === numberOf(run) ? [row.seq as number] : []));

describe("what is repaired", () => {
  test("B4: is back as it was where the damage stands beside the bytes", async () => {
    for (const [table, column, value] of [
      ["entry", "digest", "another"],
      ["entry", "at", 5],
      ["entry", "seq", 99],
      ["run", "status", "done"],
      ["run", "wake_at", 5],
      ["run", "id", 99],
      ["snapshot", "seq", 77],
    ] as const) {
      const pick = (row: Row) => (table === "run" ? row.run === "napping" : row.run_id === numberOf("long"));
      const { runs, before, after } = await repaired(table, pick, column, value);
      expect([...after.values()].sort(), `${table}.${column}`).toEqual([...before.values()].sort());
      expect(runs.every(({ lost }) => lost === undefined)).toBe(true);
    }
  });

  test("B4: keeps its newest state where a snapshot after the damage leads to it, and tells which entries it lost", async () => {
    const last = lastOf("long");
    const base = Math.min(...snapshotsOf("long"));
    const { runs } = await repaired("entry", entryOf("long", 3), "bytes", new Uint8Array([1, 2, 3]));
    expect(runs).toMatchObject([{ run: "long", was: last, is: last, lost: { from: 1, to: base } }]);
  });

  test("begins with that snapshot, also where its row was wrong about where it begins", async () => {
    const path = join(folder, `${count++}.db`);
    copyFileSync(base, path);
    const database = new DatabaseSync(path);
    const id = numberOf("long");
    database.exec(`UPDATE entry SET bytes = x'010203' WHERE run_id = ${id} AND seq = 3`);
    database.exec(`UPDATE run SET pruned = 2 WHERE id = ${id}`);
    database.close();
    const store = sqlite(path);
    await store.open();
    const { runs, left } = await repair({ store, clock: new VirtualClock(9_000_000) });
    expect(left).toEqual([]);
    const lost = { from: 1, to: Math.min(...snapshotsOf("long")) };
    expect(runs).toMatchObject([{ run: "long", is: lastOf("long"), lost }]);
    await store.close();
  });

  test("B4: goes back to the last good checkpoint where none does", async () => {
    const last = lastOf("long");
    const { runs, path } = await repaired("entry", entryOf("long", last), "bytes", new Uint8Array([1, 2, 3]));
    expect(runs).toMatchObject([{ run: "long", was: last, is: last - 1, lost: { from: last, to: last } }]);
    expect(rowsIn(path, "entry").some(entryOf("long", last))).toBe(false);
  });

  test("B4: stays where it stood if its newest entry is gone and its snapshot is there", async () => {
    const newest = Math.max(...snapshotsOf("long"));
    const cut = join(folder, `${count++}.db`);
    copyFileSync(base, cut);
    const database = new DatabaseSync(cut);
    const id = numberOf("long");
    database.exec(`DELETE FROM entry WHERE run_id = ${id} AND seq > ${newest}`);
    database.exec(`DELETE FROM seen_key WHERE run_id = ${id} AND seq > ${newest}`);
    database.exec(`UPDATE entry SET bytes = x'010203' WHERE run_id = ${id} AND seq = ${newest}`);
    database.close();
    const store = sqlite(cut);
    await store.open();
    const { runs, left } = await repair({ store, clock: new VirtualClock(9_000_000) });
    expect(left).toEqual([]);
    expect(runs).toMatchObject([
      { run: "long", was: newest, is: newest, lost: { from: newest, to: newest } },
    ]);
    await store.close();
  });

  test("B4: is forgotten where no checkpoint is good, and what waited for it becomes dead letters", async () => {
    const { runs } = await repaired("entry", entryOf("napping", 1), "bytes", new Uint8Array([1, 2, 3]));
    expect(runs).toMatchObject([{ run: "napping", was: 2, is: 0, lost: { from: 1, to: 2 } }]);
  });

  test("B4: has its activity begun again where that was damaged, and its snapshot made anew", async () => {
    const activity = await repaired("activity", () => true, "bytes", new Uint8Array([1]));
    expect(activity.runs).toMatchObject([
      { run: "calling", lost: undefined, notes: ["the activity 1.0 begins again"] },
    ]);
    const pick = (row: Row) => row.run_id === numberOf("long");
    const snapshot = await repaired("snapshot", pick, "bytes", new Uint8Array([1]));
    expect(snapshot.runs).toMatchObject([{ run: "long", lost: undefined }]);
    expect([...snapshot.after.values()]).toEqual([...snapshot.before.values()]);
  });

  test("is listed under its attributes still where its row cannot tell them any more", async () => {
    const pick = (row: Row) => row.run === "long";
    const { path } = await repaired("run", pick, "about", "{");
    const attributes = (of: string) => rowsIn(of, "attribute").filter(pick).map(shown).sort();
    expect(attributes(base)).toHaveLength(2);
    expect(attributes(path)).toEqual(attributes(base));
  });

  test("B10: holds everything of a tenant whose list of holds was damaged", async () => {
    const pick = (row: Row) => row.name === "holdfast/holds";
    const { path } = await repaired("document", pick, "bytes", new Uint8Array([1]));
    const store = sqlite(path);
    await store.open();
    expect(await readHolds({ store })).toMatchObject([{ everything: true }]);
    await store.close();
  });
});

test("B4: what was repaired goes on", async () => {
  const [entry] = rowsIn(base, "entry").filter(({ seq, run_id }) => seq === 5 && run_id === 1);
  const path = damaged("entry", entry as Row, "bytes", new Uint8Array([1, 2, 3])) as string;
  const store = sqlite(path);
  await store.open();
  const clock = new VirtualClock(9_000_000);
  const { runs } = await repair({ store, clock });
  expect(runs.length).toBe(1);
  const runtime = await createRuntime({ store, clock, machines: furniture as never });
  for await (const { run, status } of runtime.find())
    if (status === "active") expect((await (await runtime.run(run)).state()).status).toBe("active");
  await runtime.close();
});
