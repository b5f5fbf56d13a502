/** scan and mend: all there is, as tools see it, and what they may change. */
import type { RunHead } from "../records.ts";
import type { Store } from "../store.ts";
import { type Mending, type RowKind, runKinds, type Stored } from "../upkeep.ts";
import {
  activityOf,
  begun,
  bytesOf,
  commitOn,
  committed,
  entryOf,
  eventOf,
  firstCommit,
  leaseMs,
  noon,
  owned,
  sample,
  tenant,
} from "./sample.ts";
import type { Cases, World } from "./world.ts";

/** A run of four checkpoints with everything a run can have, and one beside it. */
async function twoRuns(store: Store): Promise<{ epoch: number; head: RunHead }> {
  const { epoch, head: first } = await begun(store, {
    head: { attributes: { colour: "red", size: 3 } },
    contents: [{ digest: "d1", bytes: bytesOf("large") }],
    keys: ["k1"],
    begun: [activityOf("1.0"), activityOf("1.1", { status: "running" })],
    withSnapshot: true,
    sends: [eventOf("e1", { key: "k2" }), eventOf("e2", { priority: 2, expendable: true })],
  });
  await store.appendChunks(first, "1.0", [{ offset: 0, attempt: 1, bytes: bytesOf("piece") }], epoch);
  await store.writeDocument(tenant, "board", 0, bytesOf("document"));
  const second = commitOn(first, epoch, {
    withSnapshot: true,
    keys: ["k3"],
    sends: [eventOf("x", { run: "gone" })],
  });
  const head = await committed(
    store,
    commitOn(await committed(store, second), epoch, { steps: 2, keys: ["k4"] }),
  );
  await committed(store, firstCommit("run-2", epoch, { keys: ["k1"] }));
  return { epoch, head };
}

async function scanAll<Kind extends RowKind>(
  store: Store,
  kind: Kind,
  of?: string | null,
): Promise<Stored<Kind>[]> {
  const found: Stored<Kind>[] = [];
  for (;;) {
    const after = found.at(-1)?.place;
    const page = await store.scan(kind, {
      ...{ limit: 2 },
      ...(of === undefined ? {} : { of }),
      ...(after === undefined ? {} : { after }),
    });
    found.push(...page);
    if (page.length < 2) return found;
  }
}

const rowsOf = async <Kind extends RowKind>(store: Store, kind: Kind, of?: string | null) =>
  (await scanAll(store, kind, of)).map(({ row }) => row);

/** Where the run called so stands. */
async function placeOf(store: Store, run = "run-1"): Promise<string> {
  const found = (await scanAll(store, "run")).find(({ row }) => row?.run === run);
  return (found as Stored<"run">).place;
}

/** Mends under a right that was just taken. */
async function mended(store: Store, changes: readonly Mending[], by: string, now: number): Promise<boolean> {
  const lease = await store.own(by, leaseMs, now);
  return store.mend(changes, lease.epoch);
}

const later = noon + 2 * leaseMs;

async function afterMending(
  { store, reopen, expect }: World,
  changes: (place: string) => readonly Mending[],
) {
  const { head } = await twoRuns(store);
  expect(await mended(store, changes(await placeOf(store)), "doctor", later)).toEqual(true);
  return { head, opened: await reopen() };
}

