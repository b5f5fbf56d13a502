/** Several servers of which one is the primary, with real ones that are killed, promoted, frozen and started again. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPool } from "../../../test/postgres/database.ts";
import { Pair } from "../../../test/postgres/pair.ts";
import { begun, commitOn, committed, eventOf, sample } from "../conformance/sample.ts";
import type { Store } from "../store.ts";
import type { PostgresPool, Query } from "./connect.ts";
import { hostsOf } from "./hosts.ts";
import { postgres } from "./store.ts";

/** Only ends what hangs. */
const patienceMs = 120_000;

test("an address of several hosts is one for each, with all that they share", () => {
  expect(hostsOf("postgres://ada:p%2Cw@one:1,two,[::1]:3/db?a=b,c")).toEqual([
    "postgres://ada:p%2Cw@one:1/db?a=b,c",
    "postgres://ada:p%2Cw@two/db?a=b,c",
    "postgres://ada:p%2Cw@[::1]:3/db?a=b,c",
  ]);
  expect(hostsOf("postgresql://one,two")).toEqual(["postgresql://one", "postgresql://two"]);
  for (const url of ["postgres://ada:a,b@one/db?host=x,y", "postgres:///db", "none"])
    expect(hostsOf(url)).toEqual([url]);
});

test("nobody who answers is told as one server that does not", async () => {
  const opening = postgres("postgres://ada:secret@127.0.0.1:1,127.0.0.1:2/db").open();
  await expect(opening).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await expect(opening).rejects.toThrow("check that its server runs");
});

describe("two servers", { timeout: patienceMs }, () => {
  let folder: string;
  let pair: Pair;
  let store: Store;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-hosts-"));
    pair = await Pair.start({ folder });
    store = postgres(`${pair.url}?target_session_attrs=read-write`, { clock: "caller" });
    await store.open();
  }, patienceMs);

  afterEach(async () => {
    await store?.close();
    await pair?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, patienceMs);

  /** The first answer that is not that nobody can be reached. */
  async function insist<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
      }
    }
  }

  test("a standby decides nothing: it neither writes nor is read", async () => {
    const { head, epoch } = await begun(store);
    await pair.standby.until("SELECT count(*) = 1 FROM holdfast.run");
    const alone = postgres(pair.standby.url, { clock: "caller" });
    await expect(alone.open()).rejects.toMatchObject({
      ...{ code: "STORE_UNAVAILABLE", details: { state: "55000" } },
    });
    const { address } = pair.standby;
    const twice = postgres(`postgres://holdfast@${address},${address}/postgres`);
    await expect(twice.open()).rejects.toThrow(`${address} is a standby`);
    // Behind a pooler connections stay when the server behind them is another one.
    let current = createPool(pair.primary.url);
    const passing = {
      query: (query: Query) => current.query(query as never),
      connect: () => current.connect(),
      end: () => current.end(),
    };
    const kept = postgres(passing as unknown as PostgresPool, { clock: "caller" });
    await kept.open();
    await current.end();
    current = createPool(pair.standby.url);
    for (const read of [
      () => kept.readHead(sample),
      () => kept.load(sample),
      () => kept.due(1e15, 9),
      () => kept.own("b", 1_000, 1),
      () => kept.findRuns({ tenant: "acme", limit: 9 }),
      () => kept.scan("run", { limit: 9 }),
      () => kept.enqueue([eventOf("e1")]),
      () => kept.commit([commitOn(head, epoch)]),
    ])
      await expect(read()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await current.end();
  });

  test("G3: the store goes on where the primary is, and knows what was acknowledged before", async () => {
    const { epoch, head } = await begun(store);
    await pair.killPrimary(0);
    await expect(store.readHead(sample)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await pair.promote();
    expect(await insist(() => store.readHead(sample))).toEqual(head);
    const next = await committed(store, commitOn(head, epoch));
    // The old primary comes back as if nothing had been: what it says is old.
    await pair.standby.start();
    expect(await pair.standby.query("SELECT pg_is_in_recovery() AS standby")).toEqual([{ standby: false }]);
    const another = postgres(pair.url, { clock: "caller" });
    await another.open();
    expect(await another.readHead(sample)).toEqual(next);
    expect(await store.readHead(sample)).toEqual(next);
    await another.close();
    // Also where nobody else is there: it lacks what was acknowledged since (H2).
    await pair.killPrimary(0);
    await expect(store.readHead(sample)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect(store.readHead(sample)).rejects.toThrow(
      `${pair.standby.address} is on an earlier timeline than was seen`,
    );
  });

  test("a server that was frozen is left once another one is the primary, whatever waits for it", async () => {
    const { epoch, head } = await begun(store);
    pair.primary.freeze();
    const frozen = pair.primary;
    const commit = commitOn(head, epoch);
    // Nobody knows what became of it, so it is asked for on the new primary, where it never was.
    const waiting = expect(store.commit([commit])).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await pair.promote();
    await waiting;
    expect(await insist(() => store.commit([commit]))).toEqual([{ outcome: "committed" }]);
    frozen.freeze(false);
    expect(await store.readHead(sample)).toEqual(commit.head);
  });
});
