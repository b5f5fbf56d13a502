/** What keeping house leaves of the files: those of a run go with it, journals are cut in one piece, copies are stores. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
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
  leaseMs,
  noon,
  sample,
  tenant,
} from "../conformance/sample.ts";
import type { RunHead } from "../records.ts";
import type { Store } from "../store.ts";
import { fileStore } from "./store.ts";

let folder: string;
let directory: string;
let store: Store;
let copies = 0;

beforeEach(async () => {
  folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "holdfast-"));
  directory = join(folder, "store");
  store = fileStore({ directory });
  await store.open();
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const runs = (of = directory): string[] => readdirSync(join(of, "tenants/acme/runs")).sort();
const journal = (of = directory): string => join(of, "tenants/acme/runs/run-1.journal.jsonl");
const done = { head: { status: "done" as const } };

/** A run of nine checkpoints with a snapshot of some, and pieces of a stream. */
async function nineSteps(snapshots: readonly number[]): Promise<{ epoch: number; head: RunHead }> {
  let { epoch, head } = await begun(store, { begun: [activityOf("1.0")] });
  const pieces = [0, 1, 2].map((offset) => ({ offset, attempt: 1, bytes: bytesOf(`piece ${offset}`) }));
  await store.appendChunks(sample, "1.0", pieces, epoch);
  while (head.seq < 9)
    head = await committed(store, commitOn(head, epoch, { withSnapshot: snapshots.includes(head.seq + 1) }));
  return { epoch, head };
}

/** The directory as a crash would leave it now, opened by another store. */
async function afterCrash<Answer>(
  change: (of: string) => void,
  look: (opened: Store) => Promise<Answer>,
): Promise<Answer> {
  const copy = join(folder, `copy-${++copies}`);
  await cp(directory, copy, { recursive: true, filter: (path) => !path.endsWith("lock") });
  change(copy);
  const opened = fileStore({ directory: copy });
  await opened.open();
  try {
    return await look(opened);
  } finally {
    await opened.close();
    rmSync(copy, { recursive: true });
  }
}

describe("a run that is removed", () => {
  test("takes all its files along, and those of its subject's contents when they are swept", async () => {
    const { epoch, head } = await nineSteps([4, 7]);
    const contents = [{ digest: "d1", bytes: bytesOf("large") }];
    await committed(store, commitOn(head, epoch, { ...done, contents }));
    await store.close();
    await store.open();
    expect(runs()).toHaveLength(5);
    expect(await store.removeRuns([sample], epoch)).toEqual([true]);
    expect(runs()).toEqual([]);
    const place = join(directory, "tenants/acme/contents/ada");
    expect(readdirSync(place)).toEqual(["d1.json"]);
    while ((await store.sweep(5)) > 0);
    expect(readdirSync(place)).toEqual([]);
  });

  test("I1: is gone after a crash as well, and so is what the log told of it before", async () => {
    const { epoch, head } = await nineSteps([4]);
    await committed(store, commitOn(head, epoch, done));
    const files = join(folder, "files");
    await cp(join(directory, "tenants"), files, { recursive: true });
    await store.removeRuns([sample], epoch);
    const again = await committed(store, firstCommit("run-1", epoch));
    const putBack = async (of: string) => {
      rmSync(join(of, "tenants"), { recursive: true });
      await cp(files, join(of, "tenants"), { recursive: true });
    };
    const copy = join(folder, "crashed");
    await cp(directory, copy, { recursive: true, filter: (path) => !path.endsWith("lock") });
    await putBack(copy);
    const opened = fileStore({ directory: copy });
    await opened.open();
    const loaded = await opened.load(sample);
    expect([loaded?.head, loaded?.entries, loaded?.activities]).toEqual([again, [entryOf(sample, 1)], []]);
    expect(await opened.readChunks(sample, "1.0", 0, 9)).toEqual([]);
    await opened.close();
    expect(runs(copy)).toEqual(["run-1.journal.jsonl", "run-1.json"]);
  });
});

