/** The directory itself: what people find in it, whose it is, and what is said of one that cannot be used. */
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import {
  activityOf,
  begun,
  bytesOf,
  commitOn,
  committed,
  eventOf,
  firstCommit,
  leaseMs,
  noon,
  sample,
  tenant,
} from "../conformance/sample.ts";
import type { RunHead } from "../records.ts";
import type { LoadedRun, Store } from "../store.ts";
import { diskFiles, type Files } from "./files.ts";
import { FileStore, fileStore } from "./store.ts";

let folder: string;
let directory: string;
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-"));
  directory = join(folder, "store");
  store = fileStore({ directory });
  await store.open();
});

afterEach(async () => {
  await store.close().catch(() => {});
  rmSync(folder, { recursive: true });
});

/** Every file below a folder with its bytes; the lock has none. */
function filesIn(path: string): Record<string, string> {
  const names = readdirSync(path, { recursive: true }) as string[];
  return Object.fromEntries(
    names
      .filter((name) => basename(name) !== "lock" && statSync(join(path, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(path, name), "utf8")]),
  );
}

const failure = (path: string): Promise<unknown> =>
  fileStore({ directory: path })
    .open()
    .catch((error: unknown) => error);

/** An empty file beside the store. */
function another(): string {
  const path = join(folder, "another");
  writeFileSync(path, "");
  return path;
}

const runFile = () => join(directory, "tenants/acme/runs/run-1.json");
const shown = (path: string) => JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;

describe("what people find", () => {
  test("a folder for each tenant, and a file for each thing, named after it", async () => {
    const { epoch, head } = await begun(store, { withSnapshot: true, begun: [activityOf("1.0")] });
    await committed(
      store,
      commitOn(head, epoch, {
        contents: [{ digest: "d1", bytes: bytesOf("large") }],
        sends: [eventOf("e1"), eventOf("e2", { run: "nobody" })],
      }),
    );
    await committed(store, firstCommit("../Etc/Passwd", epoch));
    await store.appendChunks(sample, "1.0", [{ offset: 0, attempt: 1, bytes: bytesOf("piece") }], epoch);
    await store.writeDocument(tenant, "board", 0, bytesOf("first"));
    await store.close();
    expect(Object.keys(filesIn(directory))).toEqual([
      ...["holdfast.json", "intents.jsonl", "store.json"],
      ...["tenants/acme/contents/ada/d1.json", "tenants/acme/dead-letters/1.json"],
      "tenants/acme/documents/board.json",
      ...["tenants/acme/runs/%2e%2e%2f%45tc%2f%50asswd.journal.jsonl"],
      ...["tenants/acme/runs/%2e%2e%2f%45tc%2f%50asswd.json", "tenants/acme/runs/run-1.chunks.jsonl"],
      ...["tenants/acme/runs/run-1.journal.jsonl", "tenants/acme/runs/run-1.json"],
      "tenants/acme/runs/run-1.snapshot-1.json",
    ]);
    expect(readFileSync(join(directory, "intents.jsonl"), "utf8")).toBe("");
    expect(shown(join(directory, "tenants/acme/dead-letters/1.json"))).toMatchObject({
      id: "e2",
      reason: "missing",
    });
    expect(Object.keys(filesIn(folder))).toEqual(
      Object.keys(filesIn(directory)).map((name) => `store/${name}`),
    );
  });

  test("a run's file is as new as its answers while it is small, and then as often as it pays", async () => {
    const { epoch, head } = await begun(store);
    let newest: RunHead = head;
    for (let step = 0; step < 5; step++) {
      newest = await committed(store, commitOn(newest, epoch));
      expect(shown(runFile())).toMatchObject({ head: { seq: newest.seq } });
    }
    const bytes = bytesOf("x".repeat(3 * limits.runFileBytesPerCall));
    await store.enqueue([eventOf("large", { bytes })]);
    expect(shown(runFile())).toMatchObject({ inbox: [{ id: "large" }] });
    const seen: unknown[] = [];
    for (let step = 0; step < 8; step++) {
      newest = await committed(store, commitOn(newest, epoch));
      seen.push((shown(runFile()).head as RunHead).seq);
    }
    expect(new Set(seen).size).toBeGreaterThan(1);
    expect(new Set(seen).size).toBeLessThan(5);
    await store.close();
    expect(shown(runFile())).toMatchObject({ head: { seq: newest.seq } });
  });

  test("S1: a call costs one sync, however many runs it changes, and one that changes nothing costs none", async () => {
    await store.close();
    let syncs = 0;
    const counted = ["sync", "syncAll", "syncFolder", "replaceSynced"];
    const files = new Proxy(diskFiles, {
      get: (target, name: keyof Files) => {
        if (counted.includes(name)) syncs++;
        return target[name];
      },
    });
    const counting = new FileStore({ directory }, { files });
    await counting.open();
    const { epoch } = await begun(counting);
    const costOf = async (work: () => Promise<unknown>): Promise<number> => {
      syncs = 0;
      await work();
      return syncs;
    };
    const many = Array.from({ length: 30 }, (_, index) => firstCommit(`many-${index}`, epoch));
    expect(await costOf(() => counting.commit(many))).toBe(1);
    expect(await costOf(() => counting.commit(many))).toBe(0);
    expect(await costOf(() => counting.enqueue([eventOf("e1"), eventOf("e2", { run: "many-7" })]))).toBe(1);
    expect(await costOf(() => counting.enqueue([eventOf("e1")]))).toBe(0);
    expect(await costOf(() => counting.load(sample))).toBe(0);
    await counting.close();
  });

  test("the log is emptied when it has reached its limit, and not before", async () => {
    const size = (of: string) => statSync(join(of, "intents.jsonl")).size;
    await store.own("worker", leaseMs, noon);
    const one = size(directory);
    const sizes = async (logBytesMax: number): Promise<number> => {
      const place = join(folder, `limit-${logBytesMax}`);
      const limited = new FileStore({ directory: place }, { logBytesMax });
      await limited.open();
      await limited.own("worker", leaseMs, noon);
      await limited.close();
      await limited.open();
      await limited.own("worker", leaseMs, noon);
      const left = size(place);
      await limited.close();
      return left;
    };
    expect(one).toBeGreaterThan(0);
    expect(await sizes(one)).toBe(0);
    expect(await sizes(one + 1)).toBe(one);
  });

  test("a log that was emptied is synced before anything is written to it again", async () => {
    await store.close();
    const done: string[] = [];
    const isLog = (path: string) => basename(path) === "intents.jsonl";
    const files: Files = {
      ...diskFiles,
      writeAt: (path, at, bytes) => {
        if (isLog(path)) done.push(bytes.length === 0 ? "emptied" : "written");
        diskFiles.writeAt(path, at, bytes);
      },
      sync: (path) => {
        if (isLog(path)) done.push("synced");
        diskFiles.sync(path);
      },
    };
    const limited = new FileStore({ directory }, { files, logBytesMax: 1 });
    await limited.open();
    await limited.own("worker", leaseMs, noon);
    await limited.close();
    expect(done.slice(-4)).toEqual(["written", "synced", "emptied", "synced"]);
  });
});

