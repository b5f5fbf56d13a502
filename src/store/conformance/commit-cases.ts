/** commit: one item, many items, and everything that can stand against one. */
import type { EntryRow, RunHead } from "../records.ts";
import type { Commit } from "../store.ts";
import {
  activityOf,
  begun,
  bytesOf,
  commitOn,
  committed,
  eventOf,
  firstCommit,
  headOf,
  leaseMs,
  noon,
  owned,
  sample,
  tenant,
} from "./sample.ts";
import type { Cases } from "./world.ts";

export const commitCases: Cases = {
  "I1: a run begins with its head, its entry and its snapshot": async ({ store, reopen, expect }) => {
    const { head } = await begun(store, { withSnapshot: true });
    const loaded = await (await reopen()).load(sample);
    const snapshot = { seq: 1, bytes: bytesOf("state of run-1 at 1") };
    expect(loaded).toEqual({ head, snapshot, entries: [], inbox: [], activities: [] });
  },

  "I1: every field of a head comes back as it was": async ({ store, reopen, expect }) => {
    const full = {
      run: "run ☂ '\"%_\\",
      subject: "",
      machine: "a.b/c",
      version: 7,
      status: "failed" as const,
      createdAt: 0.5,
      completedAt: -1.25,
      wakeAt: 1e300,
      limits: { steps: 50, time: 1.5, tokens: 1e6, cost: 0.1 },
      spent: { tokens: 12, cost: 0.30000000000000004 },
      attributes: { text: "1", number: 1, half: -0.5, truth: true, "": "", ["__proto__"]: "own" },
      parent: { run: "mother", key: "3.1", id: "child" },
      fork: { run: "origin", seq: 12 },
    };
    const { head } = await begun(store, { head: full, withSnapshot: "kept" });
    expect(await (await reopen()).readHead({ tenant, run: full.run })).toEqual(head);
  },

  "I1: fields that a head no longer has are gone": async ({ store, expect }) => {
    const { epoch, head } = await begun(store, {
      head: { wakeAt: 5, limits: { steps: 9 }, spent: { tokens: 1 }, attributes: { a: 1, b: 2 } },
    });
    const { wakeAt: _wakeAt, limits: _limits, spent: _spent, ...rest } = head;
    const next = await committed(store, commitOn({ ...rest, attributes: { b: 3 } }, epoch));
    expect(await store.readHead(sample)).toEqual(next);
    const fields = Object.keys((await store.readHead(sample)) ?? {});
    expect(["wakeAt", "limits", "spent"].filter((field) => fields.includes(field))).toEqual([]);
  },

  "I1: where a run is to stop changes with its steps": async ({ store, reopen, expect }) => {
    const { epoch, head } = await begun(store);
    const debug = { breakpoints: [{ state: "a" }, { event: "b" }], steps: 2 };
    const set = await committed(store, commitOn(head, epoch, { head: { debug } }));
    const opened = await reopen();
    expect(await opened.readHead(sample)).toEqual(set);
    const fewer = { breakpoints: [{ event: "b" }] };
    const left = await committed(opened, commitOn(set, epoch, { head: { debug: fewer } }));
    expect(await opened.readHead(sample)).toEqual(left);
  },

  "I1: each field of a head can be all that a step changes": async ({ store, reopen, expect }) => {
    let { epoch, head } = await begun(store);
    const changes: readonly Partial<RunHead>[] = [
      ...[{ version: 2 }, { hash: "another" }, { machine: "refund" }, { subject: "bob" }, { createdAt: 5 }],
      ...[{ completedAt: 6 }, { completedAt: 7 }, { wakeAt: 8 }, { attributes: { a: 1 } }],
      ...[{ limits: { steps: 9 } }, { spent: { cost: 1 } }, { parent: { run: "p", key: "1.0", id: "c" } }],
    ];
    for (const change of changes) {
      head = await committed(store, commitOn(head, epoch, { head: change }));
      expect(await store.readHead(sample), JSON.stringify(change)).toEqual(head);
    }
    expect(await (await reopen()).readHead(sample)).toEqual(head);
  },

  "I1: what a run has spent changes with its steps": async ({ store, reopen, expect }) => {
    const spent = { tokens: 10, cost: 0.5 };
    const { epoch, head } = await begun(store, { head: { limits: { cost: 2 }, spent } });
    const second = await committed(
      store,
      commitOn(head, epoch, { head: { spent: { ...spent, tokens: 20 } } }),
    );
    expect(await store.readHead(sample)).toEqual(second);
    const third = await committed(store, commitOn(second, epoch, { head: { limits: { cost: 3 } } }));
    expect(await (await reopen()).readHead(sample)).toEqual(third);
  },

  "I1: several steps of a run are one commit": async ({ store, reopen, expect }) => {
    const { epoch, head } = await begun(store, { withSnapshot: true });
    const commit = commitOn(head, epoch, { steps: 3 });
    await committed(store, commit);
    const loaded = await (await reopen()).load(sample);
    expect([loaded?.head, loaded?.entries]).toEqual([commit.head, commit.entries]);
  },

  "I1: what a commit brings and takes happens together": async ({ store, reopen, expect }) => {
    const { epoch, head } = await begun(store, { begun: [activityOf("1.0"), activityOf("1.1")] });
    await store.enqueue([eventOf("e1"), eventOf("e2")]);
    const commit = commitOn(head, epoch, {
      consumed: ["e1"],
      begun: [activityOf("2.0"), activityOf("2.1")],
      ended: ["1.0", "2.1"],
      contents: [{ digest: "d1", bytes: bytesOf("large") }],
      sends: [eventOf("e3")],
    });
    await committed(store, commit);
    const opened = await reopen();
    const loaded = await opened.load(sample);
    expect(loaded?.inbox).toEqual([eventOf("e2"), eventOf("e3")]);
    expect(loaded?.activities).toEqual([activityOf("1.1"), activityOf("2.0")]);
    expect(await opened.readContents(tenant, "ada", ["d1"])).toEqual(commit.contents);
  },

  "I1: a refused commit changes nothing at all": async ({ store, expect }) => {
    const { epoch, head } = await begun(store, { begun: [activityOf("1.0")] }, "run-1");
    await store.enqueue([eventOf("e1", { key: "seen" })]);
    const before = await store.load(sample);
    const everything = {
      head: { attributes: { changed: true }, wakeAt: 1 },
      withSnapshot: true,
      contents: [{ digest: "d1", bytes: bytesOf("large") }],
      begun: [activityOf("2.0")],
      ended: ["1.0"],
      sends: [eventOf("e2")],
      starts: [firstCommit("child", epoch)],
    };
    const outcomes = await store.commit([
      commitOn(head, epoch, { ...everything, consumed: ["e1", "gone"] }),
      commitOn({ ...head, seq: 5 }, epoch, { ...everything, consumed: ["e1"] }),
      commitOn(head, epoch, { ...everything, consumed: ["e1"], keys: ["new", "seen"] }),
      commitOn(head, epoch + 1, { ...everything, consumed: ["e1"] }),
      commitOn(head, epoch, {
        ...everything,
        starts: [firstCommit("child", epoch), firstCommit("run-1", epoch)],
      }),
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      ...["conflict", "conflict", "duplicate", "fenced", "conflict"],
    ]);
    expect(await store.load(sample)).toEqual(before);
    expect(await store.readContents(tenant, "ada", ["d1"])).toEqual([]);
    expect(await store.readHead({ tenant, run: "child" })).toEqual(undefined);
    expect(await store.readKeys(sample, ["new"])).toEqual([]);
    expect(await store.findRuns({ tenant, limit: 9, attributes: { changed: true } })).toEqual([]);
  },

  "I1: items stand for themselves: one is refused, the others are committed": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    const outcomes = await store.commit([
      firstCommit("run-2", epoch),
      firstCommit("run-1", epoch),
      firstCommit("run-3", epoch),
      commitOn(head, epoch),
    ]);
    expect(outcomes).toEqual([
      { outcome: "committed" },
      { outcome: "conflict", run: "run-1", seq: 1 },
      { outcome: "committed" },
      { outcome: "committed" },
    ]);
    const seqs = ["run-1", "run-2", "run-3"].map(async (run) => (await store.readHead({ tenant, run }))?.seq);
    expect(await Promise.all(seqs)).toEqual([2, 1, 1]);
  },

  "I1: a thousand runs take their steps in one call": async ({ store, reopen, expect }) => {
    const epoch = await owned(store);
    const heads = Array.from({ length: 1_000 }, (_, index) => headOf({ run: `run-${index}` }));
    const first = heads.map((head) => commitOn(head, epoch));
    const second = first.map(({ head }) => commitOn(head, epoch, { steps: 2 }));
    await store.commit(first);
    const outcomes = await store.commit(second);
    expect(outcomes.filter(({ outcome }) => outcome !== "committed")).toEqual([]);
    const opened = await reopen();
    expect((await opened.load({ tenant, run: "run-617" }))?.entries).toEqual([
      ...(first[617]?.entries ?? []),
      ...(second[617]?.entries ?? []),
    ]);
    expect((await opened.findRuns({ tenant, limit: 2_000 })).length).toEqual(1_000);
  },

  "I1: nothing to commit is nothing done": async ({ store, expect }) => {
    expect([await store.commit([]), await store.enqueue([])]).toEqual([[], []]);
  },

  "I2: a commit from an old checkpoint is a conflict and changes nothing": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    const second = await committed(store, commitOn(head, epoch));
    const stale = commitOn(head, epoch, { head: { attributes: { stale: true } } });
    expect(await store.commit([stale])).toEqual([{ outcome: "conflict", run: "run-1", seq: 2 }]);
    expect(await store.readHead(sample)).toEqual(second);
  },

  "I2: a commit repeated because its answer was lost is a conflict at the checkpoint it made": async ({
    store,
    expect,
  }) => {
    const { epoch, head } = await begun(store);
    await store.enqueue([eventOf("e1")]);
    for (const plan of [{ keys: ["k"] }, { consumed: ["e1"] }]) {
      const before = (await store.readHead(sample)) ?? head;
      const commit = commitOn(before, epoch, plan);
      const { seq } = await committed(store, commit);
      for (let repeat = 0; repeat < 2; repeat++)
        expect(await store.commit([commit])).toEqual([{ outcome: "conflict", run: "run-1", seq }]);
    }
  },

  "I2: a commit from a checkpoint that is not there yet is a conflict": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    const early = commitOn({ ...head, seq: 2 }, epoch);
    expect(await store.commit([early])).toEqual([{ outcome: "conflict", run: "run-1", seq: 1 }]);
    expect(await store.readHead(sample)).toEqual(head);
  },

  "I2: a run begins once": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    const again = firstCommit("run-1", epoch, { head: { machine: "other" } });
    expect(await store.commit([again])).toEqual([{ outcome: "conflict", run: "run-1", seq: 1 }]);
    expect(await store.readHead(sample)).toEqual(head);
  },

  "I2: a run that never began has no next step": async ({ store, expect }) => {
    const epoch = await owned(store);
    const commit = commitOn(headOf({ seq: 4 }), epoch);
    expect(await store.commit([commit])).toEqual([{ outcome: "conflict", run: "run-1", seq: 0 }]);
    expect(await store.readHead(sample)).toEqual(undefined);
  },

  "I2: two stores on the same runs: only one of two equal commits is taken": async ({
    store,
    reopen,
    expect,
  }) => {
    const { epoch, head } = await begun(store);
    const opened = await reopen();
    const second = await committed(opened, commitOn(head, epoch));
    expect(await opened.commit([commitOn(head, epoch)])).toEqual([
      { outcome: "conflict", run: "run-1", seq: 2 },
    ]);
    expect(await opened.readHead(sample)).toEqual(second);
  },

  "I3: a commit that would leave a gap or a false head is a bug and is thrown": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    const good = commitOn(head, epoch, { withSnapshot: true });
    const two = commitOn(head, epoch, { steps: 2, head: { seq: 4 } });
    await store.enqueue([eventOf("e1")]);
    const takenAt = (name: string, seq: number) => ({ id: name, key: name, seq });
    const broken: Commit[] = [
      { ...good, entries: [] },
      { ...good, entries: good.entries.map((entry) => ({ ...entry, seq: 3 })) },
      { ...two, entries: [...good.entries, { ...(two.entries[1] as EntryRow), seq: 4 }] },
      { ...good, head: { ...good.head, seq: 3 } },
      { ...good, head: { ...good.head, digest: "another" } },
      { ...good, head: { ...good.head, updatedAt: 0 } },
      { ...good, head: { ...good.head, snapshotSeq: 1 } },
      { ...good, head: { ...good.head, snapshotSeq: 1 }, snapshot: { seq: 1, bytes: bytesOf("again") } },
      { ...good, head: { ...good.head, snapshotSeq: 3 }, snapshot: { seq: 3, bytes: bytesOf("early") } },
      { ...good, keys: [takenAt("twice", 2), takenAt("twice", 2)] },
      { ...good, keys: [takenAt("before", 1)] },
      { ...good, consumed: [takenAt("e1", 2), takenAt("e1", 2)] },
      { ...good, consumed: [takenAt("e1", 3)] },
      { ...good, starts: [good] },
      { ...good, starts: [{ ...firstCommit("child", epoch), entries: [] }] },
      { ...good, starts: [{ ...firstCommit("child", epoch), consumed: [takenAt("e1", 1)] }] },
    ];
    for (const commit of broken) {
      const thrown = await store.commit([good, commit]).then(
        () => undefined,
        (error: unknown) => error instanceof Error,
      );
      expect(thrown).toEqual(true);
    }
    expect(await store.readHead(sample)).toEqual(head);
  },
};

