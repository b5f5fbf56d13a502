/** Bugs of what keeps runs: the store, its leases, its journal and its disk. */
import { type Bug, noLook } from "./bug.ts";

export const storeBugs: readonly Bug[] = [
  {
    name: "no compare-and-swap",
    file: "src/store/memory/store.ts",
    find: "if (seq !== expect) return",
    replace: "if (seq < expect) return",
    catches: [2],
  },
  {
    name: "epoch not checked",
    file: "src/store/lease.ts",
    find: "return lease.epoch === epoch;",
    replace: "return epoch > 0;",
    catches: [7],
  },
  {
    name: "lease given to two",
    file: "src/store/lease.ts",
    find: "if (lease.owner !== worker && isHeld(lease, now)) return undefined;",
    replace: "if (lease.owner !== worker && isHeld(lease, now + 2_000)) return undefined;",
    catches: [7],
  },
  {
    name: "lease that lapsed loses its epoch",
    file: "src/store/lease.ts",
    find: "if (lease.owner === worker) return {",
    replace: "if (lease.owner === worker && now < lease.until) return {",
    catches: [8],
  },
  {
    name: "new owner keeps the old epoch",
    file: "src/store/lease.ts",
    find: "epoch: lease.epoch + 1,",
    replace: "epoch: Math.max(1, lease.epoch),",
    catches: [7],
  },
  {
    name: "dedupe forgotten after restart",
    file: "src/store/memory/store.ts",
    find: "for (const { key, seq } of keys) run.seen.set(key, seq);",
    replace: "for (const { key, seq } of keys) if (seq % 8 > 0) run.seen.set(key, seq);",
    catches: [1, 2],
  },
  {
    name: "orphaned activity not due",
    file: "src/store/memory/store.ts",
    find: "epoch < this.#tables.lease.epoch;",
    replace: "epoch < this.#tables.lease.epoch - 1;",
    catches: [8],
  },
  {
    name: "waiting event not due",
    file: "src/store/memory/due.ts",
    find: "return [...events, ...due,",
    replace: "return [...events.slice(1), ...due,",
    also: [noLook],
    catches: [8],
  },
  {
    name: "old record of an activity taken",
    file: "src/store/memory/store.ts",
    find: "if (!activities?.has(row.key) || !this.#isGood(epoch)) return false;",
    replace: "if (!activities?.has(row.key)) return false;",
    catches: [7],
    from: 600,
  },
  {
    name: "digest not chained",
    file: "src/store/journal.ts",
    find: 'return hash("sha256", previous + hash(',
    replace: 'return hash("sha256", previous.slice(0, 0) + hash(',
    catches: [19],
  },
  {
    name: "skipped fsync",
    file: "prove/simulation/disk.ts",
    find: "synced = log.length;\n    },\n    async losePower",
    replace: "synced = Math.max(synced, log.length - 3);\n    },\n    async losePower",
    catches: [1, 17],
  },
];
