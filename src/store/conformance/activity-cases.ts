/** recordActivities, chunks and documents: what is written beside the commits. */
import type { ChunkRow } from "../records.ts";
import {
  activityOf,
  begun,
  bytesOf,
  commitOn,
  committed,
  firstCommit,
  leaseMs,
  noon,
  owned,
  sample,
  tenant,
} from "./sample.ts";
import type { Cases } from "./world.ts";

export const activityCases: Cases = {
  "an activity's row is replaced": async ({ store, reopen, expect }) => {
    const { epoch } = await begun(store, { begun: [activityOf("1.0"), activityOf("1.1")] });
    const row = activityOf("1.0", {
      ...{ attempt: 3, status: "running", dueAt: noon + 0.5, report: bytesOf("half way") },
    });
    expect(await store.recordActivities([row], epoch)).toEqual([true]);
    expect((await (await reopen()).load(sample))?.activities).toEqual([row, activityOf("1.1")]);
  },

  "a report that is no longer there is gone": async ({ store, expect }) => {
    const { epoch } = await begun(store, { begun: [activityOf("1.0", { report: bytesOf("an error") })] });
    expect((await store.load(sample))?.activities[0]?.report).toEqual(bytesOf("an error"));
    await store.recordActivities([activityOf("1.0")], epoch);
    const [row] = (await store.load(sample))?.activities ?? [];
    expect([row, Object.keys(row ?? {}).includes("report")]).toEqual([activityOf("1.0"), false]);
  },

  "a settled activity, or one that never was, is not recorded": async ({ store, expect }) => {
    const { epoch, head } = await begun(store, { begun: [activityOf("1.0")] });
    await committed(store, commitOn(head, epoch, { ended: ["1.0"] }));
    for (const row of [activityOf("1.0"), activityOf("9.9"), activityOf("1.0", { run: "nobody" })])
      expect(await store.recordActivities([row], epoch)).toEqual([false]);
    expect((await store.load(sample))?.activities).toEqual([]);
  },

  "I2: an old owner records nothing": async ({ store, expect }) => {
    const { epoch } = await begun(store, { begun: [activityOf("1.0")] });
    await owned(store, "worker-2", noon + leaseMs);
    expect(await store.recordActivities([activityOf("1.0", { attempt: 5 })], epoch)).toEqual([false]);
    expect((await store.load(sample))?.activities).toEqual([activityOf("1.0")]);
    await store.release("worker-2", epoch + 1, noon);
    const unowned = await store.recordActivities([activityOf("1.0", { attempt: 5 })], epoch + 1);
    expect([unowned, (await store.load(sample))?.activities]).toEqual([[false], [activityOf("1.0")]]);
  },

  "activities of many runs are recorded in one call, each for itself": async ({ store, reopen, expect }) => {
    const { epoch } = await begun(store, { begun: [activityOf("1.0"), activityOf("1.1")] });
    const other = { run: "run-2" };
    await committed(store, firstCommit("run-2", epoch, { begun: [activityOf("1.0", other)] }));
    const rows = [
      activityOf("1.0", { attempt: 1 }),
      activityOf("9.9"),
      activityOf("1.0", { ...other, status: "running", report: bytesOf("half way") }),
      activityOf("1.1", { run: "nobody" }),
      activityOf("1.0", { attempt: 2 }),
    ];
    expect(await store.recordActivities(rows, epoch)).toEqual([true, false, true, false, true]);
    expect(await store.recordActivities([], epoch)).toEqual([]);
    const opened = await reopen();
    expect((await opened.load(sample))?.activities).toEqual([rows[4], activityOf("1.1")]);
    expect((await opened.load({ tenant, run: "run-2" }))?.activities).toEqual([rows[2]]);
  },

  "activities are in order of their keys": async ({ store, expect }) => {
    const keys = ["2.0", "10.0", "1.1", "1.0"];
    await begun(store, { begun: keys.map((key) => activityOf(key)) });
    expect((await store.load(sample))?.activities.map(({ key }) => key)).toEqual([
      "1.0",
      "1.1",
      "10.0",
      "2.0",
    ]);
  },
};

const chunkOf = (offset: number, attempt = 1): ChunkRow => {
  return { offset, attempt, bytes: bytesOf(`piece ${offset} of attempt ${attempt}`) };
};

