/** Whoever waits for a run to be in some state. */
import type { State } from "../core/state.ts";
import type { RunHead } from "../store/records.ts";

/** A run at a checkpoint. */
export interface Sight {
  readonly head: RunHead;
  readonly state: State;
}

interface Watcher {
  readonly see: (sight: Sight) => boolean;
  readonly fail: (error: unknown) => void;
}

/** Watchers by the key of their run. */
export class Watchers {
  readonly #byRun = new Map<string, Watcher[]>();

  /** Resolves with the first checkpoint of which this holds; `holds` may throw to say that it never will. */
  watch(key: string, holds: (sight: Sight) => boolean): { readonly seen: Promise<Sight>; cancel(): void } {
    let watcher!: Watcher;
    const seen = new Promise<Sight>((resolve, reject) => {
      const see = (sight: Sight) => {
        try {
          if (!holds(sight)) return false;
          resolve(sight);
        } catch (error) {
          reject(error);
        }
        return true;
      };
      watcher = { see, fail: reject };
    });
    seen.catch(() => {});
    this.#byRun.set(key, [...(this.#byRun.get(key) ?? []), watcher]);
    return { seen, cancel: () => this.#keep(key, (one) => one !== watcher) };
  }

  /** A run came to a new checkpoint. */
  tell(key: string, sight: Sight): void {
    if (this.#byRun.size > 0 && this.#byRun.has(key)) this.#keep(key, ({ see }) => !see(sight));
  }

  /** Nothing will ever happen here again. */
  close(error: unknown): void {
    for (const watchers of this.#byRun.values()) for (const { fail } of watchers) fail(error);
    this.#byRun.clear();
  }

  #keep(key: string, stays: (watcher: Watcher) => boolean): void {
    const watchers = (this.#byRun.get(key) ?? []).filter(stays);
    if (watchers.length > 0) this.#byRun.set(key, watchers);
    else this.#byRun.delete(key);
  }
}
