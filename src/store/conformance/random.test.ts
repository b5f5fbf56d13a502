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
  (store) => ({ commit: (commits) => store.commit(commits.map(change)) });

/** Says yes to whatever was expected. */
const withoutCompareAndSwap: Bug = (store) => ({
  commit: async (commits) => {
    const outcomes = await store.commit(commits);
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
    commit: (commits) => store.commit(commits.map((commit) => ({ ...commit, epoch: newest }))),
  };
};

const recordingUnderAnyEpoch: Bug = (store) => {
  let newest = 0;
  return {
    own: async (worker, leaseMs, now) => {
      const lease = await store.own(worker, leaseMs, now);
      newest = lease.epoch;
      return lease;
    },
    recordActivities: (rows) => store.recordActivities(rows, newest),
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
  "no snapshot is kept for good": committing(({ snapshot, ...commit }) => ({
    ...commit,
    snapshot: snapshot && { seq: snapshot.seq, bytes: snapshot.bytes },
  })),
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
  "chunks are replaced by nothing": () => ({ appendChunks: async () => true }),
  "documents have no versions": (store) => ({
    writeDocument: async (tenant, name, _expect, bytes) => {
      const version = (await store.readDocument(tenant, name))?.version ?? 0;
      return store.writeDocument(tenant, name, version, bytes);
    },
  }),
  "every activity counts as recorded": (store) => ({
    recordActivities: async (rows, epoch) => {
      const recorded = await store.recordActivities(rows, epoch);
      return recorded.map(() => true);
    },
  }),
  "activities are recorded under any epoch": recordingUnderAnyEpoch,
  "only the first of several activities is recorded": (store) => ({
    recordActivities: async (rows, epoch) => [
      ...(await store.recordActivities(rows.slice(0, 1), epoch)),
      ...rows.slice(1).map(() => false),
    ],
  }),
  "dead letters are lost": () => ({ readDeadLetters: async () => [] }),
  "expendable events become dead letters": committing((commit) => ({
    ...commit,
    sends: commit.sends.map(({ expendable: _expendable, ...row }) => row),
  })),
  "what waits when a run ends is lost": (store) => ({
    readDeadLetters: async (tenant, after, limit) => {
      const letters = await store.readDeadLetters(tenant, after, limit);
      return letters.filter(({ reason }) => reason === "missing");
    },
  }),
  "dead letters are removed once and again": (store) => ({
    removeDeadLetter: async (tenant, number) => (await store.removeDeadLetter(tenant, number)) || true,
  }),
  "dead letters are read newest first": (store) => ({
    readDeadLetters: async (tenant, after, limit) =>
      (await store.readDeadLetters(tenant, after, limit)).toReversed(),
  }),
  "the step of a key is the newest of its commit": committing((commit) => ({
    ...commit,
    keys: commit.keys.map(({ key }) => ({ key, seq: commit.head.seq })),
  })),
  "the step of a consumed key is the first of its commit": committing((commit) => ({
    ...commit,
    consumed: commit.consumed.map(({ id }) => ({ id, seq: commit.expect + 1 })),
  })),
  "a key has no step": (store) => ({
    readKeys: async (name, keys) => (await store.readKeys(name, keys)).map(({ key }) => ({ key })),
  }),
  "the subject of an event is forgotten": (store) => ({
    enqueue: (rows) => store.enqueue(rows.map((row) => ({ ...row, subject: "ada" }))),
  }),
  "the limit of an inbox is ignored": (store) => ({ readInbox: (name) => store.readInbox(name, 1_000) }),
  "nobody was alive before": (store) => ({
    own: async (worker, leaseMs, now) => ({ ...(await store.own(worker, leaseMs, now)), outages: [] }),
  }),
  "a release is no sign of life": (store) => ({
    release: (worker, epoch) => store.release(worker, epoch, undefined),
  }),
  "a page begins with the run it should begin after": (store) => ({
    findRuns: (query) =>
      store.findRuns(
        query.after === undefined
          ? query
          : { ...query, after: { ...query.after, createdAt: query.after.createdAt + 60_000 } },
      ),
  }),
  "what was spent is forgotten": committing((commit) => {
    const { spent: _spent, ...head } = commit.head;
    return { ...commit, head };
  }),
  "runs are removed though they are active or stood on": (store) => ({
    removeRuns: async (names, epoch) => (await store.removeRuns(names, epoch)).map(() => true),
  }),
  "a document that is new begins with version 1": (store) => {
    const removed = new Map<string, number>();
    const of = (tenant: string, name: string) => removed.get(`${tenant} ${name}`) ?? 0;
    return {
      removeDocument: async (tenant, name, expect) => {
        const gone = await store.removeDocument(tenant, name, expect);
        if (gone) removed.set(`${tenant} ${name}`, expect);
        return gone;
      },
      readDocument: async (tenant, name) => {
        const row = await store.readDocument(tenant, name);
        return row && { ...row, version: row.version - of(tenant, name) };
      },
    };
  },
  "a document is removed at any version": (store) => ({
    removeDocument: async (tenant, name) => {
      const row = await store.readDocument(tenant, name);
      return row !== undefined && store.removeDocument(tenant, name, row.version);
    },
  }),
  "documents are not removed": () => ({ removeDocument: async () => true }),
  "runs are removed whatever was seen before": (store) => ({
    removeRuns: (names, epoch) => store.removeRuns(names, epoch),
  }),
  "entries are pruned whatever was seen before": (store) => ({
    pruneJournal: (name, seq, epoch) => store.pruneJournal(name, seq, epoch),
  }),
  "runs are not removed": (store) => ({
    removeRuns: async (names, epoch) => (await store.removeRuns(names, epoch + 1)).map(() => true),
  }),
  "contents of nobody stay": () => ({ sweep: async () => 0 }),
  "entries that were pruned are read": () => ({ pruneJournal: async () => true }),
  "no fork stands on anything": (store) => ({
    readForks: async (name) => (await store.readForks(name)).map((fork) => ({ ...fork, stands: false })),
  }),
  "forks of what is gone begin": committing((commit) =>
    commit.head.fork === undefined || commit.snapshot !== undefined
      ? commit
      : { ...commit, head: { ...commit.head, fork: { ...commit.head.fork, seq: 1 } } },
  ),
  "whoever mended goes on owning the runs": (store) => {
    let last: readonly [string, number, number] | undefined;
    return {
      own: async (...given) => {
        last = given;
        return store.own(...given);
      },
      mend: async (changes, epoch) => {
        const mended = await store.mend(changes, epoch);
        if (mended && last !== undefined) await store.own(...last);
        return mended;
      },
    };
  },
  "a lease is given to everybody": (store) => ({
    own: async (worker, leaseMs, now) => {
      const lease = await store.own(worker, leaseMs, now);
      const given = { outcome: "owned", epoch: 1, until: now + leaseMs, outages: [] } as const;
      return lease.outcome === "taken" ? given : lease;
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
  for (let seed = 1; seed <= 30; seed++) if (await found(seed)) return;
  expect.fail("It was not found");
});

test("random sequences find nothing in a store without a bug", async () => {
  const store = withBug(() => ({}));
  const world = { store, reopen: async () => store, dispose: async () => {}, expect };
  await compareRandom(world, 1, 250, new Set());
});
