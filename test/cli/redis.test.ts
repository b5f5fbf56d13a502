/** `--redis` and HOLDFAST_REDIS: the store that commands open has a warm tier then. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { storeAt } from "../../src/cli/open-store.ts";
import type { WorkerArguments } from "../../src/cli/worker.ts";
import { findRedis, startRedis } from "../redis/server.ts";
import { readCommand } from "./read-command.ts";

test.skipIf(findRedis() === undefined)(
  "C9: a worker that was given a Redis, by an option or a variable, is connected to it",
  async () => {
    const redis = await startRedis();
    const folder = mkdtempSync(join(tmpdir(), "holdfast-warm-"));
    const store = join(folder, "runs.db");
    const told = [
      readCommand(["worker", "x.js", "--store", store, "--redis", redis.url, "--schema", "mine"], {}),
      readCommand(["worker", "x.js", "--store", store, "--schema", "mine"], { HOLDFAST_REDIS: redis.url }),
    ] as WorkerArguments[];
    expect(told[0]).toEqual(told[1]);
    const clients = () => redis.command("CLIENT", "LIST").trim().split("\n").length;
    const before = clients();
    const opened = storeAt(told[0] as WorkerArguments);
    await opened.open();
    expect(clients()).toBe(before + 1);
    await opened.close();
    await redis.stop();
    rmSync(folder, { recursive: true });
  },
);

test("what is no address of a Redis is refused before anything begins", () => {
  for (const [argv, env] of [
    [["--redis", "localhost:6379"], {}],
    [[], { HOLDFAST_REDIS: "http://cache" }],
  ] as const)
    expect(() => readCommand(["worker", "x.js", "--store", "a.db", ...argv], env)).toThrow(
      /is no address of a Redis/,
    );
});
