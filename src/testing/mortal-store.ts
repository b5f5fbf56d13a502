/**
 * The store as one process sees it, until it dies: every call is counted, and at one of them the process can be killed,
 * before the store hears of it or after it has done it. Once the process is dead its store never answers again.
 */
import { keyOf } from "../runtime/name.ts";
import type { RunName } from "../store/records.ts";
import type { Commit, Lease, Store } from "../store/store.ts";

/** One process, from its start to its death. */
export interface Life {
  dead: boolean;
  /** Resolves when it dies. */
  readonly death: Promise<void>;
  readonly die: () => void;
  /** The right to step runs, as it was last given to it. */
  lease: { readonly worker: string; readonly epoch: number; readonly ms: number } | undefined;
}

export function newLife(): Life {
  let end = () => {};
  const death = new Promise<void>((resolve) => {
    end = resolve;
  });
  const life: Life = {
    ...{ dead: false, death, lease: undefined },
    die: () => {
      life.dead = true;
      end();
    },
  };
  return life;
}

/** When to kill a process: at a call of its store, counted from 1 over all processes of a world. */
export interface Blow {
  readonly call: number;
  readonly when: "before" | "after";
}

/** What the processes of one world ask of their stores. */
export class Traffic {
  /** The verbs asked for, without those that only say that a process is alive. */
  readonly verbs: (keyof Store)[] = [];
  /** Calls that have not been answered yet, and those that ever were made. */
  pending = 0;
  made = 0;
  /** The runs that were committed, by name. */
  readonly runs = new Map<string, RunName>();
  readonly #blow: Blow | undefined;

  constructor(blow: Blow | undefined) {
    this.#blow = blow;
  }

  /** The same store, for as long as this life lasts. */
  over(store: Store, life: Life): Store {
    return new Proxy(store, {
      get: (target, verb) => {
        if (!(verb in target)) return undefined;
        const name = verb as keyof Store;
        return (...given: never[]) =>
          this.#carry(life, name, given, () =>
            (target[name] as (...given: never[]) => Promise<unknown>)(...given),
          );
      },
    });
  }

  async #carry(
    life: Life,
    verb: keyof Store,
    given: readonly unknown[],
    work: () => Promise<unknown>,
  ): Promise<unknown> {
    if (life.dead) return silence();
    const isRenewal = verb === "own" && life.lease !== undefined;
    if (!isRenewal) this.verbs.push(verb);
    const blow = !isRenewal && this.#blow?.call === this.verbs.length ? this.#blow.when : undefined;
    if (blow === "before") {
      life.die();
      return silence();
    }
    this.made++;
    this.pending++;
    try {
      const answer = await work();
      if (verb === "own") this.#noteLease(life, given, answer as Lease);
      if (verb === "commit") for (const commit of given[0] as readonly Commit[]) this.#noteRuns(commit);
      if (blow === "after") life.die();
      return life.dead ? silence() : answer;
    } finally {
      this.pending--;
    }
  }

  #noteLease(life: Life, given: readonly unknown[], lease: Lease): void {
    const [worker, ms] = given as [string, number];
    if (lease.outcome === "owned") life.lease = { worker, epoch: lease.epoch, ms };
  }

  #noteRuns({ head: { tenant, run }, starts }: Commit): void {
    const name = { tenant, run };
    this.runs.set(keyOf(name), name);
    for (const start of starts) this.#noteRuns(start);
  }
}

/** What a dead process hears. */
/** A new one each time: whoever waits for it is forgotten with it. */
const silence = (): Promise<never> => new Promise(() => {});
