/** Whoever waits for a run to be in some state. */
import type { State } from "../core/state.ts";
import { type ErrorCode, HoldfastError } from "../errors.ts";
import type { RunHead, RunName } from "../store/records.ts";
import { RunMap } from "../store/run-map.ts";

/** A run at a checkpoint. */
export interface Sight {
  readonly head: RunHead;
  readonly state: State;
}

interface Watcher {
  readonly name: RunName;
  readonly see: (sight: Sight) => boolean;
  readonly fail: (error: unknown) => void;
}

export class Watchers {
  readonly #byRun = new RunMap<readonly Watcher[]>();
  readonly #read: (name: RunName) => Promise<Sight> | Sight;

  /** `read` gives a run at its newest checkpoint. */
  constructor(read: (name: RunName) => Promise<Sight> | Sight) {
    this.#read = read;
  }

  /** Resolves with the first checkpoint of which this holds, be it the newest one. */
  look(name: RunName, holds: (sight: Sight) => boolean): ReturnType<Watchers["watch"]> {
    const { seen, cancel } = this.watch(name, holds);
    const newest = async () => this.#read(name);
    return { seen: newest().then((sight) => (holds(sight) ? sight : seen)), cancel };
  }

  /** The first checkpoint of which this holds, be it the newest one. */
  async see(name: RunName, holds: (sight: Sight) => boolean): Promise<Sight> {
    const looking = this.look(name, holds);
    try {
      return await looking.seen;
    } finally {
      looking.cancel();
    }
  }

  /** Resolves with the first checkpoint from now on of which this holds; `holds` may throw to say that it never will. */
  watch(name: RunName, holds: (sight: Sight) => boolean): { readonly seen: Promise<Sight>; cancel(): void } {
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
      watcher = { name, see, fail: reject };
    });
    seen.catch(() => {});
    this.#byRun.set(name, [...(this.#byRun.get(name) ?? []), watcher]);
    return { seen, cancel: () => this.#keep(name, (one) => one !== watcher) };
  }

  /** The runs that somebody watches. */
  *names(): Iterable<RunName> {
    for (const [{ name }] of this.#byRun.values() as Iterable<readonly [Watcher]>) yield name;
  }

  /** A run came to a new checkpoint. */
  tell(name: RunName, sight: Sight): void {
    if (this.#byRun.get(name) !== undefined) this.#keep(name, ({ see }) => !see(sight));
  }

  /** Nothing will ever happen here again. */
  close(error: unknown): void {
    for (const watchers of this.#byRun.values()) for (const { fail } of watchers) fail(error);
    this.#byRun.clear();
  }

  #keep(name: RunName, stays: (watcher: Watcher) => boolean): void {
    const watchers = (this.#byRun.get(name) ?? []).filter(stays);
    if (watchers.length > 0) this.#byRun.set(name, watchers);
    else this.#byRun.delete(name);
  }
}

/** Says of a run that has ended what did not become of it. */
export function endedError({ head, state }: Sight, what: string, code: ErrorCode): HoldfastError {
  const why = state.reason === undefined ? "" : ` (${state.reason.message})`;
  return new HoldfastError(code, `The run ${JSON.stringify(head.run)} is ${head.status}${why} and ${what}`);
}
