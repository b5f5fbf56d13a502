/** Whoever waits for a run to be in some state. */
import type { State } from "../core/state.ts";

interface Watcher {
  readonly holds: (state: State) => boolean;
  readonly resolve: (state: State) => void;
  readonly reject: (error: unknown) => void;
}

/** Watchers by the key of their run. */
export class Watchers {
  readonly #byRun = new Map<string, Watcher[]>();

  /** Resolves with the first state of which this holds. */
  watch(key: string, holds: Watcher["holds"]): Promise<State> {
    return new Promise((resolve, reject) => {
      this.#byRun.set(key, [...(this.#byRun.get(key) ?? []), { holds, resolve, reject }]);
    });
  }

  /** A run came to a new state. */
  tell(key: string, state: State): void {
    const watchers = this.#byRun.get(key);
    if (watchers === undefined) return;
    const waiting = watchers.filter(({ holds }) => !holds(state));
    for (const { holds, resolve } of watchers) if (holds(state)) resolve(state);
    if (waiting.length > 0) this.#byRun.set(key, waiting);
    else this.#byRun.delete(key);
  }

  /** Nothing will ever happen here again. */
  fail(error: unknown): void {
    for (const watchers of this.#byRun.values()) for (const { reject } of watchers) reject(error);
    this.#byRun.clear();
  }
}
