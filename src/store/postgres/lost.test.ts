/** Q1: what a store says of a commit whose connection was lost, with a proxy that cuts it at a chosen moment. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type Database, openStore, waiters } from "../../../test/postgres/database.ts";
import { type Passage, startProxy } from "../../../test/postgres/proxy.ts";
import {
  activityOf,
  begun,
  commitOn,
  committed,
  eventOf,
  firstCommit,
  leaseMs,
  noon,
  type Plan,
  sample,
} from "../conformance/sample.ts";
import { type Fleet, fleetOf } from "../fleet.ts";
import type { RunHead } from "../records.ts";
import type { Commit, Store } from "../store.ts";
import { isLost } from "./errors.ts";
import { postgres } from "./store.ts";

let database: Database;
let proxy: Passage;
/** One store behind the proxy, and one that goes straight to the server. */
let store: Store;
let direct: Store;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await startProxy(database.socketFolder);
});

afterAll(async () => {
  await proxy?.close();
  await database?.drop();
});

beforeEach(async () => {
  ({ store: direct } = await openStore(database));
  store = postgres(proxy.url(database.url), { clock: "caller" });
  await store.open();
});

afterEach(() => store.close());

const call = ".commit(";

/** The same commit of one step, with other contents. */
function withDigest(commit: Commit, digest: string): Commit {
  const entries = commit.entries.map((entry) => ({ ...entry, digest }));
  return { ...commit, head: { ...commit.head, digest }, entries };
}

test("Q1: a commit that was made and whose answer was lost is committed", async () => {
  const { epoch, head } = await begun(store);
  const cuts = proxy.cuts;
  proxy.cut(call, "after");
  const commit = commitOn(head, epoch, { sends: [eventOf("e1")], keys: ["k"] });
  expect(await store.commit([commit])).toEqual([{ outcome: "committed" }]);
  expect(proxy.cuts).toBe(cuts + 1);
  expect(await direct.readHead(sample)).toEqual(commit.head);
  expect((await direct.readInbox(sample, 9)).length).toBe(1);
  await committed(store, commitOn(commit.head, epoch, { head: { attributes: { next: true } } }));
});

test("Q1: a commit the server never heard of is no commit, and can be made again", async () => {
  const { epoch, head } = await begun(store);
  proxy.cut(call, "before");
  const commit = commitOn(head, epoch);
  await expect(store.commit([commit])).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
  expect(await direct.readHead(sample)).toEqual(head);
  expect(await store.commit([commit])).toEqual([{ outcome: "committed" }]);
});

test("Q1: a commit the server is still making is waited for", async () => {
  const { epoch, head } = await begun(store);
  const client = await database.pool.connect();
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM holdfast.run FOR UPDATE");
  proxy.cut(call, () => waiters(database, 1));
  const commit = commitOn(head, epoch);
  const outcomes = store.commit([commit]);
  // Both the lost commit and whoever asks about it stand behind this lock.
  await waiters(database, 2);
  await client.query("COMMIT");
  client.release();
  expect(await outcomes).toEqual([{ outcome: "committed" }]);
  expect(await direct.readHead(sample)).toEqual(commit.head);
});

test("Q1: of a lost batch every item gets its own outcome", async () => {
  const { epoch, head } = await begun(store);
  await committed(store, firstCommit("run-2", epoch));
  const [good, fresh] = [commitOn(head, epoch), firstCommit("run-3", epoch)];
  const stale = withDigest(firstCommit("run-2", epoch), "another first step");
  proxy.cut(call, "after");
  expect(await store.commit([stale, good, fresh])).toEqual([
    { outcome: "conflict", run: "run-2", seq: 1 },
    { outcome: "committed" },
    { outcome: "committed" },
  ]);
});

test("Q1: somebody else's commit of the same checkpoint is not taken for ours", async () => {
  const { epoch, head } = await begun(store);
  const ours = commitOn(head, epoch);
  await committed(direct, withDigest(ours, "theirs"));
  proxy.cut(call, "after");
  await expect(store.commit([ours])).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(await store.commit([ours])).toEqual([{ outcome: "conflict", run: "run-1", seq: 2 }]);
});

test("Q1: a step that another member took in the same way is not ours, since its activities are not", async () => {
  const join = async (worker: string) => {
    const lease = await (fleetOf(store) as Fleet).join(worker, leaseMs, noon);
    return lease.epoch;
  };
  const [one, two] = [await join("one"), await join("two")];
  const head = await committed(store, firstCommit("run-1", one));
  const activity = { begun: [activityOf("2.0")] };
  const child = { begun: [activityOf("1.0", { run: "child" })] };
  const plans = [
    (_: number): Plan => activity,
    (epoch: number): Plan => ({ starts: [firstCommit("child", epoch, child)] }),
  ];
  for (const [index, plan] of plans.entries()) {
    const before = index === 0 ? head : ((await direct.readHead(sample)) as RunHead);
    const [ours, theirs] = [one, two].map((epoch) => commitOn(before, epoch, plan(epoch))) as [
      Commit,
      Commit,
    ];
    await committed(direct, theirs);
    proxy.cut(call, "after");
    await expect(store.commit([ours])).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await store.commit([ours])).toMatchObject([{ outcome: "conflict", seq: before.seq + 1 }]);
    const next = (await direct.readHead(sample)) as RunHead;
    const again = commitOn(next, one, { begun: [activityOf(`${next.seq + 1}.0`)] });
    proxy.cut(call, "after");
    expect(await store.commit([again])).toEqual([{ outcome: "committed" }]);
  }
});

test("an event whose answer was lost is one event when it is sent again", async () => {
  await begun(store);
  proxy.cut(".enqueue_distinct(", "after");
  await expect(store.enqueue([eventOf("e1", { key: "k" })])).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
  });
  expect(await store.enqueue([eventOf("e1", { key: "k" })])).toEqual(["duplicate"]);
});

test("nobody knows what became of a call whose connection or server ended under it", () => {
  const told = (code: string) => Object.assign(new Error(code), { code, severity: "FATAL" });
  for (const lost of ["57P01", "57P02", "57P03", "08006"].map(told)) expect(isLost(lost)).toBe(true);
  expect(isLost(new Error("Connection terminated unexpectedly"))).toBe(true);
  for (const answered of ["57014", "23505", "40P01", "53100"].map(told)) expect(isLost(answered)).toBe(false);
  expect(isLost(new TypeError("a bug"))).toBe(false);
});
