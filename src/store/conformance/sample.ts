/** Rows for the suite: whole and plausible where a case does not care, exact where it does. */
import type { ActivityRow, EntryRow, InboxRow, RunHead, RunName } from "../records.ts";
import type { Commit, Store } from "../store.ts";

export const tenant = "acme";
export const worker = "worker-1";
/** When the suite's time begins, and how long its leases are. */
export const noon = 1_800_000_000_000;
export const leaseMs = 10_000;

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A commit, with what matters to the case; the rest is as of an ordinary step. */
export interface Plan extends Partial<Omit<Commit, "head" | "consumed" | "keys">> {
  readonly head?: Partial<RunHead>;
  /** A name alone stands for what the newest of its steps took. */
  readonly consumed?: readonly (string | Commit["consumed"][number])[];
  readonly keys?: readonly (string | Commit["keys"][number])[];
  /** How many steps it has; one unless given. */
  readonly steps?: number;
  /** Whether it has a snapshot of its newest checkpoint, and one that is kept for good. */
  readonly withSnapshot?: boolean | "kept";
}

/** A commit on top of a head. */
export function commitOn(before: RunHead, epoch: number, plan: Plan = {}): Commit {
  const { head, steps = 1, withSnapshot = false, consumed = [], keys = [], ...given } = plan;
  const entries = Array.from({ length: steps }, (_, index) => entryOf(before, before.seq + index + 1));
  const newest = entries.at(-1) as EntryRow;
  const { seq } = newest;
  const kept = withSnapshot === "kept" ? ({ kept: true } as const) : {};
  const snapshot = { seq, bytes: bytesOf(`state of ${before.run} at ${seq}`), ...kept };
  return {
    expect: before.seq,
    epoch,
    head: {
      ...before,
      seq,
      digest: newest.digest,
      updatedAt: newest.at,
      snapshotSeq: withSnapshot ? seq : before.snapshotSeq,
      ...head,
    },
    entries,
    snapshot: withSnapshot ? snapshot : undefined,
    contents: [],
    consumed: consumed.map((taken) => (typeof taken === "string" ? { id: taken, seq } : taken)),
    keys: keys.map((taken) => (typeof taken === "string" ? { key: taken, seq } : taken)),
    begun: [],
    ended: [],
    sends: [],
    starts: [],
    ...given,
  };
}

/** The commit a run begins with. */
export function firstCommit(run: string, epoch: number, plan: Plan = {}): Commit {
  return commitOn(headOf({ run }), epoch, plan);
}

/** The head of a run that has taken no step yet. */
export function headOf(given: Partial<RunHead> = {}): RunHead {
  return {
    tenant,
    run: "run-1",
    subject: "ada",
    machine: "booking",
    version: 1,
    hash: "a-hash",
    status: "active",
    seq: 0,
    digest: "",
    snapshotSeq: 0,
    createdAt: noon,
    updatedAt: noon,
    attributes: {},
    ...given,
  };
}

export function entryOf({ tenant: owner, run }: RunName, seq: number): EntryRow {
  return {
    seq,
    at: noon + seq,
    digest: `digest of ${owner}/${run}/${seq}`,
    bytes: bytesOf(`entry ${seq} of ${owner}/${run}`),
  };
}

export function eventOf(id: string, given: Partial<InboxRow> = {}): InboxRow {
  const bytes = bytesOf(`event ${id}`);
  return { tenant, run: "run-1", id, subject: "ada", priority: 0, at: noon, bytes, ...given };
}

export function activityOf(key: string, given: Partial<ActivityRow> = {}): ActivityRow {
  return {
    tenant,
    run: "run-1",
    key,
    activity: "search",
    attempt: 0,
    status: "waiting",
    dueAt: noon,
    bytes: bytesOf(`activity ${key}`),
    ...given,
  };
}

/** Takes the lease; its epoch. */
export async function owned(store: Store, by: string = worker, now: number = noon): Promise<number> {
  const lease = await store.own(by, leaseMs, now);
  if (lease.outcome === "taken") throw new Error(`${by} cannot own the store: ${lease.owner} does`);
  return lease.epoch;
}

/** Commits what must succeed; the head it leads to. */
export async function committed(store: Store, commit: Commit): Promise<RunHead> {
  const [outcome] = await store.commit([commit]);
  if (outcome?.outcome !== "committed") throw new Error(`Not committed: ${JSON.stringify(outcome)}`);
  return commit.head;
}

/** Owns the store and begins a run in it. */
export async function begun(
  store: Store,
  plan: Plan = {},
  run = "run-1",
): Promise<{ readonly epoch: number; readonly head: RunHead }> {
  const epoch = await owned(store);
  return { epoch, head: await committed(store, firstCommit(run, epoch, plan)) };
}

export const sample: RunName = { tenant, run: "run-1" };
