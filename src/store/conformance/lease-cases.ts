/** own, release and the fence: who may step runs, and that nobody else can. */
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
    expect(lease).toEqual({ outcome: "owned", epoch: 1, until: noon + leaseMs, aliveAt: undefined });
    const opened = await reopen();
    const renewed = await opened.own("a", leaseMs, noon + 5_000);
    expect(renewed).toEqual({
      ...{ outcome: "owned", epoch: 1, until: noon + 5_000 + leaseMs, aliveAt: undefined },
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
      ...{ outcome: "owned", epoch: 2, until: noon + leaseMs + 500, aliveAt: noon },
    });
    expect(await store.own("b", 500, noon + leaseMs + 500)).toEqual({
      ...{ outcome: "owned", epoch: 2, until: noon + leaseMs + 1_000, aliveAt: undefined },
    });
  },

  "a lease given back is free at once": async ({ store, expect }) => {
    const epoch = await owned(store, "a");
    await store.release("a", epoch, noon);
    expect(await store.own("b", leaseMs, noon)).toEqual({
      ...{ outcome: "owned", epoch: 2, until: noon + leaseMs, aliveAt: noon },
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
      ...{ outcome: "owned", epoch: 2, until: noon + leaseMs, aliveAt: noon },
    });
    expect(await opened.commit([commitOn(head, epoch)])).toEqual([{ outcome: "fenced", epoch: 2 }]);
  },

  "a new owner is told when the one before was last alive: when it renewed, or gave the lease back": async ({
    store,
    reopen,
    expect,
  }) => {
    const aliveAt = async (of: Store, by: string, now: number): Promise<number | undefined> => {
      const lease = await of.own(by, leaseMs, now);
      return lease.outcome === "owned" ? lease.aliveAt : Number.NaN;
    };
    expect(await aliveAt(store, "a", noon)).toEqual(undefined);
    expect(await aliveAt(store, "a", noon + 700.5)).toEqual(undefined);
    const opened = await reopen();
    expect(await aliveAt(opened, "b", noon + 5 * leaseMs)).toEqual(noon + 700.5);
    await opened.release("b", 2, noon + 5 * leaseMs + 300.5);
    expect(await aliveAt(opened, "c", noon + 9 * leaseMs)).toEqual(noon + 5 * leaseMs + 300.5);
    await opened.release("c", 3, undefined);
    expect(await aliveAt(opened, "c", noon + 9 * leaseMs + 1)).toEqual(noon + 9 * leaseMs);
    await opened.release("nobody", 4, noon);
    await opened.release("c", 3, noon);
    expect(await aliveAt(opened, "d", noon + 20 * leaseMs)).toEqual(noon + 9 * leaseMs + 1);
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
      ...{ outcome: "owned", epoch: 2, until: noon + leaseMs, aliveAt: noon + tenYears },
    });
  },

  "a clock that goes back a little takes nothing from the owner": async ({ store, expect }) => {
    await store.own("a", leaseMs, noon);
    expect((await store.own("b", leaseMs, noon - 1_000)).outcome).toEqual("taken");
    expect(await store.own("a", leaseMs, noon - 1_000)).toEqual({
      ...{ outcome: "owned", epoch: 1, until: noon - 1_000 + leaseMs },
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
