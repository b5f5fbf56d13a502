/** `holdfast worker` as a process: it comes up, says how it is, leaves in good order, and comes back by itself. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createRuntime, type Runtime } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { traceIdOf } from "../../src/telemetry/traces.ts";
import { createDatabase, type Database } from "../postgres/database.ts";
import { startProxy } from "../postgres/proxy.ts";
import { root } from "../project.ts";
import { job } from "./jobs.ts";
import { looker } from "./looker.ts";
import { type Command, holdfast } from "./process.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
let database: Database;
const begun: Command[] = [];
let runtime: Runtime | undefined;

beforeAll(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  await runtime?.close();
  runtime = undefined;
  for (const { signal, ended } of begun.splice(0)) {
    signal("SIGKILL");
    await ended;
  }
});
afterAll(async () => {
  await database?.drop();
  rmSync(folder, { recursive: true });
});

let count = 0;
/** A worker on a store of its own, with a ledger of its own. */
function worker(store: string, more: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const ledger = join(folder, `ledger-${++count}`);
  writeFileSync(ledger, "");
  const command = holdfast(
    ["worker", "test/cli/jobs.ts", "--store", store, "--listen", "127.0.0.1:0", ...more],
    { LEDGER: ledger, ...env },
  );
  begun.push(command);
  const hold = (run: string): string => `${ledger}.hold-${run}`;
  return {
    command,
    noted: () => readFileSync(ledger, "utf8").split("\n").filter(Boolean),
    hold: (run: string) => writeFileSync(hold(run), ""),
    letGo: (run: string) => rmSync(hold(run)),
  };
}

const schemaOf = (): string => `worker_${count}`;

/** A process that only asks: it sees to nothing itself. */
async function client(schema: string): Promise<Runtime> {
  runtime = await createRuntime({
    store: postgres(database.url, { schema }),
    machines: [{ machine: job, activities: { work: () => {} } }],
  });
  await runtime.drain();
  return runtime;
}

test("G4: a worker on PostgreSQL runs what others send, tells its figures, and drains when it is told to", async () => {
  const schema = schemaOf();
  const { command, noted, hold, letGo } = worker(database.url, ["--schema", schema, "--slots", "3"]);
  hold("one");
  const [, url] = await command.says(/^up: 1 machine, 3 slots, process \d+, (http:\/\/\S+)$/m);
  const get = async (path: string) => {
    const response = await fetch(`${url}${path}`);
    return { status: response.status, text: await response.text() };
  };
  expect(await get("/healthz")).toEqual({ status: 200, text: "alive\n" });
  expect(await get("/readyz")).toEqual({ status: 200, text: "ready\n" });
  expect((await get("/nothing")).status).toBe(404);
  expect((await fetch(`${url}/readyz`, { method: "POST" })).status).toBe(405);

  const run = await (await client(schema)).start(job, { id: "one", input: 0 });
  await run.send("go");
  await expect.poll(noted).toEqual([`one begun ${command.pid}`]);
  await expect
    .poll(async () => (await get("/metrics")).text)
    .toContain('holdfast_activities_running{scope="process"} 1\n');
  const { text } = await get("/metrics");
  expect(text).toContain("holdfast_members 1\n");
  expect(text).toContain('holdfast_slots{scope="fleet"} 3\n');
  expect(text).toMatch(/^holdfast_due_runs \d+$/m);

  command.signal("SIGTERM");
  await command.says(/draining/);
  const { status, text: reason } = await get("/readyz");
  expect([status, reason]).toEqual([503, "draining\n"]);
  letGo("one");
  expect(await command.ended).toBe(0);
  expect(noted()).toEqual([`one begun ${command.pid}`, `one ended ${command.pid}`]);
  expect((await run.finished()).state).toBe("done");
});

test("activities that take longer than a worker may drain are left to others, and it says so", async () => {
  const schema = schemaOf();
  const { command, noted } = worker(database.url, ["--schema", schema, "--drain", "100ms"]);
  await command.says(/^up/m);
  const run = await (await client(schema)).start(job, { id: "long", input: 3_600_000 });
  await run.send("go");
  await expect.poll(() => noted().length).toBe(1);
  command.signal("SIGINT");
  expect(await command.ended).toBe(3);
  expect(command.said.err).toContain("left to others");
});

test("E1: a worker logs steps and attempts as lines of JSON, and gives spans of them to OpenTelemetry", async () => {
  const schema = schemaOf();
  const spans = join(folder, `spans-${count}`);
  writeFileSync(spans, "");
  const setUp = `--import=${join(root, "test/cli/spans.ts")}`;
  const { command } = worker(database.url, ["--schema", schema, "--log", "debug", "--trace"], {
    NODE_OPTIONS: setUp,
    SPANS: spans,
  });
  await command.says(/^up/m);
  const run = await (await client(schema)).start(job, { id: "one", input: 0 });
  await run.send("go");
  await run.finished();
  command.signal("SIGTERM");
  expect(await command.ended).toBe(0);
  const lines = command.said.err
    .split("\n")
    .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const begins = { level: 20, pid: command.pid, run: "one", machine: "job", activity: "work", attempt: 1 };
  expect(lines).toContainEqual(expect.objectContaining({ ...begins, msg: "attempt begins" }));
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 30, run: "one", msg: "step", outcome: "taken" }),
  );
  const traceId = traceIdOf({ tenant: "default", run: "one" });
  expect(readFileSync(spans, "utf8").split("\n")).toContain(`activity work ${traceId}`);
});

