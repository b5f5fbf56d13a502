/** Stores that earlier Holdfasts wrote: today's reads what they told then, goes on where they stopped, and finds it all again. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { durationMs, type Json } from "../../src/index.ts";
import { verify } from "../../src/runtime/housekeeping/index.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { migrations } from "../../src/store/sqlite/schema.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { World } from "../runtime/world.ts";
import { caller, clerk, family, parrot, pickyWith } from "./machines.ts";
import { type Golden, readLines, tellOf } from "./tell.ts";

/** Formats whose bytes are written anew when they are opened, so that their chains have other digests: see README.md. */
const carried = ["sqlite-v1-first", "sqlite-v2-lean"];

/** What no format can carry over. The first runtime parked nobody: a run that refused a result waits for it ever after. */
const problemsOf: Readonly<Record<string, readonly object[]>> = {
  "sqlite-v1-first": [
    { tenant: "default", run: "picky", kind: "activity", problem: "the activity 1.0 is not there" },
  ],
};

const here = import.meta.dirname;
const names = readdirSync(here)
  .filter((file) => file.endsWith(".golden"))
  .map((file) => file.replace(".golden", ""));
const expectationOf = (name: string) => readLines(readFileSync(join(here, `${name}.jsonl`), "utf8"));

let worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.dispose();
});

/** A copy of a golden store, minutes after the process that wrote it was killed. */
function copyOf(name: string): World & { readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-golden-"));
  const path = join(folder, "runs");
  writeFileSync(path, zstdDecompressSync(readFileSync(join(here, `${name}.golden`))));
  const world = new World({
    ...{ connect: () => sqlite(path), path },
    dispose: async () => rmSync(folder, { recursive: true, force: true }),
  });
  world.clock.jump(60_000);
  worlds = [...worlds, world];
  return Object.assign(world, { path });
}

/** Today's process. `wait` holds its tools up, as if they took long. */
const boot = (world: World, wait = false): Promise<Runtime> =>
  world.boot([
    ...[clerk, parrot, family],
    { machine: caller, activities: { tool: () => (wait ? new Promise<never>(() => {}) : "tool's") } },
    { machine: pickyWith(() => true), activities: { judge: () => "never called" } },
  ]);

const told = ({ runs }: Golden, runtime: Runtime) => tellOf(runtime, Object.keys(runs));

/** What is told, without the digests of its heads. */
const withoutDigests = ({ runs, letters }: Golden): Golden => ({
  runs: Object.fromEntries(
    Object.entries(runs).map(([run, one]) => [
      run,
      { ...one, head: { ...(one.head as object), digest: "" } },
    ]),
  ),
  letters,
});

describe.each(names)("the store %s", (name) => {
  const golden = expectationOf(name);
  const comparable = carried.includes(name) ? withoutDigests : (one: Golden) => one;

  test("B9: tells of every run, state, step and letter what it told when it was written", async () => {
    const world = copyOf(name);
    const runtime = await boot(world, true);
    await world.rest();
    const { runs, letters } = golden;
    expect(comparable(await told(golden, runtime))).toEqual(comparable({ runs, letters }));
    await world.close(runtime);
    expect((await verify({ store: await world.look() })).problems).toEqual(problemsOf[name] ?? []);
  });

  test("B9: goes on: what waited comes, new steps are taken, and all of it is there after another start", async () => {
    const world = copyOf(name);
    const first = await boot(world);
    await goOn(world, first, golden);
    await world.close(first);
    world.clock.jump(durationMs("24h"));
    const second = await boot(world);
    await aDayLater(world, second, golden);
    const before = await told(golden, second);
    await world.close(second);
    const third = await boot(world);
    expect(await told(golden, third)).toEqual(before);
    for (const [run, { journal }] of Object.entries(golden.runs)) {
      expect(before.runs[run]?.journal.slice(0, journal.length)).toEqual(journal);
      const { divergence } = await (await third.run(run)).replay();
      // What it refused before its code was fixed, it would take now.
      expect([run, divergence?.entry.seq]).toEqual([run, run === "picky" ? 2 : undefined]);
    }
    const database = new DatabaseSync(world.path);
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    expect(database.prepare("PRAGMA user_version").get()?.user_version).toBe(migrations.length);
    database.close();
  });
});

/** What was under way comes to its end. */
async function goOn(world: World, runtime: Runtime, { runs }: Golden): Promise<void> {
  const stateOf = async (run: string) => (await runtime.run(run)).state();
  await world.clock.advance("2m");
  expect(await stateOf("asleep")).toMatchObject({
    ...{ configuration: ["open"], timers: [], deferred: [] },
    context: { n: 9, log: [expect.any(String), "deferred"] },
  });
  expect(await (await runtime.run("calling")).finished()).toMatchObject({ output: "tool's" });
  // The first runtime had no children, and parked nobody.
  if (runs.family !== undefined) {
    expect(await (await runtime.run("family")).finished()).toMatchObject({ output: "all done" });
    const picky = await runtime.run("picky");
    await picky.retry();
    expect((await picky.waitFor("done")).context).toEqual({ got: "judged" });
  }
  await (await runtime.run("asleep")).send("add", 2, { key: "k" });
  expect((await stateOf("asleep")).context.n).toBe(9);
}

/** The schedule has had its time, and whoever comes back does new things with what is there. */
async function aDayLater(world: World, runtime: Runtime, { runs }: Golden): Promise<void> {
  const notes = async (run: string) => (await (await runtime.run(run)).state()).context.log;
  await world.clock.advance("1m");
  if (runs.teller !== undefined) expect(await notes("teller")).toContain("noon");
  const long = await runtime.run("long");
  for (let number = 0; number < 40; number++) await long.send("note", String(number).repeat(1_000));
  const { state } = runs.long as unknown as { state: { context: { log: Json[] } } };
  expect(await notes("long")).toHaveLength(state.context.log.length + 40);
  expect((await long.at(40)).context.log).toHaveLength(39);
  await (await long.fork({ at: 41, id: "fork of today" })).send("note", "today");
  expect(await notes("fork of today")).toHaveLength(41);
  if (runs.teller === undefined) return;
  await runtime.deadLetters.redeliver(1, { to: "teller" });
  await world.rest();
  expect(await notes("teller")).toContain("hello");
}

test("there is a golden store of the newest version; where this fails, write one as README.md says", () => {
  const versions = names.map((name) => expectationOf(name).version);
  expect(Math.max(...versions)).toBe(migrations.length);
});
