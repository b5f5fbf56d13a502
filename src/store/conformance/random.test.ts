/**
 * The random sequences are a checker, so they are shown to fail: each of these stores is the memory store with one bug,
 * and each bug is found within a few seeds.
 */
import { expect, test } from "vitest";
import { memory } from "../memory/store.ts";
import type { Commit, Store } from "../store.ts";
import { compareRandom } from "./random.ts";

type Bug = (store: Store) => Partial<Store>;

/** A store that changes what is committed before it is. */
const committing =
  (change: (commit: Commit) => Commit): Bug =>
  (store) => ({ commit: (commits, now) => store.commit(commits.map(change), now) });

/** Says yes to whatever was expected. */
const withoutCompareAndSwap: Bug = (store) => ({
  commit: async (commits, now) => {
    const outcomes = await store.commit(commits, now);
    return outcomes.map((outcome) => (outcome.outcome === "conflict" ? { outcome: "committed" } : outcome));
  },
});

const withoutFence: Bug = (store) => {
  let newest = 0;
  return {
    own: async (worker, leaseMs, now) => {
      const lease = await store.own(worker, leaseMs, now);
      if (lease.outcome === "owned") newest = lease.epoch;
      return lease;
    },
    commit: (commits, now) =>
      store.commit(
        commits.map((commit) => ({ ...commit, epoch: newest })),
        now,
      ),
  };
};

const bugs: Readonly<Record<string, Bug>> = {
  "no compare-and-swap": withoutCompareAndSwap,
  "no fence": withoutFence,
  "consumed events stay": committing((commit) => ({ ...commit, consumed: [] })),
  "the keys of a commit are forgotten": committing((commit) => ({ ...commit, keys: [] })),
  "activities that ended stay": committing((commit) => ({ ...commit, ended: [] })),
  "activities are not begun": committing((commit) => ({ ...commit, begun: [] })),
  "sends are lost": committing((commit) => ({ ...commit, sends: [] })),
  "children do not begin": committing((commit) => ({ ...commit, starts: [] })),
  "content is lost": committing((commit) => ({ ...commit, contents: [] })),
  "attributes never change": committing((commit) => {
    return { ...commit, head: { ...commit.head, attributes: { stage: 0 } } };
  }),
  "timers are lost": committing((commit) => {
    const { wakeAt: _wakeAt, ...head } = commit.head;
    return { ...commit, head };
  }),
  "keys of events are forgotten": (store) => ({
    enqueue: (rows) => store.enqueue(rows.map(({ key: _key, ...row }) => row)),
  }),
  "priorities are ignored": (store) => ({
    enqueue: (rows) => store.enqueue(rows.map((row) => ({ ...row, priority: 0 }))),
  }),
  "an early timer is due": (store) => ({ due: (now, limit) => store.due(now + 1_000, limit) }),
  "an event is enqueued twice": (store) => ({
    enqueue: async (rows) => {
      const outcomes = await store.enqueue(rows);
      await store.enqueue(rows.map(({ key: _key, ...row }) => ({ ...row, id: `${row.id} again` })));
      return outcomes;
    },
  }),
  "tenants are mixed up": (store) => ({
    findRuns: async (query) => [
      ...(await store.findRuns(query)),
      ...(await store.findRuns({ ...query, tenant: query.tenant === "acme" ? "globex" : "acme" })),
    ],
  }),
  "the last entry is read twice": (store) => ({
    readJournal: async (name, from, limit) => {
      const entries = await store.readJournal(name, from, limit);
      return [...entries, ...entries.slice(-1)];
    },
  }),
  "chunks are replaced by nothing": () => ({ appendChunks: async () => {} }),
  "documents have no versions": (store) => ({
    writeDocument: async (tenant, name, _expect, bytes) => {
      const version = (await store.readDocument(tenant, name))?.version ?? 0;
      return store.writeDocument(tenant, name, version, bytes);
    },
  }),
  "every activity counts as recorded": (store) => ({
    recordActivity: async (row, epoch) => (await store.recordActivity(row, epoch)) || true,
  }),
  "a lease is given to everybody": (store) => ({
    own: async (worker, leaseMs, now) => {
      const lease = await store.own(worker, leaseMs, now);
      return lease.outcome === "taken" ? { outcome: "owned", epoch: 1, until: now + leaseMs } : lease;
    },
  }),
};

/** The memory store with some of its verbs replaced. */
function withBug(bug: Bug): Store {
  const store = memory();
  const changed = bug(store) as Partial<Record<string | symbol, unknown>>;
  return new Proxy(store, {
    get: (target, verb) => {
      const own = (target as unknown as Record<string | symbol, unknown>)[verb];
      return changed[verb] ?? (typeof own === "function" ? own.bind(target) : own);
    },
  });
}

test.each(Object.keys(bugs))("random sequences find a store where %s", async (name) => {
  const found = async (seed: number): Promise<boolean> => {
    const store = withBug(bugs[name] as Bug);
    const world = { store, reopen: async () => store, dispose: async () => {}, expect };
    return compareRandom(world, seed, 250, new Set()).then(
      () => false,
      () => true,
    );
  };
  const seeds = Array.from({ length: 5 }, (_, index) => index + 1);
  expect((await Promise.all(seeds.map(found))).some(Boolean)).toBe(true);
});

test("random sequences find nothing in a store without a bug", async () => {
  const store = withBug(() => ({}));
  const world = { store, reopen: async () => store, dispose: async () => {}, expect };
  await compareRandom(world, 1, 250, new Set());
});