export const startCases: Cases = {
  "I1: child runs begin with the commit that starts them": async ({ store, reopen, expect }) => {
    const { epoch, head } = await begun(store);
    const grandchild = firstCommit("grandchild", epoch, {
      head: { parent: { run: "child", key: "1.0", id: "g" } },
    });
    const child = firstCommit("child", epoch, {
      starts: [grandchild],
      begun: [activityOf("1.0", { run: "child" })],
      keys: ["first"],
    });
    const sends = [eventOf("hello", { run: "child" }), eventOf("hello", { run: "grandchild" })];
    await committed(store, commitOn(head, epoch, { starts: [child], sends }));
    const opened = await reopen();
    const loaded = await opened.load({ tenant, run: "child" });
    expect([loaded?.head, loaded?.entries, loaded?.inbox]).toEqual([child.head, child.entries, [sends[0]]]);
    expect(loaded?.activities).toEqual(child.begun);
    expect(await opened.readKeys({ tenant, run: "child" }, ["first", "second"])).toEqual([
      { key: "first", seq: 1 },
    ]);
    expect((await opened.load({ tenant, run: "grandchild" }))?.inbox).toEqual([sends[1]]);
  },

  "I1: a child that exists refuses the whole commit": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    await committed(store, firstCommit("taken", epoch));
    const starts = [firstCommit("free", epoch, { starts: [firstCommit("taken", epoch)] })];
    const commit = commitOn(head, epoch, { starts });
    expect(await store.commit([commit])).toEqual([{ outcome: "conflict", run: "taken", seq: 1 }]);
    expect(await store.readHead(sample)).toEqual(head);
    expect(await store.readHead({ tenant, run: "free" })).toEqual(undefined);
  },

  "I1: a child that is to be forked from what is not there refuses the whole commit": async ({
    store,
    expect,
  }) => {
    const { epoch, head } = await begun(store);
    const forkOf = (run: string, seq: number) =>
      commitOn(head, epoch, { starts: [firstCommit("child", epoch, { head: { fork: { run, seq } } })] });
    for (const gone of [forkOf("nobody", 1), forkOf("run-1", 9)])
      expect(await store.commit([gone])).toEqual([{ outcome: "conflict", run: "run-1", seq: 1 }]);
    expect(await store.readHead(sample)).toEqual(head);
    expect(await store.commit([forkOf("run-1", 1)])).toEqual([{ outcome: "committed" }]);
  },

  "I1: children can send to their parent as they begin": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    const child = firstCommit("child", epoch, { sends: [eventOf("from-child")] });
    await committed(store, commitOn(head, epoch, { starts: [child] }));
    expect((await store.load(sample))?.inbox).toEqual([eventOf("from-child")]);
  },

  "what children run as they begin is run by whoever made the commit": async ({ store, expect }) => {
    const { epoch, head } = await begun(store);
    const running = activityOf("1.0", { run: "child", status: "running" });
    const child = firstCommit("child", epoch, { begun: [running] });
    await committed(store, commitOn(head, epoch, { starts: [child] }));
    expect(await store.due(noon, 9)).toEqual([]);
    await owned(store, "worker-2", noon + leaseMs);
    expect(await store.due(noon, 9)).toEqual([{ tenant, run: "child" }]);
  },
};
