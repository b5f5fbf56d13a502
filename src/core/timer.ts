/** When timers are due, and what outages do to that. */

/**
 * What an outage does to a timer. A `deadline` stays when it was, and fires late if that has passed meanwhile;
 * `remaining` waits as long after the outage as was left before it; `restart` waits its whole delay again.
 */
export type ResumePolicy = "deadline" | "remaining" | "restart";

/** A time in which nobody was there to run the machine, in milliseconds since 1970. */
export interface Outage {
  readonly from: number;
  readonly until: number;
}

/** When a timer is due. The other fields come together, and are absent for a deadline, which nothing moves. */
export interface Due {
  readonly due: number;
  readonly resume?: Exclude<ResumePolicy, "deadline">;
  /** From when on outages count: when it was set, or when the last outage that moved it was over. */
  readonly since?: number;
  /** Its whole delay. */
  readonly ms?: number;
}

/** A timer with what its policy needs to know; the same timer if it is a deadline. */
export function withPolicy<Timer extends Due>(
  timer: Timer,
  resume: Due["resume"],
  since: number,
  ms: number,
): Timer {
  return resume === undefined ? timer : { ...timer, resume, since, ms };
}

/**
 * When a timer is due after these outages, sorted by time, and from when on later ones count. An outage counts from
 * `since` on, and only if it began before the timer was due: one that was due already simply fires. What is counted
 * moves `since` to the outage's end, so that counting it again changes nothing.
 */
export function resumedDue(timer: Due, outages: readonly Outage[]): Pick<Due, "due" | "since"> {
  const { resume } = timer;
  if (resume === undefined) return { due: timer.due };
  let { due } = timer;
  let since = timer.since as number;
  for (const { from, until } of outages) {
    const begin = Math.max(from, since);
    if (begin >= due || until <= begin) continue;
    due = resume === "remaining" ? due + until - begin : until + (timer.ms as number);
    since = until;
  }
  return { due, since };
}
