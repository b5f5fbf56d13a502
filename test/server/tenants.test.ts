/** What tenants are told of a server that they share: their own runs, whatever others have, and nothing of the whole. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { createRuntime, defineMachine } from "../../src/index.ts";
import { limits } from "../../src/limits.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createServer } from "../../src/server/index.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { openHouse } from "./house.ts";

const sleeper = defineMachine({
  id: "sleeper",
  initial: "asleep",
  states: { asleep: { after: { "1d": "awake" } }, awake: {} },
});

/** A server whose runtime has not the machine of any run, a day and an hour after they began: an hour after their timers were due. */
async function openAbandoned(counts: Readonly<Record<string, number>>) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-tenants-"));
  const path = join(folder, "runs.db");
  const before = await createRuntime({ store: sqlite(path), machines: [sleeper] });
  for (const [tenant, count] of Object.entries(counts))
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        before.start(sleeper, { tenant, id: `${tenant}-${index}` }),
      ),
    );
  await before.close();
  const store = sqlite(path);
  const clock = { ...systemClock, now: () => systemClock.now() + 90_000_000 };
  const runtime = await createRuntime({ store, machines: [], clock });
  const server = await createServer({ runtime, store, clock });
  return {
    as: async (tenant: string) => {
      const { key } = await server.keys.create({ name: "k", role: "viewer", tenant, createdBy: "test" });
      const fetch = async (request: Request) => server.fetch(request);
      return createClient({ url: "http://127.0.0.1:4400", key, fetch });
    },
    close: async () => {
      server.close();
      await runtime.close();
      rmSync(folder, { recursive: true });
    },
  };
}

describe("a tenant", () => {
  test("F2: is told of its stuck runs and of what is due of its own, however many another has before them", async () => {
    const house = await openAbandoned({ large: limits.dueCountedMax + 50, small: 2 });
    const [large, small] = [await house.as("large"), await house.as("small")];
    expect((await small.runs.list({ stuck: true })).runs.map(({ run }) => run).sort()).toEqual([
      "small-0",
      "small-1",
    ]);
    const { queue } = await small.operations.overview();
    expect(queue).toMatchObject({ due: 2, isMore: false });
    expect(queue.oldestMs).toBeGreaterThan(3_500_000);
    expect((await large.operations.overview()).queue).toMatchObject({
      due: limits.dueCountedMax,
      isMore: true,
    });
    await house.close();
  });

  test("F2: is told nothing of the server as a whole, unless the server is its own", async () => {
    const house = await openHouse({ dev: false, storeBytes: async () => 4_711 });
    const [own, other] = [await house.as("viewer"), await house.as("admin", "other")];
    const seen = await own.operations.overview();
    expect(seen.server).toMatchObject({ store: { bytes: 4_711 }, workers: [{ isThis: true }], streams: 0 });
    expect(seen.server?.latency.requests.count).toBeGreaterThan(-1);
    expect((await own.me.show()).permissions).toContain("oversee");
    expect((await own.operations.workers()).workers).toHaveLength(1);

    const hidden = await other.operations.overview();
    expect(hidden).not.toHaveProperty("server");
    expect(JSON.stringify(hidden)).not.toContain("4711");
    expect((await other.me.show()).permissions).not.toContain("oversee");
    for (const ask of [() => other.operations.workers(), () => other.health.metrics()])
      await expect(ask()).rejects.toMatchObject({ code: "NOT_ALLOWED", details: { status: 403 } });
  });
});

test("F2: the server's own admin lists and revokes the keys of any tenant; those of another see to their own", async () => {
  const house = await openHouse({ dev: false });
  const [own, other] = [await house.as("admin"), await house.as("admin", "other")];
  const { id } = await own.keys.create({ name: "theirs", role: "viewer", tenant: "other" });
  const namesOf = async (client: typeof own, tenant?: string) =>
    (await client.keys.list(tenant === undefined ? {} : { tenant })).keys.map(({ name }) => name).sort();
  expect(await namesOf(own)).toEqual(["admin of default"]);
  expect(await namesOf(own, "other")).toEqual(["admin of other", "theirs"]);
  expect(await namesOf(other, "other")).toEqual(["admin of other", "theirs"]);
  const refused = { code: "NOT_ALLOWED" };
  await expect(other.keys.list({ tenant: "default" })).rejects.toMatchObject(refused);
  await expect(other.keys.revoke({ key: id, tenant: "default" })).rejects.toMatchObject(refused);
  await expect(own.keys.list({ tenant: "holdfast" })).rejects.toMatchObject(refused);
  await expect(own.keys.revoke({ key: id })).rejects.toMatchObject({ code: "API_KEY_UNKNOWN" });
  expect((await own.keys.revoke({ key: id, tenant: "other" })).revokedAt).toBeDefined();
});
