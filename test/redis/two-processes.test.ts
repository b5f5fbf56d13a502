/** The warm tier between processes: one steps a run, another one reads it, and Redis does what it likes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bytesOf, entryOf, sample } from "../../src/store/conformance/sample.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { withRedis } from "../../src/store/redis/index.ts";
import type { LoadedRun, Store } from "../../src/store/store.ts";
import { createDatabase, type Database } from "../postgres/database.ts";
import { findRedis, type RedisServer, startRedis } from "./server.ts";

const script = fileURLToPath(new URL("./writer.ts", import.meta.url));

describe.skipIf(findRedis() === undefined)("two processes with a warm tier", () => {
  let server: RedisServer;
  let database: Database;
  let store: Store;
  /** What the writer was told last. */
  let acknowledged = 0;
  let writer: ChildProcess;

  beforeAll(async () => {
    server = await startRedis();
    database = await createDatabase();
    store = withRedis(postgres(database.url), { url: server.url, bytesMin: 0 });
    await store.open();
    await write();
  });

  afterAll(async () => {
    writer?.kill("SIGKILL");
    await store?.close();
    await server?.stop();
    await database?.drop();
  });

  async function write(): Promise<void> {
    writer = spawn(process.execPath, ["--conditions=holdfast-source", script, database.url, server.url], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    writer.stdout?.on("data", (said: Buffer) => {
      // The last line may not be whole yet.
      acknowledged = Math.max(acknowledged, ...said.toString().split("\n").slice(0, -1).map(Number));
    });
    await once(writer.stdout as NodeJS.ReadableStream, "data");
  }

  /** Reads until the writer has got so much further. */
  async function readOn(steps: number): Promise<void> {
    const enough = acknowledged + steps;
    while (acknowledged < enough) {
      const least = acknowledged;
      const loaded = (await store.load(sample)) as LoadedRun;
      expect(loaded.head.seq).toBeGreaterThanOrEqual(least);
      const from = loaded.snapshot?.seq ?? 0;
      expect(from).toBe(loaded.head.snapshotSeq);
      if (loaded.snapshot !== undefined)
        expect(Buffer.from(loaded.snapshot.bytes)).toEqual(Buffer.from(bytesOf(`state of run-1 at ${from}`)));
      const wanted = Array.from({ length: loaded.head.seq - from }, (_, index) =>
        entryOf(sample, from + index + 1),
      );
      expect(loaded.entries).toEqual(wanted);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  test("C9: what one is told is durable, the other one reads, whatever becomes of Redis", async () => {
    for (let round = 0; round < 3; round++) {
      await readOn(30);
      server.command("FLUSHALL");
      await readOn(30);
      server.signal("SIGSTOP");
      await readOn(60);
      server.signal("SIGCONT");
      await readOn(30);
      await server.restart();
      await readOn(30);
    }
  });

  test("C9: also after the writer was killed and another one has its place", async () => {
    for (let round = 0; round < 3; round++) {
      await readOn(20);
      writer.kill("SIGKILL");
      await once(writer, "close");
      const loaded = await store.load(sample);
      expect(loaded?.head.seq).toBeGreaterThanOrEqual(acknowledged);
      await store.release("worker-1", (await store.own("worker-1", 1_000, Date.now())).epoch, Date.now());
      await write();
    }
    await readOn(20);
  });
});
