import { randomUUID } from "node:crypto";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findRedis, patientMs, type RedisServer, startRedis } from "../../../test/redis/server.ts";
import { limits } from "../../limits.ts";
import {
  begun,
  bytesOf,
  commitOn,
  committed,
  entryOf,
  firstCommit,
  sample,
  tenant,
} from "../conformance/sample.ts";
import { memory } from "../memory/store.ts";
import type { RunHead } from "../records.ts";
import type { KnownCheckpoint, LoadedRun, Store } from "../store.ts";
import { type RedisOptions, withRedis } from "./index.ts";

/** A store that tells what it was asked to load, and whether it left the snapshot out. */
function watched(store: Store): { store: Store; loads: (number | undefined)[]; texts: () => number } {
  const loads: (number | undefined)[] = [];
  let texts = 0;
  const verbs: Partial<Store> = {
    load: async (name, known) => {
      const loaded = await store.load(name, known);
      loads.push(loaded?.since);
      return loaded;
    },
    readContents: (...given) => {
      texts++;
      return store.readContents(...given);
    },
  };
  const get = (_: Store, name: keyof Store) => verbs[name] ?? store[name]?.bind(store);
  return { store: new Proxy(store, { get }), loads, texts: () => texts };
}

describe.skipIf(findRedis() === undefined)("a warm tier in Redis", () => {
  let server: RedisServer;
  const opened: Store[] = [];

  beforeAll(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    server.command("FLUSHALL");
  });
  afterAll(() => server?.stop());

  async function warm(store: Store, given: Partial<RedisOptions> = {}): Promise<Store> {
    const one = withRedis(store, {
      ...(given.client === undefined ? { url: server.url } : undefined),
      ...{ bytesMin: 0, deadline: patientMs, ...given },
    } as RedisOptions);
    await one.open();
    opened.push(one);
    return one;
  }

  /** A run of five checkpoints with a snapshot of the third one, and a copy of it in Redis. */
  async function copied(given: Partial<RedisOptions> = {}) {
    const cold = watched(memory());
    const store = await warm(cold.store, given);
    const { epoch, head } = await begun(store);
    const third = await committed(store, commitOn(head, epoch, { steps: 2, withSnapshot: true }));
    const newest = await committed(store, commitOn(third, epoch, { steps: 2 }));
    await settled();
    return { cold, store, epoch, newest, key: server.command("KEYS", "*").trim() };
  }

  /** Commands go out in order, so whatever was asked before is done. */
  async function settled(): Promise<void> {
    await Promise.all(opened.map((store) => store.readContents(tenant, "nobody", ["d"])));
  }

  test("a run that another process had is read without its snapshot, and is the same", async () => {
    const { cold, newest } = await copied();
    const other = await warm(cold.store);
    const plain = await cold.store.load(sample);
    cold.loads.length = 0;
    expect(await other.load(sample)).toEqual(plain);
    expect(plain?.head).toEqual(newest);
    expect(cold.loads, "it is asked for what came after the copy").toEqual([5]);
  });

  test("what a run adds is gathered, and added to its copy once it is worth a piece", async () => {
    const { cold, store, epoch, newest } = await copied({ bytesMin: 60 });
    const snapshot = { seq: 6, bytes: new Uint8Array(100).fill(7) };
    let head = await committed(store, { ...commitOn(newest, epoch, { withSnapshot: true }), snapshot });
    const other = await warm(cold.store, { bytesMin: 60 });
    const known: unknown[] = [];
    for (let steps = 0; steps < 5; steps++) {
      head = await committed(store, commitOn(head, epoch));
      await settled();
      cold.loads.length = 0;
      expect(await other.load(sample)).toEqual(await cold.store.load(sample));
      known.push(cold.loads[0]);
    }
    // Twenty bytes and a bit for each of them.
    expect(known).toEqual([6, 6, 9, 9, 9]);
  });

  test("what others have added is added to the copy by whoever reads it", async () => {
    const { cold, epoch, newest } = await copied();
    await committed(cold.store, commitOn(newest, epoch, { steps: 2 }));
    const plain = await cold.store.load(sample);
    const reader = await warm(cold.store);
    cold.loads.length = 0;
    for (let reads = 0; reads < 2; reads++) {
      expect(await reader.load(sample)).toEqual(plain);
      await settled();
    }
    expect(cold.loads).toEqual([5, 7]);
  });

  test("nothing is added to a copy that is gone, or is another one by now", async () => {
    const { cold, store, epoch, newest, key } = await copied();
    server.command("DEL", key);
    const sixth = await committed(store, commitOn(newest, epoch));
    await settled();
    expect(server.command("EXISTS", key).trim()).toBe("0");
    await store.load(sample);
    await settled();
    server.command("HSET", key, "digest", "of another journal");
    await committed(store, commitOn(sixth, epoch));
    await settled();
    expect(server.command("HGET", key, "seq").trim()).toBe("6");
    expect(await store.load(sample)).toEqual(await cold.store.load(sample));
  });

  test("what another process added in between is not left out of the copy", async () => {
    const { cold, store, epoch, newest } = await copied();
    const seventh = await committed(cold.store, commitOn(newest, epoch, { steps: 2 }));
    // Whoever knows a checkpoint asks the store, and goes on from there.
    expect((await store.load(sample, newest))?.since).toBe(5);
    await committed(store, commitOn(seventh, epoch));
    await settled();
    const plain = await cold.store.load(sample);
    const other = await warm(cold.store);
    for (const reader of [store, other]) expect(await reader.load(sample)).toEqual(plain);
  });

  test("runs that are too large are not copied", async () => {
    const { store, epoch, newest, key } = await copied();
    const snapshot = { seq: 6, bytes: new Uint8Array(limits.copiedBytesMax + 1) };
    await committed(store, { ...commitOn(newest, epoch, { withSnapshot: true }), snapshot });
    await settled();
    expect(server.command("HGET", key, "seq").trim(), "the copy of before is left as it was").toBe("5");
    expect((await store.load(sample))?.snapshot).toEqual(snapshot);
  });

  test("small runs are not copied, and Redis is not asked for them again", async () => {
    const { cold, store } = await copied({ bytesMin: 10_000 });
    expect(server.command("DBSIZE").trim()).toBe("0");
    await store.load(sample);
    server.command("CONFIG", "RESETSTAT");
    await store.load(sample);
    expect(server.command("INFO", "commandstats")).not.toContain("hmget");
    expect(cold.loads).toEqual([undefined, undefined]);
  });

  test("a small run that has grown is copied again", async () => {
    const { store, epoch, newest, cold } = await copied({ bytesMin: 1_000 });
    await store.load(sample);
    const large = commitOn(newest, epoch, { withSnapshot: true });
    const snapshot = { seq: 6, bytes: new Uint8Array(2_000).fill(7) };
    const head = await committed(store, { ...large, snapshot });
    await settled();
    cold.loads.length = 0;
    const loaded = await store.load(sample);
    expect([loaded?.head, loaded?.snapshot]).toEqual([head, snapshot]);
    expect(cold.loads).toEqual([6]);
  });

  test("copies expire", async () => {
    const { store, epoch, newest: fifth } = await copied({ ttl: 60_000 });
    const newest = await committed(store, commitOn(fifth, epoch, { withSnapshot: true }));
    await settled();
    expect(Number(server.command("PTTL", server.command("KEYS", "*").trim()))).toBeGreaterThan(0);
    const contents = [{ digest: "d1", bytes: bytesOf("text") }];
    await committed(store, commitOn(newest, epoch, { contents }));
    await store.readContents(tenant, "ada", ["d1"]);
    await settled();
    const keys = server.command("KEYS", "*").trim().split("\n");
    expect(keys.length, "of the run and of its texts").toBe(2);
    for (const key of keys) {
      const left = Number(server.command("PTTL", key));
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(60_000);
    }
  });

  test("large texts are read from the store once, and are gone with the runs they belong to", async () => {
    const cold = watched(memory());
    const contents = ["d1", "d2"].map((digest) => ({ digest, bytes: bytesOf(`text ${digest}`) }));
    const { epoch, head } = await begun(cold.store, { contents });
    const one = await warm(cold.store);
    const other = await warm(cold.store);
    expect(await one.readContents(tenant, "ada", ["d2"])).toEqual([contents[1]]);
    expect(await other.readContents(tenant, "ada", ["d1", "none", "d2"])).toEqual(contents);
    await settled();
    const asked = cold.texts();
    expect(await one.readContents(tenant, "ada", ["d2", "d1"])).toEqual(contents.toReversed());
    expect(cold.texts()).toBe(asked);
    await committed(one, commitOn(head, epoch, { head: { status: "done" } }));
    expect(await one.removeRuns([sample], epoch)).toEqual([true]);
    while ((await one.sweep(100)) > 0);
    expect(await one.readContents(tenant, "ada", ["d1", "d2"])).toEqual([]);
    expect(server.command("DBSIZE").trim()).toBe("0");
  });

  test("texts of one tenant are nobody else's, whose subject has the same name", async () => {
    const cold = memory();
    const contents = [{ digest: "d1", bytes: bytesOf("of acme") }];
    await begun(cold, { contents });
    const store = await warm(cold);
    expect(await store.readContents(tenant, "ada", ["d1"])).toEqual(contents);
    await settled();
    expect(await store.readContents("globex", "ada", ["d1"])).toEqual([]);
  });

  test("an older copy that is written late does not replace a newer one", async () => {
    const { cold, store, newest, epoch } = await copied();
    await store.load(sample);
    // A process that was told of its commit long ago and only now goes on with what comes after it.
    const asleep = await warm(
      new Proxy(memory(), {
        get: (_, name: keyof Store) =>
          name === "commit" ? async () => [{ outcome: "committed" }] : cold.store[name],
      }),
    );
    await asleep.commit([commitOn({ ...newest, seq: 1 }, epoch, { withSnapshot: true })]);
    await settled();
    cold.loads.length = 0;
    expect((await store.load(sample))?.head).toEqual(newest);
    expect(cold.loads).toEqual([5]);
  });

  test("a copy of a run that was removed is not taken for another one of its name", async () => {
    const { cold, store, epoch, newest } = await copied();
    await store.load(sample);
    // Behind the tier's back, as by a process that has none.
    await committed(cold.store, commitOn(newest, epoch, { head: { status: "done" } }));
    await cold.store.removeRuns([sample], epoch);
    const digest = "another journal";
    const entries = [{ ...entryOf(sample, 1), digest }];
    const first = commitOn({ ...newest, seq: 0, snapshotSeq: 0 }, epoch, { entries, head: { digest } });
    await committed(cold.store, first);
    const plain = await cold.store.load(sample);
    expect(await store.load(sample)).toEqual(plain);
    await settled();
    cold.loads.length = 0;
    expect(await store.load(sample), "and is replaced, though it was newer").toEqual(plain);
    expect(cold.loads).toEqual([1]);
  });

  test("nor is one that has no snapshot: nothing of it is left in what is read", async () => {
    const cold = watched(memory());
    const store = await warm(cold.store);
    const { epoch, head } = await begun(store, { steps: 3 });
    await store.load(sample);
    await settled();
    await committed(cold.store, commitOn(head, epoch, { head: { status: "done" } }));
    await cold.store.removeRuns([sample], epoch);
    const digest = "another journal";
    const entries = [{ ...entryOf(sample, 1), digest }];
    await committed(cold.store, firstCommit(sample.run, epoch, { entries, head: { digest } }));
    const plain = await cold.store.load(sample);
    expect(plain?.entries).toEqual(entries);
    expect(await store.load(sample)).toEqual(plain);
  });

  test("a copy whose snapshot the store has given up is not used", async () => {
    const { cold, store, epoch, newest } = await copied();
    const [run] = await cold.store.scan("run", { limit: 1 });
    const [snapshot] = await cold.store.scan("snapshot", { of: run?.place as string, limit: 1 });
    // Behind the tier's back, as by a tool that has none.
    await cold.store.mend(
      [
        { change: "remove", kind: "snapshot", place: snapshot?.place as string },
        { change: "set", run: run?.place as string, head: { ...newest, snapshotSeq: 0 } },
      ],
      epoch,
    );
    const plain = await cold.store.load(sample);
    expect(plain?.snapshot).toBeUndefined();
    expect(await store.load(sample)).toEqual(plain);
  });

  const garbage: Readonly<Record<string, (key: string) => string[][]>> = {
    "a key of another kind": (key) => [
      ["DEL", key],
      ["SET", key, "garbage"],
    ],
    "a list": (key) => [
      ["DEL", key],
      ["LPUSH", key, "a", "b"],
    ],
    "no number": (key) => [["HSET", key, "seq", "NaN"]],
    "a checkpoint beyond all": (key) => [["HSET", key, "seq", "9007199254740991"]],
    "a number too large": (key) => [["HSET", key, "seq", "1e300"]],
    "a checkpoint that is another": (key) => [["HSET", key, "seq", "4"]],
    "a digest that is none": (key) => [["HSET", key, "digest", "ÿ\u{1f600}"]],
    "an endless digest": (key) => [["HSET", key, "digest", "d".repeat(100_000)]],
    "a first piece that is none": (key) => [["HSET", key, "3", "garbage"]],
    "a last piece that is none": (key) => [["HSET", key, "5", "garbage of more than thirty-two bytes"]],
    "an empty piece": (key) => [["HSET", key, "5", ""]],
    "a first piece that is missing": (key) => [["HDEL", key, "3"]],
    "a last piece that is missing": (key) => [["HDEL", key, "5"]],
    "a field too many": (key) => [["HSET", key, "novel", "garbage"]],
    "nothing but a digest": (key) => [["HDEL", key, "seq", "3", "5"]],
    "nothing but a number": (key) => [
      ["HDEL", key, "digest", "3", "5"],
      ["HSET", key, "seq", "1000"],
    ],
    "a new checkpoint with an endless digest": (key) => [
      ["HSET", key, "seq", "1000", "digest", "d".repeat(10_000)],
    ],
  };

  test.each(Object.keys(garbage))("%s costs a read and nothing else, and is replaced", async (what) => {
    const { cold, store, key } = await copied();
    const plain = await cold.store.load(sample);
    for (const command of garbage[what]!(key)) server.command(...command);
    expect(await store.load(sample)).toEqual(plain);
    await settled();
    cold.loads.length = 0;
    expect(await store.load(sample)).toEqual(plain);
    expect(cold.loads).toEqual([5]);
  });

  test("texts that were tampered with are read from the store", async () => {
    const cold = watched(memory());
    const contents = [{ digest: "d1", bytes: bytesOf("text") }];
    await begun(cold.store, { contents });
    const store = await warm(cold.store);
    for (const tamper of [["d1", "garbage"], ["d1", ""], ["d1", "x".repeat(40)], undefined]) {
      await store.readContents(tenant, "ada", ["d1"]);
      await settled();
      const key = server.command("KEYS", "*texts*").split("\n")[0] as string;
      if (tamper === undefined) server.command("SET", key, "of another kind");
      else server.command("HSET", key, ...tamper);
      expect(await store.readContents(tenant, "ada", ["d1"])).toEqual(contents);
    }
  });

  test("a text that was moved to the place of another one is read from the store", async () => {
    const cold = memory();
    const contents = ["d1", "d2"].map((digest) => ({ digest, bytes: bytesOf(`text ${digest}`) }));
    const { epoch } = await begun(cold, { contents });
    const theirs = [{ digest: "d1", bytes: bytesOf("of bob") }];
    await committed(cold, firstCommit("run-2", epoch, { head: { subject: "bob" }, contents: theirs }));
    const store = await warm(cold);
    await store.readContents(tenant, "ada", ["d1", "d2"]);
    await settled();
    const key = server.command("KEYS", "*texts*").trim();
    await store.readContents(tenant, "bob", ["d1"]);
    await settled();
    const others = server.command("KEYS", "*texts*").trim().split("\n");
    const place = others.find((one) => one !== key) as string;
    server.command("COPY", key, place, "REPLACE");
    const swap = "return redis.call('HSET', KEYS[1], 'd1', redis.call('HGET', KEYS[1], 'd2'))";
    server.command("EVAL", swap, "1", key);
    expect(await store.readContents(tenant, "ada", ["d1", "d2"])).toEqual(contents);
    expect(await store.readContents(tenant, "bob", ["d1"])).toEqual(theirs);
  });

  test("a run that is pruned or mended has no copy any more", async () => {
    const { store, epoch, newest, key } = await copied();
    const count = () => server.command("EXISTS", key).trim();
    expect(await store.pruneJournal(sample, 3, epoch)).toBe(true);
    expect(count()).toBe("0");
    await store.load(sample);
    await settled();
    expect(count()).toBe("1");
    const [run] = await store.scan("run", { limit: 1 });
    const head = { ...newest, attributes: { colour: "blue" } };
    expect(await store.mend([{ change: "set", run: run!.place, head }], epoch)).toBe(true);
    expect(count()).toBe("0");
  });

  test("mending takes every copy of the store, however many keys there are, and no key of anybody else", async () => {
    const { store, epoch, newest } = await copied({ prefix: "ours[1]" });
    for (let run = 2; run <= 6; run++)
      await committed(store, firstCommit(`run-${run}`, epoch, { withSnapshot: true }));
    await settled();
    const add = "for n = 1, 5000 do redis.call('SET', ARGV[1] .. n, 1) end";
    server.command("EVAL", add, "0", "ours1:1:run:");
    const [run] = await store.scan("run", { limit: 1 });
    expect(await store.mend([{ change: "set", run: run!.place, head: newest }], epoch)).toBe(true);
    expect(server.command("DBSIZE").trim()).toBe("5000");
  });

  test("a copy that was signed by somebody else is not used", async () => {
    const { cold } = await copied({ secret: "ours" });
    const plain = await cold.store.load(sample);
    const stranger = await warm(cold.store, { secret: "theirs" });
    cold.loads.length = 0;
    expect(await stranger.load(sample)).toEqual(plain);
    expect(cold.loads).toEqual([5, undefined]);
  });

  test("a copy that was moved to another run is not used", async () => {
    const { cold, store, epoch, key } = await copied();
    await committed(
      store,
      commitOn({ ...(await store.readHead(sample)), run: "run-2", seq: 0 } as RunHead, epoch),
    );
    const other = { tenant, run: "run-2" };
    const plain = await cold.store.load(other);
    await store.load(other);
    const place = server
      .command("KEYS", "*")
      .trim()
      .split("\n")
      .find((one) => one !== key) as string;
    server.command("COPY", key, place, "REPLACE");
    expect(await store.load(other)).toEqual(plain);
  });

  test("a client of one's own is used, and left open", async () => {
    const client = await createClient({ url: server.url, RESP: 2 }).connect();
    const { cold, store } = await copied({ client });
    cold.loads.length = 0;
    await store.load(sample);
    expect(cold.loads).toEqual([5]);
    await store.close();
    expect(client.isReady).toBe(true);
    client.destroy();
  });

  test("where Redis is full, runs are read and stepped as without it", async () => {
    const { cold, store, newest, epoch } = await copied();
    server.command("CONFIG", "SET", "maxmemory", "1");
    try {
      const head = await committed(store, commitOn(newest, epoch, { withSnapshot: true }));
      for (let reads = 0; reads < 5; reads++) expect((await store.load(sample))?.head).toEqual(head);
      expect(await cold.store.readHead(sample)).toEqual(head);
    } finally {
      server.command("CONFIG", "SET", "maxmemory", "0");
    }
  });

  describe("whatever becomes of Redis", () => {
    /** These do not want its answer, and some of them wait until it is too late for one. */
    const impatient = { deadline: limits.redisMs };

    /** Steps a run and reads it again and again; every read must be of the newest checkpoint, and whole. */
    async function stepAndRead(
      between: (round: number) => Promise<void> | void,
      rounds: number,
    ): Promise<void> {
      const cold = memory();
      const [one, other] = [await warm(cold, impatient), await warm(cold, impatient)];
      let { epoch, head } = await begun(one);
      for (let round = 1; round <= rounds; round++) {
        await between(round);
        head = await committed(one, commitOn(head, epoch, { withSnapshot: round % 3 === 0 }));
        epoch = (await one.own("worker-1", 10_000, head.updatedAt)).epoch;
        for (const store of [one, other]) check(await store.load(sample), head);
      }
    }

    function check(loaded: LoadedRun | undefined, head: KnownCheckpoint): void {
      expect(loaded?.head).toEqual(head);
      const from = loaded?.snapshot?.seq ?? 0;
      if (loaded?.snapshot !== undefined)
        expect(loaded.snapshot.bytes).toEqual(bytesOf(`state of run-1 at ${from}`));
      const wanted = Array.from({ length: head.seq - from }, (_, index) => entryOf(sample, from + index + 1));
      expect(loaded?.entries).toEqual(wanted);
    }

    test("C9: after FLUSHALL at any moment every read is of what was acknowledged last", () =>
      stepAndRead((round) => {
        if (round % 2 === 0) server.command("FLUSHALL");
      }, 30));

    test("C9: after a crash of Redis, and while it is down, every read is of what was acknowledged last", () =>
      stepAndRead(async (round) => {
        if (round === 8) await server.kill();
        if (round === 20 || round === 25) await server.restart();
      }, 40));

    test("C9: while Redis hangs, and when it goes on with what it was told before, so is every read", async () => {
      try {
        await stepAndRead((round) => {
          if (round % 20 === 10) server.signal("SIGSTOP");
          if (round % 20 === 0) server.signal("SIGCONT");
        }, 60);
      } finally {
        server.signal("SIGCONT");
      }
    });

    test("C9: so is it over a stall of ten seconds", async () => {
      const until = performance.now() + 10_000;
      try {
        server.signal("SIGSTOP");
        await stepAndRead(async (round) => {
          if (round === 40) await new Promise((resolve) => setTimeout(resolve, until - performance.now()));
          if (round === 50) server.signal("SIGCONT");
        }, 60);
      } finally {
        server.signal("SIGCONT");
      }
    });

    test("it is used again when it is back", async () => {
      const { cold, store } = await copied();
      await server.restart();
      const until = async (wanted: number): Promise<void> => {
        do {
          cold.loads.length = 0;
          await new Promise((resolve) => setTimeout(resolve, 20));
          await store.load(sample);
        } while (cold.loads[0] !== wanted);
      };
      await until(5);
    });

    /** A server that takes connections and does with them what it is told to. */
    async function pretend(answer: (bytes: Buffer) => string | undefined): Promise<[string, Server]> {
      const pretended = createServer((socket) => {
        socket.on("error", () => {});
        socket.on("data", (bytes) => {
          const said = answer(bytes);
          if (said !== undefined) socket.write(said);
        });
      });
      await new Promise<void>((resolve) => pretended.listen(0, "127.0.0.1", resolve));
      return [`redis://127.0.0.1:${(pretended.address() as AddressInfo).port}`, pretended];
    }

    test.each([
      ["never answers", () => undefined],
      ["speaks another language", () => "HTTP/1.1 400 Bad Request\r\n\r\n"],
      [
        "answers everything with an error",
        (bytes: Buffer) => "-ERR no\r\n".repeat(bytes.toString().split("*").length),
      ],
      [
        "answers everything with the same",
        (bytes: Buffer) => "+OK\r\n".repeat(bytes.toString().split("*").length),
      ],
    ])("a server that %s is as none", async (_, answer) => {
      const [url, pretended] = await pretend(answer as (bytes: Buffer) => string | undefined);
      const cold = memory();
      const store = await warm(cold, { ...impatient, url, prefix: randomUUID() });
      const { epoch, head } = await begun(store, { withSnapshot: true });
      const next = await committed(store, commitOn(head, epoch));
      for (let reads = 0; reads < 20; reads++) check(await store.load(sample), next);
      await store.close();
      pretended.close();
    });

    test("a port where nobody listens is as none", async () => {
      const store = await warm(memory(), { ...impatient, url: "redis://127.0.0.1:1" });
      const { head } = await begun(store, { withSnapshot: true });
      for (let reads = 0; reads < 20; reads++) check(await store.load(sample), head);
    });
  });
});
