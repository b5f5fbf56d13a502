/**
 * The runs in memory. Those that nobody asked of lately make room for others: two generations, so that a run in use
 * stays without any bookkeeping per step, and memory does not grow with the number of runs there are.
 */
import { limits } from "../../limits.ts";
import type { RunName } from "../../store/records.ts";
import { RunMap } from "../../store/run-map.ts";
import type { LiveRun } from "./live-run.ts";

export class Residents {
  #young = new RunMap<LiveRun>();
  #old = new RunMap<LiveRun>();
  readonly #loading = new RunMap<Promise<LiveRun | undefined>>();
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
  find(name: RunName, load: () => Promise<LiveRun | undefined>): Promise<LiveRun | undefined> | LiveRun {
    const live = this.read(name);
    if (live !== undefined) return live;
    const loading = this.#loading.get(name) ?? load().finally(() => this.#loading.delete(name));
    this.#loading.set(name, loading);
    return loading;
  }

  /** Whether somebody is reading it. */
  isReading(name: RunName): boolean {
    return this.#loading.get(name) !== undefined;
  }

  #grow(): void {
    const before = this.#old;
    this.#old = this.#young;
    this.#young = new RunMap();
    for (const run of before.values()) if (this.#isBusy(run)) this.#young.set(run.name, run);
  }
}
