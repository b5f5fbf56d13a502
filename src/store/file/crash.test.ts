/** What a crash may leave: logs and journals cut at every byte, openings that end half-way, processes that are killed. */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
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
import type { Store } from "../store.ts";
import { diskFiles, type Files } from "./files.ts";
import { IntentLog } from "./intent-log.ts";
import { FileStore, fileStore } from "./store.ts";

let folder: string;
let directory: string;
let store: Store;

beforeEach(async () => {
  // In memory where there is a place for it: nothing here is about the disk, and there are thousands of syncs.
  folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "holdfast-"));
  directory = join(folder, "store");
  store = fileStore({ directory });
  await store.open();
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

let copies = 0;
/** The directory as it is now, as a crash would leave it, at another place. */
function copyOf(from: string): string {
  const to = join(folder, `copy-${++copies}`);
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith("lock") });
  return to;
}

const log = (of: string): string => join(of, "intents.jsonl");
const journal = (of: string): string => join(of, "tenants/acme/runs/run-1.journal.jsonl");

/** Opens a directory, reads what the tests here write, and closes it. */
async function readAll(of: string): Promise<unknown> {
  const opened = fileStore({ directory: of });
  await opened.open();
  try {
    return [
      await opened.load(sample),
      await opened.load({ tenant, run: "run-2" }),
      await opened.load({ tenant, run: "child" }),
      await opened.readKeys(sample, ["k1", "k2"]),
      await opened.readContents(tenant, "ada", ["d1", "d2"]),
      await opened.readChunks(sample, "1.0", 0, 9),
      await opened.readDeadLetters(tenant, 0, 9),
      await opened.readDocument(tenant, "board"),
    ];
  } finally {
    await opened.close();
  }
}

/** A run with something of everything, and a call that changes all of it at once. */
async function prepare(): Promise<{ epoch: number; change: () => Promise<void> }> {
  const { epoch, head } = await begun(store, { withSnapshot: true, begun: [activityOf("1.0")] });
  const other = await committed(store, firstCommit("run-2", epoch));
  await store.enqueue([eventOf("e1", { key: "k1" }), eventOf("e2")]);
  await store.appendChunks(sample, "1.0", [{ offset: 0, attempt: 1, bytes: bytesOf("piece") }], epoch);
  await store.writeDocument(tenant, "board", 0, bytesOf("first"));
  const change = async (): Promise<void> => {
    const commits = [
      commitOn(head, epoch, {
        ...{ steps: 2, withSnapshot: true, consumed: ["e1"], keys: ["k2"], ended: ["1.0"] },
        begun: [activityOf("2.0")],
        contents: [{ digest: "d1", bytes: bytesOf("large") }],
        sends: [eventOf("s1", { run: "run-2" }), eventOf("lost", { run: "nobody" })],
        starts: [firstCommit("child", epoch)],
      }),
      commitOn(other, epoch, { contents: [{ digest: "d2", bytes: bytesOf("larger") }] }),
    ];
    expect(await store.commit(commits)).toEqual([{ outcome: "committed" }, { outcome: "committed" }]);
  };
  return { epoch, change };
}

