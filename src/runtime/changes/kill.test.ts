import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { watchLedger } from "../../../test/changes/ledger.ts";
import { delivered, listOf, notebook } from "../../../test/changes/world.ts";
import { createDatabase, type Database } from "../../../test/postgres/database.ts";
import { root } from "../../../test/project.ts";
import { postgres } from "../../store/postgres/store.ts";
import { createRuntime } from "../runtime.ts";

const kills = 6;
const accounts = 5;
const places = 60;

let database: Database;

beforeAll(async () => {
  database = await createDatabase();
  await database.query("CREATE TABLE ledger (account int, place int)");
});

afterAll(() => database.drop());

async function startVictim(): Promise<ChildProcess> {
  const path = join(root, "test/changes/victim.ts");
  const victim = spawn(process.execPath, ["--conditions=source", path, database.url], {
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

/** How many rows wait; undefined while there is no outbox. */
const waiting = async (): Promise<number> =>
  (await database.query("SELECT count(*)::int AS count FROM holdfast.table_change"))[0]?.count as number;

test("D3: each change is delivered once and in order, though whoever delivers is killed again and again", {
  timeout: 180_000,
}, async () => {
  let victim = await startVictim();
  let isWriting = true;
  const writing = (async () => {
    for (let place = 0; place < places; place++)
      for (let account = 0; account < accounts; account++)
        await database.query("INSERT INTO ledger VALUES ($1, $2)", [account, place]);
    isWriting = false;
  })();
  let killedAtWork = 0;
  for (let n = 0; n < kills; n++) {
    // Once it is at work, and some deliveries later; where exactly, chance decides.
    while (isWriting && (await waiting()) === 0);
    for (let look = 0; look <= n; look++) await waiting();
    await kill(victim);
    if ((await waiting()) > 0) killedAtWork++;
    victim = await startVictim();
  }
  await writing;
  await kill(victim);

  const runtime = await createRuntime({ store: postgres(database.url), machines: [notebook] });
  const changes = await watchLedger(runtime, database.url);
  await delivered(changes);
  expect((await changes.status()).failed).toBe(0);
  for (let account = 0; account < accounts; account++) {
    const journal = await listOf((await runtime.run(`account-${account}`)).journal());
    const told = journal.map(({ event }) => event.data);
    expect(told).toEqual(Array.from({ length: places }, (_, place) => ({ account, place })));
  }
  expect(killedAtWork).toBeGreaterThan(0);
  await changes.close();
  await runtime.close();
});
