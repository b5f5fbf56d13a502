/** Parking: a run that cannot go on is put aside for a person, with what is wrong; and how one that is parked came to be so. */
import { describeError } from "../core/describe-error.ts";
import type { Event } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import { HoldfastError, isUnavailable } from "../errors.ts";
import type { RunHead, RunName } from "../store/records.ts";
import { parkEvent, parkReason } from "./control.ts";
import type { LiveRun } from "./live/live-run.ts";
import type { Past } from "./live/past.ts";
import { keyOf } from "./name.ts";

export interface ParkWorld {
  /** Whether the runtime is over. */
  isClosed(): boolean;
  find(name: RunName): Promise<LiveRun | undefined>;
  deliver(run: LiveRun, event: Event): Promise<unknown>;
  /** A run cannot even be parked. */
  problem(name: RunName, error: unknown): void;
}

/** Says that a run was parked before it took an event. Who has the event keeps it: in the inbox, a timer, a row. */
export class ParkedError extends Error {
  constructor({ run }: RunName) {
    super(`The run ${JSON.stringify(run)} is parked`);
  }
}

/**
 * How runs are parked. A store that cannot be reached is no reason: what failed is tried again. Nor is it one that a run was
 * parked before it took something, since it may have been brought back, or that the runtime is over.
 */
export function parkWith(world: ParkWorld): (run: LiveRun, error: unknown) => void {
  const { isClosed, find, deliver, problem } = world;
  /** Runs that are being parked: one reason is enough. */
  const parking = new Set<string>();
  const park = async (name: RunName, error: unknown) => {
    const run = await find(name);
    if (run?.head.status === "active") await deliver(run, parkEvent(describeError(error)));
  };
  return ({ name }, error) => {
    const key = keyOf(name);
    if (isUnavailable(error) || error instanceof ParkedError || isClosed() || parking.has(key)) return;
    parking.add(key);
    park(name, error)
      .catch((cause: unknown) => isClosed() || problem(name, cause))
      .finally(() => parking.delete(key));
  };
}

/** With which checkpoint a run was parked, when and why. */
export interface Parking {
  readonly seq: number;
  readonly at: number;
  readonly reason: JsonObject;
  /** The result that it could not take. */
  readonly result: Event | undefined;
}

/** Reads it from the journal: the newest entry, but for breakpoints that were set since. */
export async function readParking(past: Past, head: RunHead): Promise<Parking> {
  for await (const { seq, at, event } of past.back(head, head.seq)) {
    const reason = parkReason(event);
    if (reason === undefined) continue;
    const { refused } = event.data as { readonly refused?: number };
    const result = refused === undefined ? undefined : (await past.entry(head, refused)).event;
    return { seq, at, reason, result };
  }
  throw new HoldfastError("STORE_CORRUPT", `Nothing says why the run ${JSON.stringify(head.run)} is parked`);
}