export const mendCases: Cases = {
  "every row is seen, page by page, and none that is nobody's": async ({ store, reopen, expect }) => {
    const { head } = await twoRuns(store);
    const opened = await reopen();
    const runs = await rowsOf(opened, "run");
    expect(runs.map((row) => row?.run).toSorted()).toEqual(["run-1", "run-2"]);
    const { seq: _seq, digest: _digest, updatedAt: _updatedAt, ...stored } = head;
    expect(runs.find((row) => row?.run === "run-1")).toEqual({ ...stored, pruned: 0 });
    const place = await placeOf(opened);
    expect(await rowsOf(opened, "entry", place)).toEqual([1, 2, 3, 4].map((seq) => entryOf(sample, seq)));
    expect((await rowsOf(opened, "snapshot", place)).map((row) => row?.seq)).toEqual([1, 2]);
    const { tenant: _tenant, run: _run, ...event } = eventOf("e1", { key: "k2" });
    expect((await rowsOf(opened, "inbox", place))[0]).toEqual(event);
    expect(await rowsOf(opened, "key", place)).toEqual([
      ...[{ key: "k1", seq: 1 }, { key: "k2" }, { key: "k3", seq: 2 }, { key: "k4", seq: 4 }],
    ]);
    expect((await rowsOf(opened, "activity", place)).map((row) => [row?.key, row?.status])).toEqual([
      ...[
        ["1.0", "waiting"],
        ["1.1", "running"],
      ],
    ]);
    expect((await rowsOf(opened, "attribute", place)).map((row) => row?.name).toSorted()).toEqual([
      ...["colour", "size"],
    ]);
    expect(await rowsOf(opened, "chunk", place)).toEqual([
      { key: "1.0", offset: 0, attempt: 1, bytes: bytesOf("piece") },
    ]);
    expect(await rowsOf(opened, "content")).toEqual([
      { tenant, subject: "ada", digest: "d1", bytes: bytesOf("large") },
    ]);
    expect(await rowsOf(opened, "document")).toEqual([
      { tenant, name: "board", version: 1, bytes: bytesOf("document") },
    ]);
    expect((await rowsOf(opened, "letter")).map((row) => [row?.run, row?.reason])).toEqual([
      ["gone", "missing"],
    ]);
    expect((await rowsOf(opened, "lease")).map((row) => row?.owner)).toEqual(["worker-1"]);
    for (const kind of runKinds) expect(await rowsOf(opened, kind, null), kind).toEqual([]);
    for (const found of await scanAll(opened, "run")) expect(found.problem).toEqual(undefined);
  },

  "rows of a run are seen in their order, however many there are": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await committed(store, commitOn(head, epoch, { steps: 11 }));
    const pieces = [11, 2, 1, 10].map((offset) => ({ offset, attempt: 1, bytes: bytesOf("piece") }));
    await store.appendChunks(sample, "1.0", pieces, epoch);
    const place = await placeOf(store);
    expect((await rowsOf(store, "entry", place)).map((row) => row?.seq)).toEqual([
      ...Array.from({ length: 12 }, (_, index) => index + 1),
    ]);
    expect((await rowsOf(store, "chunk", place)).map((row) => row?.offset)).toEqual([1, 2, 10, 11]);
  },

  "nothing is seen of what was removed or pruned": async ({ store, expect }) => {
    const { epoch, head } = await twoRuns(store);
    await store.pruneJournal(sample, 2, epoch);
    const place = await placeOf(store);
    for (const isSwept of [false, true]) {
      while (isSwept && (await store.sweep(99)) > 0);
      expect((await rowsOf(store, "entry", place)).map((row) => row?.seq)).toEqual([3, 4]);
      expect((await rowsOf(store, "snapshot", place)).map((row) => row?.seq)).toEqual([2]);
      expect((await rowsOf(store, "run")).map((row) => row?.pruned).toSorted()).toEqual([0, 2]);
    }
    await committed(store, commitOn(head, epoch, { head: { status: "done" } }));
    await store.removeRuns([sample], epoch);
    expect((await rowsOf(store, "run")).map((row) => row?.run)).toEqual(["run-2"]);
    for (const kind of runKinds) expect(await rowsOf(store, kind, null), kind).toEqual([]);
  },

  "a run is set back to a checkpoint, with all that came after it gone": async (world) => {
    const { expect } = world;
    const digest = entryOf(sample, 2).digest;
    let back: RunHead | undefined;
    const { opened } = await afterMending(world, (run) => {
      back = { ...backTo(2, digest), status: "parked", attributes: { colour: "blue" }, wakeAt: 7 };
      return [{ change: "set", run, head: back }];
    });
    const loaded = await opened.load(sample);
    expect(loaded?.head).toEqual(back);
    expect([loaded?.snapshot?.seq, loaded?.entries]).toEqual([2, []]);
    expect(await opened.readKeys(sample, ["k1", "k2", "k3", "k4"])).toEqual([
      ...[{ key: "k1", seq: 1 }, { key: "k2" }, { key: "k3", seq: 2 }],
    ]);
    const find = async (colour: string) =>
      (await opened.findRuns({ tenant, limit: 9, attributes: { colour } })).map(({ run }) => run);
    expect([await find("red"), await find("blue")]).toEqual([[], ["run-1"]]);
    expect(await opened.due(Number.MAX_SAFE_INTEGER, 9), "it is parked").toEqual([]);
    const epoch = await owned(opened, "next", later);
    const next = await committed(opened, commitOn(back as RunHead, epoch, { head: { status: "active" } }));
    expect([next.seq, (await opened.due(Number.MAX_SAFE_INTEGER, 9)).length]).toEqual([3, 1]);
    expect((await opened.readJournal(sample, 1, 9)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  },

  "a run that is set back before a snapshot goes on without it": async ({ store, expect }) => {
    const { epoch, head: first } = await begun(store, { withSnapshot: true });
    const second = await committed(store, commitOn(first, epoch));
    await committed(store, commitOn(second, epoch, { withSnapshot: true }));
    const run = await placeOf(store);
    expect(await store.mend([{ change: "set", run, head: second }], epoch)).toEqual(true);
    await committed(store, commitOn(second, await owned(store, "next")));
    const loaded = await store.load(sample);
    expect([loaded?.snapshot?.seq, loaded?.entries.map(({ seq }) => seq)]).toEqual([1, [2, 3]]);
  },

  "where a journal begins is told anew": async ({ store, reopen, expect }) => {
    const { epoch, head } = await twoRuns(store);
    const run = await placeOf(store);
    const gone = await store.scan("entry", { of: run, limit: 2 });
    const changes = gone.map(({ place }): Mending => ({ change: "remove", kind: "entry", place }));
    expect(await store.mend([...changes, { change: "set", run, head, pruned: 2 }], epoch)).toEqual(true);
    const opened = await reopen();
    expect((await opened.readJournal(sample, 1, 9)).map(({ seq }) => seq)).toEqual([3, 4]);
    expect([await opened.readAt(sample, 1), (await opened.readAt(sample, 3))?.snapshot?.seq]).toEqual([
      ...[undefined, 2],
    ]);
    expect((await rowsOf(opened, "run")).map((row) => row?.pruned).toSorted()).toEqual([0, 2]);
  },

  "entries, snapshots, activities and keys are put in the place of others": async (world) => {
    const { expect } = world;
    const entry = { ...entryOf(sample, 3), digest: "mended", bytes: bytesOf("mended") };
    const snapshot = { seq: 2, bytes: bytesOf("mended"), kept: true } as const;
    const activity = activityOf("1.1", { attempt: 4, bytes: bytesOf("mended") });
    const { opened } = await afterMending(world, (run) => [
      { change: "entry", run, entry },
      { change: "snapshot", run, snapshot },
      { change: "activity", run, activity },
      { change: "activity", run, activity: { ...activity, key: "2.0", status: "running" } },
      { change: "key", run, key: { key: "k4", seq: 3 } },
      { change: "key", run, key: { key: "k5" } },
      { change: "content", tenant, subject: "ada", content: { digest: "d1", bytes: bytesOf("mended") } },
      { change: "content", tenant, subject: "bob", content: { digest: "d1", bytes: bytesOf("new") } },
      { change: "document", tenant, name: "board", bytes: bytesOf("mended") },
      { change: "document", tenant, name: "other", bytes: bytesOf("new") },
    ]);
    expect(await opened.readContents(tenant, "ada", ["d1"])).toEqual([
      { digest: "d1", bytes: bytesOf("mended") },
    ]);
    expect((await opened.readContents(tenant, "bob", ["d1"])).length).toEqual(1);
    expect(await opened.readDocument(tenant, "board")).toEqual({ version: 2, bytes: bytesOf("mended") });
    expect(await opened.readDocument(tenant, "other")).toEqual({ version: 1, bytes: bytesOf("new") });
    expect((await opened.readJournal(sample, 3, 1))[0]).toEqual(entry);
    const loaded = await opened.load(sample);
    expect([loaded?.snapshot, loaded?.activities.map(({ key, attempt }) => [key, attempt])]).toEqual([
      snapshot,
      ...[
        [
          ["1.0", 0],
          ["1.1", 4],
          ["2.0", 4],
        ],
      ],
    ]);
    expect(await opened.readKeys(sample, ["k4", "k5"])).toEqual([{ key: "k4", seq: 3 }, { key: "k5" }]);
  },

  "an activity that was mended is for whoever comes first, even if it says that it runs": async ({
    store,
    expect,
  }) => {
    const { epoch } = await begun(store);
    const activity = activityOf("1.0", { status: "running" });
    expect(await store.mend([{ change: "activity", run: await placeOf(store), activity }], epoch)).toEqual(
      true,
    );
    expect((await store.due(noon, 9)).length).toEqual(1);
  },

  "rows are removed from where they were seen": async ({ store, reopen, expect }) => {
    await twoRuns(store);
    const of = await placeOf(store);
    const changes: Mending[] = [];
    for (const kind of ["snapshot", "inbox", "key", "activity", "chunk"] as const) {
      const [found] = await store.scan(kind, { of, limit: 1 });
      changes.push({ change: "remove", kind, place: found?.place as string });
    }
    for (const kind of ["content", "document", "letter"] as const) {
      const [found] = await store.scan(kind, { limit: 1 });
      changes.push({ change: "remove", kind, place: found?.place as string });
    }
    expect(await mended(store, changes, "doctor", later)).toEqual(true);
    const opened = await reopen();
    const loaded = await opened.load(sample);
    expect([loaded?.inbox.map(({ id }) => id), loaded?.activities.map(({ key }) => key)]).toEqual([
      ["e2"],
      ["1.1"],
    ]);
    expect(await opened.readAt(sample, 1)).toEqual({ snapshot: undefined, entries: [entryOf(sample, 1)] });
    expect(await opened.readKeys(sample, ["k1", "k3"])).toEqual([{ key: "k3", seq: 2 }]);
    expect(await opened.readChunks(sample, "1.0", 0, 9)).toEqual([]);
    expect(await opened.readContents(tenant, "ada", ["d1"])).toEqual([]);
    expect(await opened.readDocument(tenant, "board")).toEqual(undefined);
    expect(await opened.readDeadLetters(tenant, 0, 9)).toEqual([]);
  },

  "I4: a run that is forgotten leaves what waited for it as dead letters": async (world) => {
    const { expect } = world;
    const { opened } = await afterMending(world, (run) => [
      { change: "key", run, key: { key: "k9" } },
      { change: "forget", run },
    ]);
    expect(await opened.readHead(sample)).toEqual(undefined);
    const letters = await opened.readDeadLetters(tenant, 0, 9);
    expect(letters.map(({ run, id, reason }) => [run, id, reason])).toEqual([
      ...[
        ["gone", "x", "missing"],
        ["run-1", "e1", "missing"],
      ],
    ]);
    expect((await opened.readHead({ tenant, run: "run-2" }))?.seq).toEqual(1);
    while ((await opened.sweep(10)) > 0);
    for (const kind of runKinds) expect(await rowsOf(opened, kind, null), kind).toEqual([]);
  },

  "what waited for a run that is forgotten is lost in the order it waited": async ({ store, expect }) => {
    const { epoch } = await begun(store);
    await store.enqueue([eventOf("a"), eventOf("b", { priority: 1 }), eventOf("c", { priority: -1 })]);
    await store.mend([{ change: "forget", run: await placeOf(store) }], epoch);
    expect((await store.readDeadLetters(tenant, 0, 9)).map(({ id }) => id)).toEqual(["b", "a", "c"]);
  },

  "U2: a fork that is set back stands on its source as before": async ({ store, expect }) => {
    const { epoch } = await begun(store);
    const first = firstCommit("fork", epoch, { head: { fork: { run: "run-1", seq: 1 } } });
    const head = await committed(store, first);
    await committed(store, commitOn(head, epoch));
    await store.mend([{ change: "set", run: await placeOf(store, "fork"), head }], epoch);
    expect(await store.readForks(sample)).toEqual([{ tenant, run: "fork", seq: 1, stands: true }]);
  },

  "the entries before a snapshot are put away": async (world) => {
    const { expect } = world;
    const { opened } = await afterMending(world, (run) => [{ change: "prune", run, seq: 2 }]);
    expect((await opened.readJournal(sample, 1, 9)).map(({ seq }) => seq)).toEqual([3, 4]);
    expect((await opened.readAt(sample, 3))?.snapshot?.kept).toEqual(true);
  },

  "I2: only the owner mends, and nobody owns the runs after it": async ({ store, expect }) => {
    const { epoch, head } = await twoRuns(store);
    const run = await placeOf(store);
    const change: Mending = { change: "set", run, head: backTo(2, entryOf(sample, 2).digest) };
    expect(await store.mend([change], epoch + 1)).toEqual(false);
    expect(await store.mend([{ change: "lease" }, change], epoch + 1), "not the lease alone").toEqual(false);
    expect((await store.readHead(sample))?.seq).toEqual(4);
    expect(await store.mend([change], epoch)).toEqual(true);
    expect(await store.commit([commitOn(head, epoch)])).toEqual([{ outcome: "fenced", epoch }]);
    const again = await owned(store, "worker-1", noon + 1);
    expect(again > epoch).toEqual(true);
    expect(await store.commit([commitOn(head, again)])).toEqual([
      { outcome: "conflict", run: "run-1", seq: 2 },
    ]);
  },

  "a new lease needs no owner, and fences whoever there was": async ({ store, expect }) => {
    const { epoch, head } = await twoRuns(store);
    expect(await store.mend([{ change: "lease" }], 0)).toEqual(true);
    expect((await store.commit([commitOn(head, epoch)]))[0]?.outcome).toEqual("fenced");
    expect((await owned(store, "next", noon)) > epoch).toEqual(true);
  },
};

/** The head of the run at an earlier checkpoint. */
function backTo(seq: number, digest: string): RunHead {
  return {
    ...{ ...sample, subject: "ada", machine: "booking", version: 1, hash: "a-hash", status: "active" },
    ...{ seq, digest, snapshotSeq: 2, createdAt: noon, updatedAt: noon + seq, attributes: {} },
  };
}