test("a worker is refused levels of logs that there are none of", async () => {
  const { command } = worker(join(folder, "loud.db"), [], { HOLDFAST_LOG: "loud" });
  expect(await command.ended).toBe(2);
  expect(command.said.err).toContain('HOLDFAST_LOG is "loud"; write one of debug, info, warn, error, off');
});

test("a second signal ends a worker at once", async () => {
  const schema = schemaOf();
  const { command, noted } = worker(database.url, ["--schema", schema, "--drain", "1h"]);
  await command.says(/^up/m);
  const run = await (await client(schema)).start(job, { id: "long", input: 3_600_000 });
  await run.send("go");
  await expect.poll(() => noted().length).toBe(1);
  command.signal("SIGTERM");
  await command.says(/draining/);
  command.signal("SIGTERM");
  expect(await command.ended).toBe(143);
});

test("G4: a worker that was put out by the others comes back as somebody new", async () => {
  const schema = schemaOf();
  const { command } = worker(database.url, ["--schema", schema]);
  await command.says(/^up/m);
  await database.query(`DELETE FROM ${schema}.lease WHERE id = 2`);
  await command.says(/STORE_OWNED: .*tried again/);
  await command.says(/^up[^\n]*\nup/m);
  const [{ count: members } = {}] = await database.query(
    `SELECT count(*)::int AS count FROM ${schema}.lease WHERE id = 2`,
  );
  expect(members).toBe(1);
  command.signal("SIGTERM");
  expect(await command.ended).toBe(0);
});

test("G4: a worker whose store goes away is not ready, and says why it cannot drain", async () => {
  const schema = schemaOf();
  const passage = await startProxy(database.socketFolder);
  const { command } = worker(passage.url(database.url), ["--schema", schema]);
  const [, url] = await command.says(/^up.*(http:\/\/\S+)$/m);
  const ready = async () => {
    const response = await fetch(`${url}/readyz`);
    return [response.status, await response.text()];
  };
  expect(await ready()).toEqual([200, "ready\n"]);
  await passage.close();
  await expect.poll(ready, { timeout: 10_000 }).toEqual([503, expect.stringContaining("the store ")]);
  command.signal("SIGTERM");
  expect(await command.ended).toBe(1);
  expect(command.said.err).toContain("it could not drain: STORE_UNAVAILABLE");
  expect(command.said.err).not.toContain("still under way");
});

test("a worker waits for a store that is away, and what it cannot mend ends it", async () => {
  const away = worker(`postgres://nobody@localhost/none?host=${encodeURIComponent(folder)}`);
  await away.command.says(/STORE_UNAVAILABLE: .*tried again/);
  away.command.signal("SIGTERM");
  expect(await away.command.ended).toBe(0);

  await database.query("CREATE SCHEMA foreign_one; CREATE TABLE foreign_one.run (id int)");
  const foreign = worker(database.url, ["--schema", "foreign_one"]);
  expect(await foreign.command.ended).toBe(1);
  expect(foreign.command.said).toMatchObject({ out: "", err: expect.stringContaining("STORE_FOREIGN") });
});

test("a worker that cannot serve its probes, or was called wrongly, says what to do and ends with 2", async () => {
  const taken = createServer();
  await new Promise<void>((listening) => taken.listen(0, "127.0.0.1", listening));
  const { port } = taken.address() as AddressInfo;
  const refused = worker(join(folder, "taken.db"), ["--listen", `127.0.0.1:${port}`]);
  expect(await refused.command.ended).toBe(2);
  expect(refused.command.said).toMatchObject({
    out: "",
    err: expect.stringContaining("give --listen another"),
  });
  taken.close();
  const misspelt = holdfast(["worker", "none.js", "--store", "x.db"]);
  expect(await misspelt.ended).toBe(2);
  expect(misspelt.said).toEqual({ out: "", err: expect.stringContaining("There is no module none.js") });
});

test("a worker owns a SQLite file alone", async () => {
  const path = join(folder, "jobs.db");
  const store = sqlite(path);
  await store.open();
  await store.close();
  const { command } = worker(path);
  const [, url] = await command.says(/(http:\/\/\S+)$/m);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const second = worker(path);
  await second.command.says(/STORE_OWNED: .*tried again/);
  command.signal("SIGTERM");
  expect(await command.ended).toBe(0);
  await second.command.says(/^up/m);
});

test("a worker in use freezes no states, which only finds mistakes", async () => {
  const schema = schemaOf();
  const command = holdfast([
    ...["worker", "test/cli/looker.ts", "--store", database.url],
    ...["--schema", schema, "--listen", "off"],
  ]);
  begun.push(command);
  await command.says(/^up/m);
  runtime = await createRuntime({
    ...{ store: postgres(database.url, { schema }), role: "client" },
    machines: [looker],
  });
  const run = await runtime.start(looker, { id: "one" });
  expect((await run.finished()).output).toBe(false);
});
