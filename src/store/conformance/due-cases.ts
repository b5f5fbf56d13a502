/** due and nextDue: which runs have something to do, and when the next one will. */
import type { RunName } from "../records.ts";
import {
  activityOf,
  begun,
  commitOn,
  committed,
  eventOf,
  firstCommit,
  headOf,
  leaseMs,
  noon,
  owned,
} from "./sample.ts";
import type { Cases } from "./world.ts";

const ever = Number.NEGATIVE_INFINITY;
const names = (runs: readonly RunName[]): string[] => runs.map(({ run }) => run);

export const dueCases: Cases = {
  "a run that waits for nothing is not due": async ({ store, expect }) => {
    await begun(store);
    expect([await store.due(noon, 9), await store.nextDue(ever)]).toEqual([[], undefined]);
  },

  "a run is due while an event waits": async ({ store, reopen, expect }) => {
    const { epoch, head } = await begun(store);
    await store.enqueue([eventOf("e1", { at: noon + 500 }), eventOf("e2")]);
    const opened = await reopen();
    expect(await opened.due(noon, 9)).toEqual([{ tenant: head.tenant, run: "run-1" }]);
    await committed(opened, commitOn(head, epoch, { consumed: ["e1", "e2"] }));
    expect(await opened.due(noon, 9)).toEqual([]);
  },

  "a run is due from its timer's time on, never before": async ({ store, reopen, expect }) => {
    const { epoch, head } = await begun(store, { head: { wakeAt: noon + 100.5 } });
    const opened = await reopen();
    expect(await opened.due(noon + 100, 9)).toEqual([]);
    expect(names(await opened.due(noon + 100.5, 9))).toEqual(["run-1"]);
    expect(await opened.nextDue(ever)).toEqual(noon + 100.5);
    const later = await committed(opened, commitOn(head, epoch, { head: { wakeAt: noon + 300 } }));
    expect([await opened.due(noon + 200, 9), await opened.nextDue(ever)]).toEqual([[], noon + 300]);
    const { wakeAt: _wakeAt, ...idle } = later;
    await committed(opened, commitOn(idle, epoch));
    expect([await opened.due(noon + 999, 9), await opened.nextDue(ever)]).toEqual([[], undefined]);
  },

  "a run is due when a waiting activity is, not while it runs": async ({ store, reopen, expect }) => {
    const { epoch } = await begun(store, { begun: [activityOf("1.0", { dueAt: noon + 50 })] });
    const opened = await reopen();
    expect(await opened.due(noon + 49, 9)).toEqual([]);
    expect([names(await opened.due(noon + 50, 9)), await opened.nextDue(ever)]).toEqual([
      ["run-1"],
      noon + 50,
    ]);
    await opened.recordActivities([activityOf("1.0", { status: "running", attempt: 1 })], epoch);
    expect([await opened.due(noon + 50, 9), await opened.nextDue(ever)]).toEqual([[], undefined]);
  },

  "a settled activity is due no more": async ({ store, expect }) => {
    const { epoch, head } = await begun(store, { begun: [activityOf("1.0")] });
    await committed(store, commitOn(head, epoch, { ended: ["1.0"] }));
    expect([await store.due(noon, 9), await store.nextDue(ever)]).toEqual([[], undefined]);
  },

  "an activity that ran when its worker lost the lease is due for the next owner": async ({
    store,
    expect,
  }) => {
    const running = { status: "running", dueAt: noon + 1e9 } as const;
    const { epoch, head } = await begun(store, { begun: [activityOf("1.0", running)] });
    expect(await store.due(noon, 9)).toEqual([]);
    const next = await owned(store, "worker-2", noon + leaseMs);
    expect(next > epoch).toEqual(true);
    expect(names(await store.due(noon, 9))).toEqual(["run-1"]);
    await store.recordActivities([activityOf("1.0", { ...running, attempt: 2 })], next);
    expect(await store.due(noon, 9)).toEqual([]);
    // One that is begun anew is its own as well.
    const last = await owned(store, "worker-3", noon + 3 * leaseMs);
    expect(names(await store.due(noon, 9))).toEqual(["run-1"]);
    await committed(store, commitOn(head, last, { begun: [activityOf("1.0", running)] }));
    expect(await store.due(noon, 9)).toEqual([]);
  },

  "the oldest need comes first, each run once, and no more than asked for": async ({ store, expect }) => {
    const { epoch } = await begun(store, { head: { wakeAt: noon + 40 } });
    await committed(
      store,
      firstCommit("run-2", epoch, { begun: [activityOf("1.0", { run: "run-2", dueAt: noon + 20 })] }),
    );
    await committed(store, firstCommit("run-3", epoch));
    await committed(store, firstCommit("run-4", epoch, { head: { wakeAt: noon + 10 } }));
    await store.enqueue([
      eventOf("e1", { run: "run-3", at: noon + 30 }),
      eventOf("e2", { run: "run-3", at: noon + 5 }),
      eventOf("e3", { run: "run-4", at: noon + 60 }),
      eventOf("e4", { run: "run-2", at: noon + 60 }),
    ]);
    const order = ["run-3", "run-4", "run-2", "run-1"];
    expect(names(await store.due(noon + 99, 9))).toEqual(order);
    for (const limit of [1, 2, 3])
      expect(names(await store.due(noon + 99, limit))).toEqual(order.slice(0, limit));
    expect(await store.nextDue(ever)).toEqual(noon + 10);
    const later = [noon + 9.5, noon + 10, noon + 20, noon + 39, noon + 40];
    const next = await Promise.all(later.map((after) => store.nextDue(after)));
    expect(next).toEqual([noon + 10, noon + 20, noon + 40, noon + 40, undefined]);
  },

  "younger needs of one kind do not hide older ones of another": async ({ store, expect }) => {
    const { epoch } = await begun(store);
    const kinds = ["event", "timer", "activity"];
    for (const [kind, what] of kinds.entries())
      for (const nth of [1, 2, 3]) {
        const run = `${what}-${nth}`;
        // Of every kind three, those of the later kinds older.
        const at = noon - 10 * kind + nth;
        const head = what === "timer" ? { wakeAt: at } : {};
        const started = what === "activity" ? [activityOf("1.0", { run, dueAt: at })] : [];
        await committed(store, firstCommit(run, epoch, { head, begun: started }));
        if (what === "event") await store.enqueue([eventOf(run, { run, at })]);
      }
    const order = kinds.toReversed().flatMap((what) => [1, 2, 3].map((nth) => `${what}-${nth}`));
    for (let limit = 1; limit <= order.length; limit++) {
      expect(names(await store.due(noon + 9, limit))).toEqual(order.slice(0, limit));
      expect(names(await store.due(noon + 9, limit, { tenant: "acme" }))).toEqual(order.slice(0, limit));
    }
  },

  "what is due of a tenant is found behind any number of others'": async ({ store, expect }) => {
    const { epoch } = await begun(store, { head: { wakeAt: noon + 2 } });
    for (const [index, run] of ["a", "b", "c", "d"].entries()) {
      const other = { tenant: "globex", run };
      const plan = { begun: [activityOf("1.0", { ...other, dueAt: noon })], head: { wakeAt: noon + index } };
      await committed(store, commitOn(headOf(other), epoch, plan));
      await store.enqueue([eventOf(`e-${run}`, { ...other, at: noon })]);
    }
    const first = firstCommit("run-2", epoch, {
      begun: [activityOf("1.0", { run: "run-2", dueAt: noon + 1 })],
    });
    await committed(store, first);
    await committed(store, firstCommit("run-3", epoch));
    await store.enqueue([
      eventOf("e1", { run: "run-3", at: noon + 3 }),
      eventOf("e2", { run: "run-3", at: noon + 4 }),
    ]);
    const of = { tenant: "acme" };
    expect(names(await store.due(noon + 9, 1, of))).toEqual(["run-2"]);
    expect(names(await store.due(noon + 9, 2, of))).toEqual(["run-2", "run-1"]);
    expect(names(await store.due(noon + 9, 9, of))).toEqual(["run-2", "run-1", "run-3"]);
    expect((await store.due(noon + 9, 9, { tenant: "globex" })).length).toEqual(4);
    expect(await store.due(noon + 9, 9, { tenant: "nobody" })).toEqual([]);
  },

  "what is due of a tenant since a time leaves out what came later": async ({ store, expect }) => {
    const { epoch } = await begun(store, { head: { wakeAt: noon + 20 } });
    await committed(
      store,
      firstCommit("run-2", epoch, { begun: [activityOf("1.0", { run: "run-2", dueAt: noon + 30 })] }),
    );
    await committed(store, firstCommit("run-3", epoch));
    await store.enqueue([eventOf("e1", { run: "run-3", at: noon + 10 })]);
    const since = async (at: number) => names(await store.due(noon + 99, 9, { tenant: "acme", since: at }));
    expect([await since(noon + 9), await since(noon + 10)]).toEqual([[], ["run-3"]]);
    expect(await since(noon + 20)).toEqual(["run-3", "run-1"]);
    expect(await since(noon + 99)).toEqual(["run-3", "run-1", "run-2"]);
    // What is not due yet is not due since later.
    expect(names(await store.due(noon + 15, 9, { tenant: "acme", since: noon + 99 }))).toEqual(["run-3"]);
  },

  "an activity whose worker is gone is due of its tenant": async ({ store, expect }) => {
    const running = { status: "running" } as const;
    await begun(store, { begun: [activityOf("1.0", running)] });
    expect(await store.due(noon, 9, { tenant: "acme" })).toEqual([]);
    await owned(store, "worker-2", noon + leaseMs);
    expect(names(await store.due(noon, 9, { tenant: "acme" }))).toEqual(["run-1"]);
    expect(await store.due(noon, 9, { tenant: "globex" })).toEqual([]);
    const since = async (at: number) => (await store.due(noon, 9, { tenant: "acme", since: at })).length;
    expect([await since(noon - 0.5), await since(noon)]).toEqual([0, 1]);
  },

  "as many of one kind as are asked for are found": async ({ store, expect }) => {
    const epoch = await owned(store);
    const runs = ["a", "b", "c", "d", "e"];
    for (const [index, run] of runs.entries()) {
      const plan = { begun: [activityOf("1.0", { run, dueAt: noon + index })] };
      await committed(store, firstCommit(run, epoch, plan));
    }
    for (const limit of [0, 1, 2, 3, 4, 5, 6])
      expect(names(await store.due(noon + 99, limit))).toEqual(runs.slice(0, limit));
  },

  "parked and ended runs are not due; one that is active again is": async ({ store, expect }) => {
    const { epoch, head } = await begun(store, { head: { wakeAt: noon }, begun: [activityOf("1.0")] });
    await store.enqueue([eventOf("e1")]);
    const statuses = ["parked", "done", "failed", "cancelled", "active"] as const;
    let current = head;
    for (const status of statuses) {
      current = await committed(store, commitOn(current, epoch, { head: { status } }));
      const active = status === "active";
      expect(names(await store.due(noon, 9)), status).toEqual(active ? ["run-1"] : []);
      expect(await store.nextDue(ever), status).toEqual(active ? noon : undefined);
    }
  },

  "what parked and ended runs have is not due beside what is, of a tenant neither": async ({
    store,
    expect,
  }) => {
    const { epoch } = await begun(store, { head: { wakeAt: noon } });
    for (const status of ["parked", "done"] as const) {
      const waits = activityOf("1.0", { run: status });
      const runs = activityOf("1.1", { run: status, status: "running" });
      const first = firstCommit(status, epoch, { head: { wakeAt: noon }, begun: [waits, runs] });
      const head = await committed(store, first);
      await store.enqueue([eventOf("e1", { run: status })]);
      await committed(store, commitOn(head, epoch, { head: { status } }));
    }
    await owned(store, "worker-2", noon + leaseMs);
    expect(names(await store.due(noon, 9))).toEqual(["run-1"]);
    expect(names(await store.due(noon, 9, { tenant: "acme" }))).toEqual(["run-1"]);
  },

  "what a parked run is sent is due once it is active again": async ({ store, expect }) => {
    const { epoch, head } = await begun(store, { head: { status: "parked" } });
    await store.enqueue([eventOf("e1")]);
    expect(await store.due(noon, 9)).toEqual([]);
    const begins = { begun: [activityOf("2.0", { dueAt: noon + 7 })] };
    const parked = await committed(store, commitOn(head, epoch, begins));
    expect(await store.nextDue(ever)).toEqual(undefined);
    await committed(store, commitOn(parked, epoch, { head: { status: "active" } }));
    expect([names(await store.due(noon, 9)), await store.nextDue(ever)]).toEqual([["run-1"], noon + 7]);
  },
};
