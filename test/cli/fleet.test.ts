/**
 * `holdfast fleet` on a real server: load comes and workers are added, load goes and they drain and go; the ledger, which is
 * outside of any store, shows that nothing was lost and nothing was done twice.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

interface Member {
  readonly pid: string;
  readonly isLeaving: boolean;
}

/** The workers, as the database knows them; whoever has other slots is none of them. */
async function members(): Promise<readonly Member[]> {
  const rows = await database.query("SELECT owner, sign FROM holdfast.lease WHERE id = 2");
  return rows
    .map(({ owner, sign }) => ({
      pid: (owner as string).split(" ")[1] as string,
      ...JSON.parse(sign as string),
    }))
    .filter(({ slots }) => slots === 2);
}

const staying = async (): Promise<number> => (await members()).filter(({ isLeaving }) => !isLeaving).length;

/** Returns once every worker has given a sign of life after all were there, and again: by then each knows all others. */
async function acquainted(): Promise<void> {
  const signs = async () => {
    const rows = await database.query("SELECT taken_at, sign FROM holdfast.lease WHERE id = 2");
    return rows
      .filter(({ sign }) => JSON.parse(sign as string).slots === 2)
      .map(({ taken_at: at }) => at as number);
  };
  for (let round = 0; round < 2; round++) {
    const last = Math.max(...(await signs()));
    await expect.poll(async () => Math.min(...(await signs()))).toBeGreaterThan(last);
  }
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
  const ids = Array.from({ length: 60 }, (_, index) => `job-${index}`);
  const runs = await Promise.all(ids.map((id) => runtime.start(job, { id, input: 50 })));
  const go = (from: number, to: number) => Promise.all(runs.slice(from, to).map((run) => run.send("go")));
  const hold = (run: string) => `${ledger}.hold-${run}`;

  // More than one can do: others come, and have what waits for its turn.
  for (const id of ids.slice(0, 36)) writeFileSync(hold(id), "");
  await go(0, 12);
  await expect.poll(staying).toBe(3);
  await acquainted();
  await go(12, 36);

  // Less than one can do: others go, the youngest first; it has something under way, which it ends before it goes.
  const youngest = [...command.said.err.matchAll(/^worker (\d+) started$/gm)].at(-1)?.[1] as string;
  const begunThere = () =>
    noted().find(([id = "", what, pid]) => what === "begun" && pid === youngest && isHeld(id));
  const isHeld = (id: string) => existsSync(hold(id));
  await expect.poll(begunThere).toBeDefined();
  const kept = begunThere()?.[0] as string;
  for (const id of ids.slice(0, 36)) if (id !== kept) rmSync(hold(id));
  const isLeaving = async () =>
    (await members()).some((member) => member.pid === youngest && member.isLeaving);
  await expect.poll(isLeaving).toBe(true);
  // What comes while workers leave is done as well.
  await go(36, 60);
  expect(await isLeaving()).toBe(true);
  rmSync(hold(kept));
  for (const run of runs) expect((await run.finished()).state).toBe("done");
  await expect.poll(staying).toBe(1);

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
  const count = async () => (await database.query("SELECT 1 FROM killed.lease WHERE id = 2")).length;
  expect(await count()).toBe(1);
  killed.signal("SIGKILL");
  await expect.poll(count).toBe(0);
  expect(await killed.ended).toBe("SIGKILL");
});
