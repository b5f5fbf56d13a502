/** removeRuns, readForks, pruneJournal, sweep: what is not wanted any more goes, and nothing that somebody stands on. */
import type { RunHead } from "../records.ts";
import type { Store } from "../store.ts";
import {
  activityOf,
  begun,
  bytesOf,
  commitOn,
  committed,
  entryOf,
  eventOf,
  firstCommit,
  headOf,
  owned,
  sample,
  tenant,
} from "./sample.ts";
import type { Cases } from "./world.ts";

const done = { head: { status: "done" as const, completedAt: 1 } };
const other = { tenant, run: "run-2" };

/** Everything a run can have, and its end. */
async function fullRun(store: Store, run = "run-1"): Promise<{ epoch: number; head: RunHead }> {
  const epoch = await owned(store);
  const first = firstCommit(run, epoch, {
    head: { attributes: { colour: "red" } },
    withSnapshot: "kept",
    contents: [{ digest: "d1", bytes: bytesOf("large") }],
    keys: ["k1"],
    begun: [activityOf("1.0", { run })],
    sends: [eventOf("e1", { run, key: "k2" })],
  });
  const head = await committed(store, first);
  await store.appendChunks(head, "1.0", [{ offset: 0, attempt: 1, bytes: bytesOf("piece") }], epoch);
  const last = await committed(store, commitOn(head, epoch, { ...done, consumed: ["e1"] }));
  return { epoch, head: last };
}

/** A fork of `run-1` at a checkpoint. */
const forkOf = (run: string, seq: number, epoch: number, withSnapshot: boolean | "kept" = false) =>
  firstCommit(run, epoch, { head: { fork: { run: "run-1", seq } }, withSnapshot });

async function sweepAll(store: Store, limit = 3): Promise<number> {
  let swept = 0;
  for (let rows = await store.sweep(limit); rows > 0; rows = await store.sweep(limit)) swept += rows;
  return swept;
}

/** Nine checkpoints with snapshots of some. */
async function nineSteps(
  store: Store,
  snapshots: readonly number[],
): Promise<{ epoch: number; head: RunHead }> {
  let { epoch, head } = await begun(store);
  while (head.seq < 9)
    head = await committed(store, commitOn(head, epoch, { withSnapshot: snapshots.includes(head.seq + 1) }));
  return { epoch, head };
}

const seqsOf = async (store: Store, from = 1): Promise<number[]> =>
  (await store.readJournal(sample, from, 100)).map(({ seq }) => seq);

