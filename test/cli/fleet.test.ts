/**
 * `holdfast fleet` on a real server: load comes and workers are added, load goes and they drain and go; the ledger, which is
 * outside of any store, shows that nothing was lost and nothing was done twice.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRuntime } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { createDatabase, type Database } from "../postgres/database.ts";
import { job } from "./jobs.ts";
import { type Command, holdfast } from "./process.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-fleet-"));
const ledger = join(folder, "ledger");
let database: Database;
let command: Command | undefined;

beforeAll(async () => {
  database = await createDatabase();
  writeFileSync(ledger, "");
});
afterAll(async () => {
  command?.signal("SIGKILL");
  await command?.ended;
  await database?.drop();
  rmSync(folder, { recursive: true });
});

interface Row {
  readonly isLeaving: boolean;
  readonly slots: number;
}

/** The workers that stay, as the database knows them. */
async function staying(): Promise<number> {
  const rows = await database.query("SELECT sign FROM holdfast.lease WHERE id = 2");
  return rows
    .map(({ sign }) => JSON.parse(sign as string) as Row)
    .filter(({ isLeaving, slots }) => !isLeaving && slots === 2).length;
}

const noted = (): string[][] =>
  readFileSync(ledger, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(" "));

test("G2: load comes and workers are added; it goes and they drain; nothing is lost or done twice", async () => {
  command = holdfast(
    [
      ...["fleet", "test/cli/jobs.ts", "--min", "1", "--max", "3", "--slots", "2"],
      ...["--every", "200ms", "--cool-down", "2s"],
    ],
    { LEDGER: ledger, HOLDFAST_STORE: database.url },
  );
  await command.says(/^up/m);
  const runtime = await createRuntime({
    store: postgres(database.url),
    machines: [{ machine: job, activities: { work: () => Promise.reject(new Error("not here")) } }],
  });
  // It only asks: the workers are to do the work.
  await runtime.drain();
  const ids = Array.from({ length: 40 }, (_, index) => `job-${index}`);
  const runs = await Promise.all(ids.map((id) => runtime.start(job, { id, input: 100 })));
  const go = (from: number, to: number) => Promise.all(runs.slice(from, to).map((run) => run.send("go")));

  writeFileSync(`${ledger}.hold`, "");
  await go(0, 12);
  await expect.poll(staying, { timeout: 50_000 }).toBe(3);
  await go(12, 30);
  rmSync(`${ledger}.hold`);
  // What comes while workers leave is done as well.
  await command.says(/is to leave/);
  await go(30, 40);
  for (const run of runs) expect((await run.finished()).state).toBe("done");
  await expect.poll(staying, { timeout: 50_000 }).toBe(1);

  const both = noted();
  for (const what of ["begun", "ended"]) {
    const named = both.filter(([, noun]) => noun === what).map(([id]) => id);
    expect(named.toSorted()).toEqual(ids.toSorted());
  }
  expect(new Set(both.map(([, , pid]) => pid)).size).toBeGreaterThan(1);

  command.signal("SIGTERM");
  expect(await command.ended).toBe(0);
  await runtime.close();
  expect(await database.query("SELECT 1 FROM holdfast.lease WHERE id = 2")).toEqual([]);
  expect(command.said.err).toContain("started");
  expect(command.said.out).toMatch(/workers: 3, were 1|workers: 2, were 1/);
}, 180_000);

test("workers end with the fleet that started them, also if it is killed", async () => {
  const killed = holdfast(
    ["fleet", "test/cli/jobs.ts", "--schema", "killed", "--every", "200ms", "--drain", "1s"],
    { LEDGER: ledger, HOLDFAST_STORE: database.url },
  );
  await killed.says(/^up/m);
  const members = async () => (await database.query("SELECT 1 FROM killed.lease WHERE id = 2")).length;
  expect(await members()).toBe(1);
  killed.signal("SIGKILL");
  await expect.poll(members, { timeout: 30_000 }).toBe(0);
  expect(await killed.ended).toBe("SIGKILL");
}, 90_000);
