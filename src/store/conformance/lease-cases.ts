/** own, release and the fence: who may step runs, and that nobody else can. */
import type { Outage } from "../../core/timer.ts";
import type { Store } from "../store.ts";
import {
  begun,
  bytesOf,
  commitOn,
  committed,
  eventOf,
  firstCommit,
  leaseMs,
  noon,
  owned,
  sample,
} from "./sample.ts";
import type { Cases } from "./world.ts";

export const leaseCases: Cases = {
  "a lease is taken, and kept by renewing it": async ({ store, reopen, expect }) => {
    const lease = await store.own("a", leaseMs, noon);
    expect(lease).toEqual({ outcome: "owned", epoch: 1, until: noon + leaseMs, outages: [] });
    const opened = await reopen();
    const renewed = await opened.own("a", leaseMs, noon + 5_000);
    expect(renewed).toEqual({
      ...{ outcome: "owned", epoch: 1, until: noon + 5_000 + leaseMs, outages: [] },
    });
  },

  "a lease that is good is refused to others, with its owner, its epoch and its end": async ({
    store,
    reopen,
    expect,
  }) => {
    await store.own("a", leaseMs, noon);
    const opened = await reopen();
    const taken = { outcome: "taken", owner: "a", epoch: 1, until: noon + leaseMs };
    expect(await opened.own("b", leaseMs, noon)).toEqual(taken);
    expect(await opened.own("b", leaseMs, noon + leaseMs - 0.5)).toEqual(taken);
  },

  "a lease that lapsed goes to whoever asks, with a higher epoch, unless it is the same": async ({
    store,
    expect,
  }) => {
    await store.own("a", leaseMs, noon);
    expect(await store.own("b", 500, noon + leaseMs)).toEqual({
      ...{
        outcome: "owned",
        epoch: 2,
        until: noon + leaseMs + 500,
        outages: [{ from: noon, until: noon + leaseMs }],
      },
    });
    expect(await store.own("b", 500, noon + leaseMs + 500)).toEqual({
      ...{
        outcome: "owned",
        epoch: 2,
        until: noon + leaseMs + 1_000,
        outages: [{ from: noon, until: noon + leaseMs }],
      },
    });
  },

  "a lease given back is free at once": async ({ store, expect }) => {
    const epoch = await owned(store, "a");
    await store.release("a", epoch, noon);
    expect(await store.own("b", leaseMs, noon)).toEqual({
      ...{ outcome: "owned", epoch: 2, until: noon + leaseMs, outages: [] },
    });
  },

  "a lease is given back on behalf of a worker that is gone, by what its refusal told": async ({
    store,
    reopen,
    expect,
  }) => {
    const { epoch, head } = await begun(store);
    const opened = await reopen();
    const lease = await opened.own("b", leaseMs, noon);
    if (lease.outcome === "taken") await opened.release(lease.owner, lease.epoch, undefined);
    expect(await opened.own("b", leaseMs, noon)).toEqual({
      ...{ outcome: "owned", epoch: 2, until: noon + leaseMs, outages: [] },
    });
    expect(await opened.commit([commitOn(head, epoch)])).toEqual([{ outcome: "fenced", epoch: 2 }]);
  },

  "a lease tells the times in which nobody was there: from a renewal or a release until the next owner":
    async ({ store, reopen, expect }) => {
      const outages = async (of: Store, by: string, now: number): Promise<readonly Outage[]> => {
        const lease = await of.own(by, leaseMs, noon + now);
        if (lease.outcome === "taken") throw new Error(`${lease.owner} has it`);
        return lease.outages.map(({ from, until }) => ({ from: from - noon, until: until - noon }));
      };
      expect(await outages(store, "a", 0)).toEqual([]);
      expect(await outages(store, "a", 700.5)).toEqual([]);
      const opened = await reopen();
      const first = { from: 700.5, until: 5 * leaseMs };
      expect(await outages(opened, "b", 5 * leaseMs)).toEqual([first]);
      expect(await outages(opened, "b", 5 * leaseMs + 100)).toEqual([first]);
      await opened.release("b", 2, noon + 5 * leaseMs + 300.5);
      const second = { from: 5 * leaseMs + 300.5, until: 9 * leaseMs };
      expect(await outages(opened, "c", 9 * leaseMs)).toEqual([first, second]);
      await opened.release("c", 3, undefined);
      const third = { from: 9 * leaseMs, until: 9 * leaseMs + 1 };
      expect(await outages(opened, "c", 9 * leaseMs + 1)).toEqual([first, second, third]);
      await opened.release("nobody", 4, noon);
      await opened.release("c", 3, noon);
      const fourth = { from: 9 * leaseMs + 1, until: 20 * leaseMs };
      expect(await outages(opened, "d", 20 * leaseMs)).toEqual([first, second, third, fourth]);
    },

  "an outage that a wrong clock noted is forgotten": async ({ store, expect }) => {
    await owned(store, "a", noon);
    await owned(store, "b", noon + 1_000 * leaseMs);
    const back = await store.own("c", leaseMs, noon + 1);
    expect([back.outcome, back.outcome === "owned" && back.outages]).toEqual(["owned", []]);
  },

  "only its owner, of that epoch, gives a lease back": async ({ store, expect }) => {
    const epoch = await owned(store, "a");
    await store.release("b", epoch, noon);
    await store.release("a", epoch + 1, noon);
    expect((await store.own("b", leaseMs, noon)).outcome).toEqual("taken");
  },

  "a lease from a clock that was years ahead does not bind once the clock is right": async ({
    store,
    expect,
  }) => {
    const tenYears = 10 * 365 * 86_400_000;
    await store.own("a", leaseMs, noon + tenYears);
    expect(await store.own("b", leaseMs, noon)).toEqual({
      ...{ outcome: "owned", epoch: 2, until: noon + leaseMs, outages: [] },
    });
  },

  "a clock that goes back a little takes nothing from the owner": async ({ store, expect }) => {
    await store.own("a", leaseMs, noon);
    expect((await store.own("b", leaseMs, noon - 1_000)).outcome).toEqual("taken");
    expect(await store.own("a", leaseMs, noon - 1_000)).toEqual({
      ...{ outcome: "owned", epoch: 1, until: noon - 1_000 + leaseMs, outages: [] },
    });
  },

  "I2: a store that nobody owns takes no commit": async ({ store, expect }) => {
    for (const epoch of [0, 1])
      expect(await store.commit([firstCommit("run-1", epoch)])).toEqual([{ outcome: "fenced", epoch: 0 }]);
    expect(await store.readHead(sample)).toEqual(undefined);
  },

  "I2: a commit under an old or a future epoch is fenced and changes nothing": async ({
    store,
    reopen,
    expect,
  }) => {
    const { epoch, head } = await begun(store);
    const opened = await reopen();
    const next = await owned(opened, "worker-2", noon + leaseMs);
    for (const other of [epoch, next + 1])
      expect(await opened.commit([commitOn(head, other)])).toEqual([{ outcome: "fenced", epoch: next }]);
    expect(await opened.readHead(sample)).toEqual(head);
    await committed(opened, commitOn(head, next));
  },

  "I2: an owner that gave its lease back is fenced": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await store.release("worker-1", epoch, noon);
    expect(await store.commit([commitOn(head, epoch)])).toEqual([{ outcome: "fenced", epoch }]);
    expect(await store.readHead(sample)).toEqual(head);
  },

  "I2: a lapsed lease that nobody took still commits": async ({ store, expect }) => {
    const epoch = await owned(store, "worker-1", noon - 100 * leaseMs);
    const head = await committed(store, firstCommit("run-1", epoch));
    expect(await store.commit([commitOn(head, epoch)])).toEqual([{ outcome: "committed" }]);
  },

  "I2: fenced is told before conflict, and each item is judged for itself": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    const stale = { ...head, seq: 7 };
    const outcomes = await store.commit([
      commitOn(stale, epoch + 1),
      commitOn(stale, epoch),
      commitOn(head, epoch),
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["fenced", "conflict", "committed"]);
  },

  "whoever does not own the store can still send, read and write documents": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await store.release("worker-1", epoch, noon);
    expect(await store.enqueue([eventOf("e1")])).toEqual(["accepted"]);
    expect(await store.readHead(sample)).toEqual(head);
    expect(await store.writeDocument(head.tenant, "board", 0, bytesOf("x"))).toEqual(true);
  },
};
