/** Settling: the end of an activity is brought to its run, however long the store takes to answer. */
import { describeError } from "../../core/describe-error.ts";
import { type Event, settledEvent } from "../../core/event.ts";
import { type ErrorCode, isUnavailable } from "../../errors.ts";
import type { RunName, Spending } from "../../store/records.ts";
import type { Clock } from "../clock.ts";
import type { LiveRun } from "../live/live-run.ts";
import { ParkedError } from "../park.ts";

/** How long to wait before a store that cannot be reached is tried again. */
const laterMs = 1_000;

export interface SettlingWorld {
  readonly clock: Clock;
  isClosed(): boolean;
  find(name: RunName): Promise<LiveRun | undefined>;
  deliver(run: LiveRun, event: Event, spent: Spending | undefined): Promise<unknown>;
  park(run: LiveRun, error: unknown): void;
  /** Something is wrong with a run that nobody waits to hear. */
  problem(name: RunName, error: unknown): void;
}

/** What brings the end of an activity to its run; false if that is parked, or cannot be read here, and cannot take it yet. */
type Settle = (name: RunName, event: Event, spent: Spending | undefined) => Promise<boolean>;

/** Resolves when the event is durable, or nobody wants it any more. */
export function settleWith(world: SettlingWorld): Settle {
  return async (name, event, spent) => {
    while (!world.isClosed()) {
      try {
        return await bring(world, name, event, spent);
      } catch (error) {
        if (!isUnavailable(error)) {
          // It is closing, which is no fault of the run.
          if (world.isClosed()) return true;
          world.problem(name, error);
          return false;
        }
        await new Promise<void>((resolve) => world.clock.after(laterMs, resolve));
      }
    }
    return true;
  };
}

async function bring(
  world: SettlingWorld,
  name: RunName,
  event: Event,
  spent: Spending | undefined,
): Promise<boolean> {
  const { find, deliver, park } = world;
  const run = await find(name);
  // When an answer of the store was lost, the end may have been taken already.
  if (run === undefined || run.state.activities.every(({ key }) => key !== event.invocation)) return true;
  if (run.head.status === "parked") return false;
  try {
    await deliver(run, event, spent);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    // Whoever opens the store next takes the activity up; nothing is wrong with the run.
    if (world.isClosed()) return true;
    if (error instanceof ParkedError) return false;
    if (isTooLarge(error) && !isTooLarge(event.data)) {
      const invocation = { id: event.invokeId as string, key: event.invocation as string };
      return bring(world, name, settledEvent(invocation, { error: describeError(error) }), spent);
    }
    park(run, error);
  }
  return true;
}

/** Whether an error, or what describes one, says that a value is larger than a store keeps. */
function isTooLarge(error: unknown): boolean {
  return (error as { readonly code?: unknown } | undefined)?.code === ("VALUE_TOO_LARGE" satisfies ErrorCode);
}
