/**
 * What other members of a fleet do to the runs of those who follow the feed: heard of by hints, read from the journal, and
 * told as if it had been done here.
 *
 * E1. Of a tenant that nobody follows nothing is read.
 * E2. The steps of a run are told in their order, each once: what is done here to a run that is still being read of is read too.
 *     Only what others did just before the first step that is told of a run may come after it.
 * E3. Where a hint may have been missed, or there are more of them than are read, followers are told of a gap.
 */
import { limits } from "../limits.ts";
import type { Committed } from "../runtime/run.ts";
import type { Moved } from "../runtime/standing.ts";
import type { RunName } from "../store/records.ts";
import { RunMap } from "../store/run-map.ts";
import type { Feed, Told } from "./feed.ts";

export interface ElsewhereWorld {
  readonly feed: Feed;
  /** A run as it is, with its steps after a checkpoint. */
  read(name: RunName, since: number): Promise<Committed>;
}

/** Runs that are read of at a time. */
const readersMax = 8;

export class Elsewhere {
  readonly #world: ElsewhereWorld;
  /** Runs to read of, and since which checkpoint. */
  readonly #waiting = new RunMap<Moved>();
  readonly #reading = new RunMap<RunName>();

  constructor(world: ElsewhereWorld) {
    this.#world = world;
  }

  /** Others have taken steps; of any runs, if they are not named. */
  readonly heard = (moved: readonly Moved[] | undefined): void => {
    const { feed } = this.#world;
    if (moved === undefined) feed.gap(undefined);
    for (const one of moved ?? []) if (feed.following(one.tenant) !== undefined) this.#add(one);
    this.#readOn();
  };

  /** Steps were taken here. */
  readonly here = (committed: Committed): void => {
    const { feed } = this.#world;
    const { head } = committed;
    const known = feed.following(head.tenant)?.told(head.run);
    // They may have been read from the journal before this process was told that they are durable.
    const steps = committed.steps.filter(({ seq }) => !isTold(known, seq));
    const [first] = steps;
    if (first === undefined) return;
    const before = first.seq - 1;
    const isBehind = this.#waiting.get(head) !== undefined || this.#reading.get(head) !== undefined;
    // Steps before these were taken elsewhere, and come first (E2).
    if (isBehind || (known !== undefined && known.last < before)) {
      this.#add({ tenant: head.tenant, run: head.run, since: Math.min(known?.last ?? before, before) });
      this.#readOn();
    } else feed.told({ ...committed, steps });
  };

  #add({ tenant, run, since }: Moved): void {
    const known = this.#waiting.get({ tenant, run });
    this.#waiting.set({ tenant, run }, { tenant, run, since: Math.min(since, known?.since ?? since) });
    if (this.#waiting.size <= limits.feedWaitingMax) return;
    this.#waiting.clear();
    this.#world.feed.gap(undefined);
  }

  #readOn(): void {
    for (const moved of [...this.#waiting.values()]) {
      if (this.#reading.size >= readersMax) return;
      // One after the other of the same run.
      if (this.#reading.get(moved) !== undefined) continue;
      this.#waiting.delete(moved);
      this.#reading.set(moved, moved);
      void this.#read(moved).finally(() => {
        this.#reading.delete(moved);
        this.#readOn();
      });
    }
  }

  async #read(moved: Moved): Promise<void> {
    const { feed, read } = this.#world;
    const known = feed.following(moved.tenant)?.told(moved.run);
    try {
      const committed = await read(moved, Math.min(moved.since, known?.last ?? moved.since));
      const steps = committed.steps.filter(({ seq }) => !isTold(known, seq));
      if (steps.length > 0 && feed.following(moved.tenant) !== undefined) feed.told({ ...committed, steps });
    } catch {
      // It was removed or pruned meanwhile, or the store is away: whoever follows looks for themselves.
      feed.gap(moved.tenant);
    }
  }
}

const isTold = (known: Told | undefined, seq: number): boolean =>
  known !== undefined && seq >= known.first && seq <= known.last;
