/** A SQLite store with something of everything in it, left by a process that was killed, and what it holds row by row. */
import { DatabaseSync } from "node:sqlite";
import { limits } from "../../src/limits.ts";
import { hold } from "../../src/runtime/housekeeping/hold.ts";
import { defaultTenant } from "../../src/runtime/name.ts";
import { encode } from "../../src/store/codec.ts";
import { callerWith, counter } from "./machines.ts";
import type { World } from "./world.ts";

export const caller = callerWith({ retry: { attempts: 3 } });
const never = () => new Promise<never>(() => {});

/** What the machines of the store need to run. */
export const furniture = [
  counter,
  {
    machine: caller,
    activities: {
      tool: async (_input: unknown, scope: { write(chunk: string): Promise<void> }) => {
        await scope.write("one");
        await scope.write("two");
        return never();
      },
    },
  },
];

/** Fills a store. Its runs: conversations with snapshots, long texts, timers, activities, inboxes; ended and pruned ones. */
export async function furnish(world: World): Promise<void> {
  const { boot, crash, close, clock } = world;
  const first = await boot(furniture as never);
  const note = "n".repeat(limits.contentLengthMin - 1);
  for (const id of ["long", "pruned", "ended"]) {
    const run = await first.start(counter, { id, attributes: { colour: "red", of: id } });
    for (let turn = 1; turn <= 14; turn++)
      await run.send("note", `${note}${turn}`.slice(-note.length), { key: `k${turn}` });
    await run.send("add", 3);
  }
  await (await first.run("ended")).send("end");
  const texts = await first.start(counter, { id: "texts", subject: "ada" });
  for (const letter of ["x", "y"]) await texts.send("note", letter.repeat(limits.contentLengthMin + 5));
  const napping = await first.start(counter, { id: "napping", limits: { tokens: 50 } });
  await napping.send("nap");
  const talking = await first.start(counter, { id: "talking" });
  await talking.send("tell", { run: "nobody", data: "lost" });
  await first.start(caller as never, { id: "calling" });
  await world.rest();
  await clock.advance(100);
  await world.rest();
  await close(first);
  await clock.advance(60_000);
  const second = await boot(furniture as never);
  await second.run("calling");
  await world.rest();
  await clock.advance(100);
  await world.rest();
  const store = await world.look();
  const { seq = 0, snapshotSeq = 0 } = (await store.readHead({ tenant: defaultTenant, run: "pruned" })) ?? {};
  const { epoch } = await store.own("nobody", 1, clock.now());
  if (
    snapshotSeq >= seq ||
    !(await store.pruneJournal({ tenant: defaultTenant, run: "pruned" }, snapshotSeq, epoch))
  )
    throw new Error("It was not pruned");
  await crash(second);
  await store.enqueue(
    ["e1", "e2"].map((id) => ({
      ...{ tenant: defaultTenant, run: "long", subject: "long", id, key: `key of ${id}`, priority: 0, at: 5 },
      bytes: encode({ type: "add", data: 1 }),
    })),
  );
  await hold({ store, clock }, { run: "texts", reason: "a lawsuit" });
  while ((await store.sweep(1_000)) > 0);
}

/** Tables whose rows are a run's, by their numbers. */
const ofRuns = ["entry", "snapshot", "inbox", "seen_key", "activity", "chunk"];
export const tables = [...ofRuns, "run", "attribute", "content", "document", "dead_letter", "lease"] as const;

export type Row = Record<string, unknown>;

export function rowsIn(path: string, table: string): Row[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare(`SELECT * FROM ${table}`).all() as Row[];
  } finally {
    database.close();
  }
}

/** Everything stored of each run, by its number, as text. */
export function runsIn(path: string): Map<number, string> {
  const runs = new Map<number, string>();
  const all = Object.fromEntries(ofRuns.map((table) => [table, rowsIn(path, table)]));
  const attributes = rowsIn(path, "attribute");
  for (const run of rowsIn(path, "run")) {
    const id = run.id as number;
    const pruned = run.pruned as number;
    const rows = ofRuns.map((table) =>
      all[table]
        ?.filter((row) => row.run_id === id && !(table === "entry" && (row.seq as number) <= pruned))
        .map(shown)
        .sort(),
    );
    const listed = attributes.filter((row) => row.tenant === run.tenant && row.run === run.run).map(shown);
    runs.set(id, JSON.stringify([shown(run), rows, listed.sort()]));
  }
  return runs;
}

export const shown = (row: Row): string =>
  JSON.stringify(row, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value,
  );
