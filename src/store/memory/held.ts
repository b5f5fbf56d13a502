/** Who has an activity, in the memory store. */
import { isOwnedUnder } from "../lease.ts";
import type { ActivityOfEpoch, Tables } from "./tables.ts";

/** Whether the activity is, or can be, that of whoever has this epoch: nobody else who is there runs it. */
export function mayHave(
  { lease, members }: Pick<Tables, "lease" | "members">,
  held: ActivityOfEpoch,
  epoch: number,
): boolean {
  const isGood = (one: number) => isOwnedUnder(lease, one, members);
  return isGood(epoch) && (held.row.status === "waiting" || held.epoch === epoch || !isGood(held.epoch));
}
