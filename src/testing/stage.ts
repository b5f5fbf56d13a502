/** The stage: makes worlds that are alike and know nothing of each other, one for each time a scenario is played. */
import type { AnyMachine, MachineEntry } from "../runtime/registry.ts";
import { memory } from "../store/memory/store.ts";
import type { Store } from "../store/store.ts";
import { type Scripts, World, type WorldOptions } from "./world.ts";

export interface HarnessOptions {
  /** Other machines that runs of this one start or send to. They share its scripts unless they bring activities. */
  readonly machines?: readonly (AnyMachine | MachineEntry)[];
  /**
   * Makes a store for each process; those of one world must be on the same data, and those of different worlds on
   * different data. Memory unless given.
   */
  readonly store?: (world: string) => Store;
  /** Decides what is random: the jitter of retries, and which points are tried if there are too many. */
  readonly seed?: number;
  /** What the clock shows in the beginning, in milliseconds since 1970; some day in 2026 unless given. */
  readonly at?: number;
}

/** 1 January 2026, at midnight UTC. */
const beginning = 1_767_225_600_000;

/** All that the worlds of one test have in common. */
export class Stage {
  readonly machine: AnyMachine;
  readonly seed: number;
  readonly #scripts: Scripts | (() => Scripts);
  readonly #options: HarnessOptions;
  #worlds = 0;

  constructor(machine: AnyMachine, scripts: Scripts | (() => Scripts), options: HarnessOptions) {
    this.machine = machine;
    this.seed = options.seed ?? 1;
    this.#scripts = scripts;
    this.#options = options;
  }

  makeWorld(parts: Pick<WorldOptions, "blow" | "places"> = {}): World {
    const { machines = [], store, at = beginning } = this.#options;
    const name = `world-${++this.#worlds}`;
    const inMemory = store === undefined ? memory() : undefined;
    return new World({
      ...{ machines: [this.machine, ...machines], seed: this.seed, at, ...parts },
      scripts: typeof this.#scripts === "function" ? this.#scripts() : this.#scripts,
      connect: () => inMemory ?? (store as (world: string) => Store)(name),
    });
  }
}
