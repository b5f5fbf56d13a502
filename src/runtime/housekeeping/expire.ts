/**
 * Sessions that nobody comes back to: a run that has taken no event for so long is cancelled, which is a step like any
 * other, and ages out by retention from then on. What decides is the time of its newest entry, which is stored with it, so
 * it survives restarts and costs nothing while the run is idle.
 */
import { isHoldfastError } from "../../errors.ts";
import type { RunName, RunStatus } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import { type Clock, systemClock } from "../clock.ts";
import { scheduleMachine } from "../platform/schedule-machine.ts";
import { holdOn, readHolds } from "./hold.ts";
import { ruleMs, type Selection, selectedRuns, type Tenants } from "./selection.ts";

export interface ExpiryRule extends Selection {
  /** Since the newest step: milliseconds, or text such as `30d`. */
  readonly idleFor: number | string;
}

/** A runtime, as far as runs are cancelled with it. */
export interface Canceller {
  run(id: string, options: { readonly tenant: string }): Promise<{ cancel(): Promise<void> }>;
}

export interface ExpiryOptions extends Tenants {
  /** The runtime that owns the store, since cancelling is a step. */
  readonly runtime: Canceller;
  readonly store: Store;
  readonly clock?: Clock;
  readonly rules: readonly ExpiryRule[];
  /** Tells what would be cancelled, and leaves it. */
  readonly dryRun?: boolean;
}

export interface Expired {
  readonly cancelled: readonly RunName[];
  readonly kept: readonly (RunName & { readonly why: "held" })[];
}

const living: readonly RunStatus[] = ["active", "parked"];

/** Cancels what has been idle for too long; schedules wait by their nature and are left alone. */
export async function expire(options: ExpiryOptions): Promise<Expired> {
  const { runtime, store, clock = systemClock, rules, tenants, dryRun = false } = options;
  const cancelled: RunName[] = [];
  const kept: (RunName & { why: "held" })[] = [];
  for (const rule of rules) {
    const idleMs = ruleMs("idleFor", rule.idleFor);
    const before = clock.now() - idleMs;
    const scope = { createdBefore: before, ...(tenants === undefined ? {} : { tenants }) };
    for await (const head of selectedRuns(store, rule, living, scope)) {
      // A clock that was set back since makes nobody idle who came after that.
      const idleSince = Math.min(before, clock.now() - idleMs);
      if (head.updatedAt >= idleSince || head.machine === scheduleMachine.id) continue;
      const name = { tenant: head.tenant, run: head.run };
      if (holdOn(await readHolds({ store, tenant: head.tenant }), head) !== undefined) {
        kept.push({ ...name, why: "held" });
        continue;
      }
      if (dryRun || (await cancel(runtime, name))) cancelled.push(name);
    }
  }
  return { cancelled, kept };
}

/** False if it is not there any more: somebody else may have ended and removed it since it was found. */
async function cancel(runtime: Canceller, { run, tenant }: RunName): Promise<boolean> {
  try {
    await (await runtime.run(run, { tenant })).cancel();
    return true;
  } catch (error) {
    if (isHoldfastError(error) && error.code === "RUN_UNKNOWN") return false;
    throw error;
  }
}