test("a run that is removed while its file is behind does not come back, after a crash neither", async () => {
  const { epoch, head } = await begun(store);
  // Its file is too large to be written with each call, and what makes it so is not told again.
  const bytes = bytesOf("x".repeat(3 * limits.runFileBytesPerCall));
  await store.enqueue([eventOf("large", { bytes, expendable: true })]);
  await committed(store, commitOn(head, epoch, done));
  expect(await store.removeRuns([sample], epoch)).toEqual([true]);
  const again = async (opened: Store) => {
    await opened.close();
    await opened.open();
    return opened.readHead(sample);
  };
  expect(await afterCrash(() => {}, again)).toBe(undefined);
  expect([await again(store), runs()]).toEqual([undefined, []]);
});

describe("a journal that is pruned", () => {
  test("loses its first lines, and the snapshots before", async () => {
    const { epoch } = await nineSteps([2, 4, 7]);
    const before = readFileSync(journal(), "utf8").split("\n");
    expect(await store.pruneJournal(sample, 4, epoch)).toBe(true);
    expect(readFileSync(journal(), "utf8").split("\n")).toEqual(before.slice(4));
    const snapshots = () => runs().filter((name) => name.includes("snapshot"));
    expect(snapshots()).toEqual(["run-1.snapshot-4.json", "run-1.snapshot-7.json"]);
    const head = (await store.readHead(sample)) as RunHead;
    await committed(store, commitOn(head, epoch));
    expect((await store.readJournal(sample, 1, 99)).map(({ seq }) => seq)).toEqual([5, 6, 7, 8, 9, 10]);
  });

  test("I1: cut at any byte of what is left is made again from the log", async () => {
    const { epoch } = await nineSteps([4, 7]);
    await store.pruneJournal(sample, 7, epoch);
    const whole = readFileSync(journal());
    for (let end = 0; end <= whole.length; end += 7) {
      const seqs = await afterCrash(
        (of) => truncateSync(journal(of), end),
        async (opened) => (await opened.readJournal(sample, 1, 99)).map(({ seq }) => seq),
      );
      expect(seqs, `cut at ${end}`).toEqual([8, 9]);
    }
  });
});

