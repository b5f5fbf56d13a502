/**
 * A server that is used badly: streams that nobody reads, keys that are taken back under somebody's hands, more tenants than
 * are counted, names that stores cannot keep, and a stop in the middle of an answer. Each of these once went wrong.
 */
import { getEventListeners } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type Client, createClient } from "../../src/client/index.ts";
import { pause } from "../../src/client/pause.ts";
import { createRuntime, defineMachine } from "../../src/index.ts";
import { limits } from "../../src/limits.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { Committed } from "../../src/runtime/run.ts";
import type { Principal } from "../../src/security/identity.ts";
import { Keys } from "../../src/security/keys.ts";
import { Feed } from "../../src/server/feed.ts";
import { createServer } from "../../src/server/index.ts";
import { frameOf, Sink } from "../../src/server/sink.ts";
import { Tally } from "../../src/server/tally.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { openHouse, token } from "./house.ts";
import { expense } from "./machines.ts";

const somebody: Principal = { id: "k", tenant: "default", role: "viewer", via: "key" };
const newSink = () => new Sink(somebody, () => {});

/** A commit of one step, of a run with as much to tell as is wanted. */
const committed = (tenant: string, note = ""): Committed =>
  ({
    head: { tenant, run: "a", machine: "m", version: 0, status: "active", attributes: { note } },
    state: { configuration: ["open"] },
    steps: [{ seq: 2, at: 1, event: { type: "add" }, outcome: "taken", effects: [] }],
  }) as unknown as Committed;

describe("a stream", () => {
  test("F5: that is asked for with HEAD holds nothing open", async () => {
    const house = await openHouse();
    await house.client.runs.start({ machine: "counter", run: "a" });
    for (const path of ["/v1/steps", "/v1/runs/a/steps"]) {
      const headers = { authorization: `Bearer ${token}` };
      const request = new Request(`http://127.0.0.1${path}`, { method: "HEAD", headers });
      expect((await house.server.fetch(request)).status).toBe(200);
    }
    expect((await house.client.operations.overview()).server?.streams).toBe(0);
  });

  test("F5: keeps no more for a client that does not read than some bytes, however large its events", async () => {
    const sink = newSink();
    let written = 0;
    for (let count = 0; count < 10; count++)
      void sink
        .write(frameOf({ event: "step", data: "x".repeat(limits.streamBytesWaitingMax / 2) }))
        .then(() => written++);
    await sleep(10);
    expect(written).toBeLessThan(4);
    sink.end();
  });

  test("F5: that is read slowly for long gathers nothing", async () => {
    const sink = newSink();
    const reader = sink.response.body?.getReader();
    const large = frameOf({ event: "step", data: "x".repeat(limits.streamBytesWaitingMax) });
    const writing = (async () => {
      for (let count = 0; count < 50; count++) await sink.write(large);
    })();
    for (let count = 0; count < 50; count++) {
      await sleep(1);
      await reader?.read();
    }
    await writing;
    expect(getEventListeners(sink.signal, "abort").length).toBeLessThan(3);
    sink.end();
  });

  test("F5: that was let go while it caught up is told nothing any more", () => {
    const feed = new Feed("boot");
    const note = "x".repeat(10_000);
    for (let count = 0; count < 500; count++) feed.told(committed("default", note));
    let sends = 0;
    class Counting extends Sink {
      override send(frame: Uint8Array): void {
        sends++;
        super.send(frame);
      }
    }
    const sink = new Counting(somebody, () => {});
    feed.follow(sink, "boot.0");
    expect(sink.signal.aborted).toBe(true);
    sends = 0;
    feed.told(committed("default"));
    expect(sends).toBe(0);
  });

  test("F1: of a key that is revoked ends, and so does that of one that expired", async () => {
    const clock = {
      ...systemClock,
      after: (ms: number, run: () => void) => systemClock.after(ms === limits.streamBeatMs ? 10 : ms, run),
    };
    const house = await openHouse({ dev: false, clock });
    const follow = async (expiresAt?: number) => {
      const given = { name: "n", role: "viewer", tenant: "default", createdBy: "test" } as const;
      const made = await house.server.keys.create({
        ...given,
        ...(expiresAt === undefined ? {} : { expiresAt }),
      });
      const headers = { authorization: `Bearer ${made.key}` };
      const request = new Request("http://127.0.0.1/v1/steps", { headers });
      const response = await house.server.fetch(request);
      expect(response.status).toBe(200);
      return { id: made.id, text: response.text() };
    };
    const [kept, revoked, expired] = [await follow(), await follow(), await follow(Date.now() + 300)];
    await house.server.keys.revoke("default", revoked.id);
    await Promise.all([revoked.text, expired.text]);
    expect(await Promise.race([kept.text, sleep(50).then(() => "open")])).toBe("open");
  });
});

