/**
 * Writes a golden store in the format of the Holdfast it is run with, and what must be read in it ever after:
 *
 *     node --conditions=holdfast-source test/golden/write.ts sqlite-v5-some-words
 *
 * It is kept so that earlier commits can run it too: what they did not have yet is left out. Nothing is closed in the
 * end, so the store is what a process that was killed leaves: an activity under way, a lease that is held.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { createRuntime, type Run, type Runtime } from "../../src/runtime/runtime.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { caller, clerk, family, parrot, pickyWith } from "./machines.ts";
import { linesOf, tellOf } from "./tell.ts";

/** A text of its own for each number: long in a store, and short in a compressed copy of it. */
function text(number: number, length: number): string {
  const word = createHash("sha256").update(String(number)).digest("base64");
  return word.repeat(Math.ceil(length / word.length)).slice(0, length);
}

/** Until nothing is under way: stores of SQLite answer within a turn or two. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 300; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const countingIds = () => {
  let count = 0;
  return { next: () => `id-${String(++count).padStart(6, "0")}`, chance: () => 0.5 };
};

/** What an earlier Holdfast may not have. */
const has = (owner: object, verb: string) => typeof (owner as Record<string, unknown>)[verb] === "function";

async function live(runtime: Runtime): Promise<readonly string[]> {
  const asleep = await runtime.start(clerk, { id: "asleep", input: 7, attributes: { colour: "red" } });
  await asleep.send("add", 2, { key: "k" });
  await asleep.send("note", text(0, 5_000));
  await asleep.send("nap");
  await asleep.send("note", "deferred");
  await runtime.start(caller, { id: "calling" });
  const picky = pickyWith(() => false);
  await runtime.start(picky, { id: "picky" });
  const over = await runtime.start(clerk, { id: "over", subject: "ada" });
  await over.send("end");
  const long = await runtime.start(clerk, { id: "long", subject: "ada" });
  for (let number = 1; number <= 130; number++) await long.send("note", text(number, 400));
  await long.send("note", text(0, 5_000));
  await long.send("note", text(0, 5_000));
  const talk = await runtime.start(parrot, { id: "talk" });
  for (let number = 1; number <= 50; number++) await talk.send("say", text(number, 3_000));
  const names = ["asleep", "calling", "picky", "over", "long", "talk"];
  if (has(runtime, "find")) {
    // The first runtime had no children and no letters, and parked nobody.
    await rest();
    await (await runtime.run("picky")).send("note", "for later");
    await runtime.start(family, { id: "family" });
    const teller = await runtime.start(clerk, { id: "teller" });
    for (const run of ["long", "over", "nobody"]) await teller.send("tell", run);
    names.push("family", "teller");
  }
  if (has(runtime, "schedule"))
    await runtime.schedule("daily", {
      ...{ cron: "0 12 * * *", timezone: "Europe/Berlin" },
      send: { run: "teller", type: "note", data: "noon" },
    });
  await rest();
  if (has(long, "fork")) names.push(...(await travel(runtime, long as unknown as Run)));
  if (has(runtime, "debounce")) names.push(...(await flow(runtime)));
  return names;
}

async function travel(runtime: Runtime, long: Run): Promise<readonly string[]> {
  const fork = await long.fork({ at: 40, id: "fork" });
  await fork.send("note", "another way");
  const back = await runtime.start(clerk, { id: "back" });
  await back.send("add", 1);
  await back.send("nap");
  await back.rollback({ to: 2 });
  return ["fork", "back"];
}

async function flow(runtime: Runtime): Promise<readonly string[]> {
  const { id } = await runtime.start(clerk, { singleton: "only" });
  await runtime.debounce("quiet", { for: "1h", send: { run: "teller", type: "note", data: "quiet" } });
  return [id];
}

async function write(name: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-golden-"));
  const path = join(folder, "runs");
  const store = sqlite(path);
  const runtime = await createRuntime({
    ...{ store, clock: new VirtualClock(1_000_000), ids: countingIds() },
    machines: [
      { machine: clerk as never, activities: {} },
      { machine: parrot as never, activities: {} },
      { machine: caller as never, activities: { tool: () => new Promise(() => {}) } },
      { machine: family as never, activities: {} },
      { machine: pickyWith(() => false) as never, activities: { judge: () => "judged" } },
    ],
  });
  const names = await live(runtime);
  await rest();
  if ("search" in store) {
    const put = [{ id: "f1", words: ["ada", "lives", "in", "paris"] }];
    const name = { tenant: "default", run: "long" };
    await store.search.writeWords(name, { expect: undefined, mark: 1, put, remove: [] });
  }
  const golden = await tellOf(runtime, names);
  const copy = join(folder, "copy");
  const database = new DatabaseSync(path);
  const version = database.prepare("PRAGMA user_version").get()?.user_version as number;
  database.prepare("VACUUM INTO ?").run(copy);
  database.close();
  const target = join(import.meta.dirname, name);
  writeFileSync(`${target}.golden`, zstdCompressSync(readFileSync(copy)));
  writeFileSync(`${target}.jsonl`, linesOf(version, golden));
  rmSync(folder, { recursive: true });
  console.log(`${name}: version ${version}, runs ${Object.keys(golden.runs).join(", ")}`);
  process.exit();
}

const [name] = process.argv.slice(2);
if (name === undefined) throw new Error("A name for the store is needed, such as sqlite-v5-some-words");
await write(name);
