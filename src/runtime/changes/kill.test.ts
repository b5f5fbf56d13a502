import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { watchLedger } from "../../../test/changes/ledger.ts";
import { delivered, listOf, notebook } from "../../../test/changes/world.ts";
import { createDatabase, type Database, waiters } from "../../../test/postgres/database.ts";
import { root } from "../../../test/project.ts";
import { postgres } from "../../store/postgres/store.ts";
import { createRuntime } from "../runtime.ts";

const kills = 4;
const accounts = 5;

let database: Database;

beforeAll(async () => {
  database = await createDatabase();
  await database.query("CREATE TABLE ledger (account int, place int)");
});

afterAll(() => database.drop());

async function startVictim(): Promise<ChildProcess> {
  const path = join(root, "test/changes/victim.ts");
  const victim = spawn(process.execPath, ["--conditions=holdfast-source", path, database.url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(victim.stdout as NodeJS.ReadableStream, "data");
  return victim;
}

async function kill(victim: ChildProcess): Promise<void> {
  const ended = once(victim, "exit");
  victim.kill("SIGKILL");
  await ended;
}

const waiting = async (): Promise<number> =>
  (await database.query("SELECT count(*)::int AS count FROM holdfast.table_change"))[0]?.count as number;

/** Lets whoever delivers come to the point where all is sent and nothing settled, and kills it there. */
async function killBeforeSettling(victim: ChildProcess): Promise<void> {
  const gate = await database.pool.connect();
  await gate.query("SELECT pg_advisory_lock(7)");
  await waiters(database, 1);
  await kill(victim);
  await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE wait_event = 'advisory' AND datname = current_database()`);
  await gate.query("SELECT pg_advisory_unlock(7)");
  gate.release();
}

test("D3: each change is delivered once and in order, though whoever delivers is killed again and again", {
  timeout: 180_000,
}, async () => {
  let victim = await startVictim();
  await database.query(`CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN OLD; END';
      CREATE TRIGGER pass BEFORE DELETE ON holdfast.table_change FOR EACH ROW EXECUTE FUNCTION pass()`);
  let isOver = false;
  let places = 0;
  const writing = (async () => {
    for (; !isOver; places++)
      for (let account = 0; account < accounts; account++)
        await database.query("INSERT INTO ledger VALUES ($1, $2)", [account, places]);
  })();
  for (let n = 0; n < kills; n++) {
    if (n % 2 === 0) await killBeforeSettling(victim);
    else {
      // Once it is at work; where exactly, chance decides.
      while ((await waiting()) === 0);
      await kill(victim);
    }
    victim = await startVictim();
  }
  isOver = true;
  await writing;
  await kill(victim);
  await checkLedger(places);
});

/** Delivers what is left and compares the journals with the ledger. */
async function checkLedger(places: number): Promise<void> {
  const runtime = await createRuntime({ store: postgres(database.url), machines: [notebook] });
  const changes = await watchLedger(runtime, database.url);
  await delivered(changes);
  expect((await changes.status()).failed).toBe(0);
  for (let account = 0; account < accounts; account++) {
    const run = await runtime.run(`account-${account}`);
    // What is delivered is durable, and not yet a step: the run may still be the last victim's. This one comes behind it.
    await (await run.send("end")).handled();
    const journal = await listOf(run.journal());
    const told = journal.slice(0, -1).map(({ event }) => event.data);
    expect(told).toEqual(Array.from({ length: places }, (_, place) => ({ account, place })));
    expect(journal.at(-1)?.event.type).toBe("end");
  }
  await changes.close();
  await runtime.close();
}