describe("a log that was cut", () => {
  test("I1: at any byte of its last call is a call that never was, with all it changes", async () => {
    const { change } = await prepare();
    const before = copyOf(directory);
    const start = readFileSync(log(before)).length;
    const unchanged = await readAll(copyOf(before));
    await change();
    const whole = readFileSync(log(directory));
    const changed = await readAll(copyOf(directory));
    expect(changed).not.toEqual(unchanged);
    const cut = copyOf(before);
    const calls = new IntentLog(log(before), diskFiles).read().length;
    for (let end = start; end <= whole.length; end++) {
      writeFileSync(log(cut), whole.subarray(0, end));
      const read = new IntentLog(log(cut), diskFiles).read().length;
      expect(read, `cut at ${end}`).toBe(end === whole.length ? calls + 1 : calls);
    }
    const ends = Array.from({ length: whole.length - start + 1 }, (_, index) => start + index);
    for (const end of ends.filter((each) => each % 29 === 0 || whole.length - each < 3)) {
      const copy = copyOf(before);
      writeFileSync(log(copy), whole.subarray(0, end));
      expect(await readAll(copy), `cut at ${end}`).toEqual(end === whole.length ? changed : unchanged);
      rmSync(copy, { recursive: true });
    }
  });

  test("a call that is missing between two others is damage", async () => {
    const { change } = await prepare();
    await change();
    const copy = copyOf(directory);
    const lines = readFileSync(log(copy), "utf8").split("\n");
    writeFileSync(log(copy), lines.toSpliced(2, 1).join("\n"));
    await expect(readAll(copy)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      details: { file: log(copy) },
    });
  });

  test("damage before a good call is damage, is told with the file's name, and changes nothing", async () => {
    const { change } = await prepare();
    await change();
    const copy = copyOf(directory);
    const bytes = readFileSync(log(copy));
    bytes[bytes.indexOf('"seq"')] = 0x58;
    writeFileSync(log(copy), bytes);
    await expect(readAll(copy)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      details: { file: log(copy) },
    });
    expect(readFileSync(log(copy)).equals(bytes)).toBe(true);
  });
});

describe("a journal that was cut", () => {
  test("I1: at any byte that was not synced is mended from the log, and what a crash left behind is cut off", async () => {
    const { change } = await prepare();
    await store.close();
    const synced = readFileSync(journal(directory)).length;
    await store.open();
    await change();
    const whole = readFileSync(journal(directory));
    const changed = await readAll(copyOf(directory));
    for (let end = synced; end <= whole.length; end++) {
      const copy = copyOf(directory);
      truncateSync(journal(copy), end);
      expect(await readAll(copy), `cut at ${end}`).toEqual(changed);
      expect(readFileSync(journal(copy)).equals(whole)).toBe(true);
      rmSync(copy, { recursive: true });
    }
    const copy = copyOf(directory);
    writeFileSync(journal(copy), Buffer.concat([whole, Buffer.from('{"seq":4,"at"')]));
    expect(await readAll(copy)).toEqual(changed);
    expect(readFileSync(journal(copy)).equals(whole)).toBe(true);
  });

  test("before what was synced is damaged, is told with its name, and is left as it was", async () => {
    await prepare();
    await store.close();
    truncateSync(journal(directory), 40);
    await expect(readAll(directory)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      details: { file: journal(directory) },
    });
    expect(readFileSync(journal(directory)).length).toBe(40);
  });
});

/** The disk's own calls, of which only the first few are made; then the process is as good as killed. */
function failingAfter(count: number): { files: Files; wasReached: () => boolean } {
  let left = count;
  const limited = Object.entries(diskFiles).map(([name, call]) => [
    name,
    (...given: unknown[]) => {
      if (left-- <= 0) throw Object.assign(new Error("stopped"), { code: "EIO", syscall: name });
      return (call as (...all: unknown[]) => unknown)(...given);
    },
  ]);
  return { files: Object.fromEntries(limited) as Files, wasReached: () => left < 0 };
}

