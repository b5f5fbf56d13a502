import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { conformance } from "../conformance/index.ts";
import {
  activityOf,
  begun,
  commitOn,
  committed,
  eventOf,
  firstCommit,
  leaseMs,
  noon,
  owned,
  sample,
  tenant,
} from "../conformance/sample.ts";
import type { RunHead } from "../records.ts";
import type { Remembering, Store } from "../store.ts";
import { sqlite } from "./store.ts";

/** A file of its own for the suite, and the stores that are opened on it. */
function openWith(create: (path: string) => Store) {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
    const path = join(folder, "runs.db");
    let store = create(path);
    await store.open();
    const reopen = async (): Promise<Store> => {
      await store.close();
      store = create(path);
      await store.open();
      return store;
    };
    const dispose = async (): Promise<void> => {
      await store.close();
      rmSync(folder, { recursive: true });
    };
    return { store, reopen, dispose };
  };
}

/** Two connections to one file, as two processes have them: each call goes to the one that was not asked last. */
function alternating(path: string): Store {
  const stores = [sqlite(path, { synchronous: "normal" }), sqlite(path, { synchronous: "normal" })] as const;
  let turn = 0;
  const both = (verb: "open" | "close") => async () => {
    for (const store of stores) await store[verb]();
  };
  return new Proxy(stores[0], {
    get: (first, verb: keyof Store) => {
      if (verb === "open" || verb === "close") return both(verb);
      // A promise that is given a store asks it for `then`.
      if (!(verb in first)) return undefined;
      const store = stores[turn++ % 2] as Store;
      const member: unknown = store[verb];
      return typeof member === "function" ? member.bind(store) : member;
    },
  });
}

const kit = { describe, test, expect };
conformance({ name: "the SQLite store", test: kit, searching: true, open: openWith((path) => sqlite(path)) });
conformance({ name: "a SQLite file open twice", test: kit, searching: true, open: openWith(alternating) });

let folder: string;
let path: string;
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-"));
  path = join(folder, "runs.db");
  store = sqlite(path);
  await store.open();
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

test("what an owner has read it knows when it commits; what it read before it owned the store is read again", async () => {
  const { head } = await begun(store);
  await store.release("worker-1", 1, noon);
  const known = () => (store as Store & Remembering).caches()["known runs"];
  const read = async (first: () => Promise<unknown>, then: () => Promise<unknown>) => {
    await store.close();
    await store.open();
    await first();
    await then();
  };
  await read(
    () => owned(store),
    () => store.load(sample),
  );
  const second = await committed(store, commitOn(head, 2));
  expect(known()).toEqual({ hits: 1, misses: 0 });
  await store.release("worker-1", 2, noon);
  await read(
    () => store.load(sample),
    () => owned(store),
  );
  await committed(store, commitOn(second, 3));
  expect(known()).toEqual({ hits: 1, misses: 1 });
});

test("of steps that change nothing else none is looked up before its commit", async () => {
  let { head, epoch } = await begun(store);
  for (let step = 0; step < 3; step++) head = await committed(store, commitOn(head, epoch));
  expect((store as Store & Remembering).caches()["known runs"]).toEqual({ hits: 3, misses: 0 });
});

test("of the lease, commits and pieces of streams read who has it, and not the outages of years", async () => {
  const epoch = await owned(store);
  const database = new DatabaseSync(path);
  database.exec("UPDATE lease SET outages = 'not to be read'");
  const outcomes = await store.commit(["run-1", "run-2"].map((run) => firstCommit(run, epoch)));
  expect(outcomes).toEqual([{ outcome: "committed" }, { outcome: "committed" }]);
  const chunk = { offset: 0, attempt: 1, bytes: new Uint8Array(1) };
  expect(await store.appendChunks(sample, "1.0", [chunk], epoch)).toBe(true);
  database.close();
});

/** Runs a module in another process, with the store and samples at hand; its lines of output. */
function inAnotherProcess(body: string): {
  lines: AsyncIterable<string>;
  kill(): void;
  ended: Promise<void>;
} {
  const script = join(folder, `child-${Math.random()}.ts`);
  const source = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
  writeFileSync(
    script,
    `import { sqlite } from ${source("./store.ts")};
    import * as samples from ${source("../conformance/sample.ts")};
    const { commitOn, committed, eventOf, firstCommit, leaseMs, noon, owned, sample, tenant } = samples;
    const store = sqlite(${JSON.stringify(path)});
    await store.open();
    const say = (value: unknown) => console.log(JSON.stringify(value));
    ${body}
    await store.close();`,
  );
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  return { lines: createInterface(child.stdout), kill: () => child.kill("SIGKILL"), ended };
}