describe("whose directory it is", () => {
  test("one that is not there is made, with those above it; what begins with a dot is nobody's business", async () => {
    const deep = join(folder, "a/b/c");
    const made = fileStore({ directory: deep });
    await made.open();
    await made.close();
    mkdirSync(join(folder, "dotted/.git"), { recursive: true });
    const dotted = fileStore({ directory: join(folder, "dotted") });
    await dotted.open();
    await dotted.close();
    expect(readdirSync(deep).sort()).toEqual(["holdfast.json", "intents.jsonl", "lock"]);
  });

  test.each([
    ["another program's", "notes.txt", "Dear diary", "STORE_FOREIGN"],
    [
      "another program's of the same name",
      "holdfast.json",
      '{"format":"other","version":1}',
      "STORE_FOREIGN",
    ],
    ["another program's lock", "lock", "12345", "STORE_FOREIGN"],
    ["a newer version's", "holdfast.json", '{"format":"holdfast file store","version":2}', "STORE_NEWER"],
    ["one without a version", "holdfast.json", '{"format":"holdfast file store"}', "STORE_CORRUPT"],
    ["damaged", "holdfast.json", "{", "STORE_CORRUPT"],
  ])("%s is refused and left as it was", async (_, name, text, code) => {
    const place = join(folder, "other");
    mkdirSync(place);
    writeFileSync(join(place, name), text);
    expect(await failure(place)).toMatchObject({ code });
    expect(readdirSync(place)).toEqual([name]);
    expect(readFileSync(join(place, name), "utf8")).toBe(text);
  });

  test("a path that is a file cannot be one", async () => {
    writeFileSync(join(folder, "file"), "text");
    expect(await failure(join(folder, "file"))).toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    expect(await failure(join(folder, "file/below"))).toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

describe("a second store", () => {
  test("is refused while the first is open, of this process too, and let in when it is closed", async () => {
    const second = fileStore({ directory });
    await expect(second.open()).rejects.toMatchObject({ code: "STORE_OWNED", retry: "later" });
    await expect(second.readHead(sample)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await store.close();
    await second.open();
    await second.close();
  });

  test("I2: that got in all the same fences the first, which changes nothing any more", async () => {
    const { epoch, head } = await begun(store);
    // The lock is of the operating system's, and whoever takes its file away takes it away too.
    unlinkSync(join(directory, "lock"));
    const second = fileStore({ directory });
    await second.open();
    const newest = await committed(second, commitOn(head, epoch, { sends: [eventOf("e1")] }));
    await expect(store.commit([commitOn(head, epoch)])).rejects.toMatchObject({ code: "STORE_OWNED" });
    await expect(store.readHead(sample)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await second.readHead(sample)).toEqual(newest);
    await committed(second, commitOn(newest, epoch));
    await second.close();
  });

  test.each([
    ["begun anew by another, though both are empty", (log: string) => renameSync(another(), log)],
    ["written by another", (log: string) => appendFileSync(log, "\n")],
  ])("I2: a log that was %s is not written any more", async (_, change) => {
    await begun(store);
    await store.close();
    await store.open();
    change(join(directory, "intents.jsonl"));
    const before = filesIn(directory);
    await expect(store.enqueue([eventOf("e1")])).rejects.toMatchObject({ code: "STORE_OWNED" });
    expect(filesIn(directory)).toEqual(before);
  });

  test("I2: a first one that is only closed does not write over it", async () => {
    const { epoch, head } = await begun(store);
    unlinkSync(join(directory, "lock"));
    const second = fileStore({ directory });
    await second.open();
    await committed(second, commitOn(head, epoch));
    const before = filesIn(directory);
    await store.close();
    expect(filesIn(directory)).toEqual(before);
    expect((await second.load(sample))?.entries.length).toBe(2);
    await second.close();
    await store.open();
    expect((await store.load(sample))?.entries.length).toBe(2);
  });
});

describe("a damaged file", () => {
  const damages: readonly (readonly [what: string, file: string, damage: (text: string) => string])[] = [
    ["a journal that is not whole", "tenants/acme/runs/run-1.journal.jsonl", (text) => text.slice(0, -9)],
    [
      "a dead letter of another number",
      "tenants/acme/dead-letters/1.json",
      (text) => text.replace("1,", "7,"),
    ],
    ["a lease that is none", "store.json", (text) => text.replace('"epoch": 1', '"epoch": -1')],
  ];

  test.each(damages)(
    "%s is told with its name, and everything is left as it was",
    async (_, file, damage) => {
      const { epoch, head } = await begun(store);
      await committed(
        store,
        commitOn(head, epoch, { sends: [eventOf("e1"), eventOf("e2", { run: "nobody" })] }),
      );
      await store.close();
      const path = join(directory, file);
      const text = readFileSync(path, "utf8");
      writeFileSync(path, damage(text));
      const before = filesIn(directory);
      expect(before[file]).not.toBe(text);
      const error = await failure(directory);
      expect(error).toMatchObject({ code: "STORE_CORRUPT", retry: "never", details: { file: path } });
      expect((error as Error).message).toContain(`The file ${path} is damaged`);
      expect(filesIn(directory)).toEqual(before);
      writeFileSync(path, text);
      await store.open();
      expect((await store.load(sample))?.inbox.length).toBe(1);
    },
  );

  const ofRuns: readonly (readonly [what: string, damage: (text: string) => string])[] = [
    ["not JSON", () => "{"],
    ["empty", () => ""],
    ["without a head", () => "{}"],
    ["cut short", (text) => text.slice(0, -50)],
    ["of no known status", (text) => text.replace('"active"', '"odd"')],
    ["of another name", (text) => text.replace('"run-1"', '"run-2"')],
    ["with an event without an id", (text) => text.replace('"id": "e1"', '"id": 1')],
    ["with an event without bytes", (text) => text.replace('"base64"', '"x"')],
  ];

  test.each(ofRuns)(
    "a run that is %s is told when it is asked for; others go on, and its files stay as they were",
    async (_, damage) => {
      const { epoch, head } = await begun(store, { withSnapshot: true });
      const other = await committed(store, firstCommit("run-2", epoch));
      await committed(store, commitOn(head, epoch, { sends: [eventOf("e1")] }));
      const ended = await committed(
        store,
        firstCommit("run-3", epoch, { head: { status: "done", completedAt: 1 } }),
      );
      await store.close();
      const path = join(directory, "tenants/acme/runs/run-1.json");
      const text = readFileSync(path, "utf8");
      writeFileSync(path, damage(text));
      const before = filesIn(directory);
      await store.open();
      const error = { code: "STORE_CORRUPT", retry: "never", details: { file: path } };
      for (const asked of [
        () => store.load(sample),
        () => store.readHead(sample),
        () => store.enqueue([eventOf("e9")]),
        () => store.commit([firstCommit("run-1", epoch)]),
      ])
        await expect(asked()).rejects.toMatchObject(error);
      await committed(store, commitOn(other, epoch, { sends: [eventOf("e8")] }));
      expect((await store.findRuns({ tenant: "acme", limit: 9 })).map(({ run }) => run).sort()).toEqual([
        "run-2",
        "run-3",
      ]);
      expect(
        (await store.readDeadLetters("acme", 0, 9)).map(({ id }) => id),
        "it waits for a person",
      ).toEqual(["e8"]);
      expect(await store.removeRuns([ended], epoch), "it may be stood on").toEqual([false]);
      const rows = await store.scan("run", { limit: 9 });
      expect(rows.map(({ problem }) => problem?.includes(path))).toEqual([true, undefined, undefined]);
      expect((await store.scan("entry", { of: rows[0]?.place as string, limit: 9 })).length).toBe(2);
      await store.close();
      for (const [file, bytes] of Object.entries(before))
        if (file.includes("/run-1.")) expect(filesIn(directory)[file], file).toEqual(bytes);
      writeFileSync(path, text);
      await store.open();
      expect((await store.load(sample))?.inbox.length).toBe(1);
    },
  );

  test("a journal that was taken away from an open store is damage", async () => {
    await begun(store);
    rmSync(join(directory, "tenants/acme/runs/run-1.journal.jsonl"));
    await expect(store.readJournal(sample, 1, 9)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  test("a lease that is gone while there are runs is damage", async () => {
    await begun(store);
    await store.close();
    unlinkSync(join(directory, "store.json"));
    expect(await failure(directory)).toMatchObject({ code: "STORE_CORRUPT" });
  });

  test.each([
    ["an entry that is not JSON", (text: string) => text.replace('"at"', 'xat"')],
    ["an entry of another checkpoint", (text: string) => text.replace('{"seq":2,', '{"seq":4,')],
    ["no entries at all", () => ""],
  ])("%s is told when it is read, and other runs are not touched by it", async (_, damage) => {
    const { epoch, head } = await begun(store);
    await committed(store, commitOn(head, epoch, { steps: 2 }));
    const other = await committed(store, firstCommit("run-2", epoch));
    const path = join(directory, "tenants/acme/runs/run-1.journal.jsonl");
    writeFileSync(path, damage(readFileSync(path, "utf8")));
    await expect(store.load(sample)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      details: { file: path },
    });
    await committed(store, commitOn(other, epoch));
  });

  test("a journal is read up to its damage, page by page", async () => {
    const { epoch, head } = await begun(store);
    await committed(store, commitOn(head, epoch, { steps: 3 }));
    const path = join(directory, "tenants/acme/runs/run-1.journal.jsonl");
    writeFileSync(path, readFileSync(path, "utf8").replace('{"seq":3,"at"', '{"seq":3,"xx"'));
    expect((await store.readJournal(sample, 1, 9)).map(({ seq }) => seq)).toEqual([1, 2]);
    await expect(store.readJournal(sample, 3, 9)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    expect((await store.readJournal(sample, 4, 9)).map(({ seq }) => seq)).toEqual([4]);
    expect((await store.readAt(sample, 2))?.entries.length).toBe(2);
    await expect(store.readAt(sample, 3)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  test.each([
    ["damaged", "{"],
    ["gone", undefined],
  ])("a snapshot that is %s has no bytes", async (_, text) => {
    await begun(store, { withSnapshot: true });
    const path = join(directory, "tenants/acme/runs/run-1.snapshot-1.json");
    if (text === undefined) rmSync(path);
    else writeFileSync(path, text);
    expect((await store.load(sample))?.snapshot).toEqual({ seq: 1, bytes: new Uint8Array() });
  });
});

describe("a store of many", () => {
  test("a long journal is read from any checkpoint on, across blocks", async () => {
    const { epoch, head } = await begun(store);
    const size = (step: number) => (step % 7 === 0 ? 40_000 : 100 + (step % 50));
    let newest: RunHead = head;
    for (let turn = 0; turn < 20; turn++) {
      const commit = commitOn(newest, epoch, { steps: 30 });
      const entries = commit.entries.map((entry) => ({
        ...entry,
        bytes: bytesOf("x".repeat(size(entry.seq))),
      }));
      newest = await committed(store, { ...commit, entries });
    }
    for (const from of [1, 2, 3, 100, 299, 300, 301, 555, 600, 601]) {
      const entries = await store.readJournal(sample, from, 3);
      expect(entries.map(({ seq }) => seq)).toEqual([from, from + 1, from + 2].filter((seq) => seq <= 601));
      for (const { seq, bytes } of entries.filter((entry) => entry.seq > 1))
        expect(bytes.length).toBe(size(seq));
    }
    expect(await store.readJournal(sample, 602, 3)).toEqual([]);
  });

  test("runs whose names differ only for people are different runs", async () => {
    const { epoch } = await begun(store);
    const names = ["Run", "run", "RUN", "r\u00fcn", "ru\u0308n", "run.journal", "run/..", "x".repeat(512)];
    for (const run of names) await committed(store, firstCommit(run, epoch));
    await store.close();
    await store.open();
    const found = await store.findRuns({ tenant, limit: 99 });
    expect(found.map(({ run }) => run).sort()).toEqual([...names, "run-1"].sort());
    for (const run of names) expect((await store.load({ tenant, run }))?.entries.length).toBe(1);
  });

  test("calls that are made together are made one after the other", async () => {
    const { epoch, head } = await begun(store);
    const answers = await Promise.all([
      store.commit([commitOn(head, epoch)]),
      store.load(sample),
      store.commit([commitOn(head, epoch)]),
      ...Array.from({ length: 20 }, (_, index) => store.enqueue([eventOf(`e${index}`)])),
      store.load(sample),
    ]);
    expect(answers[0]).toEqual([{ outcome: "committed" }]);
    expect(answers[1]).toMatchObject({ head: { seq: 2 }, inbox: [] });
    expect(answers[2]).toEqual([{ outcome: "conflict", run: "run-1", seq: 2 }]);
    expect((answers.at(-1) as unknown as LoadedRun).inbox.length).toBe(20);
  });

  test("a copy of a closed directory is a store of its own", async () => {
    const { epoch, head } = await begun(store);
    await store.close();
    cpSync(directory, join(folder, "twin"), { recursive: true });
    const twin = fileStore({ directory: join(folder, "twin") });
    await twin.open();
    await store.open();
    await committed(twin, commitOn(head, epoch));
    expect((await store.readHead(sample))?.seq).toBe(1);
    await twin.close();
  });
});

test("I1: a call that fails half-way leaves nothing behind, and the store goes on", async () => {
  const { epoch, head } = await begun(store);
  const bad = firstCommit("run-3", epoch, { sends: [undefined as never] });
  await expect(store.commit([commitOn(head, epoch), firstCommit("run-2", epoch), bad])).rejects.toThrow();
  expect(await store.readHead(sample)).toEqual(head);
  expect(await store.readHead({ tenant, run: "run-2" })).toBeUndefined();
  await committed(store, commitOn(head, epoch));
});

test("I1: so does one that had come only to an inbox, to a document, or to what the store says of itself", async () => {
  const { epoch } = await begun(store);
  const bad = undefined as never;
  await expect(store.enqueue([eventOf("e1"), bad])).rejects.toThrow();
  expect(await store.readInbox(sample, 9)).toEqual([]);
  const document = { change: "document", tenant, name: "d", bytes: bytesOf("{}") } as const;
  await expect(store.mend([document, bad], epoch)).rejects.toThrow();
  expect(await store.readDocument(tenant, "d")).toBeUndefined();
  const worse = { ...document, bytes: bad };
  await expect(store.mend([{ change: "lease" }, worse], epoch)).rejects.toThrow();
  // What a later call makes certain has nothing of it either.
  expect(await store.enqueue([eventOf("e2")])).toHaveLength(1);
  await store.close();
  await store.open();
  expect((await store.readInbox(sample, 9)).map(({ id }) => id)).toEqual(["e2"]);
  expect(await store.readDocument(tenant, "d")).toBeUndefined();
  expect((await store.own("worker-2", leaseMs, noon)).outcome).toBe("taken");
});

test("a store that is not open says so, and opening twice is opening once", async () => {
  await begun(store);
  await store.open();
  await store.close();
  await store.close();
  await expect(store.readHead(sample)).rejects.toThrow(
    `The store ${resolve(directory)} is not open; call open() first`,
  );
  await store.open();
  expect((await store.readHead(sample))?.seq).toBe(1);
});
