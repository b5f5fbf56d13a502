/** What a runtime does by machines of its own: schedules and debounces; and singletons, on which those stand. */

import type { MachineEntry } from "../registry.ts";
import { Debounces } from "./debounce.ts";
import { Schedules, type ScheduleWorld } from "./schedule.ts";
import { Singletons, type SingletonWorld } from "./singleton.ts";

export class Platform {
  readonly schedules: Schedules;
  readonly singletons: Singletons;
  readonly debounces: Debounces;

  constructor(world: ScheduleWorld & SingletonWorld) {
    this.schedules = new Schedules(world);
    this.singletons = new Singletons(world);
    this.debounces = new Debounces({ ...world, singletons: this.singletons });
  }

  /** The machines that every runtime has. */
  get entries(): readonly MachineEntry[] {
    return [this.schedules.entry, this.debounces.entry];
  }
}