test.each([
  ["without its time", '{"seq":6,"xx"'],
  ["that is no JSON", '{"seq":6,xat"'],
  ["that does not tell its checkpoint", '{"xxx":6,"at"'],
])("a damaged entry %s is seen as such, and put right with all others as they were", async (_, damage) => {
  await nineSteps([4]);
  await store.close();
  writeFileSync(journal(), readFileSync(journal(), "utf8").replace('{"seq":6,"at"', damage));
  await store.open();
  const [run] = await store.scan("run", { limit: 9 });
  const of = run?.place as string;
  const entries = await store.scan("entry", { of, limit: 99 });
  expect(entries.map(({ row }) => row?.seq)).toEqual([1, 2, 3, 4, 5, undefined, 7, 8, 9]);
  expect(entries[5]?.problem).toContain("journal.jsonl is damaged");
  await expect(store.load(sample)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  // One beside it first: the file is written anew with the damage still in it.
  for (const [turn, seq] of [3, 6].entries()) {
    const { epoch } = await store.own(`doctor ${turn}`, leaseMs, noon + 2 * leaseMs);
    await store.mend([{ change: "entry", run: of, entry: entryOf(sample, seq) }], epoch);
  }
  expect(await store.readJournal(sample, 1, 99)).toEqual(
    Array.from({ length: 9 }, (_, index) => entryOf(sample, index + 1)),
  );
});

test("what is left of a damaged run still tells where its journal begins, and its newest snapshot", async () => {
  const { epoch, head } = await nineSteps([7]);
  await committed(store, commitOn(head, epoch, { withSnapshot: true }));
  expect(await store.pruneJournal(sample, 7, epoch)).toBe(true);
  await store.close();
  writeFileSync(join(directory, "tenants/acme/runs/run-1.json"), "{");
  await store.open();
  const [run] = await store.scan("run", { limit: 9 });
  expect(run?.row).toMatchObject({ run: "run-1", pruned: 7, snapshotSeq: 10 });
  const entries = await store.scan("entry", { of: run?.place as string, limit: 99 });
  expect(entries.map(({ row }) => row?.seq)).toEqual([8, 9, 10]);
});

test("pieces of a stream are taken out one by one, and those that are left come back", async () => {
  const { epoch } = await nineSteps([]);
  const [run] = await store.scan("run", { limit: 9 });
  const chunks = await store.scan("chunk", { of: run?.place as string, limit: 9 });
  const changes = [chunks[0], chunks[2]].map((chunk) => ({
    ...{ change: "remove" as const, kind: "chunk" as const, place: chunk?.place as string },
  }));
  expect(await store.mend(changes, epoch)).toBe(true);
  const offsets = async (of: Store) =>
    (await of.readChunks(sample, "1.0", 0, 9)).map(({ offset, bytes }) => [offset, Buffer.from(bytes)]);
  const left = [[1, Buffer.from(bytesOf("piece 1"))]];
  expect(await offsets(store)).toEqual(left);
  expect(await afterCrash(() => {}, offsets)).toEqual(left);
});

test("a piece is taken out also by a call that says that its run has ended", async () => {
  const { epoch, head } = await nineSteps([]);
  const [run] = await store.scan("run", { limit: 9 });
  const place = run?.place as string;
  const [first] = await store.scan("chunk", { of: place, limit: 1 });
  await store.mend(
    [
      { change: "remove", kind: "chunk", place: first?.place as string },
      { change: "set", run: place, head: { ...head, status: "done" } },
    ],
    epoch,
  );
  const offsets = async (of: Store) => (await of.readChunks(sample, "1.0", 0, 9)).map(({ offset }) => offset);
  expect([await offsets(store), await afterCrash(() => {}, offsets)]).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

test("I1: a stream that has grown since the log was emptied, and is taken out whole, is no damage after a crash", async () => {
  const { epoch } = await nineSteps([]);
  await store.close();
  await store.open();
  await store.appendChunks(sample, "1.0", [{ offset: 3, attempt: 1, bytes: bytesOf("piece 3") }], epoch);
  const [run] = await store.scan("run", { limit: 9 });
  const chunks = await store.scan("chunk", { of: run?.place as string, limit: 9 });
  expect(chunks).toHaveLength(4);
  await store.mend(
    chunks.map(({ place }) => ({ change: "remove", kind: "chunk", place })),
    epoch,
  );
  expect(
    await afterCrash(
      () => {},
      (opened) => opened.readChunks(sample, "1.0", 0, 9),
    ),
  ).toEqual([]);
  expect(runs(), "nor is there a file of them").not.toContain("run-1.chunks.jsonl");
});

test("contents and documents are found under names of any length", async () => {
  const { epoch } = await begun(store);
  const long = "Ä long name/".repeat(30);
  const head = headOf({ tenant: long, run: "run-1", subject: long });
  const contents = [{ digest: "d1", bytes: bytesOf("large") }];
  await committed(store, commitOn(head, epoch, { ...done, contents }));
  await store.writeDocument(long, long, 0, bytesOf("document"));
  expect((await store.scan("content", { limit: 9 })).map(({ row }) => row)).toEqual([
    { tenant: long, subject: long, ...contents[0] },
  ]);
  expect((await store.scan("document", { limit: 9 })).map(({ row }) => row?.name)).toEqual([long]);
  expect(await store.removeRuns([{ tenant: long, run: "run-1" }], epoch)).toEqual([true]);
  while ((await store.sweep(5)) > 0);
  expect(await store.readContents(long, long, ["d1"])).toEqual([]);
});

describe("a backup", () => {
  test("is a store of its own, with all that was answered, while the first one goes on", async () => {
    const { epoch, head } = await nineSteps([4]);
    const destination = join(folder, "backup");
    const made = store.backup(destination);
    const next = committed(store, commitOn(head, epoch));
    await Promise.all([made, next]);
    const copy = fileStore({ directory: destination });
    await copy.open();
    expect((await copy.load(sample))?.head).toEqual(head);
    expect((await copy.readJournal(sample, 1, 99)).length).toBe(9);
    await copy.close();
    expect((await store.readHead(sample))?.seq).toBe(10);
    expect(readdirSync(folder).sort()).toEqual(["backup", "store"]);
  });

  test("is refused where something is already, and where nothing can be", async () => {
    await nineSteps([]);
    for (const destination of [directory, join(directory, "inside"), join(directory, "holdfast.json/below")])
      await expect(store.backup(destination)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(existsSync(join(directory, "inside"))).toBe(false);
    expect((await store.readHead({ tenant, run: "run-1" }))?.seq).toBe(9);
  });
});