export const chunkCases: Cases = {
  "pieces come back in order, from an offset on, so many at a time": async ({ store, reopen, expect }) => {
    const { epoch } = await begun(store);
    await store.appendChunks(sample, "1.0", [chunkOf(2), chunkOf(0), chunkOf(1)], epoch);
    await store.appendChunks(sample, "1.0", [chunkOf(3, 2)], epoch);
    const opened = await reopen();
    expect(await opened.readChunks(sample, "1.0", 0, 9)).toEqual([
      chunkOf(0),
      chunkOf(1),
      chunkOf(2),
      chunkOf(3, 2),
    ]);
    expect(await opened.readChunks(sample, "1.0", 1, 2)).toEqual([chunkOf(1), chunkOf(2)]);
    expect(await opened.readChunks(sample, "1.0", 4, 9)).toEqual([]);
  },

  "a piece that is there is never replaced": async ({ store, expect }) => {
    const { epoch } = await begun(store);
    await store.appendChunks(sample, "1.0", [chunkOf(0)], epoch);
    await store.appendChunks(sample, "1.0", [chunkOf(0, 2), chunkOf(1, 2)], epoch);
    expect(await store.readChunks(sample, "1.0", 0, 9)).toEqual([chunkOf(0), chunkOf(1, 2)]);
  },

  "streams are each activity's own, and outlive it": async ({ store, expect }) => {
    const { epoch, head } = await begun(store, { begun: [activityOf("1.0")] });
    await store.appendChunks(sample, "1.0", [chunkOf(0)], epoch);
    await committed(store, commitOn(head, epoch, { ended: ["1.0"] }));
    expect(await store.readChunks(sample, "1.0", 0, 9)).toEqual([chunkOf(0)]);
    expect(await store.readChunks(sample, "1.1", 0, 9)).toEqual([]);
  },

  "I2: whoever does not own the runs adds no pieces": async ({ store, expect }) => {
    const { epoch } = await begun(store);
    expect(await store.appendChunks(sample, "1.0", [chunkOf(0)], epoch - 1)).toEqual(false);
    expect(await store.appendChunks(sample, "1.0", [chunkOf(0)], epoch)).toEqual(true);
    await owned(store, "worker-2", noon + leaseMs);
    expect(await store.appendChunks(sample, "1.0", [chunkOf(1)], epoch)).toEqual(false);
    expect(await store.readChunks(sample, "1.0", 0, 9)).toEqual([chunkOf(0)]);
  },

  "a run that is not there has no stream": async ({ store, expect }) => {
    const { epoch } = await begun(store);
    expect(await store.appendChunks({ tenant, run: "later" }, "1.0", [chunkOf(0)], epoch)).toEqual(false);
    expect(await store.appendChunks(sample, "1.0", [], epoch)).toEqual(true);
    await committed(store, firstCommit("later", epoch));
    expect(await store.readChunks({ tenant, run: "later" }, "1.0", 0, 9)).toEqual([]);
  },
};

export const documentCases: Cases = {
  "a document is written once as new, then from its version on": async ({ store, reopen, expect }) => {
    const write = (expected: number, text: string) =>
      store.writeDocument(tenant, "board", expected, bytesOf(text));
    expect(await store.readDocument(tenant, "board")).toEqual(undefined);
    expect([await write(0, "one"), await write(0, "again"), await write(1, "two")]).toEqual([
      true,
      false,
      true,
    ]);
    expect([await write(1, "stale"), await write(3, "early")]).toEqual([false, false]);
    const opened = await reopen();
    expect(await opened.readDocument(tenant, "board")).toEqual({ version: 2, bytes: bytesOf("two") });
  },

  "a document that is not there has no next version": async ({ store, expect }) => {
    expect(await store.writeDocument(tenant, "board", 1, bytesOf("x"))).toEqual(false);
    expect(await store.readDocument(tenant, "board")).toEqual(undefined);
  },

  "a document is removed at its version and no other, and no version comes twice": async ({
    store,
    reopen,
    expect,
  }) => {
    const write = (expected: number) => store.writeDocument(tenant, "board", expected, bytesOf("x"));
    expect([await write(0), await write(1), await write(2)]).toEqual([true, true, true]);
    expect(await store.writeDocument(tenant, "early", 0, bytesOf("x"))).toEqual(true);
    for (const version of [0, 1, 2, 4])
      expect(await store.removeDocument(tenant, "board", version)).toEqual(false);
    expect(await store.removeDocument("globex", "board", 3)).toEqual(false);
    expect(await store.removeDocument(tenant, "board", 3)).toEqual(true);
    expect(await store.removeDocument(tenant, "board", 3)).toEqual(false);
    expect(await store.removeDocument(tenant, "early", 1), "a lower one, later").toEqual(true);
    const opened = await reopen();
    expect(await opened.readDocument(tenant, "board")).toEqual(undefined);
    expect(await opened.writeDocument(tenant, "board", 3, bytesOf("stale"))).toEqual(false);
    expect(await opened.writeDocument(tenant, "board", 0, bytesOf("new"))).toEqual(true);
    expect(await opened.readDocument(tenant, "board")).toEqual({ version: 4, bytes: bytesOf("new") });
    expect(await opened.writeDocument(tenant, "plan", 0, bytesOf("new"))).toEqual(true);
    expect(await opened.removeDocument(tenant, "plan", 4)).toEqual(true);
    expect(await opened.writeDocument(tenant, "board", 4, bytesOf("newer"))).toEqual(true);
    expect(await opened.readDocument(tenant, "board")).toEqual({ version: 5, bytes: bytesOf("newer") });
    // Whichever goes last: it is the highest that counts.
    expect(await opened.writeDocument(tenant, "plan", 0, bytesOf("new"))).toEqual(true);
    for (let version = 5; version < 8; version++)
      await opened.writeDocument(tenant, "plan", version, bytesOf("x"));
    expect(await opened.removeDocument(tenant, "plan", 8)).toEqual(true);
    expect(await opened.removeDocument(tenant, "board", 5)).toEqual(true);
    expect(await opened.writeDocument(tenant, "board", 0, bytesOf("new"))).toEqual(true);
    expect((await opened.readDocument(tenant, "board"))?.version).toEqual(9);
  },
};