describe("keys", () => {
  const given = { name: "n", role: "viewer", tenant: "default", createdBy: "test" } as const;
  let made = 0;
  const secret = (bytes: number) => String(++made).padStart(bytes, "s");

  test("F1: that expired make room for others after a while", async () => {
    const { store } = await openHouse();
    let now = 1_000;
    const keys = new Keys({ store, now: () => now, secret });
    await keys.create({ ...given, expiresAt: 2_000 });
    now += 91 * 86_400_000;
    await keys.create(given);
    expect(await keys.count()).toBe(1);
  });

  test("F1: of a tenant that has as many as it may keep no other tenant from having some", async () => {
    const { store } = await openHouse();
    const keys = new Keys({ store, now: () => 1_000, secret });
    for (let count = 0; count < limits.apiKeysMax; count++) await keys.create(given);
    await expect(keys.create(given)).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    await expect(keys.create({ ...given, tenant: "another" })).resolves.toMatchObject({ tenant: "another" });
  });

  test("F1: are refused once they are revoked, whatever was being read meanwhile", async () => {
    const { store } = await openHouse();
    let isSlow = false;
    const slow = Promise.withResolvers<void>();
    const readDocument: typeof store.readDocument = async (tenant, name) => {
      const document = await store.readDocument(tenant, name);
      if (isSlow) {
        isSlow = false;
        await slow.promise;
      }
      return document;
    };
    const writeDocument = store.writeDocument.bind(store);
    let now = 1_000;
    const keys = new Keys({ store: { readDocument, writeDocument }, now: () => now, secret });
    const { id, key } = await keys.create(given);
    await keys.principal(key);
    await sleep(20);
    now += 6_000;
    isSlow = true;
    const asked = keys.principal(key);
    await keys.revoke("default", id);
    slow.resolve();
    await asked;
    expect(await keys.principal(key)).toBeUndefined();
  });
});

test("E1: more tenants than are counted apart are counted together", () => {
  const tally = new Tally(() => 1_000);
  for (let tenant = 0; tenant < limits.talliedTenantsMax + 5; tenant++) tally.told(committed(`t${tenant}`));
  expect(tally.totals().steps).toBe(limits.talliedTenantsMax + 5);
});

test("F5: an error whose name is a book is counted by how it begins", () => {
  const tally = new Tally(() => 1_000);
  const told = committed("default");
  const name = '\\"'.repeat(50_000);
  const event = { type: "error.invoke.call", kind: "platform", data: { name, message: "no" } };
  const steps = told.steps.map((step) => ({ ...step, event })) as Committed["steps"];
  tally.told({ ...told, steps });
  expect(tally.failures("default")).toMatchObject([{ name: name.slice(0, 100), message: "no" }]);
});

test("D1: a client that connects again and again leaves nothing with the signal that ends it", async () => {
  const stop = new AbortController();
  for (let count = 0; count < 5; count++) await pause(1, stop.signal);
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  stop.abort();
  await pause(60_000, stop.signal);
});

test("F5: names that stores cannot keep are told apart from those that are not there", async () => {
  const { client } = await openHouse();
  const wrong = { code: "REQUEST_INVALID" };
  await expect(client.runs.list({ machine: "a\0" })).rejects.toMatchObject(wrong);
  await expect(client.runs.list({ subject: "a\0" })).rejects.toMatchObject(wrong);
  await expect(client.runs.start({ machine: "counter", run: "a\0" })).rejects.toMatchObject(wrong);
  await expect(client.runs.bulk({ action: "cancel", runs: ["a\0"] })).rejects.toMatchObject(wrong);
  await client.runs.start({ machine: "expense", run: "e" });
  const decision = { run: "e", decision: "a\0", verdict: "approve" } as const;
  await expect(client.inbox.decide(decision)).rejects.toMatchObject(wrong);
});

test("F5: a machine with a name of the platform's own is not taken", async () => {
  const { client } = await openHouse();
  const source = "id: holdfast.thing\ninitial: a\nstates: { a: {} }\n";
  await expect(client.machines.upload({ source })).rejects.toMatchObject({
    ...{ code: "MACHINE_INVALID", details: { problems: [{ path: "id" }] } },
  });
});

/** Sends notes to the run `e` until it has a snapshot, and prunes its journal up to there. */
async function pruneAfterNotes(client: Client, store: Store): Promise<number> {
  const name = { tenant: "default", run: "e" };
  const note = { type: "note", data: "n".repeat(1_000) };
  const seqOf = async () => (await store.readHead(name))?.snapshotSeq ?? 0;
  do await client.runs.send({ run: "e", events: [note], wait: "handled" });
  while ((await seqOf()) === 0);
  await client.runs.send({ run: "e", events: [note], wait: "handled" });
  const { epoch } = await store.own("nobody", 1, Date.now());
  const base = await seqOf();
  expect(await store.pruneJournal(name, base, epoch)).toBe(true);
  return base;
}

