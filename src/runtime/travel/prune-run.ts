/**
 * Pruning one run on demand: all it was before is gone, and it goes on as it is. For what must not be read any more by anybody;
 * rules for what is old are in `housekeeping/prune.ts`.
 *
 * Two steps of the platform make room for it. The first one leaves a snapshot, the second one is the newest entry, which a
 * journal cannot be without. Both stay in the journal, so it tells that it was pruned, when, and up to where.
 */
import { type Event, sentBy } from "../../core/event.ts";
import { HoldfastError } from "../../errors.ts";
import type { RunName } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import { pruneEvent, snapshotEvent } from "../control.ts";
import { holdOn, seeHolds } from "../housekeeping/hold.ts";
import { type Handled, hasEnded, type LiveRun } from "../live/live-run.ts";
import type { Actor } from "../name.ts";

export type PrunedRun =
  /** Entries up to this checkpoint are gone. */
  | { readonly outcome: "pruned"; readonly seq: number }
  /**
   * Nothing is gone. `ended`: it takes no more steps; `retain` removes it. `parked`: it may be given back what an entry holds.
   * `busy`: an activity that is under way may ask for the state it began with. `held` by somebody, or a fork stands on it.
   */
  | { readonly outcome: "kept"; readonly why: "ended" | "parked" | "busy" | "held" | "forked" };

export interface PruningWorld {
  readonly store: Store;
  readonly epoch: () => number;
  settled(name: RunName): Promise<LiveRun>;
  deliver(run: LiveRun, event: Event): Promise<Handled>;
}

/** How often others may be faster before something is wrong. */
const triesMax = 20;

/** Rows that are deleted at a time; whoever steps has its turn in between. */
const batchSize = 200;

/** Prunes a run up to now; when it resolves, rows of what was pruned are deleted. */
export async function pruneRun(world: PruningWorld, name: RunName, { by }: Actor): Promise<PrunedRun> {
  const { store, epoch, settled, deliver } = world;
  for (let tries = 0; tries < triesMax; tries++) {
    const run = await settled(name);
    const why = await keeps(store, run);
    if (why !== undefined) return { outcome: "kept", why };
    await deliver(run, sentBy(snapshotEvent(), by));
    const { head, state } = await settled(name);
    const seq = head.snapshotSeq;
    // It began something between the two looks.
    if (state.activities.length > 0) return { outcome: "kept", why: "busy" };
    await deliver(await settled(name), sentBy(pruneEvent(seq), by));
    const { holds, seen } = await seeHolds({ store, tenant: name.tenant });
    if (holdOn(holds, head) !== undefined) return { outcome: "kept", why: "held" };
    if (await store.pruneJournal(name, seq, epoch(), [seen])) {
      while ((await store.sweep(batchSize)) > 0);
      return { outcome: "pruned", seq };
    }
    // Somebody put a hold, forked or pruned it, or took so many steps that the snapshot is gone: all are looked at again.
  }
  throw new HoldfastError(
    "STORE_UNAVAILABLE",
    `The run ${JSON.stringify(name.run)} changes too fast to be pruned; try again`,
  );
}

type Why = Extract<PrunedRun, { outcome: "kept" }>["why"];

async function keeps(store: Store, { head, state, name }: LiveRun): Promise<Why | undefined> {
  if (head.status === "parked") return "parked";
  if (hasEnded({ head })) return "ended";
  if (state.activities.length > 0) return "busy";
  const { holds } = await seeHolds({ store, tenant: name.tenant });
  if (holdOn(holds, head) !== undefined) return "held";
  const forks = await store.readForks(name);
  return forks.some(({ stands }) => stands) ? "forked" : undefined;
}