test("I1: an opening that ends after any of its writes is begun again, and leads to the same", async () => {
  const { change } = await prepare();
  await change();
  const changed = await readAll(copyOf(directory));
  const half = copyOf(directory);
  let openings = 0;
  for (let reached = true; reached; openings++) {
    const { files, wasReached } = failingAfter(openings);
    const copy = copyOf(half);
    const opened = new FileStore({ directory: copy }, { files });
    await opened.open().catch((error: unknown) => expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" }));
    await opened.close();
    expect(await readAll(copy), `after ${openings} calls`).toEqual(changed);
    reached = wasReached();
    rmSync(copy, { recursive: true });
  }
  expect(openings).toBeGreaterThan(20);
});

test("I1: a disk that fails in the middle of a call leaves all or nothing of it, and the store goes on", async () => {
  const outcomes = new Set<string>();
  for (let count = 0; count < 40; count++) {
    const place = join(folder, `failing-${count}`);
    let now: Files = diskFiles;
    const files = new Proxy(diskFiles, { get: (_, name: keyof Files) => now[name] });
    const failing = new FileStore({ directory: place }, { files });
    await failing.open();
    const { epoch, head } = await begun(failing);
    now = failingAfter(count).files;
    const commit = commitOn(head, epoch, { sends: [eventOf("e1")], starts: [firstCommit("child", epoch)] });
    const answer = await failing.commit([commit]).catch((error: { code: string }) => error.code);
    now = diskFiles;
    const seq = (await failing.readHead(sample))?.seq;
    expect((await failing.load(sample))?.inbox.length).toBe(seq === 2 ? 1 : 0);
    expect((await failing.readHead({ tenant, run: "child" }))?.seq).toBe(seq === 2 ? 1 : undefined);
    if (typeof answer !== "string") expect(seq).toBe(2);
    outcomes.add(`${typeof answer === "string" ? answer : "committed"} ${seq}`);
    const again = (await failing.readHead(sample)) as RunHead;
    await committed(failing, commitOn(again, epoch));
    await failing.close();
  }
  expect([...outcomes].sort()).toEqual(["STORE_UNAVAILABLE 1", "STORE_UNAVAILABLE 2", "committed 2"]);
});

describe("a process that is killed", () => {
  /** Runs a module in another process, with the store and samples at hand. */
  function inAnotherProcess(body: string) {
    const script = join(folder, `child-${++copies}.ts`);
    const source = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
    writeFileSync(
      script,
      `import { FileStore } from ${source("./store.ts")};
      import { commitOn, committed, eventOf, firstCommit, leaseMs, noon, owned, sample } from ${source("../conformance/sample.ts")};
      const store = new FileStore({ directory: ${JSON.stringify(directory)} }, { logBytesMax: 20_000 });
      await store.open();
      ${body}`,
    );
    const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
    return { lines: createInterface(child.stdout), kill: () => child.kill("SIGKILL"), ended };
  }

  test("I1: keeps every event and step it told of, twenty times over", async () => {
    await store.close();
    let told = 0;
    for (let life = 0; life < 20; life++) {
      const child = inAnotherProcess(`
        const epoch = await owned(store, "worker-${life}", noon + ${2 * life} * leaseMs);
        let head = await store.readHead(sample) ?? await committed(store, firstCommit("run-1", epoch));
        for (;;) {
          const id = String(head.seq).padStart(6, "0");
          await store.enqueue([eventOf("foreign " + id)]);
          head = await committed(store, commitOn(head, epoch, {
            withSnapshot: head.seq % 5 === 0,
            consumed: ["foreign " + id],
            sends: [eventOf("sent " + id)],
            starts: head.seq % 9 === 0 ? [firstCommit("child-" + id, epoch)] : [],
          }));
          console.log(head.seq);
        }
      `);
      let lines = 0;
      for await (const line of child.lines) {
        told = Number(line);
        if (++lines === 1 + life * 2) child.kill();
      }
      await child.ended;
      await store.open();
      const loaded = await store.load(sample);
      const seq = loaded?.head.seq as number;
      expect(seq).toBeGreaterThanOrEqual(told);
      expect((await store.readJournal(sample, 1, 10_000)).map((entry) => entry.seq)).toEqual(
        Array.from({ length: seq }, (_, index) => index + 1),
      );
      const waiting = loaded?.inbox.map(({ id }) => id) ?? [];
      expect(waiting.filter((id) => id.startsWith("sent")).length).toBe(seq - 1);
      expect((await store.findRuns({ tenant, limit: 10_000 })).length).toBe(1 + Math.floor((seq - 1) / 9));
      await store.close();
    }
    expect(told).toBeGreaterThan(300);
    await store.open();
  });

  test("gives its directory back at once, while one that lives keeps it", async () => {
    await store.close();
    const child = inAnotherProcess(`console.log("open"); setInterval(() => {}, 1_000);`);
    for await (const _line of child.lines) {
      await expect(store.open()).rejects.toMatchObject({ code: "STORE_OWNED", details: { directory } });
      child.kill();
    }
    await child.ended;
    await store.open();
    expect((await store.own("next", leaseMs, noon)).outcome).toBe("owned");
  });
});
