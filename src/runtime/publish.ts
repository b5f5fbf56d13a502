/** What follows from a commit, once it is made: whoever waits is told, and what its steps asked for happens. */
import type { Step } from "../core/step.ts";
import type { RunName } from "../store/records.ts";
import type { Activities } from "./activity/activity.ts";
import { isStop } from "./debug.ts";
import type { Evolution } from "./evolution/evolution.ts";
import type { Inboxes } from "./inbox/inboxes.ts";
import { hasEnded } from "./live/live-run.ts";
import type { Runs } from "./live/runs.ts";
import type { Observers } from "./observers.ts";
import type { Standing } from "./standing.ts";
import type { Turn } from "./turn.ts";
import type { Waker } from "./waker.ts";
import type { Watchers } from "./watchers.ts";

export interface PublishWorld {
  readonly standing: Pick<Standing, "isHome" | "isWorker" | "tell">;
  readonly runs: Runs;
  readonly inboxes: Inboxes;
  readonly waker: Waker;
  readonly activities: Activities;
  readonly watchers: Watchers;
  readonly evolution: Evolution;
  readonly observers: Pick<Observers, "committed" | "problem">;
  announce(name: RunName, step: Step): void;
}

/** How turns are published. What is for whoever sees to the run is left to them, who are told. */
export function publishWith(world: PublishWorld): (turn: Turn) => void {
  const { standing, runs, inboxes, waker, activities, watchers, evolution, observers, announce } = world;
  const publish = (turn: Turn): void => {
    const { run, taken, outbox } = turn;
    const { name, head } = run;
    const isHome = standing.isHome(name);
    const active = head.status === "active";
    for (const child of outbox.starts) publish(child);
    if (hasEnded(run)) {
      runs.remove(run);
      inboxes.ended(name);
    } else if (head.seq === taken.length) runs.add(run);
    for (const { step } of taken) announce(name, step);
    // Whoever read the run before its commit was answered has taken them up, and may be further.
    if (runs.isOnly(run) && standing.isWorker)
      for (const one of outbox.begun.values()) activities.start(one, run.machine.activities, head);
    for (const row of outbox.sends) inboxes.arrived(row);
    if (active && isHome && head.wakeAt !== undefined) waker.wakeAt(head.wakeAt);
    if (head.status === "parked" && !isStop(turn.reason)) observers.problem(name, turn.reason);
    activities.trust(name);
    watchers.tell(name, run);
    observers.committed(turn);
    // Whoever sent what it took from its inbox may wait for it.
    const isUrgent = taken.some(({ delivery }) => delivery?.row !== undefined);
    standing.tell(name, head.seq - taken.length, isUrgent);
    if (turn.returns && isHome) {
      // Before its timers are looked at, which may be sooner than it is read.
      waker.resume(run);
      void runs.revive(run);
    }
    if (active && run.more && run.inbox.length === 0) inboxes.refill(run);
    if (isHome) evolution.upgrade(run);
  };
  return publish;
}
