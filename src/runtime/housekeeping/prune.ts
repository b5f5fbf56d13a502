/**
 * Pruning: of runs that go on for long, entries that are old enough are removed up to a snapshot. Their state is as it
 * was, and so is what was seen of keys; only the history before the snapshot can no longer be read.
 */
import type { RunHead, RunName, RunStatus } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { SeenDocument } from "../../store/upkeep.ts";
import { systemClock } from "../clock.ts";
import { holdOn, seeHolds } from "./hold.ts";
import { type RightOptions, withRight } from "./right.ts";
import { ruleMs, type Selection, selectedRuns, type Tenants } from "./selection.ts";

export interface PruneRule extends Selection {
  /** The age of entries that may go: milliseconds, or text such as `90d`. */
  readonly olderThan: number | string;
}

export interface PruneOptions extends RightOptions, Tenants {
  readonly rules: readonly PruneRule[];
  /** Tells what would go, and leaves it. */
  readonly dryRun?: boolean;
}

export interface Pruned {
  /** Runs whose entries up to a checkpoint went. */
  readonly pruned: readonly (RunName & { readonly seq: number })[];
  /** Runs with entries that are old enough and stay: held, or stood on by a fork. */
  readonly kept: readonly (RunName & { readonly why: "held" | "forked" })[];
}

/** A parked run may be given back what an old entry holds, so it is left alone. */
const statuses: readonly RunStatus[] = ["active", "done", "failed", "cancelled"];

/** Applies rules once. What is pruned is gone at once; `sweep` deletes its rows. */
export async function prune(options: PruneOptions): Promise<Pruned> {
  const { store, rules, clock = systemClock, tenants, dryRun = false } = options;
  for (const { olderThan } of rules) ruleMs("olderThan", olderThan);
  const pruned: (RunName & { seq: number })[] = [];
  const kept: (RunName & { why: "held" | "forked" })[] = [];
  await withRight(options, async (epoch) => {
    for (const rule of rules) {
      const before = clock.now() - ruleMs("olderThan", rule.olderThan);
      const scope = { createdBefore: before, ...(tenants === undefined ? {} : { tenants }) };
      for await (const head of selectedRuns(store, rule, statuses, scope)) {
        const name = { tenant: head.tenant, run: head.run };
        const seq = await snapshotBefore(store, head, before);
        if (seq === undefined) continue;
        const why = await keeps(store, head, async (seen) =>
          dryRun ? true : store.pruneJournal(name, seq, epoch(), [seen]),
        );
        if (why === undefined) pruned.push({ ...name, seq });
        else kept.push({ ...name, why });
      }
    }
  });
  return { pruned, kept };
}

/** Why a run keeps its entries, if it does; asked again where the holds change between the look and the act. */
async function keeps(
  store: Store,
  head: RunHead,
  act: (seen: SeenDocument) => Promise<boolean>,
): Promise<"held" | "forked" | undefined> {
  for (;;) {
    const { holds, seen } = await seeHolds({ store, tenant: head.tenant });
    if (holdOn(holds, head) !== undefined) return "held";
    if (await act(seen)) return undefined;
    if ((await seeHolds({ store, tenant: head.tenant })).seen.version === seen.version) return "forked";
  }
}

/**
 * The newest snapshot that only old entries lie before; undefined if there is none, or nothing before it. Whatever comes before
 * an old entry is old, also where a clock that was set back gave it a later time.
 */
async function snapshotBefore(store: Store, head: RunHead, before: number): Promise<number | undefined> {
  const [first] = await store.readJournal(head, 1, 1);
  if (first === undefined || first.at >= before) return undefined;
  // The newest entry stays in any case: it says where the run stands.
  let [old, young] = [first.seq, head.seq];
  while (young - old > 1) {
    const middle = Math.floor((old + young) / 2);
    const [entry] = await store.readJournal(head, middle, 1);
    if (entry !== undefined && entry.at < before) old = middle;
    else young = middle;
  }
  const seq = (await store.readAt(head, old))?.snapshot?.seq;
  return seq === undefined || seq < first.seq ? undefined : seq;
}
