/**
 * The runs in memory. Those that nobody asked of lately make room for others: two generations, so that a run in use
 * stays without any bookkeeping per step, and memory does not grow with the number of runs there are.
 */
import { limits } from "../../limits.ts";
import type { RunName } from "../../store/records.ts";
import { RunMap } from "../../store/run-map.ts";
import type { LiveRun } from "./live-run.ts";

/** A run is being read. */
export interface Reading {
  /** Whether it came in by another way meanwhile: then it may have gone further than what was read, and out again. */
  isOvertaken: boolean;
}

export class Residents {
  #young = new RunMap<LiveRun>();
  #old = new RunMap<LiveRun>();
  readonly #reading = new RunMap<{
    readonly reading: Reading;
    readonly found: Promise<LiveRun | undefined>;
  }>();
  readonly #isBusy: (run: LiveRun) => boolean;

  /** A run that is busy is never put out. */
  constructor(isBusy: (run: LiveRun) => boolean) {
    this.#isBusy = isBusy;
  }

  read(name: RunName): LiveRun | undefined {
    const young = this.#young.get(name);
    if (young !== undefined) return young;
    const old = this.#old.get(name);
    if (old !== undefined) {
      this.#old.delete(name);
      this.add(old);
    }
    return old;
  }

  add(run: LiveRun): void {
    if (this.#young.size >= limits.liveRunsMax) this.#grow();
    this.#young.set(run.name, run);
    const { reading } = this.#reading.get(run.name) ?? {};
    if (reading !== undefined) reading.isOvertaken = true;
  }

  /** Puts a run out, if this is the one that is in. */
  remove(run: LiveRun): void {
    for (const runs of [this.#young, this.#old]) if (runs.get(run.name) === run) runs.delete(run.name);
  }

  /** Puts out all that are not busy and of which this holds; gives those that are busy. */
  removeIdle(holds: (name: RunName) => boolean): LiveRun[] {
    const busy: LiveRun[] = [];
    for (const runs of [this.#young, this.#old])
      for (const run of [...runs.values()].filter(({ name }) => holds(name)))
        if (this.#isBusy(run)) busy.push(run);
        else runs.delete(run.name);
    return busy;
  }

  /** The run, read by `load` if it is not in memory; however many ask at once, it is read once. */
  find(
    name: RunName,
    load: (reading: Reading) => Promise<LiveRun | undefined>,
  ): Promise<LiveRun | undefined> | LiveRun {
    const live = this.read(name);
    if (live !== undefined) return live;
    const { found } = this.#reading.get(name) ?? this.#read(name, load);
    return found;
  }

  #read(name: RunName, load: (reading: Reading) => Promise<LiveRun | undefined>) {
    const reading = { isOvertaken: false };
    const found = load(reading).finally(() => this.#reading.delete(name));
    this.#reading.set(name, { reading, found });
    return { found };
  }

  /** Whether somebody is reading it. */
  isReading(name: RunName): boolean {
    return this.#reading.get(name) !== undefined;
  }

  #grow(): void {
    const before = this.#old;
    this.#old = this.#young;
    this.#young = new RunMap();
    for (const run of before.values()) if (this.#isBusy(run)) this.#young.set(run.name, run);
  }
}
