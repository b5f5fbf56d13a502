/** Parking: a run that cannot go on is put aside for a person, with what is wrong. */
import { describeError } from "../core/describe-error.ts";
import type { Event } from "../core/event.ts";
import { isUnavailable } from "../errors.ts";
import type { RunName } from "../store/records.ts";
import { parkEvent } from "./control.ts";
import type { LiveRun } from "./live-run.ts";
import { keyOf } from "./name.ts";

export interface ParkWorld {
  find(name: RunName): Promise<LiveRun | undefined>;
  deliver(run: LiveRun, event: Event): Promise<unknown>;
  /** A run cannot even be parked. */
  problem(name: RunName, error: unknown): void;
}

/** How runs are parked. A store that cannot be reached is no reason: what failed is tried again. */
export function parkWith({ find, deliver, problem }: ParkWorld): (run: LiveRun, error: unknown) => void {
  /** Runs that are being parked: one reason is enough. */
  const parking = new Set<string>();
  const park = async (name: RunName, error: unknown) => {
    const run = await find(name);
    if (run?.head.status === "active") await deliver(run, parkEvent(describeError(error)));
  };
  return ({ name }, error) => {
    const key = keyOf(name);
    if (isUnavailable(error) || parking.has(key)) return;
    parking.add(key);
    park(name, error)
      .catch((cause: unknown) => problem(name, cause))
      .finally(() => parking.delete(key));
  };
}