async function said(body: string): Promise<unknown[]> {
  const answers: unknown[] = [];
  for await (const line of inAnotherProcess(body).lines) answers.push(JSON.parse(line));
  return answers;
}

describe("a second process", () => {
  test("is refused the runs, may send to them, and cannot commit", async () => {
    const { epoch, head } = await begun(store);
    const answers = await said(`
      say(await store.own("other", leaseMs, noon));
      say(await store.enqueue([eventOf("from another process")]));
      const head = await store.readHead(sample);
      say(await store.commit([commitOn(head, ${epoch} + 1)]));
    `);
    expect(answers).toEqual([
      { outcome: "taken", owner: "worker-1", epoch, until: noon + leaseMs },
      ["accepted"],
      [{ outcome: "fenced", epoch }],
    ]);
    expect(await store.due(noon, 9)).toEqual([sample]);
    expect((await store.load(sample))?.inbox).toEqual([eventOf("from another process")]);
    expect(await store.readHead(sample)).toEqual(head);
  });

  test("I2: takes over when the lease has lapsed, and fences the first one", async () => {
    const { epoch, head } = await begun(store);
    const [second] = await said(`
      const epoch = await owned(store, "other", noon + leaseMs);
      say(await committed(store, commitOn(await store.readHead(sample), epoch, { head: { attributes: { by: "other" } } })));
    `);
    expect(await store.commit([commitOn(head, epoch)])).toEqual([{ outcome: "fenced", epoch: epoch + 1 }]);
    expect(await store.readHead(sample)).toEqual(second);
    const again = await owned(store, "worker-1", noon + 3 * leaseMs);
    const third = await committed(store, commitOn(second as RunHead, again, { head: { attributes: {} } }));
    expect(await store.readHead(sample)).toEqual(third);
    expect(await store.findRuns({ tenant, limit: 9, attributes: { by: "other" } })).toEqual([]);
  });

  test("writes at the same time, and both wait for each other", async () => {
    await begun(store);
    const sendMany = (who: string) =>
      said(`for (let i = 0; i < 150; i++) say(await store.enqueue([eventOf("${who}" + i)]));`);
    const answers = await Promise.all([sendMany("a"), sendMany("b")]);
    expect(new Set(answers.flat(2))).toEqual(new Set(["accepted"]));
    expect((await store.load(sample))?.inbox.length).toBe(300);
  });

  test("I1: is killed, and every commit it told of is there", async () => {
    const child = inAnotherProcess(`
      const epoch = await owned(store);
      let head = await committed(store, firstCommit("run-1", epoch));
      for (;;) {
        head = await committed(store, commitOn(head, epoch, { sends: [eventOf("e" + head.seq)] }));
        say(head.seq);
      }
    `);
    let told = 0;
    for await (const line of child.lines) {
      told = Number(line);
      if (told >= 200) child.kill();
    }
    await child.ended;
    const loaded = await store.load(sample);
    const seq = loaded?.head.seq as number;
    expect(seq).toBeGreaterThanOrEqual(told);
    expect(loaded?.entries.length).toBe(seq);
    expect(loaded?.inbox.length).toBe(seq - 1);
    expect((await store.own("next", leaseMs, noon + leaseMs)).outcome).toBe("owned");
  });
});

