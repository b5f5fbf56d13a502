/** enqueue and the sends of commits: what is accepted, in which order it waits, and what is seen of it again. */
import { begun, bytesOf, commitOn, committed, eventOf, firstCommit, sample, tenant } from "./sample.ts";
import type { Cases } from "./world.ts";

export const inboxCases: Cases = {
  "I4: an accepted event waits, also after the process ended": async ({ store, reopen, expect }) => {
    await begun(store);
    const event = eventOf("e1", { key: "k1", priority: 2.5, at: 0.25, bytes: bytesOf("\0 any bytes ✓") });
    expect(await store.enqueue([event])).toEqual(["accepted"]);
    expect((await (await reopen()).load(sample))?.inbox).toEqual([event]);
  },

  "I4: an event stays until the commit that consumes it": async ({ store, reopen, expect }) => {
    const { epoch, head } = await begun(store);
    await store.enqueue([eventOf("e1"), eventOf("e2")]);
    const second = await committed(store, commitOn(head, epoch));
    expect((await store.load(sample))?.inbox.length).toEqual(2);
    await committed(store, commitOn(second, epoch, { consumed: ["e2"] }));
    expect((await (await reopen()).load(sample))?.inbox).toEqual([eventOf("e1")]);
  },

  "I4: an event is consumed once": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await store.enqueue([eventOf("e1")]);
    const second = await committed(store, commitOn(head, epoch, { consumed: ["e1"] }));
    const again = commitOn(second, epoch, { consumed: ["e1"] });
    expect(await store.commit([again], 0)).toEqual([{ outcome: "conflict", run: "run-1", seq: 2 }]);
    expect(await store.readHead(sample)).toEqual(second);
  },

  "I4: a run consumes its own events only": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await committed(store, firstCommit("run-2", epoch));
    await store.enqueue([eventOf("e1", { run: "run-2" })]);
    const commit = commitOn(head, epoch, { consumed: ["e1"] });
    expect(await store.commit([commit], 0)).toEqual([{ outcome: "conflict", run: "run-1", seq: 1 }]);
    expect((await store.load({ tenant, run: "run-2" }))?.inbox.length).toEqual(1);
  },

  "events wait in order of priority, the highest first, then of id by code point": async ({
    store,
    expect,
  }) => {
    await begun(store);
    const ids = ["b", "\u{1f600}", "a", "\uffee", "Z", "10", "9"];
    await store.enqueue([
      ...ids.map((id) => eventOf(id)),
      eventOf("late", { priority: -1 }),
      eventOf("urgent", { priority: 0.5 }),
    ]);
    const order = ["urgent", "10", "9", "Z", "a", "b", "\uffee", "\u{1f600}", "late"];
    expect((await store.load(sample))?.inbox.map(({ id }) => id)).toEqual(order);
  },

  "an event for a run that is not there is missing": async ({ store, expect }) => {
    await begun(store);
    expect(await store.enqueue([eventOf("e1", { run: "nobody" }), eventOf("e1")])).toEqual([
      "missing",
      "accepted",
    ]);
  },

  "a run that has ended takes no more, a parked one does": async ({ store, expect }) => {
    const { epoch } = await begun(store, { head: { status: "parked" } });
    for (const status of ["done", "failed", "cancelled"] as const) {
      await committed(store, firstCommit(status, epoch, { head: { status } }));
      expect(await store.enqueue([eventOf("e1", { run: status })])).toEqual(["ended"]);
      expect((await store.load({ tenant, run: status }))?.inbox).toEqual([]);
    }
    expect(await store.enqueue([eventOf("e1")])).toEqual(["accepted"]);
  },

  "I4: what waits when a run ends stays to be seen": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await store.enqueue([eventOf("e1")]);
    await committed(store, commitOn(head, epoch, { head: { status: "done" } }));
    expect((await store.load(sample))?.inbox).toEqual([eventOf("e1")]);
  },

  "I4: sends are delivered with their commit": async ({ store, reopen, expect }) => {
    const { epoch, head } = await begun(store);
    await committed(store, firstCommit("run-2", epoch));
    const sends = [eventOf("e1", { run: "run-2" }), eventOf("e2"), eventOf("e3", { run: "nobody" })];
    await committed(store, commitOn(head, epoch, { sends }));
    const opened = await reopen();
    expect((await opened.load({ tenant, run: "run-2" }))?.inbox).toEqual([sends[0]]);
    expect((await opened.load(sample))?.inbox).toEqual([sends[1]]);
    expect(await opened.readHead({ tenant, run: "nobody" })).toEqual(undefined);
  },

  "a send to a run that ended with the same commit, or before, goes nowhere": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await committed(store, firstCommit("ended", epoch, { head: { status: "done" } }));
    const sends = [eventOf("e1"), eventOf("e1", { run: "ended" })];
    await committed(store, commitOn(head, epoch, { sends, head: { status: "done" } }));
    expect((await store.load(sample))?.inbox).toEqual([]);
    expect((await store.load({ tenant, run: "ended" }))?.inbox).toEqual([]);
  },
};

