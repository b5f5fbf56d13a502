/** What is said of what a store lies on and beside: the archive, the disk, the role, Redis. */
import { expect, test } from "vitest";
import { type BackupsFacts, judgeBackups } from "./backups.ts";
import { checkDisk, judgeDisk } from "./disk.ts";
import { judgeRedis } from "./redis.ts";
import { judgeRights } from "./rights.ts";

const archived: BackupsFacts = {
  ...{ is_standby: false, archive_mode: "on", can_archive: true, archived: 7, failing: null, receivers: 0 },
};

test.each<[string, Partial<BackupsFacts>, string[]]>([
  ["archives", {}, ["good"]],
  ["always archives", { archive_mode: "always" }, ["good"]],
  ["does not", { archive_mode: "off", can_archive: false }, ["warning"]],
  ["did once, and failed then", { archive_mode: "off", failing: "0001" }, ["warning"]],
  ["has its log taken", { archive_mode: "off", receivers: 1 }, ["good"]],
  ["does not know how to", { can_archive: false }, ["bad"]],
  ["fails to", { failing: "000000010000000000000001" }, ["bad"]],
  ["is a standby", { is_standby: true, archive_mode: "off" }, []],
])("a server that %s", (_, facts, told) => {
  expect(judgeBackups({ ...archived, ...facts }).map(({ status }) => status)).toEqual(told);
});

test("a disk is told by the share that is left of it", () => {
  const of = (free: number) => judgeDisk({ path: "/data", bytes: 100 * 2 ** 30, free: free * 2 ** 30 });
  expect(of(15)).toMatchObject({ status: "good", found: "15 GiB of 100 GiB free at /data" });
  expect(of(14.9)).toMatchObject({ status: "warning" });
  expect(of(4.9)).toMatchObject({ status: "bad" });
});

test("a disk that is another machine's is not made up", async () => {
  for (const path of [undefined, "/nowhere/at/all"])
    expect((await checkDisk(path)).found).toMatch(/^not to be seen from here/);
});

test("Redis is told by how soon it answers and what it does when it is full", () => {
  expect(judgeRedis(1, "allkeys-lru").status).toBe("good");
  expect(judgeRedis(1, undefined).status).toBe("good");
  expect(judgeRedis(51, "allkeys-lru").status).toBe("warning");
  expect(judgeRedis(1, "noeviction").status).toBe("warning");
});

test("a role is told by what it may do where there is a store, and where there is none", () => {
  const may = { role: "app", can_create: false, refused: 0, refused_table: null };
  expect(judgeRights(may, true).status).toBe("good");
  expect(judgeRights(may, false).status).toBe("bad");
  expect(judgeRights({ ...may, can_create: true }, false).status).toBe("good");
  expect(judgeRights({ ...may, refused: 1, refused_table: "run" }, true)).toMatchObject({
    ...{ status: "bad", found: "app may not read and write 1 table, such as run" },
  });
});