test("G4: a decision that waits for longer than its run's journal reaches back is asked and taken", async () => {
  const { client, store } = await openHouse();
  await client.runs.start({ machine: "expense", run: "e" });
  const [first] = (await client.inbox.list()).decisions;
  await pruneAfterNotes(client, store);
  expect((await client.runs.show({ run: "e" })).waiting.for[0]).toMatchObject({ for: "person" });
  const { decisions } = await client.inbox.list();
  expect(decisions).toMatchObject([{ run: "e", kind: "approval" }]);
  // By the id that a page still shows, and once more.
  const decide = () =>
    client.inbox.decide({ run: "e", decision: String(first?.decision), verdict: "approve" });
  expect(await decide()).toMatchObject({ outcome: "taken", isRepeat: false });
  expect(await decide()).toMatchObject({ outcome: "taken", isRepeat: true });
});

test("G4: a run that is damaged does not keep the inbox from telling of the others", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-damaged-"));
  const path = join(folder, "runs.db");
  const open = async () => {
    const store = sqlite(path);
    const runtime = await createRuntime({ store, machines: [expense] });
    const problems: unknown[] = [];
    const onError = (error: unknown) => problems.push(error);
    const server = await createServer({ runtime, store, dev: { token }, onError });
    const fetch = (request: Request) => server.fetch(request);
    return { runtime, problems, client: createClient({ url: "http://127.0.0.1", key: token, fetch }) };
  };
  const first = await open();
  for (const run of ["bad", "good"]) await first.client.runs.start({ machine: "expense", run });
  await first.runtime.close();
  const database = new DatabaseSync(path);
  database.exec("UPDATE entry SET bytes = zeroblob(9) WHERE run_id = (SELECT id FROM run WHERE run = 'bad')");
  database.close();
  const { client, runtime, problems } = await open();
  expect((await client.inbox.list()).decisions.map(({ run }) => run)).toEqual(["good"]);
  expect(problems).toMatchObject([{ code: "STORE_CORRUPT" }]);
  await runtime.close();
  rmSync(folder, { recursive: true });
});

test("D1: a journal that was pruned is paged and followed from its first entry on", async () => {
  const { client, store } = await openHouse();
  await client.runs.start({ machine: "expense", run: "e" });
  const base = await pruneAfterNotes(client, store);
  const page = await client.runs.journal({ run: "e", before: base + 2 });
  expect(page.entries.map(({ seq }) => seq)).toEqual([base + 1]);
  for await (const { data } of client.runs.follow({ run: "e", from: 1 })) {
    expect([data.seq, data.configuration]).toEqual([base + 1, ["asking"]]);
    break;
  }
});

test("F2: an operator starts no run by telling one of the platform's own to", async () => {
  const house = await openHouse({ dev: false });
  const start = { machine: "counter" };
  const schedule = await house.runtime.schedule("nightly", { cron: "0 3 * * *", start });
  await schedule.stop();
  const operator = await house.as("operator");
  const events = [{ type: "set", data: { cron: "* * * * *", timezone: "UTC", catchUp: "one", start } }];
  const refused = { code: "NOT_ALLOWED" };
  await expect(operator.runs.send({ run: "nightly", events })).rejects.toMatchObject(refused);
  const { type, data } = events[0] as (typeof events)[0];
  await expect(operator.runs.ask({ run: "nightly", type, data })).rejects.toMatchObject(refused);
  const developer = await house.as("developer");
  expect(await developer.runs.send({ run: "nightly", events })).toEqual({ events: [{ type: "set" }] });
});

test("G4: a server that stops sends what it has begun to answer to its end", async () => {
  const text = "x".repeat(500_000);
  const large = defineMachine({
    id: "large",
    start: { texts: Array.from({ length: 12 }, () => text) },
    initial: "open",
    states: { open: {} },
  });
  const house = await openHouse({ runtimeOptions: { machines: [large] } });
  await house.client.runs.start({ machine: "large", run: "a" });
  const { url, close } = await house.listen();
  const headers = { authorization: `Bearer ${token}` };
  const response = await new Promise<IncomingMessage>((answered, failed) =>
    get(`${url}/v1/runs/a/state`, { headers }, answered).on("error", failed),
  );
  await sleep(20);
  const closed = close(10_000);
  await sleep(50);
  let bytes = 0;
  for await (const piece of response) bytes += (piece as Buffer).length;
  expect(bytes).toBeGreaterThan(12 * text.length);
  expect(await closed).toBe(true);
});
