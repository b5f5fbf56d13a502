/** Parking: puts a run that cannot go on aside for a person, with what is wrong. */
import { describeError } from "../core/describe-error.ts";
import type { Event } from "../core/event.ts";
import { isUnavailable } from "../errors.ts";
import type { RunName } from "../store/records.ts";
import { parkEvent } from "./control.ts";
import type { LiveRun } from "./live-run.ts";
import { keyOf } from "./name.ts";

export interface ParkingWorld {
  find(name: RunName): Promise<LiveRun | undefined>;
  deliver(run: LiveRun, event: Event): Promise<unknown>;
  problem(name: RunName, error: unknown): void;
}

export class Parking {
  readonly #world: ParkingWorld;
  /** Runs that are being parked: one reason is enough. */
  readonly #under = new Set<string>();

  constructor(world: ParkingWorld) {
    this.#world = world;
  }

  /** Parks a run, unless it is only the store that cannot be reached. */
  readonly park = ({ name }: LiveRun, error: unknown): void => {
    const key = keyOf(name);
    if (isUnavailable(error) || this.#under.has(key)) return;
    this.#under.add(key);
    const park = async () => {
      const run = await this.#world.find(name);
      if (run?.head.status === "active") await this.#world.deliver(run, parkEvent(describeError(error)));
    };
    park()
      .catch((cause: unknown) => this.#world.problem(name, cause))
      .finally(() => this.#under.delete(key));
  };
}
