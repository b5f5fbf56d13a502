/** Holding a run still: pausing it, breakpoints, and letting it go on event by event. */
import { type Event, sentBy } from "../../core/event.ts";
import { type JsonObject, showValue } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import type { Breakpoint, RunHead, RunName } from "../../store/records.ts";
import { parkEvent, retryEvent } from "../control.ts";
import { debugEvent, pauseReason } from "../debug.ts";
import { hasEnded, type LiveRun } from "../live/live-run.ts";
import type { Past } from "../live/past.ts";
import type { Actor } from "../name.ts";
import { checkOptions, optionsError } from "../options.ts";
import { readParking } from "../park.ts";
import { statePath } from "../state-path.ts";
import type { Sight } from "../watchers.ts";

export interface DebuggerWorld {
  readonly past: Past;
  read(name: RunName): Promise<LiveRun> | LiveRun;
  /** Gives an event of the platform to a run; resolves when its step is durable. */
  deliver(run: LiveRun, event: Event): Promise<unknown>;
  /** The first checkpoint of which this holds, be it the newest one. */
  see(name: RunName, holds: (sight: Sight) => boolean): Promise<Sight>;
}

export class Debugger {
  readonly #world: DebuggerWorld;

  constructor(world: DebuggerWorld) {
    this.#world = world;
  }

  /** Parks a run, though nothing is wrong with it. */
  async pause(name: RunName, { by }: Actor): Promise<void> {
    const run = await this.#living(name);
    if (run.head.status === "active") await this.#world.deliver(run, sentBy(parkEvent(pauseReason), by));
  }

  /** Sets where a run stops; throws STATE_UNKNOWN for a state its machine does not have. */
  async set(name: RunName, breakpoints: readonly Breakpoint[], { by }: Actor): Promise<void> {
    const usage = "breakpoints([{ state }, { event }], { by })";
    const run = await this.#living(name);
    const { machine } = run.machine;
    if (!Array.isArray(breakpoints)) throw optionsError(usage, breakpoints);
    const known = breakpoints.map((one: Breakpoint): Breakpoint => {
      checkOptions(usage, one, { state: true, event: true });
      if ("state" in one) return { state: statePath(machine, one.state) };
      if (typeof one.event !== "string" || one.event === "") throw optionsError(usage, one);
      return { event: one.event };
    });
    await this.#world.deliver(run, sentBy(debugEvent(known), by));
  }

  /** Brings a parked run back, for so many events if they are counted; one that is not parked is left as it is. */
  async goOn(name: RunName, { by }: Actor, steps?: number): Promise<void> {
    if (steps !== undefined && (!Number.isSafeInteger(steps) || steps < 1)) {
      throw new HoldfastError("LIMIT_INVALID", `A run can take one event or more, not ${showValue(steps)}`);
    }
    const { past, read, deliver } = this.#world;
    const run = await read(name);
    if (run.head.status !== "parked") return;
    const { head } = run;
    const { at, result } = await readParking(past, head);
    const event = retryEvent({
      ...{ parkedAt: at, parked: head.seq },
      ...(result && { result }),
      ...(steps !== undefined && { steps }),
    });
    await deliver(run, sentBy(event, by));
  }

  /** Resolves when a run is parked, with the reason. */
  async parked(name: RunName): Promise<JsonObject> {
    const { head } = await this.#world.see(name, (sight) => {
      if (hasEnded(sight)) throw endedError(sight.head);
      return sight.head.status === "parked";
    });
    return (await readParking(this.#world.past, head)).reason;
  }

  async #living(name: RunName): Promise<LiveRun> {
    const run = await this.#world.read(name);
    if (hasEnded(run)) throw endedError(run.head);
    return run;
  }
}

function endedError({ run, status }: RunHead): HoldfastError {
  return new HoldfastError(
    "RUN_ENDED",
    `The run ${JSON.stringify(run)} is ${status} and does not stop any more`,
  );
}
