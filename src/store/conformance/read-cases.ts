/** load, readHead, readAt, readJournal, readContents: what was committed, at any checkpoint. */
import { limits } from "../../limits.ts";
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

const nobody = { tenant, run: "nobody" };

/** A run of nine checkpoints, with a snapshot at each of these. */
async function nineSteps(
  store: Store,
  snapshots: readonly number[],
  kept: readonly number[] = [],
): Promise<RunHead> {
  const planned = (seq: number) => (kept.includes(seq) ? "kept" : snapshots.includes(seq));
  const started = await begun(store, { withSnapshot: planned(1) });
  let { head } = started;
  while (head.seq < 9) {
    head = await committed(store, commitOn(head, started.epoch, { withSnapshot: planned(head.seq + 1) }));
  }
  return head;
}

const entriesOf = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => entryOf(sample, from + index));
const snapshotOf = (seq: number) => ({ seq, bytes: bytesOf(`state of run-1 at ${seq}`) });

export const readCases: Cases = {
  "a run that is not there is undefined, and empty where a list is asked for": async ({ store, expect }) => {
    await begun(store);
    expect([await store.readHead(nobody), await store.load(nobody), await store.readAt(nobody, 1)]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    expect(await store.readJournal(nobody, 1, 9)).toEqual([]);
  },

  "load gives the newest snapshot and the entries after it": async ({ store, reopen, expect }) => {
    const head = await nineSteps(store, [1, 4, 7]);
    const loaded = await (await reopen()).load(sample);
    expect(loaded?.head).toEqual(head);
    expect([loaded?.snapshot, loaded?.entries]).toEqual([snapshotOf(7), entriesOf(8, 9)]);
  },

  "a run without a snapshot is read from its first entry": async ({ store, expect }) => {
    await nineSteps(store, []);
    const loaded = await store.load(sample);
    expect([loaded?.snapshot, loaded?.entries]).toEqual([undefined, entriesOf(1, 9)]);
  },

  "whoever knows a checkpoint is given what came after it, and no snapshot": async ({
    store,
    reopen,
    expect,
  }) => {
    const head = await nineSteps(store, [1, 4, 7]);
    await store.enqueue([eventOf("e1")]);
    const opened = await reopen();
    const plain = await opened.load(sample);
    const since = async (seq: number, digest = entryOf(sample, seq).digest) =>
      opened.load(sample, { seq, digest });
    for (const seq of [7, 8, 9])
      expect(await since(seq)).toEqual({
        ...plain,
        snapshot: undefined,
        entries: entriesOf(seq + 1, 9),
        since: seq,
      });
    expect([plain?.head, plain?.inbox.length]).toEqual([head, 1]);
    expect(await opened.load(nobody, { seq: 1, digest: "" })).toEqual(undefined);
  },

  "what the journal does not have, or has left behind, is not built upon": async ({ store, expect }) => {
    const { digest } = await nineSteps(store, [1, 4, 7]);
    const plain = await store.load(sample);
    const known = [
      ...[0, 6, 8, 10, -1, 1e9].map((seq) => ({ seq, digest })),
      ...[1, 4, 6].map((seq) => ({ seq, digest: entryOf(sample, seq).digest })),
      ...[9, 0].map((seq) => ({ seq, digest: "" })),
    ];
    for (const one of known) expect(await store.load(sample, one), JSON.stringify(one)).toEqual(plain);
  },

  "a run without a snapshot can be known as well, and one that was pruned only where it goes on": async ({
    store,
    expect,
  }) => {
    const { epoch, head } = await begun(store);
    const second = await committed(store, commitOn(head, epoch, { withSnapshot: true }));
    const third = await committed(store, commitOn(second, epoch));
    expect((await store.load(sample, second))?.since).toEqual(2);
    expect(await store.pruneJournal(sample, 2, epoch)).toEqual(true);
    expect((await store.load(sample, second))?.since, "its entry is gone").toEqual(undefined);
    expect((await store.load(sample, third))?.since).toEqual(3);
    const other = await committed(store, firstCommit("run-2", epoch));
    expect((await store.load({ tenant, run: "run-2" }, other))?.since).toEqual(1);
  },

  "I3: every checkpoint can be read, from the newest kept snapshot before it": async ({
    store,
    reopen,
    expect,
  }) => {
    await nineSteps(store, [2, 4, 7]);
    const opened = await reopen();
    const at = async (seq: number) => {
      const read = await opened.readAt(sample, seq);
      return read && [read.snapshot, read.entries];
    };
    expect(await at(1)).toEqual([undefined, entriesOf(1, 1)]);
    expect(await at(3), "only the two newest snapshots are kept").toEqual([undefined, entriesOf(1, 3)]);
    expect(await at(4)).toEqual([snapshotOf(4), []]);
    expect(await at(6)).toEqual([snapshotOf(4), entriesOf(5, 6)]);
    expect(await at(9)).toEqual([snapshotOf(7), entriesOf(8, 9)]);
  },

  "a snapshot that is kept for good stays beside the newest ones, however many follow": async ({
    store,
    reopen,
    expect,
  }) => {
    const head = await nineSteps(store, [3, 5, 6, 8], [2, 4]);
    const opened = await reopen();
    const at = async (seq: number) => {
      const read = await opened.readAt(sample, seq);
      return read && [read.snapshot, read.entries];
    };
    const kept = (seq: number) => ({ ...snapshotOf(seq), kept: true });
    expect(await at(1)).toEqual([undefined, entriesOf(1, 1)]);
    expect(await at(2)).toEqual([kept(2), []]);
    expect(await at(3), "a newer one that is not kept goes").toEqual([kept(2), entriesOf(3, 3)]);
    expect(await at(5)).toEqual([kept(4), entriesOf(5, 5)]);
    expect(await at(7), "the two newest stay").toEqual([snapshotOf(6), entriesOf(7, 7)]);
    expect((await opened.load(sample))?.snapshot).toEqual(snapshotOf(8));
    const next = commitOn(head, (await opened.own("worker-1", 10_000, head.updatedAt)).epoch, {
      withSnapshot: "kept",
    });
    await committed(opened, next);
    expect((await opened.load(sample))?.snapshot, "the newest one may be kept").toEqual(kept(10));
    expect(await at(7), "and counts as one of them").toEqual([kept(4), entriesOf(5, 7)]);
  },

  "a checkpoint that never was is undefined": async ({ store, expect }) => {
    await nineSteps(store, [1]);
    for (const seq of [-1, 0, 10, 1e9]) expect(await store.readAt(sample, seq)).toEqual(undefined);
  },

  "I3: the journal is read in order, from a checkpoint on, so many at a time": async ({
    store,
    reopen,
    expect,
  }) => {
    await nineSteps(store, [3, 6]);
    const opened = await reopen();
    expect(await opened.readJournal(sample, 1, 100)).toEqual(entriesOf(1, 9));
    expect(await opened.readJournal(sample, 0, 2)).toEqual(entriesOf(1, 2));
    expect(await opened.readJournal(sample, 4, 3)).toEqual(entriesOf(4, 6));
    expect(await opened.readJournal(sample, 9, 3)).toEqual(entriesOf(9, 9));
    expect(await opened.readJournal(sample, 10, 3)).toEqual([]);
  },

  "I1: bytes come back as they were, empty, large and of any value": async ({ store, reopen, expect }) => {
    const { epoch, head } = await begun(store);
    const every = Uint8Array.from({ length: 256 }, (_, value) => value);
    const sizes = [new Uint8Array(0), every, new Uint8Array(200_000).fill(255)];
    const entries = sizes.map((bytes, index) => ({ ...entryOf(sample, index + 2), bytes }));
    await committed(store, { ...commitOn(head, epoch, { steps: 3 }), entries });
    expect(await (await reopen()).readJournal(sample, 2, 9)).toEqual(entries);
  },

  "the longest names there may be are names like others": async ({ store, reopen, expect }) => {
    const epoch = await owned(store);
    // Three bytes each and no two alike, so that no index can make them shorter.
    const longest = (first: number): string =>
      String.fromCodePoint(...Array.from({ length: limits.nameLengthMax }, (_, index) => first + index * 7));
    const [tenant, run, subject, key] = [0x3400, 0x4e01, 0x6002, 0x7003].map(longest) as [
      ...[string, string, string, string],
    ];
    const attributes = { [key]: longest(0x4500).repeat(20) };
    const contents = [{ digest: "d1", bytes: bytesOf("large") }];
    const first = commitOn(headOf({ tenant, run, subject, attributes }), epoch, { keys: [key], contents });
    const head = await committed(store, first);
    const event = eventOf(key, { tenant, run, subject, key: longest(0x5004) });
    expect(await store.enqueue([event])).toEqual(["accepted"]);
    expect(await store.writeDocument(tenant, subject, 0, bytesOf("x"))).toEqual(true);
    const opened = await reopen();
    const loaded = await opened.load({ tenant, run });
    expect([loaded?.head, loaded?.inbox]).toEqual([head, [event]]);
    expect(await opened.readKeys({ tenant, run }, [key])).toEqual([{ key, seq: 1 }]);
    expect(await opened.readContents(tenant, subject, ["d1"])).toEqual(contents);
    expect(await opened.findRuns({ tenant, subject, attributes, limit: 9 })).toEqual([head]);
    await committed(opened, commitOn(head, epoch, { head: { status: "done" } }));
    expect((await opened.readDeadLetters(tenant, 0, 9)).map(({ id }) => id)).toEqual([key]);
  },

  "what was given and what is read are nobody else's to change": async ({ store, expect }) => {
    const bytes = bytesOf("original");
    const attributes = { colour: "red" };
    await begun(store, {
      head: { attributes },
      entries: [{ ...entryOf(sample, 1), bytes }],
    });
    bytes.fill(0);
    attributes.colour = "blue";
    const read = await store.readJournal(sample, 1, 1);
    expect(read[0]?.bytes).toEqual(bytesOf("original"));
    read[0]?.bytes.fill(0);
    expect((await store.load(sample))?.entries[0]?.bytes).toEqual(bytesOf("original"));
    expect((await store.readHead(sample))?.attributes).toEqual({ colour: "red" });
  },

  "a head that is changed in place and committed again is what it is then": async ({ store, expect }) => {
    const attributes = { colour: "red" };
    const { epoch, head } = await begun(store, { head: { attributes } });
    const found = async (colour: string) =>
      (await store.findRuns({ tenant, limit: 1, attributes: { colour } })).length;
    attributes.colour = "blue";
    const second = await committed(store, commitOn(head, epoch));
    expect([await found("blue"), await found("red")]).toEqual([1, 0]);
    attributes.colour = "green";
    const third = await committed(store, commitOn(second, epoch));
    expect([await found("green"), await found("blue")]).toEqual([1, 0]);
    // A store may give what nobody can change.
    Reflect.set((await store.load(sample))?.head.attributes ?? {}, "colour", "black");
    await committed(store, commitOn(third, epoch, { head: { attributes: { colour: "black" } } }));
    expect([await found("black"), await found("green")]).toEqual([1, 0]);
  },

  "the bytes of all that is kept are nobody else's to change, given or read": async ({ store, expect }) => {
    const original = bytesOf("original");
    const given = Array.from({ length: 7 }, () => bytesOf("original"));
    const [event, begins, recorded, snapshot, content, piece, document] = given as [
      ...[Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array],
    ];
    const epoch = await owned(store);
    const first = firstCommit("run-1", epoch, {
      withSnapshot: true,
      begun: [activityOf("1.0", { bytes: begins }), activityOf("1.1")],
      contents: [{ digest: "d1", bytes: content }],
    });
    await committed(store, { ...first, snapshot: { seq: 1, bytes: snapshot } });
    await store.enqueue([eventOf("e1", { bytes: event })]);
    await store.recordActivities([activityOf("1.1", { bytes: recorded })], epoch);
    await store.appendChunks(sample, "1.0", [{ offset: 0, attempt: 1, bytes: piece }], epoch);
    await store.writeDocument(tenant, "board", 0, document);
    for (const bytes of given) bytes.fill(0);
    for (const turn of ["given", "read"]) {
      const loaded = await store.load(sample);
      const rows = [
        ...(loaded?.inbox ?? []),
        ...(loaded?.activities ?? []),
        loaded?.snapshot,
        ...(await store.readContents(tenant, "ada", ["d1"])),
        ...(await store.readChunks(sample, "1.0", 0, 9)),
        await store.readDocument(tenant, "board"),
      ];
      expect(
        rows.map((row) => row?.bytes),
        turn,
      ).toEqual(given.map(() => original));
      for (const row of rows) row?.bytes.fill(0);
    }
  },

  "content is kept once for its subject, and given in the order asked for": async ({
    store,
    reopen,
    expect,
  }) => {
    const contents = ["d1", "d2", "d3"].map((digest) => ({ digest, bytes: bytesOf(`content ${digest}`) }));
    const { epoch, head } = await begun(store, { contents });
    const repeated = { digest: "d1", bytes: bytesOf("the same digest, sealed otherwise") };
    const alone = { digest: "d4", bytes: bytesOf("all that its step brings") };
    await committed(store, commitOn(head, epoch, { contents: [repeated, alone] }));
    await committed(store, firstCommit("run-2", epoch, { head: { subject: "bob" }, contents: [repeated] }));
    const opened = await reopen();
    expect(await opened.readContents(tenant, "ada", ["d3", "none", "d1", "d4"])).toEqual([
      contents[2],
      contents[0],
      alone,
    ]);
    expect(await opened.readContents(tenant, "bob", ["d1", "d2"])).toEqual([repeated]);
    expect(await opened.readContents(tenant, "nobody", ["d1"])).toEqual([]);
  },
};
