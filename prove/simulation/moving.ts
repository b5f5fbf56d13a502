/** What an outage does to a timer: written anew, since the code that does it is what is judged. */
import type { Outage } from "holdfast";

/** A timer as far as outages move it. */
export interface Moving {
  due: number;
  since: number;
}

/** Moves a timer by one outage, if that counts for it; says whether it did. */
export function moveBy(
  timer: Moving,
  { from, until }: Outage,
  resume: "remaining" | "restart",
  ms: number,
): boolean {
  const begin = from > timer.since ? from : timer.since;
  if (begin >= timer.due || begin >= until) return false;
  timer.due = resume === "restart" ? until + ms : timer.due + (until - begin);
  timer.since = until;
  return true;
}
