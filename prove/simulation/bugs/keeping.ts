/** Bugs of keeping house: what is removed, pruned and expired, and what is held. */
import type { Bug } from "./bug.ts";

export const keepingBugs: readonly Bug[] = [
  {
    name: "run removed before its time",
    file: "src/runtime/housekeeping/retention.ts",
    find: "if ((head.completedAt ?? head.updatedAt) < before) yield head;",
    replace: "yield head;",
    catches: [29],
  },
  {
    name: "the oldest kept and not the newest",
    file: "src/runtime/housekeeping/retention.ts",
    find: "return keep === 0 ? list : list.sort((one, other) => other.createdAt - one.createdAt);",
    replace: "return keep === 0 ? list : list.sort((one, other) => one.createdAt - other.createdAt);",
    catches: [29],
  },
  {
    name: "child removed while who started it goes on",
    file: "src/runtime/housekeeping/retention.ts",
    find: "return found !== undefined && !isFinal(found);",
    replace: "return found !== undefined && isFinal(found);",
    catches: [29],
  },
  {
    name: "run removed that a fork stands on",
    file: "src/store/memory/remove.ts",
    find: "if (forksOf(tables, name).some(({ stands }) => stands)) return false;",
    replace: "",
    also: [
      {
        file: "src/runtime/housekeeping/retention.ts",
        find: "else if (forks.some((fork) => fork.stands && !this.#going.has(keyOf(fork))))",
        replace: "else if (forks.length < 0)",
      },
    ],
    catches: [29],
  },
  {
    name: "texts of what was removed stay",
    file: "src/store/memory/remove.ts",
    find: "if (subject === undefined || !isLast) return 0;",
    replace: "if (subject === undefined || isLast || limit > 0) return 0;",
    catches: [29],
  },
  {
    name: "texts removed that others of the subject use",
    file: "src/store/memory/remove.ts",
    find: "if (subject === undefined || !isLast) return 0;",
    replace: "if (subject === undefined) return 0;",
    catches: [8, 17, 19, 29],
  },
  {
    name: "held run removed",
    file: "src/runtime/housekeeping/hold.ts",
    find: '("run" in one && one.run === run) ||',
    replace: '("run" in one && one.run === subject && one.run !== run) ||',
    catches: [29],
  },
  {
    name: "hold that comes between the look and the removal does not count",
    file: "src/runtime/housekeeping/retention.ts",
    find: "const outcomes = await store.removeRuns(going, this.#epoch(), seen);",
    replace: "const outcomes = await store.removeRuns(going, this.#epoch());",
    catches: [29],
  },
  {
    name: "hold that comes between the look and the removal is not looked at by the store",
    file: "src/store/memory/store.ts",
    find: `const may = this.#isGood(epoch) && isAsSeen(this.#tables, seen);
    return names`,
    replace: `const may = this.#isGood(epoch);
    return names`,
    catches: [29],
  },
  {
    name: "hold takes the place of the one before",
    file: "src/runtime/housekeeping/hold.ts",
    find: ": [...holds, { ...(what as Held), reason, at: clock.now() }],",
    replace: ": [{ ...(what as Held), reason, at: clock.now() }],",
    catches: [29],
  },
  {
    name: "hold not looked at when a run expires",
    file: "src/runtime/housekeeping/expire.ts",
    find: "if (holdOn(await readHolds({ store, tenant: head.tenant }), head) !== undefined) {",
    replace: "if (holdOn([], head) !== undefined) {",
    catches: [29],
  },
  {
    name: "run expired that somebody just used",
    file: "src/runtime/housekeeping/expire.ts",
    find: "if (head.updatedAt >= before || head.machine",
    replace: "if (head.createdAt >= before || head.machine",
    catches: [29],
  },
  {
    name: "idle runs overlooked but for those that are parked",
    file: "src/runtime/housekeeping/expire.ts",
    find: 'const living: readonly RunStatus[] = ["active", "parked"];',
    replace: 'const living: readonly RunStatus[] = ["parked"];',
    catches: [29],
  },
  {
    name: "entries pruned before their time",
    file: "src/runtime/housekeeping/prune.ts",
    find: "if (entry !== undefined && entry.at < before) old = middle;",
    replace: "if (entry !== undefined) old = middle;",
    catches: [29],
    from: 1001,
  },
  {
    name: "pruned below what a fork stands on",
    file: "src/store/memory/remove.ts",
    find: "if (forksOf(tables, name).some((fork) => fork.stands && fork.seq < seq)) return false;",
    replace: "",
    catches: [29],
  },
  {
    name: "pruned together with the snapshot",
    file: "src/store/memory/remove.ts",
    find: ".filter((snapshot) => snapshot.seq >= seq)",
    replace: ".filter((snapshot) => snapshot.seq > seq)",
    catches: [3, 8, 19, 29],
  },
];