export const removeCases: Cases = {
  "U1: a run that was removed is gone for every reader, before and after it is swept": async ({
    store,
    reopen,
    expect,
  }) => {
    const { epoch, head } = await fullRun(store);
    expect(await store.removeRuns([sample], epoch)).toEqual([true]);
    let opened = await reopen();
    for (const swept of [false, true]) {
      if (swept) await sweepAll(opened);
      opened = await reopen();
      expect([
        await opened.readHead(sample),
        await opened.load(sample),
        await opened.readAt(sample, 1),
      ]).toEqual([...[undefined, undefined, undefined]]);
      expect([await opened.readJournal(sample, 1, 9), await opened.readInbox(sample, 9)]).toEqual([[], []]);
      expect(await opened.readKeys(sample, ["k1", "k2"])).toEqual([]);
      expect(await opened.readChunks(sample, "1.0", 0, 9)).toEqual([]);
      expect(await opened.findRuns({ tenant, limit: 9 })).toEqual([]);
      expect(await opened.findRuns({ tenant, limit: 9, attributes: { colour: "red" } })).toEqual([]);
      expect(await opened.enqueue([eventOf("e9")])).toEqual(["missing"]);
      expect(await opened.recordActivities([activityOf("1.0")], epoch)).toEqual([false]);
      expect(await opened.commit([commitOn(head, epoch)])).toEqual([
        { outcome: "conflict", run: "run-1", seq: 0 },
      ]);
    }
  },

  "only runs that have ended are removed, and only by the owner": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    const parked = await committed(store, firstCommit("run-2", epoch, { head: { status: "parked" } }));
    expect(await store.removeRuns([head, parked, { tenant, run: "nobody" }], epoch)).toEqual([
      ...[false, false, false],
    ]);
    await committed(store, commitOn(head, epoch, done));
    expect(await store.removeRuns([sample], epoch + 1)).toEqual([false]);
    expect(await store.removeRuns([sample, sample], epoch)).toEqual([true, false]);
    expect(await store.removeRuns([], epoch)).toEqual([]);
    expect(await store.readHead(other)).toEqual(parked);
  },

  "U3: nothing is removed or pruned once a document has changed that it was decided by": async ({
    store,
    expect,
  }) => {
    const { epoch } = await nineSteps(store, [4]);
    await committed(store, firstCommit("run-2", epoch, { head: { status: "done", completedAt: 2 } }));
    const none = { tenant, name: "holds", version: 0 };
    const write = (version: number) => store.writeDocument(tenant, "holds", version, bytesOf("held"));
    const [gone, cut] = [
      (version: number) => store.removeRuns([other, sample], epoch, [{ ...none, version }]),
      (version: number) => store.pruneJournal(sample, 4, epoch, [{ ...none, version }]),
    ];
    for (const version of [1, 2])
      expect([await gone(version), await cut(version)]).toEqual([[false, false], false]);
    await write(0);
    for (const version of [0, 2])
      expect([await gone(version), await cut(version)]).toEqual([[false, false], false]);
    await write(1);
    for (const version of [0, 1])
      expect([await gone(version), await cut(version)]).toEqual([[false, false], false]);
    expect((await store.readHead(other))?.run).toEqual("run-2");
    // Of several each must be as it was; that one is not there can be seen, too, and leaves nothing behind.
    const absent = { ...none, name: "nothing" };
    const seen = [{ ...none, version: 2 }, absent];
    expect(
      await store.removeRuns([other], epoch, [...seen, { ...none, tenant: "globex", version: 1 }]),
    ).toEqual([false]);
    expect(await store.pruneJournal(sample, 4, epoch, seen)).toEqual(true);
    expect(await store.removeRuns([other], epoch, seen)).toEqual([true]);
    expect(await store.readDocument(tenant, "nothing")).toEqual(undefined);
    expect(await store.writeDocument(tenant, "nothing", 0, bytesOf("x"))).toEqual(true);
    expect(await store.readDocument(tenant, "holds")).toEqual({ version: 2, bytes: bytesOf("held") });
  },

  "a name is free when its run was removed, and nothing of the old run comes back": async ({
    store,
    reopen,
    expect,
  }) => {
    const { epoch } = await fullRun(store);
    await store.removeRuns([sample], epoch);
    const again = await committed(store, firstCommit("run-1", epoch, { keys: ["k1"] }));
    await sweepAll(store);
    const opened = await reopen();
    const loaded = await opened.load(sample);
    expect([loaded?.head, loaded?.entries, loaded?.snapshot]).toEqual([
      again,
      [entryOf(sample, 1)],
      undefined,
    ]);
    expect([loaded?.inbox, loaded?.activities]).toEqual([[], []]);
    expect(await opened.readChunks(sample, "1.0", 0, 9)).toEqual([]);
    expect(await opened.findRuns({ tenant, limit: 9, attributes: { colour: "red" } })).toEqual([]);
    expect(await opened.findRuns({ tenant, limit: 9 })).toEqual([again]);
    await committed(opened, commitOn(again, epoch));
  },

  "contents go when no run of their subject is left": async ({ store, expect }) => {
    const { epoch } = await fullRun(store);
    await fullRun(store, "run-2");
    const contents = () => store.readContents(tenant, "ada", ["d1"]);
    await store.removeRuns([sample], epoch);
    await sweepAll(store);
    expect((await contents()).length, "another run may use them").toEqual(1);
    await store.removeRuns([other], epoch);
    const next = firstCommit("run-3", epoch, { contents: [{ digest: "d1", bytes: bytesOf("large") }] });
    await committed(store, next);
    await sweepAll(store);
    expect((await contents()).length, "one that has begun meanwhile may too").toEqual(1);
    await committed(store, commitOn(next.head, epoch, done));
    await store.removeRuns([next.head], epoch);
    await sweepAll(store);
    expect(await contents()).toEqual([]);
  },

  "I5: contents go with the runs of their own tenant, and stay with them": async ({
    store,
    reopen,
    expect,
  }) => {
    const { epoch } = await fullRun(store);
    const contents = [{ digest: "d1", bytes: bytesOf("theirs") }];
    await committed(store, commitOn(headOf({ tenant: "globex", run: "x" }), epoch, { contents }));
    await store.removeRuns([sample], epoch);
    const opened = await reopen();
    await sweepAll(opened);
    expect(await opened.readContents(tenant, "ada", ["d1"])).toEqual([]);
    expect(await opened.readContents("globex", "ada", ["d1"])).toEqual(contents);
  },

  "U1: sweeping deletes so many rows at a time, until there is nothing left": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    const long = await committed(store, commitOn(head, epoch, { steps: 20 }));
    await committed(store, commitOn(long, epoch, done));
    expect(await store.sweep(5)).toEqual(0);
    await store.removeRuns([sample], epoch);
    expect([await store.sweep(5), await store.sweep(5)]).toEqual([5, 5]);
    await committed(store, firstCommit("run-2", epoch));
    expect(await sweepAll(store), "22 entries and the note of their removal").toEqual(13);
    expect(await store.sweep(5)).toEqual(0);
    expect((await store.load(other))?.entries).toEqual([entryOf(other, 1)]);
  },

  "U2: a run stays while a fork stands on it": async ({ store, reopen, expect }) => {
    const { epoch } = await fullRun(store);
    const fork = await committed(store, forkOf("fork-a", 1, epoch));
    await committed(store, forkOf("fork-b", 2, epoch, true));
    await committed(store, forkOf("fork-c", 2, epoch, "kept"));
    await committed(
      store,
      commitOn(headOf({ tenant: "globex", run: "x", fork: { run: "run-1", seq: 1 } }), epoch, {
        withSnapshot: "kept",
      }),
    );
    const opened = await reopen();
    expect(await opened.readForks(sample)).toEqual([
      { tenant, run: "fork-a", seq: 1, stands: true },
      { tenant, run: "fork-b", seq: 2, stands: true },
      { tenant, run: "fork-c", seq: 2, stands: false },
    ]);
    expect(await opened.removeRuns([sample], epoch)).toEqual([false]);
    const ended = await committed(opened, commitOn(fork, epoch, done));
    const b = await opened.readHead({ tenant, run: "fork-b" });
    await committed(opened, commitOn(b as RunHead, epoch, { withSnapshot: "kept" }));
    expect(await opened.removeRuns([sample, ended, sample], epoch)).toEqual([false, true, true]);
    expect((await opened.load(b as RunHead))?.head.seq).toEqual(2);
  },

  "U2: what a fork of a fork is worked out from stays, though the fork needs it no more": async ({
    store,
    reopen,
    expect,
  }) => {
    const { epoch } = await nineSteps(store, [4, 7]);
    const twinOf = (run: string, seq: number) =>
      firstCommit(run, epoch, { head: { fork: { run: "fork-a", seq } } });
    const a = await committed(store, forkOf("fork-a", 5, epoch));
    const b = await committed(store, twinOf("fork-b", 1));
    const kept = await committed(store, commitOn(a, epoch, { withSnapshot: "kept" }));
    await committed(store, commitOn(kept, epoch, { withSnapshot: "kept" }));
    await committed(store, twinOf("fork-c", 2));
    const opened = await reopen();
    expect(await opened.readForks(sample)).toEqual([{ tenant, run: "fork-a", seq: 5, stands: true }]);
    expect(await opened.pruneJournal(sample, 7, epoch)).toEqual(false);
    const head = await opened.readHead(sample);
    await committed(opened, commitOn(head as RunHead, epoch, done));
    expect(await opened.removeRuns([sample], epoch)).toEqual([false]);
    await committed(opened, commitOn(b, epoch, done));
    expect(await opened.removeRuns([b], epoch)).toEqual([true]);
    expect(await opened.readForks(sample)).toEqual([{ tenant, run: "fork-a", seq: 5, stands: false }]);
    expect(await opened.removeRuns([sample], epoch)).toEqual([true]);
    const late = await opened.commit([twinOf("fork-d", 1), twinOf("fork-e", 2)]);
    expect(late).toEqual([{ outcome: "conflict", run: "fork-d", seq: 0 }, { outcome: "committed" }]);
  },

  "U2: runs that have the names of those that others were forked from do not lead in circles": async ({
    store,
    expect,
  }) => {
    const { epoch } = await fullRun(store);
    const a = await committed(store, forkOf("fork-a", 2, epoch, "kept"));
    expect(await store.removeRuns([sample], epoch)).toEqual([true]);
    await committed(
      store,
      firstCommit("run-1", epoch, { head: { fork: { run: "fork-a", seq: 1 } }, withSnapshot: "kept" }),
    );
    expect(await store.readForks(sample)).toEqual([{ tenant, run: "fork-a", seq: 2, stands: false }]);
    expect(await store.readForks(a)).toEqual([{ tenant, run: "run-1", seq: 1, stands: false }]);
  },

  "U2: a fork of what is gone does not begin": async ({ store, expect }) => {
    const { epoch } = await fullRun(store);
    const begin = async (run: string, seq: number, withSnapshot?: true | "kept") =>
      (await store.commit([forkOf(run, seq, epoch, withSnapshot)]))[0]?.outcome;
    expect(await begin("fork-a", 3), "a checkpoint that never was").toEqual("conflict");
    expect(await begin("fork-a", 3, true), "with a snapshot that will pass").toEqual("conflict");
    expect(await begin("fork-a", 2)).toEqual("committed");
    expect(await begin("fork-b", 9, "kept"), "it stands on nothing but itself").toEqual("committed");
    const d = await committed(store, forkOf("fork-d", 2, epoch, true));
    await committed(store, commitOn(d, epoch, { withSnapshot: "kept" }));
    const a = await store.readHead({ tenant, run: "fork-a" });
    await committed(store, commitOn(a as RunHead, epoch, done));
    expect(await store.removeRuns([a as RunHead, sample], epoch)).toEqual([true, true]);
    expect(await begin("fork-c", 1)).toEqual("conflict");
    expect(await store.readHead({ tenant, run: "fork-c" })).toEqual(undefined);
    const twins = [1, 2].map((seq) =>
      firstCommit(`twin-${seq}`, epoch, { head: { fork: { run: d.run, seq } } }),
    );
    expect(
      (await store.commit(twins)).map(({ outcome }) => outcome),
      "only what is kept for good",
    ).toEqual([...["conflict", "committed"]]);
  },

  "entries up to a snapshot are pruned, and what is left stands on it": async ({ store, reopen, expect }) => {
    const { epoch, head } = await nineSteps(store, [4, 7]);
    expect(await store.pruneJournal(sample, 4, epoch)).toEqual(true);
    let opened = await reopen();
    for (const swept of [false, true]) {
      if (swept) await sweepAll(opened);
      opened = await reopen();
      expect(await seqsOf(opened)).toEqual([5, 6, 7, 8, 9]);
      expect(await seqsOf(opened, 8)).toEqual([8, 9]);
      expect([await opened.readAt(sample, 3), await opened.readAt(sample, 1)]).toEqual([
        undefined,
        undefined,
      ]);
      const at = await opened.readAt(sample, 5);
      expect([at?.snapshot?.seq, at?.snapshot?.kept, at?.entries.length]).toEqual([4, true, 1]);
      expect((await opened.readAt(sample, 4))?.entries).toEqual([]);
      expect((await opened.load(sample))?.head).toEqual(head);
    }
    let last = head;
    for (let more = 0; more < 3; more++)
      last = await committed(opened, commitOn(last, epoch, { withSnapshot: true }));
    expect((await opened.readAt(sample, 6))?.snapshot?.seq, "the snapshot stays for good").toEqual(4);
    expect(await opened.pruneJournal(sample, 11, epoch)).toEqual(true);
    expect(await seqsOf(opened)).toEqual([12]);
  },

  "entries are pruned only where a snapshot stands for them, and never the newest": async ({
    store,
    expect,
  }) => {
    const { epoch } = await nineSteps(store, [4, 9]);
    for (const seq of [0, 3, 5, 9, 10])
      expect(await store.pruneJournal(sample, seq, epoch), String(seq)).toEqual(false);
    expect(await store.pruneJournal({ tenant, run: "nobody" }, 4, epoch)).toEqual(false);
    expect(await store.pruneJournal(sample, 4, epoch + 1)).toEqual(false);
    expect(await store.pruneJournal(sample, 4, epoch)).toEqual(true);
    expect(await store.pruneJournal(sample, 4, epoch), "once").toEqual(false);
  },

  "U2: what a fork stands on is not pruned": async ({ store, expect }) => {
    const { epoch } = await nineSteps(store, [4, 7]);
    await committed(store, forkOf("fork-a", 6, epoch));
    await committed(store, forkOf("fork-b", 1, epoch, "kept"));
    await committed(store, forkOf("fork-e", 4, epoch));
    expect(await store.pruneJournal(sample, 7, epoch)).toEqual(false);
    expect(await store.pruneJournal(sample, 4, epoch)).toEqual(true);
    const late = await store.commit([forkOf("fork-c", 3, epoch)]);
    expect(late).toEqual([{ outcome: "conflict", run: "fork-c", seq: 0 }]);
    expect((await store.commit([forkOf("fork-d", 4, epoch)]))[0]?.outcome).toEqual("committed");
  },

  "U2: a journal is pruned up to the checkpoint that a fork stands on": async ({ store, expect }) => {
    const { epoch } = await nineSteps(store, [4]);
    await committed(store, forkOf("fork-a", 4, epoch));
    expect(await store.pruneJournal(sample, 4, epoch)).toEqual(true);
    expect((await store.readAt(sample, 4))?.snapshot?.seq).toEqual(4);
  },

  "I5: nothing of another tenant's is removed or pruned": async ({ store, expect }) => {
    const { epoch } = await nineSteps(store, [4]);
    const globex = { tenant: "globex", run: "run-1" };
    expect(await store.removeRuns([globex], epoch)).toEqual([false]);
    expect(await store.pruneJournal(globex, 4, epoch)).toEqual(false);
    expect(await store.readForks(globex)).toEqual([]);
    expect((await seqsOf(store)).length).toEqual(9);
  },
};
