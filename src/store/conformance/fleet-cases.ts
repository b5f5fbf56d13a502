/** Fleets: who is a member, who is not any more, and that no write of theirs is taken then. For stores that are shared. */
import { type Fleet, fleetOf, type Sign } from "../fleet.ts";
import type { ActivityRow, RunName } from "../records.ts";
import { shardCount, shardOf } from "../shard.ts";
import type { Store } from "../store.ts";
import { activityOf, bytesOf, commitOn, committed, eventOf, firstCommit, leaseMs, noon } from "./sample.ts";
import type { Cases } from "./world.ts";

const busy: Sign = { isLeaving: false, slots: 8, running: 3, waiting: 2 };
export const idle: Sign = { isLeaving: false, slots: 0, running: 0, waiting: 0 };
const everywhere = Array.from({ length: shardCount }, (_, shard) => shard);
const names = (runs: readonly RunName[]): string[] => runs.map(({ run }) => run);

export const shared = (store: Store): Fleet => fleetOf(store) as Fleet;

const running = (key: string) => activityOf(key, { status: "running" });

/** Joins, and gives the epoch. */
export async function joined(store: Store, worker: string, now = noon): Promise<number> {
  const lease = await shared(store).join(worker, leaseMs, now);
  if (lease.outcome !== "owned") throw new Error(`${worker} could not join: ${lease.owner} is there`);
  return lease.epoch;
}

