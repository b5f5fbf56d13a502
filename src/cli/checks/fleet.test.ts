/** What is said of those who share a store, and of what they leave. */
import { expect, test } from "vitest";
import { HoldfastError } from "../../errors.ts";
import { type FleetFacts, judgeFleet, judgeSignals, judgeSpace, judgeVersion } from "./fleet.ts";

const now = 1_000_000;
const member = (epoch: number, until: number) => ({
  ...{ epoch, worker: `host ${epoch}`, from: until - 3_000, until },
  ...{ isLeaving: false, slots: 10, running: 1, waiting: 0 },
});
const well: FleetFacts = {
  ...{ members: [member(1, now + 2_000)], owner: undefined, now },
  ...{ left: 0, parked: 0, deadLetters: 0 },
};
const troubles = (facts: Partial<FleetFacts>): string[] =>
  judgeFleet({ ...well, ...facts })
    .filter(({ status }) => status !== "good")
    .map(({ check, status }) => `${check}: ${status}`);

test.each<[string, Partial<FleetFacts>, string[]]>([
  ["nothing", {}, []],
  ["nobody there", { members: [] }, ["workers: warning"]],
  ["an owner of the whole store", { members: [], owner: "a tool" }, ["workers: warning"]],
  ["a lapsed lease", { members: [member(1, now + 2_000), member(2, now - 1)] }, ["lapsed leases: warning"]],
  ["only lapsed leases", { members: [member(2, now - 1)] }, ["workers: warning", "lapsed leases: warning"]],
  ["runs that were left", { left: 1 }, ["due runs: bad"]],
  ["parked runs", { parked: 2 }, ["parked runs: warning"]],
  ["dead letters", { deadLetters: 1_000 }, ["dead letters: warning"]],
])("of a fleet with %s", (_, facts, told) => {
  expect(troubles(facts)).toEqual(told);
});

test("who is there is told with what each has to do, and who is about to leave", () => {
  const leaving = { ...member(2, now + 2_000), isLeaving: true };
  const [workers] = judgeFleet({ ...well, members: [member(1, now + 2_000), leaving] });
  expect(workers?.found).toBe("2: host 1 (1/10), host 2 (1/10, leaving)");
});

test("as many as are counted at most are told as that many or more", () => {
  const found = (deadLetters: number) => judgeFleet({ ...well, deadLetters }).at(-1)?.found;
  expect(found(1)).toBe("1 event");
  expect(found(999)).toBe("999 events");
  expect(found(1_000)).toBe("1000 or more events");
});

test("a store is told by its version", () => {
  expect(judgeVersion(8, 8).status).toBe("good");
  expect(judgeVersion(7, 8)).toMatchObject({ status: "warning", found: "7, this program has 8" });
  expect(judgeVersion(0, 8)).toMatchObject({ status: "warning", found: "there is no store yet" });
  const newer = judgeVersion(new HoldfastError("STORE_NEWER", "It is newer"), 8);
  expect(newer).toMatchObject({
    status: "bad",
    remedy: "install the Holdfast that wrote it, or a newer one",
  });
  expect(judgeVersion(new Error("no"), 8).status).toBe("bad");
});

test("signals that are not heard and dead rows that stay are told", () => {
  expect(judgeSignals(undefined).status).toBe("good");
  expect(judgeSignals(new Error("unheard")).status).toBe("warning");
  const space = { bytes: 2 ** 20, database_bytes: 2 ** 21, partitions: 4 };
  for (const [live, dead] of [
    [1_000_000, 200_000],
    [400_000, 200_000],
    [10, 90_000],
  ] as const) {
    const few = judgeSpace({ ...space, tables: [{ name: "run", live, dead }] });
    expect(few.map(({ status }) => status)).toEqual(["good", "good"]);
  }
  const many = judgeSpace({ ...space, tables: [{ name: "run", live: 100_000, dead: 200_000 }] });
  expect(many.at(-1)).toMatchObject({ status: "warning", found: "200000 in run" });
});
