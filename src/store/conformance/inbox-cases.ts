/** enqueue and the sends of commits: what is accepted, in which order it waits, and what is seen of it again. */
import { limits } from "../../limits.ts";
import { begun, bytesOf, commitOn, committed, eventOf, firstCommit, sample, tenant } from "./sample.ts";
import type { Cases } from "./world.ts";

export const inboxCases: Cases = {
  "I4: an accepted event waits, also after the process ended": async ({ store, reopen, expect }) => {
    await begun(store);
    const event = eventOf("e1", {
      key: "k1",
      subject: "bob",
      priority: 2.5,
      at: 0.25,
      bytes: bytesOf("\0 any bytes ✓"),
    });
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
    expect(await store.commit([again])).toEqual([{ outcome: "conflict", run: "run-1", seq: 2 }]);
    expect(await store.readHead(sample)).toEqual(second);
  },

  "I4: a run consumes its own events only": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await committed(store, firstCommit("run-2", epoch));
    await store.enqueue([eventOf("e1", { run: "run-2" })]);
    const commit = commitOn(head, epoch, { consumed: ["e1"] });
    expect(await store.commit([commit])).toEqual([{ outcome: "conflict", run: "run-1", seq: 1 }]);
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

  "the first of an inbox can be read, in the order of load": async ({ store, reopen, expect }) => {
    await begun(store);
    const [low, high] = [eventOf("a", { priority: -1, expendable: true }), eventOf("z", { priority: 1 })];
    await store.enqueue([low, eventOf("b"), high]);
    const opened = await reopen();
    expect(await opened.readInbox(sample, 9)).toEqual([high, eventOf("b"), low]);
    expect(await opened.readInbox(sample, 9)).toEqual((await opened.load(sample))?.inbox);
    expect(await opened.readInbox(sample, 2)).toEqual([high, eventOf("b")]);
    expect(await opened.readInbox({ tenant, run: "nobody" }, 9)).toEqual([]);
  },

  "no more of an inbox is loaded than fits, the first of it": async ({ store, expect }) => {
    await begun(store);
    const most = limits.inboxLoadedMax;
    const rows = Array.from({ length: most }, (_, index) => eventOf(`e${index}`, { priority: most - index }));
    await store.enqueue(rows);
    expect((await store.load(sample))?.inbox).toEqual(rows);
    await store.enqueue([eventOf("last"), eventOf("first", { priority: most + 1 })]);
    const loaded = await store.load(sample);
    expect(loaded?.inbox.map(({ id }) => id)).toEqual(["first", ...rows.slice(0, -1).map(({ id }) => id)]);
    expect((await store.readInbox(sample, most + 9)).length).toEqual(most + 2);
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

  "I4: of events of one call that repeat each other the first that is accepted counts": async ({
    store,
    expect,
  }) => {
    await begun(store);
    const rows = [
      eventOf("e1", { key: "a" }),
      eventOf("e2", { key: "a" }),
      eventOf("e1", { key: "b" }),
      eventOf("e3", { key: "b" }),
      eventOf("e3"),
      eventOf("e4"),
    ];
    const outcomes = ["accepted", "duplicate", "duplicate", "accepted", "duplicate", "accepted"];
    expect(await store.enqueue(rows)).toEqual(outcomes);
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
    expect(await store.commit([commit])).toEqual([{ outcome: "duplicate", key: "k" }]);
    expect(await store.readHead(sample)).toEqual(head);
    expect(await store.readKeys(sample, ["fresh", "k"])).toEqual([{ key: "k" }]);
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

  "I4: the keys a run has seen can be asked for, each with the step that took its event": async ({
    store,
    reopen,
    expect,
  }) => {
    const { epoch, head } = await begun(store, { keys: ["first"] });
    const keys = ["waiting", "second", "third"];
    await store.enqueue([...keys.map((key) => eventOf(key, { key })), eventOf("without")]);
    const commit = commitOn(head, epoch, {
      steps: 4,
      consumed: [
        { id: "second", seq: 2 },
        { id: "third", seq: 3 },
        { id: "without", seq: 4 },
      ],
      keys: [{ key: "fifth", seq: 5 }],
    });
    await committed(store, commit);
    const asked = ["waiting", "never", "third", "fifth", "second", "first"];
    const opened = await reopen();
    const seen = await opened.readKeys(sample, asked);
    expect(seen).toEqual([
      { key: "waiting" },
      { key: "third", seq: 3 },
      { key: "fifth", seq: 5 },
      { key: "second", seq: 2 },
      { key: "first", seq: 1 },
    ]);
    expect(Object.keys(seen[0] ?? {})).toEqual(["key"]);
    expect(await opened.readKeys({ tenant, run: "nobody" }, asked)).toEqual([]);
  },
};