export const fleetCases: Cases = {
  "F1: members join with epochs of their own, and each is told of all": async ({ store, expect }) => {
    expect(await shared(store).join("a", leaseMs, noon)).toEqual({
      ...{ outcome: "owned", epoch: 1, until: noon + leaseMs, outages: [] },
    });
    expect(await joined(store, "b")).toEqual(2);
    await shared(store).beat(1, leaseMs, busy, noon + 1);
    expect(await shared(store).beat(2, leaseMs, idle, noon + 2)).toEqual([
      { epoch: 1, worker: "a", ...busy },
      { epoch: 2, worker: "b", ...idle },
    ]);
  },

  "F1: members write side by side, and a commit is decided by the run's checkpoint": async ({
    store,
    expect,
  }) => {
    const [one, other] = [await joined(store, "a"), await joined(store, "b")];
    const { head } = await committed(store, firstCommit("run-1", one)).then((head) => ({ head }));
    const second = await committed(store, commitOn(head, other));
    expect(await store.commit([commitOn(head, one)])).toEqual([
      { outcome: "conflict", run: "run-1", seq: second.seq },
    ]);
    await committed(store, commitOn(second, one));
  },

  "F1: one whose lease lapsed is put out by the next sign of life, and fenced for good": async ({
    store,
    expect,
  }) => {
    const [one, other] = [await joined(store, "a"), await joined(store, "b")];
    const head = await committed(store, firstCommit("run-1", one, { begun: [running("1.0")] }));
    expect(await shared(store).beat(other, leaseMs, idle, noon + leaseMs / 2)).toEqual([
      { epoch: one, worker: "a", ...idle },
      { epoch: other, worker: "b", ...idle },
    ]);
    expect(await shared(store).beat(other, leaseMs, idle, noon + leaseMs)).toEqual([
      { epoch: other, worker: "b", ...idle },
    ]);
    expect(await shared(store).beat(one, leaseMs, idle, noon + leaseMs)).toEqual(undefined);
    expect(await store.commit([commitOn(head, one)])).toEqual([{ outcome: "fenced", epoch: other }]);
    expect(await store.commit([firstCommit("run-2", one)])).toEqual([{ outcome: "fenced", epoch: other }]);
    expect(await store.recordActivities([activityOf("1.0")], one)).toEqual([false]);
    expect(
      await store.appendChunks(head, "1.0", [{ offset: 0, attempt: 1, bytes: bytesOf("a") }], one),
    ).toEqual(false);
    expect(await shared(store).adopt([activityOf("1.0")], one)).toEqual([false]);
    expect(await store.removeRuns([head], one)).toEqual([false]);
    expect(await store.pruneJournal(head, 1, one)).toEqual(false);
    expect((await store.readHead(head))?.seq).toEqual(1);
    await committed(store, commitOn(head, other));
  },

  "F1: a lapsed member that nobody has put out goes on when it gives a sign": async ({ store, expect }) => {
    const epoch = await joined(store, "a");
    expect(await shared(store).beat(epoch, leaseMs, idle, noon + 3 * leaseMs)).toEqual([
      { epoch, worker: "a", ...idle },
    ]);
    await committed(store, firstCommit("run-1", epoch));
  },

  "F1: one that left is gone at once": async ({ store, expect }) => {
    const [one, other] = [await joined(store, "a"), await joined(store, "b")];
    await shared(store).leave(one, noon + 5);
    expect(await shared(store).beat(other, leaseMs, idle, noon + 6)).toEqual([
      { epoch: other, worker: "b", ...idle },
    ]);
    expect(await store.commit([firstCommit("run-1", one)])).toEqual([{ outcome: "fenced", epoch: other }]);
    await joined(store, "c", noon + 7);
    const newest = await joined(store, "d", noon + 7);
    await shared(store).leave(newest, noon + 8);
    expect(await shared(store).beat(newest, leaseMs, idle, noon + 9)).toEqual(undefined);
    expect(await store.commit([firstCommit("run-1", newest)])).toEqual([
      { outcome: "fenced", epoch: newest },
    ]);
  },

  "F1: one whose lease lapsed is put out by whoever joins": async ({ store, expect }) => {
    const one = await joined(store, "a");
    const other = await joined(store, "b", noon + leaseMs);
    expect(await store.commit([firstCommit("run-1", one)])).toEqual([{ outcome: "fenced", epoch: other }]);
    expect(await shared(store).beat(one, leaseMs, idle, noon + leaseMs)).toEqual(undefined);
    expect(await shared(store).beat(other, leaseMs, idle, noon + leaseMs)).toEqual([
      { epoch: other, worker: "b", ...idle },
    ]);
  },

  "a member whose lease is from a clock that was years ahead is put out once the clock is right": async ({
    store,
    expect,
  }) => {
    const ahead = noon + 1e12;
    const [one, other] = [await joined(store, "a", ahead), await joined(store, "b", ahead)];
    expect(await shared(store).beat(other, leaseMs, idle, noon)).toEqual([
      { epoch: other, worker: "b", ...idle },
    ]);
    expect(await shared(store).beat(one, leaseMs, idle, noon)).toEqual(undefined);
  },

  "F2: nobody owns a store while it has members, and nobody joins while it is owned": async ({
    store,
    reopen,
    expect,
  }) => {
    const member = await joined(store, "a");
    expect(await store.own("b", leaseMs, noon)).toEqual({
      ...{ outcome: "taken", owner: "a", epoch: member, until: noon + leaseMs },
    });
    await shared(store).leave(member, noon);
    const lease = await store.own("b", leaseMs, noon);
    expect(lease).toEqual({ outcome: "owned", epoch: 2, until: noon + leaseMs, outages: [] });
    const opened = await reopen();
    expect(await shared(opened).join("c", leaseMs, noon)).toEqual({
      ...{ outcome: "taken", owner: "b", epoch: 2, until: noon + leaseMs },
    });
    await opened.release("b", 2, noon);
    expect(await joined(opened, "c")).toEqual(3);
    expect(await opened.commit([firstCommit("run-1", 2)])).toEqual([{ outcome: "fenced", epoch: 3 }]);
  },

  "F2: an owner whose lease lapsed is replaced by a member, and members by an owner": async ({
    store,
    expect,
  }) => {
    await store.own("a", leaseMs, noon);
    expect(await joined(store, "b", noon + leaseMs)).toEqual(2);
    expect((await store.commit([firstCommit("run-1", 1)]))[0]?.outcome).toEqual("fenced");
    const [lapsed, later] = [noon + leaseMs, noon + 2 * leaseMs];
    expect((await store.own("c", leaseMs, later)) as unknown).toEqual({
      ...{ outcome: "owned", epoch: 3, until: later + leaseMs },
      outages: [
        { from: noon, until: lapsed },
        { from: lapsed, until: later },
      ],
    });
    expect(await shared(store).beat(2, leaseMs, idle, noon + 2 * leaseMs)).toEqual(undefined);
    expect((await store.commit([firstCommit("run-1", 2)]))[0]?.outcome).toEqual("fenced");
    await committed(store, firstCommit("run-1", 3));
  },

  "F1: a lease that is mended fences every member": async ({ store, expect }) => {
    const [one, other] = [await joined(store, "a"), await joined(store, "b")];
    expect(await store.mend([{ change: "lease" }], 0)).toEqual(true);
    for (const epoch of [one, other]) {
      expect((await store.commit([firstCommit("run-1", epoch)]))[0]?.outcome).toEqual("fenced");
      expect(await shared(store).beat(epoch, leaseMs, idle, noon)).toEqual(undefined);
    }
    expect((await joined(store, "c")) > other).toEqual(true);
  },

  "an outage is a time without any member": async ({ store, expect }) => {
    const [one, other] = [await joined(store, "a"), await joined(store, "b")];
    await shared(store).leave(one, noon + 10);
    expect(await shared(store).beat(other, leaseMs, idle, noon + 500)).toEqual([
      { epoch: other, worker: "b", ...idle },
    ]);
    const later = noon + 5 * leaseMs;
    const outage = { from: noon + 500, until: later };
    expect(await shared(store).join("c", leaseMs, later)).toEqual({
      ...{ outcome: "owned", epoch: 3, until: later + leaseMs, outages: [outage] },
    });
    expect(await shared(store).join("d", leaseMs, later + 1)).toEqual({
      ...{ outcome: "owned", epoch: 4, until: later + 1 + leaseMs, outages: [outage] },
    });
    // The second one's clock is behind: it begins with the last sign of life of any.
    await shared(store).leave(3, later + 30);
    await shared(store).leave(4, later + 20);
    expect((await store.own("e", leaseMs, later + 40)) as unknown).toEqual({
      ...{ outcome: "owned", epoch: 5, until: later + 40 + leaseMs },
      outages: [outage, { from: later + 30, until: later + 40 }],
    });
  },

  "an outage begins with the last sign of life of anybody, whoever joined first": async ({
    store,
    expect,
  }) => {
    const [one, other] = [await joined(store, "a"), await joined(store, "b")];
    await shared(store).beat(other, leaseMs, idle, noon + 500);
    await shared(store).beat(one, leaseMs, idle, noon + 600);
    const later = noon + 5 * leaseMs;
    expect((await shared(store).join("c", leaseMs, later)) as unknown).toEqual({
      ...{ outcome: "owned", epoch: 3, until: later + leaseMs },
      outages: [{ from: noon + 600, until: later }],
    });
  },

  "F2: members that follow an owner whose lease lapsed write side by side": async ({ store, expect }) => {
    await store.own("a", leaseMs, noon);
    const later = noon + leaseMs;
    const [one, other] = [await joined(store, "b", later), await joined(store, "c", later)];
    const commits = [firstCommit("run-1", one), firstCommit("run-2", other), firstCommit("run-3", 1)];
    expect((await store.commit(commits)).map(({ outcome }) => outcome)).toEqual([
      ...["committed", "committed", "fenced"],
    ]);
  },

  "due and nextDue tell of the shards they are asked for": async ({ store, expect }) => {
    const epoch = await joined(store, "a");
    const runs = ["run-1", "run-2", "run-3"];
    for (const [index, run] of runs.entries())
      await committed(store, firstCommit(run, epoch, { head: { wakeAt: noon + index } }));
    await store.enqueue([eventOf("e1", { run: "run-3", at: noon - 1 })]);
    const fleet = shared(store);
    expect(names(await fleet.due(everywhere, noon + 1, 9))).toEqual(["run-3", "run-1", "run-2"]);
    for (const [index, run] of runs.entries()) {
      const shards = [shardOf({ tenant: "acme", run })];
      expect(names(await fleet.due(shards, noon + 9, 9)).includes(run)).toEqual(true);
      expect(await fleet.nextDue(shards, noon + index - 0.5)).toEqual(noon + index);
      const others = everywhere.filter((shard) => shard !== shards[0]);
      expect(names(await fleet.due(others, noon + 9, 9)).includes(run)).toEqual(false);
    }
    expect([await fleet.due([], noon + 9, 9), await fleet.nextDue([], 0)]).toEqual([[], undefined]);
    const waiting = activityOf("1.0", { run: "run-4", dueAt: noon + 100 });
    const { tenant, run } = await committed(store, firstCommit("run-4", epoch, { begun: [waiting] }));
    const home = shardOf({ tenant, run });
    const nextIn = (shards: readonly number[]) => fleet.nextDue(shards, noon + 9);
    expect(await nextIn([home])).toEqual(noon + 100);
    expect(await nextIn(everywhere.filter((shard) => shard !== home))).toEqual(undefined);
    expect(names(await fleet.due(everywhere, noon + 9, 9, noon))).toEqual(["run-3", "run-1"]);
  },

  "an activity is due when whoever runs it is no member any more, and goes to one who adopts it": async ({
    store,
    expect,
  }) => {
    const [one, other] = [await joined(store, "a"), await joined(store, "b")];
    const fleet = shared(store);
    const begun = [running("1.0"), activityOf("1.1", { status: "waiting", dueAt: noon + 50_000 })];
    const head = await committed(store, firstCommit("run-1", other, { begun }));
    const beside = activityOf("1.0", { run: "run-2", status: "running" });
    await committed(store, firstCommit("run-2", one, { begun: [beside] }));
    const dueOf = async () => names(await store.due(noon, 9, { tenant: head.tenant }));
    expect([names(await fleet.due(everywhere, noon, 9)), await dueOf()]).toEqual([[], []]);
    expect(await fleet.adopt([activityOf("1.0"), activityOf("2.0")], one)).toEqual([false, false]);
    expect(await fleet.adopt([activityOf("1.0"), activityOf("1.1")], other)).toEqual([true, true]);
    expect(await store.due(noon, 9), "of all shards, too").toEqual([]);
    await fleet.leave(other, noon);
    expect([names(await fleet.due(everywhere, noon, 9)), await dueOf()]).toEqual([["run-1"], ["run-1"]]);
    expect(names(await store.due(noon, 9))).toEqual(["run-1"]);
    expect(await fleet.adopt([activityOf("1.0"), activityOf("1.1")], one)).toEqual([true, true]);
    expect(names(await fleet.due(everywhere, noon, 9))).toEqual([]);
    expect((await store.load(head))?.activities.map(({ key, status }) => [key, status])).toEqual([
      ["1.0", "running"],
      ["1.1", "running"],
    ]);
  },

  "what is recorded of an activity is recorded by the member that has it": async ({ store, expect }) => {
    const [one, other] = [await joined(store, "a"), await joined(store, "b")];
    const fleet = shared(store);
    const head = await committed(
      store,
      firstCommit("run-1", one, { begun: [running("1.0"), running("1.1")] }),
    );
    const first = activityOf("1.0", { status: "running", attempt: 1, report: bytesOf("half way") });
    const recorded = async (epoch: number, ...rows: ActivityRow[]) => [
      await store.recordActivities(rows, epoch),
      (await store.load(head))?.activities[0],
    ];
    expect(await recorded(one, first)).toEqual([[true], first]);
    expect(await recorded(other, activityOf("1.0", { attempt: 5 }))).toEqual([[false], first]);
    expect(await fleet.adopt([first], other), "it is still the first one's").toEqual([false]);
    // One that was left waiting is whoever's comes first, and then nobody else's.
    const left = activityOf("1.0", { attempt: 1 });
    expect(await recorded(one, left)).toEqual([[true], left]);
    expect(await fleet.adopt([left], other)).toEqual([true]);
    const second = activityOf("1.0", { status: "running", attempt: 2 });
    expect(await recorded(other, second)).toEqual([[true], second]);
    expect(await recorded(one, first, running("1.1"))).toEqual([[false, true], second]);
    await fleet.leave(other, noon);
    expect(await fleet.adopt([first], one), "another attempt was made since").toEqual([false]);
    expect(await recorded(one, first), "whoever had it is gone").toEqual([[true], first]);
    expect(await fleet.adopt([second, first], one)).toEqual([false, true]);
  },

  "F1: an entry is not put where others were pruned": async ({ store, expect }) => {
    const [one, other] = [await joined(store, "a"), await joined(store, "b")];
    const head = await committed(store, firstCommit("run-1", one));
    let newest = head;
    for (const step of [1, 2, 3])
      newest = await committed(store, commitOn(newest, other, { withSnapshot: step === 2 }));
    expect(await store.pruneJournal(head, 3, other)).toEqual(true);
    while ((await store.sweep(100)) > 0);
    // Whoever knows the run from before finds its next place empty.
    expect(await store.commit([commitOn(head, one)])).toEqual([
      { outcome: "conflict", run: "run-1", seq: newest.seq },
    ]);
    expect(await store.commit([commitOn(head, one, { steps: 2 })])).toEqual([
      { outcome: "conflict", run: "run-1", seq: newest.seq },
    ]);
  },

  "signals reach whoever listens": async ({ store, expect }) => {
    const told = Promise.withResolvers<unknown>();
    const stop = await shared(store).signals.listen(
      (...heard) => told.resolve(heard),
      () => {},
    );
    const sent = [
      { tenant: "acme", run: "run-1" },
      { tenant: "acme", run: 'ü "2"' },
    ];
    await shared(store).signals.send(sent, 7);
    expect(await told.promise).toEqual([sent, 7]);
    await stop();
  },
};
