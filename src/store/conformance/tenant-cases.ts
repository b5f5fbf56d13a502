/** Tenants: the same names on both sides, and nothing of one seen by the other (I5). */
import type { RunHead } from "../records.ts";
import type { Commit, Store } from "../store.ts";
import { activityOf, bytesOf, commitOn, committed, entryOf, eventOf, headOf, noon, owned } from "./sample.ts";
import type { Cases } from "./world.ts";

const tenants = ["acme", "globex"] as const;

/** Equal runs of both tenants, with everything a run can have, told apart by the tenant's name in the bytes. */
async function twins(store: Store): Promise<{ readonly epoch: number; readonly heads: readonly RunHead[] }> {
  const epoch = await owned(store);
  const commits = tenants.map((tenant): Commit => {
    const head = headOf({ tenant, attributes: { colour: "red" } });
    return commitOn(head, epoch, {
      withSnapshot: true,
      keys: [`key of ${tenant}`],
      contents: [{ digest: "d1", bytes: bytesOf(tenant) }],
      begun: [activityOf("1.0", { tenant, bytes: bytesOf(tenant) })],
      sends: [eventOf("e1", { tenant, bytes: bytesOf(tenant) })],
    });
  });
  const heads = [];
  for (const commit of commits) heads.push(await committed(store, commit));
  for (const tenant of tenants) {
    const piece = { offset: 0, attempt: 1, bytes: bytesOf(tenant) };
    await store.appendChunks({ tenant, run: "run-1" }, "1.0", [piece], epoch);
    await store.writeDocument(tenant, "board", 0, bytesOf(tenant));
  }
  return { epoch, heads };
}

export const tenantCases: Cases = {
  "I5: equal names of two tenants are two runs": async ({ store, reopen, expect }) => {
    const { heads } = await twins(store);
    const opened = await reopen();
    for (const [index, tenant] of tenants.entries()) {
      const name = { tenant, run: "run-1" };
      const loaded = await opened.load(name);
      expect(loaded?.head).toEqual(heads[index]);
      expect(await opened.readHead(name)).toEqual(heads[index]);
      expect(loaded?.inbox.map(({ bytes }) => bytes)).toEqual([bytesOf(tenant)]);
      expect(await opened.readInbox(name, 9)).toEqual(loaded?.inbox);
      expect(loaded?.activities.map(({ bytes }) => bytes)).toEqual([bytesOf(tenant)]);
      expect(await opened.readJournal(name, 1, 9)).toEqual([entryOf(name, 1)]);
      expect(await opened.readChunks(name, "1.0", 0, 9)).toEqual([
        { offset: 0, attempt: 1, bytes: bytesOf(tenant) },
      ]);
      expect(await opened.readContents(tenant, "ada", ["d1"])).toEqual([
        { digest: "d1", bytes: bytesOf(tenant) },
      ]);
      expect(await opened.readDocument(tenant, "board")).toEqual({ version: 1, bytes: bytesOf(tenant) });
      expect(
        await opened.readKeys(
          name,
          tenants.map((other) => `key of ${other}`),
        ),
      ).toEqual([{ key: `key of ${tenant}`, seq: 1 }]);
    }
  },

  "I5: what is written for one tenant leaves the other's as it was": async ({ store, expect }) => {
    const { epoch, heads } = await twins(store);
    const [acme, globex] = heads as [RunHead, RunHead];
    const before = await store.load(globex);
    const { tenant } = acme;
    await committed(
      store,
      commitOn(acme, epoch, { consumed: ["e1"], ended: ["1.0"], head: { status: "done" } }),
    );
    await store.writeDocument(tenant, "board", 1, bytesOf("changed"));
    expect(await store.enqueue([eventOf("e2", { tenant, key: "key of globex" })])).toEqual(["ended"]);
    expect(await store.load(globex)).toEqual(before);
    expect(await store.readDocument("globex", "board")).toEqual({ version: 1, bytes: bytesOf("globex") });
    expect(await store.recordActivities([activityOf("1.0", { tenant })], epoch)).toEqual([false]);
  },

  "I5: runs are found within their tenant": async ({ store, expect }) => {
    const { heads } = await twins(store);
    for (const [index, tenant] of tenants.entries()) {
      const queries = [
        {},
        { subject: "ada" },
        { attributes: { colour: "red" } },
        { status: "active" as const },
      ];
      for (const query of queries)
        expect(await store.findRuns({ tenant, limit: 9, ...query })).toEqual([heads[index]]);
    }
    for (const tenant of ["", "acm", "acme ", "ACME", "%", "*"]) {
      expect(await store.findRuns({ tenant, limit: 9 })).toEqual([]);
      expect(await store.readHead({ tenant, run: "run-1" })).toEqual(undefined);
    }
  },

  "I5: a run is not found by what another tenant's of its name and time has": async ({ store, expect }) => {
    const { epoch, heads } = await twins(store);
    const attributes = { colour: "red", size: 3 };
    await committed(store, commitOn(heads[1] as RunHead, epoch, { head: { attributes } }));
    expect(await store.findRuns({ tenant: "acme", limit: 9, attributes })).toEqual([]);
    expect((await store.findRuns({ tenant: "globex", limit: 9, attributes })).length).toEqual(1);
  },

  "I5: a page after another tenant's run has the asker's own runs only": async ({ store, expect }) => {
    const { epoch, heads } = await twins(store);
    const there = commitOn(headOf({ tenant: "globex", run: "s", createdAt: noon + 1 }), epoch);
    const after = await committed(store, there);
    expect(await store.findRuns({ tenant: "acme", limit: 9, after })).toEqual([heads[0]]);
  },

  "I5: due runs are named with their tenant": async ({ store, expect }) => {
    await twins(store);
    const due = (await store.due(Number.MAX_SAFE_INTEGER, 9)).toSorted((one, other) =>
      one.tenant < other.tenant ? -1 : 1,
    );
    expect(due).toEqual(tenants.map((tenant) => ({ tenant, run: "run-1" })));
  },
};
