/** How a run that is parked came to be so. */
import type { Event } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";
import type { RunHead } from "../store/records.ts";
import { parkReason } from "./control.ts";
import type { Past } from "./past.ts";

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
