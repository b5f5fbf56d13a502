/** Settling: the end of an activity is brought to its run, however long the store takes to answer. */
import { type Event, settledEvent } from "../core/event.ts";
import { describeError } from "../core/work.ts";
import { isHoldfastError, isUnavailable } from "../errors.ts";
import type { RunName, Spending } from "../store/records.ts";
import type { Clock } from "./clock.ts";
import type { LiveRun } from "./live-run.ts";

/** How long to wait before a store that cannot be reached is tried again. */
const laterMs = 1_000;

export interface SettlingWorld {
  readonly clock: Clock;
  isClosed(): boolean;
  find(name: RunName): Promise<LiveRun | undefined>;
  deliver(run: LiveRun, event: Event, spent: Spending | undefined): Promise<unknown>;
  /** For a run that is parked. */
  enqueue(run: LiveRun, event: Event): Promise<unknown>;
  park(run: LiveRun, error: unknown): void;
}

export class Settling {
  readonly #world: SettlingWorld;

  constructor(world: SettlingWorld) {
    this.#world = world;
  }

  /** Resolves when the event is durable, or nobody wants it any more. */
  async settle(name: RunName, event: Event, spent: Spending | undefined): Promise<void> {
    const { clock, isClosed } = this.#world;
    while (!isClosed()) {
      try {
        return await this.#bring(name, event, spent);
      } catch (error) {
        if (!isUnavailable(error)) return;
        await new Promise<void>((resolve) => clock.after(laterMs, resolve));
      }
    }
  }

  async #bring(name: RunName, event: Event, spent: Spending | undefined): Promise<void> {
    const { find, deliver, enqueue, park } = this.#world;
    const run = await find(name);
    // When an answer of the store was lost, the end may have been taken already.
    if (run === undefined || run.state.activities.every(({ key }) => key !== event.invocation)) return;
    if (run.head.status === "parked") return void (await enqueue(run, event));
    try {
      await deliver(run, event, spent);
    } catch (error) {
      if (isHoldfastError(error) && error.code === "VALUE_TOO_LARGE") {
        const invocation = { id: event.invokeId as string, key: event.invocation as string };
        await deliver(run, settledEvent(invocation, { error: describeError(error) }), spent);
      } else if (isHoldfastError(error)) throw error;
      else park(run, error);
    }
  }
}
