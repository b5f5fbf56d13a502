/** How a runtime comes to stand to its store: alone with it, or as one of those who share it. */
import { HoldfastError } from "../../errors.ts";
import { fleetOf } from "../../store/fleet.ts";
import type { RunName } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { Activities } from "../activity/activity.ts";
import type { Clock } from "../clock.ts";
import type { Ids } from "../ids.ts";
import type { Inboxes } from "../inbox/inboxes.ts";
import type { Runs } from "../live/runs.ts";
import { Ownership } from "../ownership.ts";
import type { Role } from "../run.ts";
import type { Standing } from "../standing.ts";
import type { Waker } from "../waker.ts";
import type { Watchers } from "../watchers.ts";
import { workerName } from "../worker.ts";
import { Membership } from "./membership.ts";

/** How many runs that are not in memory are read at once for what arrived; of more, each in its turn, as all that is due. */
const fetchedMax = 10;
/** A hint may be about something else than an event, as an activity that was left: what is due is looked for within so long. */
const dueLookMs = 250;

/** What it needs of the rest, which is made after it. */
export interface Parts {
  readonly runs: Runs;
  readonly inboxes: Inboxes;
  readonly waker: Waker;
  readonly activities: Activities;
  readonly watchers: Watchers;
}

export interface StandWorld {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly role: Role | undefined;
  lost(error: unknown): void;
  parts(): Parts;
}

/** Throws STORE_UNSUPPORTED for a client of a store that is not shared: nobody else would do what it leaves. */
export function standWith({ store, clock, ids, role, lost, parts }: StandWorld): Standing {
  const fleet = fleetOf(store);
  const worker = workerName(ids.next());
  const isWorker = role !== "client";
  if (fleet === undefined && !isWorker)
    throw new HoldfastError(
      "STORE_UNSUPPORTED",
      "A client needs a store that processes share, as PostgreSQL is; leave out the role, or use another store",
    );
  if (fleet === undefined) return new Ownership(store, clock, worker, lost);
  return new Membership({
    ...{ fleet, clock, worker, isWorker, lost },
    load: () => parts().activities.load(),
    followed: () => [...parts().watchers.names(), ...parts().activities.names()],
    live: (name) => parts().runs.live(name),
    // If it cannot be read now, it is looked at again soon.
    moved: (name) =>
      void parts()
        .runs.refresh(name)
        .catch(() => {}),
    rehomed: (isRehomed, isHome) => {
      parts().runs.rehome(isRehomed);
      parts().activities.yield((name) => isRehomed(name) && !isHome(name));
      parts().waker.lookAgain();
    },
    lookAgain: () => parts().waker.wakeAt(clock.now()),
    arrived: (names) => {
      const { runs, inboxes, waker } = parts();
      const isLive = (name: RunName) => runs.live(name) !== undefined;
      const isMany = names.filter((name) => !isLive(name)).length > fetchedMax;
      for (const name of names) if (!isMany || isLive(name)) void inboxes.fetch(name);
      waker.wakeAt(clock.now() + (isMany ? 0 : dueLookMs));
    },
  });
}