export const dedupeCases: Cases = {
  "I4: a repeated key is one event, also after it was consumed": async ({ store, reopen, expect }) => {
    const { epoch, head } = await begun(store);
    const rows = [eventOf("e1", { key: "k" }), eventOf("e2", { key: "k" }), eventOf("e3", { key: "K" })];
    expect(await store.enqueue(rows)).toEqual(["accepted", "duplicate", "accepted"]);
    await committed(store, commitOn(head, epoch, { consumed: ["e1"] }));
    const opened = await reopen();
    expect(await opened.enqueue([eventOf("e4", { key: "k" })])).toEqual(["duplicate"]);
    expect((await opened.load(sample))?.inbox).toEqual([rows[2]]);
  },

  "I4: a repeated id that still waits is one event": async ({ store, expect }) => {
    await begun(store);
    const second = eventOf("e1", { key: "other", bytes: bytesOf("other") });
    expect(await store.enqueue([eventOf("e1"), second])).toEqual(["accepted", "duplicate"]);
    expect((await store.load(sample))?.inbox).toEqual([eventOf("e1")]);
    expect(await store.readKeys(sample, ["other"])).toEqual([]);
  },

  "I4: keys and ids are each run's own": async ({ store, expect }) => {
    const { epoch } = await begun(store);
    await committed(store, firstCommit("run-2", epoch));
    const rows = ["run-1", "run-2"].map((run) => eventOf("e1", { run, key: "k" }));
    expect(await store.enqueue(rows)).toEqual(["accepted", "accepted"]);
  },

  "I4: the keys of a commit are seen from then on": async ({ store, reopen, expect }) => {
    const { epoch, head } = await begun(store, { keys: ["k1"] });
    const second = await committed(store, commitOn(head, epoch, { keys: ["k2", "k3"] }));
    const opened = await reopen();
    expect(await opened.enqueue(["k1", "k2", "k3"].map((key) => eventOf(key, { key })))).toEqual([
      ...["duplicate", "duplicate", "duplicate"],
    ]);
    expect((await opened.load(sample))?.inbox).toEqual([]);
    expect(await opened.readHead(sample)).toEqual(second);
  },

  "I4: a commit whose key was seen is a duplicate and changes nothing": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await store.enqueue([eventOf("e1", { key: "k" })]);
    const commit = commitOn(head, epoch, { keys: ["fresh", "k"] });
    expect(await store.commit([commit], 0)).toEqual([{ outcome: "duplicate", key: "k" }]);
    expect(await store.readHead(sample)).toEqual(head);
    expect(await store.readKeys(sample, ["fresh", "k"])).toEqual(["k"]);
  },

  "I4: a send whose key was seen is not delivered again": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await committed(store, firstCommit("run-2", epoch, { keys: ["k"] }));
    const sends = [eventOf("e1", { run: "run-2", key: "k" }), eventOf("e2", { run: "run-2", key: "l" })];
    await committed(store, commitOn(head, epoch, { sends }));
    expect((await store.load({ tenant, run: "run-2" }))?.inbox).toEqual([sends[1]]);
  },

  "a repeat for a run that has ended is still a duplicate": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await store.enqueue([eventOf("e1", { key: "k" })]);
    await committed(store, commitOn(head, epoch, { consumed: ["e1"], head: { status: "done" } }));
    const rows = [eventOf("e2", { key: "k" }), eventOf("e3", { key: "new" })];
    expect(await store.enqueue(rows)).toEqual(["duplicate", "ended"]);
    expect(await store.readKeys(sample, ["new"])).toEqual([]);
  },

  "I4: the keys a run has seen can be asked for": async ({ store, expect }) => {
    const { epoch, head } = await begun(store, { keys: ["committed"] });
    await store.enqueue([eventOf("e1", { key: "waiting" }), eventOf("e2", { key: "consumed" })]);
    await committed(store, commitOn(head, epoch, { consumed: ["e2"] }));
    const asked = ["waiting", "never", "consumed", "committed"];
    expect(await store.readKeys(sample, asked)).toEqual(["waiting", "consumed", "committed"]);
    expect(await store.readKeys({ tenant, run: "nobody" }, asked)).toEqual([]);
  },
};