describe("when something goes wrong", () => {
  test("I1: a call that fails half-way leaves nothing behind, and the store goes on", async () => {
    const { epoch, head } = await begun(store);
    const second = firstCommit("run-2", epoch);
    const bad = firstCommit("run-3", epoch, { keys: [{ key: null as unknown as string, seq: 1 }] });
    await expect(store.commit([commitOn(head, epoch), second, bad])).rejects.toThrow();
    expect(await store.readHead(sample)).toEqual(head);
    const next = commitOn(second.head, epoch);
    expect(await store.commit([next])).toEqual([{ outcome: "conflict", run: "run-2", seq: 0 }]);
    const attributes = { after: true };
    const keys = [{ key: null as unknown as string, seq: 2 }];
    await expect(store.commit([commitOn(head, epoch, { head: { attributes }, keys })])).rejects.toThrow();
    await committed(store, commitOn(head, epoch, { head: { attributes } }));
    expect((await store.findRuns({ tenant, limit: 9, attributes })).length).toBe(1);
  });

  test("a store that is not open says so", async () => {
    await store.close();
    await store.close();
    await expect(store.readHead(sample)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect(sqlite(path).due(noon, 1)).rejects.toThrow(
      `The store ${path} is not open; call open() first`,
    );
  });

  test("opening twice is opening once", async () => {
    await begun(store);
    await store.open();
    expect((await store.readHead(sample))?.seq).toBe(1);
  });

  test.each([
    ["a missing entry", "DELETE FROM entry WHERE seq = 2"],
    ["a description that is not JSON", "UPDATE run SET about = 'x'"],
    ["a number no one can have counted to", "UPDATE entry SET seq = 1 << 60 WHERE seq = 3"],
  ])("%s is damage, and is told as such", async (_, sql) => {
    const { epoch, head } = await begun(store);
    await committed(store, commitOn(head, epoch, { steps: 2 }));
    const other = new DatabaseSync(path);
    other.exec(sql);
    other.close();
    await expect(store.load(sample)).rejects.toMatchObject({ code: "STORE_CORRUPT", retry: "never" });
  });

  test.each(["fork_run = 'another'", "fork_seq = 9", "fork_run = NULL, fork_seq = NULL"])(
    "a fork that is noted otherwise than its run says is damage that tools see: %s",
    async (sql) => {
      const { epoch } = await begun(store);
      const fork = { run: "run-1", seq: 1 };
      await committed(store, firstCommit("fork", epoch, { head: { fork } }));
      const other = new DatabaseSync(path);
      other.exec(`UPDATE run SET ${sql} WHERE run = 'fork'`);
      other.close();
      const rows = await store.scan("run", { limit: 9 });
      expect(rows.map(({ row, problem }) => [row?.run, problem])).toEqual([
        ["run-1", undefined],
        ["fork", "what it was forked from is not noted as it should be"],
      ]);
    },
  );

  test("a store without a lease is damaged, and is told as such", async () => {
    const { epoch, head } = await begun(store);
    const other = new DatabaseSync(path);
    other.exec("DELETE FROM lease");
    other.close();
    await expect(store.own("worker", leaseMs, noon)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect(store.commit([commitOn(head, epoch)])).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  test("I2: a lease that is made anew is above any epoch that something was done under", async () => {
    const workers = ["a", "b", "c"];
    for (const [turn, by] of workers.entries()) await owned(store, by, noon + 2 * turn * leaseMs);
    await committed(store, firstCommit("run-1", 3, { begun: [activityOf("1.0", { status: "running" })] }));
    const other = new DatabaseSync(path);
    other.exec("DELETE FROM lease");
    other.close();
    expect(await store.mend([{ change: "lease" }], 0)).toBe(true);
    expect(await owned(store, "next")).toBeGreaterThan(3);
    expect(await store.due(noon, 9)).toEqual([sample]);
  });

  test("entries that belong to no run are given to one that has none, if they are of one, and to no other", async () => {
    const { epoch, head } = await begun(store);
    const lost = await committed(store, firstCommit("run-2", epoch));
    const also = await committed(store, firstCommit("run-3", epoch));
    await committed(store, firstCommit("removed", epoch, { head: { status: "done" } }));
    await store.removeRuns([{ tenant, run: "removed" }], epoch);
    const [one, two, three] = (await store.scan("run", { limit: 9 })).map(({ place }) => place);
    const other = new DatabaseSync(path);
    const lose = (from: number, to: number) =>
      other.exec(`UPDATE entry SET run_id = ${to} WHERE run_id = ${from}`);
    lose(2, 98);
    lose(3, 99);
    let now = noon;
    const rejoin = async (run: string | undefined) => {
      now += 2 * leaseMs;
      await store.mend([{ change: "rejoin", run: run as string }], await owned(store, `at ${now}`, now));
      return [await store.readHead(sample), await store.readHead(lost), await store.readHead(also)];
    };
    expect(await rejoin(two), "of two").toEqual([head, undefined, undefined]);
    lose(99, 3);
    expect(await rejoin(one), "it has some").toEqual([head, undefined, also]);
    expect(await rejoin(three), "it has some").toEqual([head, undefined, also]);
    expect(await rejoin(two)).toEqual([head, lost, also]);
    other.close();
  });

  test("text and attributes with surrogate pairs and line breaks come back as they were", async () => {
    const attributes = { "name\n": "\u{1f600}\r\n\t\u2028", quote: `"'\\` };
    await begun(store, { head: { attributes, subject: "line\nbreak" } });
    expect(await store.findRuns({ tenant, limit: 9, attributes, subject: "line\nbreak" })).toMatchObject([
      { attributes, subject: "line\nbreak" },
    ]);
  });
});
