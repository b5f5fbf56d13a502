/**
 * The runs in memory. Those that nobody asked of lately make room for others: two generations, so that a run in use
 * stays without any bookkeeping per step, and memory does not grow with the number of runs there are.
 */
import { limits } from "../limits.ts";
import type { RunName } from "../store/records.ts";
import type { LiveRun } from "./live-run.ts";
import { keyOf } from "./name.ts";

export class Residents {
  #young = new Map<string, LiveRun>();
  #old = new Map<string, LiveRun>();
  readonly #loading = new Map<string, Promise<LiveRun | undefined>>();
  readonly #isBusy: (run: LiveRun) => boolean;

  /** A run that is busy is never put out. */
  constructor(isBusy: (run: LiveRun) => boolean) {
    this.#isBusy = isBusy;
  }

  read(name: RunName): LiveRun | undefined {
    const key = keyOf(name);
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) {
      this.#old.delete(key);
      this.add(old);
    }
    return old;
  }

  add(run: LiveRun): void {
    if (this.#young.size >= limits.liveRunsMax) this.#grow();
    this.#young.set(keyOf(run.name), run);
  }

  /** Puts a run out, if this is the one that is in. */
  remove(run: LiveRun): void {
    const key = keyOf(run.name);
    for (const runs of [this.#young, this.#old]) if (runs.get(key) === run) runs.delete(key);
  }

  /** The run, read by `load` if it is not in memory; however many ask at once, it is read once. */
  find(name: RunName, load: () => Promise<LiveRun | undefined>): Promise<LiveRun | undefined> | LiveRun {
    const live = this.read(name);
    if (live !== undefined) return live;
    const key = keyOf(name);
    const loading = this.#loading.get(key) ?? load().finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    return loading;
  }

  #grow(): void {
    const busy = [...this.#old].filter(([, run]) => this.#isBusy(run));
    this.#old = this.#young;
    this.#young = new Map(busy);
  }
}
