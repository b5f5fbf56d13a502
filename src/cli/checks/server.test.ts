/** What is said of a server, for every way in which it can be unfit. */
import { expect, test } from "vitest";
import { judgeConnections, judgeServer, type ServerFacts } from "./server.ts";

const now = 1_700_000_000_000;
const sound: ServerFacts = {
  version: 160_004,
  version_text: "16.4",
  encoding: "UTF8",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  isolation: "read committed",
  is_standby: false,
  is_read_only: false,
  autovacuum: "on",
  max_connections: 100,
  reserved_connections: 3,
  used_connections: 12,
  allowed_connections: null,
  now,
  prepared: 0,
  oldest_ms: null,
  oldest_pid: null,
  xid_age: 1_000,
  synchronous_standbys: "",
  standbys: 0,
  synchronous: 0,
  lag_bytes: null,
};

/** What is not good of a server that differs from a sound one in this, as `check: status`. */
const troubles = (facts: Partial<ServerFacts>, here = now): string[] =>
  judgeServer({ ...sound, ...facts }, here)
    .filter(({ status }) => status !== "good")
    .map(({ check, status }) => `${check}: ${status}`);

test("nothing is wrong with a sound server", () => {
  expect(troubles({})).toEqual([]);
});

test.each<[Partial<ServerFacts>, string[]]>([
  [{ version: 130_011 }, ["server version: bad"]],
  [{ version: 190_000 }, ["server version: warning"]],
  [{ encoding: "SQL_ASCII" }, ["encoding: bad"]],
  [{ fsync: "off" }, ["fsync: bad"]],
  [{ full_page_writes: "off" }, ["full_page_writes: bad"]],
  [{ synchronous_commit: "off" }, ["synchronous_commit: warning"]],
  [{ synchronous_commit: "remote_apply" }, []],
  [{ isolation: "serializable" }, ["isolation: bad"]],
  [{ is_standby: true }, ["writable: bad"]],
  [{ is_read_only: true }, ["writable: bad"]],
  [{ autovacuum: "off" }, ["autovacuum: bad"]],
  [{ prepared: 1 }, ["prepared transactions: warning"]],
  [{ oldest_ms: 299_000, oldest_pid: 7 }, []],
  [{ oldest_ms: 301_000, oldest_pid: 7 }, ["long transactions: warning"]],
  [{ xid_age: 1_500_000_000 }, ["transaction ids: bad"]],
  [{ synchronous_standbys: "one" }, ["replication: bad"]],
  [{ synchronous_standbys: "one", standbys: 1 }, ["replication: bad"]],
  [{ standbys: 1 }, ["replication: warning"]],
  [{ synchronous_standbys: "one", standbys: 2, synchronous: 1 }, []],
  [
    { synchronous_standbys: "one", standbys: 1, synchronous: 1, lag_bytes: 100 * 2 ** 20 },
    ["replication lag: warning"],
  ],
])("%j is told as %j", (facts, told) => {
  expect(troubles(facts)).toEqual(told);
});

test("a clock that is off is told by how much", () => {
  expect(troubles({}, now + 900)).toEqual([]);
  expect(troubles({}, now - 2_000)).toEqual(["clock: warning"]);
  expect(troubles({}, now + 120_000)).toEqual(["clock: bad"]);
});

test("whatever is not good says what to do", () => {
  const all = judgeServer(
    { ...sound, fsync: "off", encoding: "LATIN1", is_standby: true, prepared: 2, version: 90_000 },
    now + 5_000,
  );
  for (const { status, remedy } of all) expect(remedy !== undefined).toBe(status !== "good");
});

test("workers need as many connections as they may open", () => {
  expect(judgeConnections(sound, 9, 10).status).toBe("good");
  expect(judgeConnections(sound, 10, 10).status).toBe("bad");
  expect(judgeConnections({ ...sound, allowed_connections: 90 }, 9, 10).status).toBe("good");
  const narrow = judgeConnections({ ...sound, allowed_connections: 89 }, 9, 10);
  expect(narrow).toMatchObject({ status: "bad", remedy: expect.stringContaining("CONNECTION LIMIT") });
});
